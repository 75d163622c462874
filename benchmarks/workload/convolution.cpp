// SPDX-License-Identifier: Apache-2.0

#include "convolution_run.hpp"
#include "resnet50.hpp"

namespace assay::workload {
namespace {

class Convolutions : public LayersInOrder {
public:
    struct Params {
        OfResNet50 layer = OfResNet50::all;
        std::int64_t batch = 1;
        Precision precision = Precision::fp32;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "workload.convolution",
        .question = "How fast does this machine run the convolutions of ResNet-50?",
        .method = "Forward convolutions with fused bias and ReLU, as in inference, on 224 x 224 "
                  "images: one layer, or all 53 in order. fp32; bf16 in and out; int8: unsigned "
                  "activations, signed weights, requantised. Each occurrence of a layer has its "
                  "own weights, input and output. A sample of the outputs of every layer, spread "
                  "evenly, is recomputed in fp64 from the random seed: exactly for int8, else "
                  "within the rounding of fp32 sums (and of bf16 outputs).",
        .caveats =
            "The rate of a library in layouts of its choice; reordering data into them is not "
            "timed. Products with zero padding are not counted (four percent of the usual 4.1e9 "
            "per image). Layers are independent: residual additions, pooling and the classifier "
            "are left out, and inputs are colder than in the network. No Winograd.",
        .headline = "flop_rate",
        .ceiling = "peak.fma peak.dot",
        .noise = Noise::workload,
        .items = "images",
        .reproducible = true,
    };
    static constexpr auto axes = std::tuple_cat(
        resnet50_axes<Params>,
        std::tuple{choice("precision", "type of inputs and outputs", &Params::precision,
                          {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16},
                           Name{"int8", Precision::int8}}),
                   threads_axis(&Params::threads, {Symbol::all})});
    static constexpr bool single_call = true; // a call is a batch of images, as a user waits for it

    static Fit fit(const Params& p, const Machine& m) {
        return fits(layers_of(p.layer), p.batch, p.precision, p.threads, m);
    }

    Convolutions(const Params& p, const Context& context)
        : LayersInOrder{layers_of(p.layer),
                        p.layer == OfResNet50::all,
                        p.batch,
                        p.precision,
                        p.threads,
                        context} {}
};

} // namespace

extern constinit const assay_benchmark convolution = define<Convolutions>();

} // namespace assay::workload
