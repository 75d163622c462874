// SPDX-License-Identifier: Apache-2.0
//
// The convolutions of ResNet-50 (He, Zhang, Ren, Sun 2016, table 1) for images of 224 x 224, in the
// version that everybody runs: the 3 x 3 convolution of a stage's first block has the stride of two,
// and not the 1 x 1 before it ("v1.5").

#pragma once

#include "layer.hpp"

#include <assay/axes.hpp>

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

namespace assay::workload {

// In the order of the network. `expand` of stage 2 is also the shape of its shortcut.
inline constexpr std::array resnet50{
    Layer{"conv1", 1, 3, 64, 224, 7, 2},          Layer{"res2a_reduce", 1, 64, 64, 56, 1, 1},
    Layer{"res2_3x3", 3, 64, 64, 56, 3, 1},       Layer{"res2_expand", 4, 64, 256, 56, 1, 1},
    Layer{"res2_reduce", 2, 256, 64, 56, 1, 1},   Layer{"res3a_reduce", 1, 256, 128, 56, 1, 1},
    Layer{"res3a_3x3", 1, 128, 128, 56, 3, 2},    Layer{"res3a_shortcut", 1, 256, 512, 56, 1, 2},
    Layer{"res3_expand", 4, 128, 512, 28, 1, 1},  Layer{"res3_reduce", 3, 512, 128, 28, 1, 1},
    Layer{"res3_3x3", 3, 128, 128, 28, 3, 1},     Layer{"res4a_reduce", 1, 512, 256, 28, 1, 1},
    Layer{"res4a_3x3", 1, 256, 256, 28, 3, 2},    Layer{"res4a_shortcut", 1, 512, 1024, 28, 1, 2},
    Layer{"res4_expand", 6, 256, 1024, 14, 1, 1}, Layer{"res4_reduce", 5, 1024, 256, 14, 1, 1},
    Layer{"res4_3x3", 5, 256, 256, 14, 3, 1},     Layer{"res5a_reduce", 1, 1024, 512, 14, 1, 1},
    Layer{"res5a_3x3", 1, 512, 512, 14, 3, 2},    Layer{"res5a_shortcut", 1, 1024, 2048, 14, 1, 2},
    Layer{"res5_expand", 3, 512, 2048, 7, 1, 1},  Layer{"res5_reduce", 2, 2048, 512, 7, 1, 1},
    Layer{"res5_3x3", 2, 512, 512, 7, 3, 1},
};

/// Those that stand for their kind, by their place in the table, and the whole network.
enum class OfResNet50 : std::int8_t {
    all = -1,
    conv1 = 0,
    res2_3x3 = 2,
    res2_expand = 3,
    res3_3x3 = 10,
    res4_expand = 14,
    res4_3x3 = 16,
    res5a_shortcut = 19,
    res5_3x3 = 22,
};
inline std::vector<Layer> layers_of(OfResNet50 which) {
    return layers_of(resnet50, place_of(which));
}

template <class Params>
inline constexpr std::tuple resnet50_axes{
    choice("layer", "a layer of ResNet-50, or all 53", &Params::layer,
           {Name{"all", OfResNet50::all}, Name{"conv1", OfResNet50::conv1},
            Name{"res2_3x3", OfResNet50::res2_3x3}, Name{"res2_expand", OfResNet50::res2_expand},
            Name{"res3_3x3", OfResNet50::res3_3x3}, Name{"res4_expand", OfResNet50::res4_expand},
            Name{"res4_3x3", OfResNet50::res4_3x3},
            Name{"res5a_shortcut", OfResNet50::res5a_shortcut},
            Name{"res5_3x3", OfResNet50::res5_3x3}},
           {OfResNet50::all}),
    integer("batch", "images at a time", "", &Params::batch, {1, 16}, {1, 4096}),
};

} // namespace assay::workload
