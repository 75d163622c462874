// SPDX-License-Identifier: Apache-2.0

#include "convolution_run.hpp"
#include "unet3d.hpp"

namespace assay::workload {
namespace {

class Convolutions3d : public LayersInOrder {
public:
    struct Params {
        OfUNet3d layer = OfUNet3d::dec3;
        std::int64_t patch = 128;
        std::int64_t batch = 1;
        Precision precision = Precision::fp32;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "workload.convolution3d",
        .question = "How fast does this machine run the convolutions of a 3D U-Net?",
        .method =
            "Forward convolutions with fused bias and ReLU, as in inference, of the 3D U-Net that "
            "nnU-Net makes for large volumes (32 to 320 channels, six levels), on cubes of `patch` "
            "voxels: one layer, or all 23 in order. fp32; bf16 in and out; int8: unsigned "
            "activations, signed weights, requantised. A sample of the outputs of every layer, "
            "spread evenly, is recomputed in fp64 from the random seed: exactly for int8, else "
            "within the rounding of fp32 sums (and of bf16 outputs).",
        .caveats =
            "The rate of a library in layouts of its choice. Products with zero padding are "
            "not counted. Transposed convolutions, which have 1.8 of 31 million weights, and "
            "normalisation are left out. All layers of a cube of 128 take 4 GB in fp32, and "
            "seconds on a few cores.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.dot",
        .noise = Noise::workload,
        .items = "patches",
        .reproducible = true,
    };
    static constexpr auto axes = std::tuple_cat(
        unet3d_axes<Params>,
        std::tuple{choice("precision", "type of inputs and outputs", &Params::precision,
                          {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16},
                           Name{"int8", Precision::int8}}),
                   threads_axis(&Params::threads, {Symbol::all})});
    static constexpr bool single_call =
        true; // a call is a batch of volumes, as a user waits for it

    static Fit fit(const Params& p, const Machine& m) {
        if (Fit fit = fits_unet3d(p.patch); !fit) return fit;
        return fits(layers_of(p.layer, p.patch), p.batch, p.precision, p.threads, m);
    }

    Convolutions3d(const Params& p, const Context& context)
        : LayersInOrder{layers_of(p.layer, p.patch),
                        p.layer == OfUNet3d::all,
                        p.batch,
                        p.precision,
                        p.threads,
                        context} {}
};

} // namespace

extern constinit const assay_benchmark convolution3d = define<Convolutions3d>();

} // namespace assay::workload
