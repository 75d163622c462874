// SPDX-License-Identifier: Apache-2.0
#include "workload/cudnn_layers.cuh"
#include "workload/resnet50.hpp"
#include "workload/unet3d.hpp"

namespace assay::workload {
namespace {

template <class Params>
constexpr std::tuple device_precisions{
    choice("precision", "type of inputs and outputs; tf32 is stored in 32 bits", &Params::precision,
           {Name{"fp32", Precision::fp32}, Name{"tf32", Precision::tf32},
            Name{"fp16", Precision::fp16}, Name{"bf16", Precision::bf16}})};

class DeviceConvolutions : public DeviceLayers {
public:
    struct Params {
        OfResNet50 layer = OfResNet50::all;
        std::int64_t batch = 1;
        Precision precision = Precision::bf16;
    };
    static constexpr Info info{
        .id = "workload.convolution",
        .question = "How fast does this device run the convolutions of ResNet-50?",
        .method =
            "Forward convolutions with fused bias and ReLU, as in inference, on 224 x 224 "
            "images: one layer, or all 53 in order, by graphs of cuDNN that are launched as one "
            "CUDA graph. Channels lie last; sums are fp32. fp32 is without matrix units, and "
            "channels lie first; tf32 is with them. Each occurrence of a layer has its own "
            "weights, input and output. For each layer the fastest plan is chosen in a trial of a "
            "second: what the library lists, its other engines, then each setting of the best two. "
            "A sample of the outputs of every layer, spread evenly, is recomputed in fp64 from the "
            "random seed, within the rounding of sums and outputs.",
        .caveats =
            "The rate of a library: another version may be faster. Products with zero padding are "
            "not counted (four percent of the usual 4.1e9 per image). Layers are independent: "
            "residual additions, pooling and the classifier are left out. No Winograd, and nothing "
            "whose results change from call to call. A small batch does not fill a device.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.tensor",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::workload,
        .items = "images",
    };
    static constexpr auto axes = std::tuple_cat(resnet50_axes<Params>, device_precisions<Params>);
    static constexpr bool single_call = true; // a call is a batch of images, as a user waits for it

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return fits(layers_of(p.layer), p.batch, p.precision);
    }
    DeviceConvolutions(const Params& p, const Context& context)
        : DeviceLayers{layers_of(p.layer), p.layer == OfResNet50::all, p.batch, p.precision,
                       context} {}
};

class DeviceConvolutions3d : public DeviceLayers {
public:
    struct Params {
        OfUNet3d layer = OfUNet3d::dec3;
        std::int64_t patch = 128;
        std::int64_t batch = 1;
        Precision precision = Precision::bf16;
    };
    static constexpr Info info{
        .id = "workload.convolution3d",
        .question = "How fast does this device run the convolutions of a 3D U-Net?",
        .method =
            "Forward convolutions with fused bias and ReLU, as in inference, of the 3D U-Net that "
            "nnU-Net makes for large volumes (32 to 320 channels, six levels), on cubes of `patch` "
            "voxels: one layer, or all 23 in order, by graphs of cuDNN. Layouts, precisions, "
            "choice "
            "of engines and check are those of workload.convolution.",
        .caveats =
            "The rate of a library: another version may be faster. Products with zero padding "
            "are not counted. Transposed convolutions, which have 1.8 of 31 million weights, "
            "and normalisation are left out.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.tensor",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::workload,
        .items = "patches",
    };
    static constexpr auto axes = std::tuple_cat(unet3d_axes<Params>, device_precisions<Params>);
    static constexpr bool single_call = true; // a call is a batch of volumes

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (Fit fit = fits_unet3d(p.patch); !fit) return fit;
        return fits(layers_of(p.layer, p.patch), p.batch, p.precision);
    }
    DeviceConvolutions3d(const Params& p, const Context& context)
        : DeviceLayers{layers_of(p.layer, p.patch), p.layer == OfUNet3d::all, p.batch, p.precision,
                       context} {}
};

void report(const Context& context) {
    if (!cudnn::why_no_library().empty()) throw cudnn::LibraryError{cudnn::why_no_library()};
    context.setting("cudnn.version", cudnn::version());
}

} // namespace

extern constinit const assay_benchmark device_convolution = define<DeviceConvolutions>();
extern constinit const assay_benchmark device_convolution3d = define<DeviceConvolutions3d>();

} // namespace assay::workload

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{
    .facts = assay::facts<assay::workload::report, assay::device::report_versions>};
