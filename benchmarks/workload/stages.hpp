// SPDX-License-Identifier: Apache-2.0
//
// What a network stores, stage by stage, and the check of it: a sample of each stage's numbers is recomputed in fp64
// from what the stage before has stored. Errors cannot add up from stage to stage, so a deep network needs no wider
// bounds than one layer, whatever library computes it.

#pragma once

#include "precision.hpp"
#include "samples.hpp"

#include <assay/define.hpp>
#include <assay/text.hpp>
#include <assay/verify.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace assay::workload {

/// The expected result, and its largest error.
struct Expected {
    double value;
    double allowed;
    /// In units of what is allowed.
    double error(double got) const { return (got - value) / allowed; }
};

/// The smallest damage that is promised to be seen, of a stored number whose kind is of size one or a tenth: in fp32
/// what inputs rounded to bf16 would do, in bf16 a sixteenth, in fp16 as many of its roundings, in fp8 a quarter, and two
/// steps of 8 bits (one may be a tie).
inline float damaged(Precision precision, float value) {
    if (precision == Precision::int8) return value > 1 ? value - 2 : value + 2; // unsigned, too
    if (precision == Precision::fp8) return value + 0x1p-2F * std::fmax(std::fabs(value), 0.5F);
    if (precision == Precision::bf16) return value + 0x1p-4F * std::fmax(std::fabs(value), 0.5F);
    if (precision == Precision::fp16) return value + 0x1p-7F * std::fmax(std::fabs(value), 0.5F);
    return value + 0x1p-9F * std::fmax(std::fabs(value), 0.1F);
}

/// The stored tensor, the part of it that is checked, and its expected values.
template <class Tensor>
struct Stage {
    Tensor* tensor;
    std::size_t elements;
    std::size_t samples;
    Precision precision; ///< it is stored in
    float size;          ///< of its numbers, about
    std::function<Expected(std::size_t at)> expect;
    std::string name{}; ///< "layer 3, attention"; "": it is known by its number
    /// Where an element lies in the tensor, and what poisons the elements, for a stage that writes part of a tensor;
    /// none: the stage is the whole tensor, in its order.
    std::function<std::size_t(std::size_t at)> lies_at{};
    std::function<void()> poison{};

    std::size_t place(std::size_t at) const { return lies_at ? lies_at(at) : at; }
    float element(std::size_t at) const { return tensor->element(place(at)); }
};

/// A tensor has element(i), change(slice, f) that makes f(element) of some elements, poison() and output(). Stays where
/// it is.
template <class Tensor>
class Stages {
public:
    Check verify() const {
        constexpr auto method =
            "a sample of what each stage stored, recomputed in fp64 from what the stage before has "
            "stored; 1 is several standard deviations of rounding in fp32, and one rounding where "
            "it is stored, half a step in int8";
        double largest = 0;
        for (const auto& stage : stages_) {
            const Samples at = samples(stage);
            const auto error = [&](std::size_t i) {
                return stage.expect(at[i]).error(stage.element(at[i]));
            };
            Check check = check_each(at.size(), error, 1, method);
            if (check.passed) {
                largest = std::fmax(largest, check.error);
                continue;
            }
            const std::size_t worst = at[detail::find_worst(at.size(), error).index];
            const Expected expected = stage.expect(worst);
            check.detail =
                joined(name_of(stage), ", element ", worst, ": got ", stage.element(worst),
                       ", expected ", expected.value, " within ", expected.allowed);
            return check;
        }
        return check_value(largest, 1, method);
    }
    /// Outputs of every stage: a wrong stage may be hidden by the next. Stages that write part of a tensor are checked
    /// by verify() alone.
    Outputs outputs() const {
        Outputs all;
        for (const auto& stage : stages_)
            if (!stage.lies_at) all.push_back(stage.tensor->output());
        return all;
    }
    void poison() {
        for (const auto& stage : stages_) {
            if (stage.poison)
                stage.poison();
            else
                stage.tensor->poison();
        }
        ++round_;
    }
    /// Results of one stage, as many in a row as surely hold a sample.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const auto& stage = stages_[pick % stages_.size()];
        const Slice damage = samples(stage).damage(pick >> 16U);
        const auto change = [&](float value) {
            return stage.size * damaged(stage.precision, value / stage.size);
        };
        if (!stage.lies_at) return stage.tensor->change(damage, change);
        for (std::size_t i = damage.first; i < damage.last; ++i) {
            const std::size_t place = stage.place(i);
            stage.tensor->change({.first = place, .last = place + 1}, change);
        }
    }

protected:
    std::vector<Stage<Tensor>> stages_;

private:
    Samples samples(const Stage<Tensor>& stage) const {
        return {stage.elements, stage.samples, round_};
    }
    std::string name_of(const Stage<Tensor>& stage) const {
        if (!stage.name.empty()) return stage.name;
        return joined("stage ", &stage - stages_.data() + 1, " of ", stages_.size());
    }

    std::uint64_t round_ = 0; // of samples
    Picks spoils_{51};
};

} // namespace assay::workload
