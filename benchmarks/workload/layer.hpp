// SPDX-License-Identifier: Apache-2.0
//
// A convolution of a network, on images or on volumes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::workload {

/// Layers of equal shape. Channels, edge of the input (a square or a cube), of the kernel, and stride; as much padding
/// as keeps the size at a stride of one.
struct Layer {
    const char* name;
    std::int64_t count; ///< how often it occurs in the network
    std::int64_t inputs;
    std::int64_t outputs;
    std::int64_t size;
    std::int64_t kernel;
    std::int64_t stride;
    int dims = 2; ///< of an image: 2, or 3

    constexpr std::int64_t padding() const { return kernel / 2; }
    constexpr std::int64_t output_size() const {
        return (size + 2 * padding() - kernel) / stride + 1;
    }
    /// Elements for one image.
    constexpr std::int64_t source_elements() const { return inputs * all_of(size); }
    constexpr std::int64_t result_elements() const { return outputs * all_of(output_size()); }
    constexpr std::int64_t weights() const { return outputs * terms(); }
    /// Products of one output.
    constexpr std::int64_t terms() const { return inputs * all_of(kernel); }

    /// Multiplications for one image, those with the zeros of the padding included, as the literature
    /// counts them.
    constexpr std::int64_t nominal_products() const { return result_elements() * terms(); }
    /// Those with elements of the image: what must really be done.
    constexpr std::int64_t products() const {
        std::int64_t along = 0; // of one row: pairs of an output and a place of the kernel
        for (std::int64_t out = 0; out < output_size(); ++out)
            for (std::int64_t k = 0; k < kernel; ++k) {
                const std::int64_t at = out * stride + k - padding();
                along += at >= 0 && at < size ? 1 : 0;
            }
        return all_of(along) * inputs * outputs;
    }

private:
    /// Total over a square or cube with this edge.
    constexpr std::int64_t all_of(std::int64_t edge) const {
        return edge * edge * (dims == 3 ? edge : 1);
    }
};

/// Place of the chosen layer; none for all (-1).
template <class Which>
std::optional<std::size_t> place_of(Which which) {
    if (which == Which::all) return {};
    return static_cast<std::size_t>(which);
}

/// The layer at this place of a network, or all of them, each as often as it occurs.
template <class Network>
std::vector<Layer> layers_of(const Network& network, std::optional<std::size_t> place) {
    if (place) return {network.at(*place)};
    std::vector<Layer> layers;
    for (const Layer& layer : network)
        layers.insert(layers.end(), static_cast<std::size_t>(layer.count), layer);
    return layers;
}

} // namespace assay::workload
