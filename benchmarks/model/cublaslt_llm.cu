// SPDX-License-Identifier: Apache-2.0
#include "cublaslt_llm.cuh"

namespace assay::model {
namespace {

// NOLINTNEXTLINE(*-avoid-c-arrays): as choice() takes it
constexpr Name<Precision> types[] = {{"bf16", Precision::bf16}, {"fp8", Precision::fp8}};
template <class Params>
constexpr auto precision_axis = choice(
    "precision",
    "type of the layers' weights and of what they are multiplied with; fp8 is e4m3; sums are "
    "fp32, other numbers bf16",
    &Params::precision, types, {Precision::bf16});

class LlmDecode : public LlmOnDevice {
public:
    struct Params {
        Llm model = Llm::llama3_8b;
        std::int64_t batch = 1;
        std::int64_t context = 1536;
        std::int64_t layers = 0;
        Shards shards = Shards::one;
        Precision precision = Precision::bf16;
        Precision cache = Precision::bf16;
    };
    static constexpr Info info{
        .id = "model.llm_decode",
        .question = "How many tokens a second does this device decode with a whole language model?",
        .method =
            "One token of each sequence: embedding, all layers (RMSNorm, projection, rotary "
            "positions, the new row of the cache, attention to `context` tokens, output, gated "
            "perceptron), head, and the most likely token. Products are cuBLASLt's, or for up to "
            "four tokens a kernel of this program, each the fastest in a trial that goes round "
            "the layers, so that weights come from memory. All of it is one CUDA graph. Weights "
            "are random. In each layer, a sample of what each stage stored is recomputed in fp64 "
            "from what the stage before stored, within the rounding of sums and of storing; the "
            "chosen tokens are compared with all scores. With precision=fp8, weights of layers "
            "are e4m3 numbers times a static power of two for each tensor. Kernels store what "
            "enters these products in bf16 and, rounded once more, in fp8; both are checked. "
            "Sums do not use the fast accumulation; head, embedding and results stay bf16. "
            "cache=fp8 stores keys and values in the same way.",
        .caveats =
            "One step at a fixed position, closed loop, no server: a call writes the same rows of "
            "the cache again. A context that grows, pages of a cache, sampling and tokenising cost "
            "more. Bytes are the weights in products and the cache of all sequences, once; FLOP "
            "2 for each weight and token, and attention. Random numbers take more power than "
            "trained weights. `shards=8` is one of eight devices, without the all-reduce. Scales "
            "of fp8 are known from the random numbers: trained models need calibration, and "
            "scales found for each token or block cost more.",
        .headline = "item_rate",
        .ceiling = "memory.stream peak.tensor",
        .place = "cuda",
        .bound = Bound::memory,
        .noise = Noise::workload,
        .items = "tokens",
    };
    static constexpr std::tuple axes{
        llm::model_axis<Params>,
        integer("batch", "sequences decoded together", "", &Params::batch, {1, 16, 64}, {1, 4096}),
        integer("context", "tokens of a sequence, the new one included", "", &Params::context,
                {1536}, {2, 131072}),
        llm::layers_axis<Params>,
        llm::shards_axis<Params>,
        precision_axis<Params>,
        choice("cache", "type of cached keys and values", &Params::cache, types, {Precision::bf16}),
    };
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return fits(step_of(p, p.context, 1), narrow(p));
    }
    LlmDecode(const Params& p, const Context& context)
        : LlmOnDevice{step_of(p, p.context, 1), narrow(p), context} {}

private:
    static LlmNarrow narrow(const Params& p) {
        return {.products = p.precision == Precision::fp8, .cache = p.cache == Precision::fp8};
    }
};

class LlmPrefill : public LlmOnDevice {
public:
    struct Params {
        Llm model = Llm::llama3_8b;
        std::int64_t batch = 1;
        std::int64_t tokens = 2048;
        std::int64_t layers = 0;
        Shards shards = Shards::one;
        Precision precision = Precision::bf16;
    };
    static constexpr Info info{
        .id = "model.llm_prefill",
        .question = "How many tokens a second of a prompt does this device take in with a whole "
                    "language model?",
        .method =
            "All tokens of each prompt through all layers, keys and values to the cache, the head "
            "for the last token alone: the time of a call is the least time to the first token. "
            "Products are cuBLASLt's, each by the fastest algorithm of a trial; causal attention "
            "by matrix instructions, norms, rotary positions and gates are kernels of this "
            "program. All of it is one CUDA graph. Weights are random. fp8 is used and each "
            "stage of each layer is checked as in model.llm_decode; the cache is bf16.",
        .caveats = "Closed loop, no server: no queue, no batching of arrivals, no cached prefix. "
                   "FLOP are 2 for each weight and token, and attention to the tokens before. "
                   "Attention reads keys and values from the caches without shared memory: prompts "
                   "beyond some thousand tokens are slower than by the best kernels known. "
                   "Scales of fp8 are static, as in model.llm_decode.",
        .headline = "item_rate",
        .ceiling = "peak.tensor",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::workload,
        .items = "tokens",
    };
    static constexpr std::tuple axes{
        llm::model_axis<Params>,
        integer("batch", "prompts at a time", "", &Params::batch, {1}, {1, 4096}),
        integer("tokens", "of a prompt", "", &Params::tokens, {512, 2048, 8192}, {1, 131072}),
        llm::layers_axis<Params>,
        llm::shards_axis<Params>,
        precision_axis<Params>,
    };
    static constexpr bool single_call = true;

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        return fits(step_of(p, p.tokens, p.tokens), narrow(p));
    }
    LlmPrefill(const Params& p, const Context& context)
        : LlmOnDevice{step_of(p, p.tokens, p.tokens), narrow(p), context} {}

private:
    static LlmNarrow narrow(const Params& p) { return {.products = p.precision == Precision::fp8}; }
};

} // namespace

extern constinit const assay_benchmark cublaslt_llm_decode = define<LlmDecode>();
extern constinit const assay_benchmark cublaslt_llm_prefill = define<LlmPrefill>();

} // namespace assay::model
