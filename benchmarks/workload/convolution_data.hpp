// SPDX-License-Identifier: Apache-2.0
//
// The numbers that one convolution works on, made from a seed wherever they are needed, and single
// outputs of it recomputed from them.

#pragma once

#include "layer.hpp"
#include "precision.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace assay::workload {

/// Image, channel, plane, row, column; flat images have one plane.
using Place = std::array<std::int64_t, 5>;

/// The place of a result, with a number that counts as the dimensions are written.
constexpr Place place_of(std::size_t index, const Layer& layer) {
    const std::int64_t edge = layer.output_size();
    auto rest = static_cast<std::int64_t>(index);
    const auto next = [&rest](std::int64_t count) {
        const std::int64_t at = rest % count;
        rest /= count;
        return at;
    };
    Place place{};
    place[4] = next(edge);
    place[3] = next(edge);
    place[2] = next(layer.dims == 3 ? edge : 1);
    place[1] = next(layer.outputs);
    place[0] = rest;
    return place;
}

/// Differences between the library of a device and that of a host.
struct OnDevice {
    double lost = 0; ///< of a sum in matrix units, which cut it off, in units of its size
};

class ConvolutionData {
public:
    ConvolutionData(const Layer& layer, Precision precision, std::uint64_t seed,
                    std::optional<OnDevice> device = {})
        : layer_{layer}, precision_{precision}, device_{device}, seed_{3 * seed} {}

    // The source is not negative, as after a ReLU; weights and bias have both signs. int8: unsigned to 127, signed
    // to 63, because instructions before VNNI add pairs of products in 16 bits and would saturate.
    float source(std::uint64_t i) const {
        return is_int8() ? random_integer<float>(seed_, i, 0, 127) : value(sources(), i);
    }
    float weight(std::uint64_t i) const {
        return is_int8() ? random_integer<float>(seed_ + 1, i, -63, 63) : value(weights(), i);
    }
    float bias(std::uint64_t channel) const {
        if (is_int8()) return random_integer<float>(seed_ + 2, channel, -1000, 1000);
        const Numbers of = biases(); // on devices of the type of the data
        return device_ ? value(of, channel)
                       : random_uniform<float>(of.seed, channel, of.low, of.high);
    }
    // Those of floating-point precisions before they are rounded to it, for who makes them on a device.
    Numbers sources() const { return {seed_, 0, 1}; }
    Numbers weights() const { return {seed_ + 1, -1, 1}; }
    Numbers biases() const { return {seed_ + 2, -1, 1}; }

    /// Standard deviation of a sum: numbers below one, uniform and of both signs or not, have a mean
    /// square of a third; the integers 127^2/3 and 63^2/3.
    double sum_scale() const {
        const double each = is_int8() ? 127.0 * 63.0 / 3 : 1.0 / 3;
        return each * std::sqrt(static_cast<double>(layer_.terms()));
    }
    /// Factor of int8 sums to fill eight bits: a power of two, so that the product is exact.
    float output_scale() const {
        constexpr double typical_output = 64;
        return static_cast<float>(std::exp2(std::round(std::log2(typical_output / sum_scale()))));
    }

    /// Sum and bias of one output. Exact for integers.
    // NOLINTNEXTLINE(readability-function-cognitive-complexity): six loops
    double sum(const Place& place) const {
        const auto [image, channel, plane, row, column] = place;
        const bool flat = layer_.dims == 2;
        double total = bias(static_cast<std::uint64_t>(channel));
        for (std::int64_t c = 0; c < layer_.inputs; ++c)
            for (std::int64_t z = 0; z < (flat ? 1 : layer_.kernel); ++z)
                for (std::int64_t y = 0; y < layer_.kernel; ++y)
                    for (std::int64_t x = 0; x < layer_.kernel; ++x) {
                        const std::int64_t from_z = flat ? 0 : source_at(plane, z);
                        const std::int64_t from_y = source_at(row, y);
                        const std::int64_t from_x = source_at(column, x);
                        if (!is_inside(from_z) || !is_inside(from_y) || !is_inside(from_x))
                            continue;
                        const std::int64_t planes = flat ? 1 : layer_.size;
                        const std::int64_t deep = flat ? 1 : layer_.kernel;
                        const std::int64_t from =
                            (((image * layer_.inputs + c) * planes + from_z) * layer_.size +
                             from_y) *
                                layer_.size +
                            from_x;
                        const std::int64_t with =
                            (((channel * layer_.inputs + c) * deep + z) * layer_.kernel + y) *
                                layer_.kernel +
                            x;
                        total += double{source(static_cast<std::uint64_t>(from))} *
                                 weight(static_cast<std::uint64_t>(with));
                    }
        return total;
    }
    /// The output: after ReLU, and for int8 scaled, rounded to the nearest (ties to even) and cut at 255.
    double output(const Place& place) const {
        const double positive = std::fmax(sum(place), 0.0);
        if (!is_int8()) return positive;
        return std::fmin(std::nearbyint(positive * output_scale()), 255.0);
    }

    /// How far `got` is off, in units of what is allowed; for integers, of one.
    double error(const Place& place, double got) const {
        const double expected = output(place);
        if (is_int8()) return got - expected;
        const auto terms = static_cast<double>(layer_.terms());
        double allowed = allowed_error(precision_, terms, sum_scale(), expected);
        if (device_) allowed += device_->lost * std::hypot(sum_scale(), expected);
        return (got - expected) / allowed;
    }
    double bound() const { return is_int8() ? 0 : 1; }

    /// The smallest damage that is promised to be seen: in fp32 what inputs rounded to bf16 would do, in
    /// bf16 and fp16 a few of their steps, in integers one.
    float damaged(float value) const {
        if (is_int8()) return value < 255 ? value + 1 : value - 1;
        const double size = std::fmax(value, sum_scale());
        return value + static_cast<float>(size * damage());
    }
    /// In units of a result or of a typical sum, whichever is larger.
    double damage() const {
        if (precision_ == Precision::fp16) return 0x1p-7;
        return precision_ == Precision::bf16 ? 0x1p-5 : 0x1p-9;
    }

private:
    std::int64_t source_at(std::int64_t result, std::int64_t in_kernel) const {
        return result * layer_.stride + in_kernel - layer_.padding();
    }
    bool is_inside(std::int64_t at) const { return at >= 0 && at < layer_.size; }
    bool is_int8() const { return precision_ == Precision::int8; }
    float value(const Numbers& of, std::uint64_t i) const {
        return random_value(precision_, of.seed, i, of.low, of.high);
    }

    Layer layer_;
    Precision precision_;
    std::optional<OnDevice> device_;
    std::uint64_t seed_;
};

} // namespace assay::workload
