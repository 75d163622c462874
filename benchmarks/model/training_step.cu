// SPDX-License-Identifier: Apache-2.0
#include "model/training_network.cuh"

#include <array>

namespace assay::model::training {
namespace {

struct Params {
    Trained model = Trained::gpt2_124m;
    std::int64_t batch = 32;
    std::int64_t sequence = 1024;
    std::int64_t layers = 0;
    workload::Format precision = workload::Format::bf16;

    TrainingShape shape() const {
        TrainingShape shape = shape_of(model);
        if (layers > 0) shape.layers = std::min(shape.layers, layers);
        shape.batch = batch;
        shape.sequence = sequence;
        return shape;
    }
};

class TrainingStep : private device::Place, public Training {
public:
    using Params = training::Params;
    static constexpr Info info{
        .id = "model.training_step",
        .question = "How many tokens a second does this device train a transformer with?",
        .method =
            "One step of training: forward pass, cross entropy of every token, backward pass, "
            "clipping of the gradient's norm, AdamW. Weights and activations are bf16; sums, "
            "gradients of weights, moments and the optimizer's copy of the parameters are fp32. "
            "Products are cuBLASLt's, each kind by the fastest algorithm of a trial, with bias and "
            "residual in the same call; the rest is kernels of this program, without atomic sums. "
            "All of it is one CUDA graph. The optimizer reads one state and writes another, so "
            "that each call is the same step. Weights, tokens and targets are random. Every "
            "activation and gradient of every layer is kept, and a sample of its numbers is "
            "recomputed in fp64 from what the stages before stored.",
        .caveats =
            "FLOP are 6 for each parameter and token, and 6 x layers x width x sequence for each "
            "token with a causal mask, 12 without; recomputed scores are not counted. gpt2_124m: "
            "vocabulary of 50304, every row a class, and exact GELU, as in nanoGPT. bert_large: "
            "norms behind the blocks, no mask, vocabulary of 30528, at most 512 tokens; the tied "
            "head is directly behind the last norm, and every token has a loss. No dropout, no "
            "segments, no data loading, no accumulation of gradients, no communication. Stages are "
            "kept for the check: a step needs more memory than a framework's.",
        .headline = "item_rate",
        .ceiling = "peak.tensor",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::workload,
        .items = "tokens",
    };
    static constexpr std::tuple axes{
        choice("model", "shape of the model; tiny: to try it out", &Params::model,
               {Name{"tiny", Trained::tiny}, Name{"gpt2_124m", Trained::gpt2_124m},
                Name{"bert_large", Trained::bert_large}},
               {Trained::gpt2_124m}),
        integer("batch", "sequences of a step", "", &Params::batch, {8, 32, 64}, {1, 4096}),
        integer("sequence", "tokens of a sequence, a multiple of 16", "", &Params::sequence, {1024},
                {16, 1024}),
        integer("layers", "layers at most, for a quick look; 0: all", "", &Params::layers, {0},
                {0, 1024}),
        choice("precision", "type of weights and activations; sums are fp32", &Params::precision,
               {Name{"bf16", workload::Format::bf16}}),
    };
    static constexpr bool single_call = true; // a call is a step

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const TrainingShape shape = p.shape();
        if (shape.sequence % tile != 0 || shape.sequence > shape.positions)
            return Fit::needs(false,
                              "a sequence that is a multiple of 16 and within the "
                              "positions of this model: at most ",
                              shape.positions, " tokens, not ", shape.sequence);
        const std::int64_t workspace = gemm::workspace_bytes(product_precision, {});
        if (Fit fit = device::fits_device(shape.bytes() + workspace, 80); !fit) return fit;
        const gemm::Shape head{shape.vocabulary, shape.tokens(), shape.hidden};
        return gemm::fits_product({.precision = product_precision}, std::array{head});
    }

    TrainingStep(const Params& p, const Context& context)
        : Training{p.shape(), static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
    void metrics(Metrics& metrics) const { metrics.add("planning_time", planning_seconds()); }
};

} // namespace
} // namespace assay::model::training

namespace assay::model {
extern constinit const assay_benchmark cublaslt_training_step = define<training::TrainingStep>();
} // namespace assay::model
