// SPDX-License-Identifier: Apache-2.0

#include "convolution_run.hpp"
#include "unet3d.hpp"

namespace assay::workload {
namespace {

/// By their place in the table, and the whole network.
enum class Which : std::int8_t { all = -1, enc0 = 1, enc2 = 5, enc3_down = 6, enc4 = 9, dec3 = 13 };

std::vector<Layer> layers_of(Which which, std::int64_t patch) {
    return layers_of(unet3d(patch), place_of(which));
}

class Convolutions3d : public LayersInOrder {
public:
    struct Params {
        Which layer = Which::dec3;
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
    static constexpr std::tuple axes{
        choice("layer", "a layer of the 3D U-Net, or all 23", &Params::layer,
               {Name{"all", Which::all}, Name{"enc0", Which::enc0}, Name{"enc2", Which::enc2},
                Name{"enc3_down", Which::enc3_down}, Name{"enc4", Which::enc4},
                Name{"dec3", Which::dec3}},
               {Which::enc2, Which::dec3}),
        integer("patch", "edge of the volumes in voxels, a multiple of 32", "", &Params::patch,
                {128}, {unet3d_reduction, 512}),
        integer("batch", "volumes at a time", "", &Params::batch, {1}, {1, 64}),
        choice("precision", "type of inputs and outputs", &Params::precision,
               {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16},
                Name{"int8", Precision::int8}}),
        threads_axis(&Params::threads, {Symbol::all}),
    };
    static constexpr bool single_call =
        true; // a call is a batch of volumes, as a user waits for it

    static Fit fit(const Params& p, const Machine& m) {
        if (p.patch % unet3d_reduction != 0)
            return Fit::no("patch must be a multiple of 32, by which the network reduces it");
        return fits(layers_of(p.layer, p.patch), p.batch, p.precision, p.threads, m);
    }

    Convolutions3d(const Params& p, const Context& context)
        : LayersInOrder{layers_of(p.layer, p.patch),
                        p.layer == Which::all,
                        p.batch,
                        p.precision,
                        p.threads,
                        context} {}
};

} // namespace

extern constinit const assay_benchmark convolution3d = define<Convolutions3d>();

} // namespace assay::workload
