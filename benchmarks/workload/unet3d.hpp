// SPDX-License-Identifier: Apache-2.0
//
// The convolutions of the 3D U-Net that nnU-Net makes for large volumes (Isensee et al. 2021, "3d_fullres"): six
// levels, each half as wide in every direction as the one above, two convolutions in each on the way down and on the
// way up.

#pragma once

#include "layer.hpp"

#include <assay/axes.hpp>
#include <assay/machine.hpp>

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

namespace assay::workload {

/// Total reduction of sizes, down to the last level.
inline constexpr std::int64_t unet3d_reduction = 32;

/// For volumes of patch x patch x patch, a multiple of 32; in the order of the network, where the second convolution of
/// a level also stands for the equal one on the way up.
constexpr std::array<Layer, 18> unet3d(std::int64_t patch) {
    return {Layer{"enc0_first", 1, 1, 32, patch, 3, 1, 3},
            {"enc0", 2, 32, 32, patch, 3, 1, 3},
            {"enc1_down", 1, 32, 64, patch, 3, 2, 3},
            {"enc1", 2, 64, 64, patch / 2, 3, 1, 3},
            {"enc2_down", 1, 64, 128, patch / 2, 3, 2, 3},
            {"enc2", 2, 128, 128, patch / 4, 3, 1, 3},
            {"enc3_down", 1, 128, 256, patch / 4, 3, 2, 3},
            {"enc3", 2, 256, 256, patch / 8, 3, 1, 3},
            {"enc4_down", 1, 256, 320, patch / 8, 3, 2, 3},
            {"enc4", 2, 320, 320, patch / 16, 3, 1, 3},
            {"bottom_down", 1, 320, 320, patch / 16, 3, 2, 3},
            {"bottom", 1, 320, 320, patch / 32, 3, 1, 3},
            // Skipped connections come beside what comes from below.
            {"dec4", 1, 640, 320, patch / 16, 3, 1, 3},
            {"dec3", 1, 512, 256, patch / 8, 3, 1, 3},
            {"dec2", 1, 256, 128, patch / 4, 3, 1, 3},
            {"dec1", 1, 128, 64, patch / 2, 3, 1, 3},
            {"dec0", 1, 64, 32, patch, 3, 1, 3},
            {"output", 1, 32, 3, patch, 1, 1, 3}};
}

/// By their place in the table, and the whole network.
enum class OfUNet3d : std::int8_t {
    all = -1,
    enc0 = 1,
    enc2 = 5,
    enc3_down = 6,
    enc4 = 9,
    dec3 = 13
};

inline std::vector<Layer> layers_of(OfUNet3d which, std::int64_t patch) {
    return layers_of(unet3d(patch), place_of(which));
}
inline Fit fits_unet3d(std::int64_t patch) {
    if (patch % unet3d_reduction == 0) return Fit::yes();
    return Fit::no("patch must be a multiple of 32, by which the network reduces it");
}

template <class Params>
inline constexpr std::tuple unet3d_axes{
    choice("layer", "a layer of the 3D U-Net, or all 23", &Params::layer,
           {Name{"all", OfUNet3d::all}, Name{"enc0", OfUNet3d::enc0}, Name{"enc2", OfUNet3d::enc2},
            Name{"enc3_down", OfUNet3d::enc3_down}, Name{"enc4", OfUNet3d::enc4},
            Name{"dec3", OfUNet3d::dec3}},
           {OfUNet3d::enc2, OfUNet3d::dec3}),
    integer("patch", "edge of the volumes in voxels, a multiple of 32", "", &Params::patch, {128},
            {unet3d_reduction, 512}),
    integer("batch", "volumes at a time", "", &Params::batch, {1}, {1, 64}),
};

} // namespace assay::workload
