// SPDX-License-Identifier: Apache-2.0

#include "../workload/onednn.hpp"
#include "llm_host_attention.hpp"
#include "llm_host_kernels.hpp"
#include "llm_stages.hpp"

#include <assay/define.hpp>

#include <array>
#include <deque>
#include <initializer_list>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

namespace assay::model {
namespace {

using workload::Argument;
using workload::Tensor;

/// The products of a step; the first four are in each layer.
enum Product : std::uint8_t { qkv, output, gate_up, down, head };
constexpr std::array product_names{"qkv", "output", "gate_up", "down", "head"};
constexpr std::size_t products = product_names.size();

struct ProductShape {
    std::int64_t rows, inputs, outputs;
    bool adds; ///< the residual

    static std::array<ProductShape, products> all_of(const LlmStep& step) {
        const LlmShape& s = step.shape;
        return {{{step.tokens(), s.hidden, s.qkv_width(), false},
                 {step.tokens(), s.query_width(), s.hidden, true},
                 {step.tokens(), s.hidden, 2 * s.inner, false},
                 {step.tokens(), s.inner, s.hidden, true},
                 {step.batch, s.hidden, s.vocabulary, false}}};
    }
    dnnl::matmul::primitive_desc plan(workload::Data type, const dnnl::engine& engine) const {
        using workload::Layout;
        const dnnl::memory::desc in{{rows, inputs}, type, Layout::ab};
        const dnnl::memory::desc out{{rows, outputs}, type, Layout::ab};
        dnnl::post_ops after;
        if (adds) after.append_binary(dnnl::algorithm::binary_add, out);
        dnnl::primitive_attr attributes;
        attributes.set_post_ops(after);
        return {{in, {{inputs, outputs}, type, Layout::any}, out}, attributes, engine};
    }
};

/// Where weights lie, in whatever layout: a sum of two parts.
struct Places {
    std::vector<std::size_t> inputs, outputs;

    Places() = default;
    explicit Places(const dnnl::memory::desc& desc) {
        const auto place = [&](std::int64_t input, std::int64_t output) {
            const std::array at{input, output};
            return static_cast<std::size_t>(workload::offset_of(desc.data, at));
        };
        for (std::int64_t k = 0; k < desc.dims()[0]; ++k) inputs.push_back(place(k, 0));
        for (std::int64_t n = 0; n < desc.dims()[1]; ++n) outputs.push_back(place(0, n));
    }
    /// Whether PanelProduct takes them.
    bool are_panels() const {
        constexpr std::size_t width = PanelProduct::width;
        bool are = inputs.size() % 2 == 0 && outputs.size() % width == 0;
        for (std::size_t k = 0; k < inputs.size(); ++k)
            are = are && inputs[k] == k / 2 * 2 * width + k % 2;
        for (std::size_t n = 0; n < outputs.size(); ++n)
            are = are && outputs[n] == n / width * width * inputs.size() + n % width * 2;
        return are;
    }
};

/// T as LlmRows has it.
template <class T>
class LlmHost : public LlmStages<Tensor> {
public:
    LlmHost(const LlmStep& step, Symbolic threads, const Context& context)
        : LlmStages{step, precision, rounding()},
          threads_{host::use_threads(context.machine(), threads)}, stream_{engine_},
          chosen_(number(step.batch)), attention_{threads_, step} {
        for (std::int64_t i = 0; i < step.tokens(); ++i) tokens_.push_back(data_.token(number(i)));
        add_stages(
            [this](std::int64_t rows, std::int64_t width) {
                return Tensor{{{rows, width}, type, workload::Layout::ab}, engine_};
            },
            [this](std::size_t row) { return chosen_[row]; },
            [this](Tensor& cache) { poison_rows(cache); });
        add_products();
        for (std::int64_t at = step.cached(); at < step.context; ++at)
            for (std::int64_t pair = 0; pair < shape_.head_size / 2; ++pair) {
                cosines_.push_back(static_cast<float>(std::cos(data_.angle(at, pair))));
                sines_.push_back(static_cast<float>(std::sin(data_.angle(at, pair))));
            }
        run();
        choose(context.machine(), context);
        poison();
        context.setting("threads", threads_);
        context.setting("cache_bytes", step.batch * step.context * shape_.cached() * bytes);
    }

    static Fit fit(const LlmStep& step, Symbolic threads, const Machine& machine) {
        if (Fit positions = fits_positions(step); !positions) return positions;
        const std::int64_t needed = host::with_page_tables(step.needed_bytes(bytes));
        if (Fit room = host::fits(threads, needed, machine); !room) return room;
        return workload::fits_kernels([&](workload::Kernels& kernels) {
            for (const ProductShape& product : ProductShape::all_of(step))
                kernels.add(product.plan(type, workload::cpu()).impl_info_str());
        });
    }

    void run() noexcept {
        embed();
        for (std::size_t layer = 0; layer < layers_.size(); ++layer) run_layer(layer);
        const T* const residual = numbers(layers_.back().result);
        on_rows(step_.batch, shape_.hidden, [&](std::size_t row) {
            const std::size_t token = (row + 1) * number(step_.queries) - 1;
            norm(residual, norm_last_, token, numbers(last_), row);
        });
        multiply(head, 0);
        on_rows(step_.batch, shape_.vocabulary, [&](std::size_t row) {
            const std::size_t width = number(shape_.vocabulary);
            chosen_[row] = rows_.greatest(numbers(scores_) + row * width, width);
        });
        keep_first(dnnl_stream_wait(stream_.get())); // NOLINT: get() throws without a stream
    }
    Work work() const { return step_.work(sizeof(T)); }
    Check verify() const {
        if (status_ != dnnl_success)
            throw dnnl::error{status_, "oneDNN could not run a matrix product"};
        return LlmStages::verify();
    }
    void poison() {
        LlmStages::poison();
        std::ranges::fill(chosen_, -1);
    }

private:
    static constexpr Precision precision =
        std::is_same_v<T, float> ? Precision::fp32 : Precision::bf16;
    static constexpr workload::Data type =
        std::is_same_v<T, float> ? workload::Data::f32 : workload::Data::bf16;
    static constexpr std::int64_t bytes = sizeof(T); // of a number
    /// Scores, probabilities and sums are in fp32.
    static LlmRounding rounding() {
        return {.attention = {.scores = Precision::fp32,
                              .probabilities = workload::roundoff_of(Precision::fp32),
                              .result = workload::roundoff_of(precision)},
                .lost = [](std::int64_t) { return 0.0; }};
    }
    static std::size_t number(std::int64_t count) { return static_cast<std::size_t>(count); }
    static T* numbers(Tensor& tensor) { return reinterpret_cast<T*>(tensor.data()); }
    static T made(const Numbers& of, std::uint64_t i) {
        const float value = workload::random_value(precision, of.seed, i, of.low, of.high);
        if constexpr (std::is_same_v<T, float>)
            return value;
        else
            return gemm::to_bfloat16(value).bits;
    }

    /// Outputs of one kind, in a product of several.
    struct Some {
        Kind kind;
        std::int64_t outputs;
    };
    struct Multiplied {
        workload::Step step;
        PanelProduct panels; ///< the same, in bf16
    };
    struct Norms {
        std::vector<float> one, two, queries, keys; ///< the last two where the model has them
    };

    /// Rows of all outputs, each made where it will be read.
    void fill(T* to, const Places& places, std::int64_t layer, std::initializer_list<Some> rows) {
        std::size_t first = 0;
        for (const auto& [kind, outputs] : rows) {
            const Numbers of = data_.numbers(kind, layer);
            on_each_slice(threads_, number(outputs), PanelProduct::width, [&](Slice own) {
                for (std::size_t n = own.first; n < own.last; ++n) {
                    T* const row = to + places.outputs[first + n];
                    const std::size_t count = places.inputs.size();
                    for (std::size_t k = 0; k < count; ++k)
                        row[places.inputs[k]] = made(of, n * count + k);
                }
            });
            first += number(outputs);
        }
    }
    void add_products() {
        const std::int64_t h = shape_.hidden;
        for (std::size_t i = 0; i < products; ++i) {
            plans_.at(i) = shapes_.at(i).plan(type, engine_);
            places_.at(i) = Places{plans_.at(i).weights_desc()};
        }
        for (std::int64_t i = 0; i < shape_.layers; ++i) {
            LlmLayer<Tensor>& l = layers_[number(i)];
            Tensor& residual = i == 0 ? embedded_ : layers_[number(i) - 1].result;
            const std::int64_t keys = shape_.key_width();
            add_product(
                qkv, i, l.normed_one, nullptr, l.qkv,
                {{Kind::queries, shape_.query_width()}, {Kind::keys, keys}, {Kind::values, keys}});
            add_product(output, i, l.context, &residual, l.attended, {{Kind::output, h}});
            add_product(gate_up, i, l.normed_two, nullptr, l.gate_up,
                        {{Kind::gate, shape_.inner}, {Kind::up, shape_.inner}});
            add_product(down, i, l.inner, &l.attended, l.result, {{Kind::down, h}});
            norms_.push_back({scales(Kind::norm_one, i, h), scales(Kind::norm_two, i, h), {}, {}});
            if (shape_.norms_heads) {
                norms_.back().queries = scales(Kind::norm_queries, i, shape_.head_size);
                norms_.back().keys = scales(Kind::norm_keys, i, shape_.head_size);
            }
            if (step_.cached() == 0) continue;
            const std::size_t count = number(step_.batch * step_.context * keys);
            fill_rows({numbers(l.keys), count}, Kind::cached_keys, i);
            fill_rows({numbers(l.values), count}, Kind::cached_values, i);
        }
        add_product(head, 0, last_, nullptr, scores_, {{Kind::head, shape_.vocabulary}});
        norm_last_ = scales(Kind::norm_last, 0, h);
        if (shape_.ties_embedding) return;
        embedding_ = HostBuffer<T>{number(shape_.vocabulary * h), {.threads = threads_}};
        fill_rows(embedding_.view(), Kind::embedding, 0);
    }
    void add_product(Product which, std::int64_t layer, Tensor& in, Tensor* added, Tensor& out,
                     std::initializer_list<Some> rows) {
        const auto& plan = plans_.at(which);
        const Places& places = places_.at(which);
        Tensor& weights = weights_.emplace_back(plan.weights_desc(), engine_);
        fill(numbers(weights), places, layer, rows);
        std::vector<Argument> arguments{
            {DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, out}};
        if (added != nullptr)
            arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, *added});
        PanelProduct panels{};
        if constexpr (!std::is_same_v<T, float>)
            panels = {.rows = number(shapes_.at(which).rows),
                      .inputs = places.inputs.size(),
                      .outputs = places.outputs.size(),
                      .in = numbers(in),
                      .weights = numbers(weights),
                      .added = added == nullptr ? nullptr : numbers(*added),
                      .out = numbers(out)};
        products_.at(which).push_back({{dnnl::matmul{plan}, arguments}, panels});
    }
    void fill_rows(std::span<T> to, Kind kind, std::int64_t layer) {
        const Numbers of = data_.numbers(kind, layer);
        assay::detail::fill(to, threads_, [&](std::size_t i) { return made(of, i); });
    }
    std::vector<float> scales(Kind kind, std::int64_t layer, std::int64_t count) const {
        std::vector<float> made(number(count));
        for (std::size_t i = 0; i < made.size(); ++i) made[i] = data_.scale(kind, layer, i);
        return made;
    }
    /// The faster kernel for each product, by a trial that goes through all layers, so that weights come from memory.
    void choose(const Machine& machine, const Context& context) {
        std::string names;
        for (std::size_t i = 0; i < products; ++i) {
            if (precision == Precision::bf16 && machine.has("avx512_bf16") &&
                places_.at(i).are_panels() && number(shapes_.at(i).rows) <= PanelProduct::most_rows)
                by_panels_.at(i) = host::try_in_turns(2, [&](std::size_t way) {
                                       by_panels_.at(i) = way == 1;
                                       for (std::size_t k = 0; k < products_.at(i).size(); ++k)
                                           multiply(i, k);
                                   }).best == 1;
            names += joined(i == 0 ? "" : ", ", product_names.at(i), ": ",
                            by_panels_.at(i) ? "panels" : plans_.at(i).impl_info_str());
        }
        context.setting("implementation", names);
    }

    void poison_rows(Tensor& cache) {
        const std::size_t rows = number(step_.context);
        const std::size_t last = number(step_.queries);
        for (std::size_t stretch = 1; stretch <= number(step_.batch * shape_.key_heads); ++stretch)
            std::memset(numbers(cache) + (stretch * rows - last) * size_, 0xff,
                        last * size_ * sizeof(T));
    }

    /// body(row), on all threads where starting them is worth it.
    template <class Body>
    void on_rows(std::int64_t rows, std::int64_t width, const Body& body) const noexcept {
        constexpr std::int64_t few = 16384; // numbers, a few microseconds
        on_each_slice(rows * width <= few ? 1 : threads_, number(rows), 1, [&](Slice own) {
            for (std::size_t row = own.first; row < own.last; ++row) body(row);
        });
    }
    void multiply(std::size_t product, std::size_t layer) noexcept {
        const Multiplied& of = products_[product][layer];
        if (!by_panels_[product]) return keep_first(of.step.run(stream_));
        on_each_slice(threads_, of.panels.outputs / PanelProduct::width, 1,
                      [&](Slice own) { of.panels.run(own.first, own.last); });
    }
    void keep_first(dnnl_status_t status) noexcept {
        if (status_ == dnnl_success) status_ = status;
    }
    void norm(const T* from, const std::vector<float>& scales, std::size_t row, T* to,
              std::size_t to_row) const noexcept {
        rows_.norm(from + row * scales.size(), scales.data(), scales.size(),
                   to + to_row * scales.size());
    }

    void embed() noexcept {
        const std::size_t width = number(shape_.hidden);
        on_rows(step_.tokens(), shape_.hidden, [&](std::size_t i) {
            T* const to = numbers(embedded_) + i * width;
            const auto token = static_cast<std::size_t>(tokens_[i]);
            if (!shape_.ties_embedding) {
                std::copy_n(embedding_.data() + token * width, width, to);
                return;
            }
            const T* const row = numbers(weights_.back()) + places_[head].outputs[token];
            for (std::size_t k = 0; k < width; ++k) to[k] = row[places_[head].inputs[k]];
        });
    }
    void run_layer(std::size_t layer) noexcept {
        LlmLayer<Tensor>& l = layers_[layer];
        const Norms& norms = norms_[layer];
        const std::int64_t tokens = step_.tokens();
        const T* const residual = numbers(layer == 0 ? embedded_ : layers_[layer - 1].result);
        on_rows(tokens, shape_.hidden, [&](std::size_t token) {
            norm(residual, norms.one, token, numbers(l.normed_one), token);
        });
        multiply(qkv, layer);
        on_rows(tokens, shape_.qkv_width(), [&](std::size_t token) { turn(l, norms, token); });
        attention_.run(numbers(l.queries), numbers(l.keys), numbers(l.values), numbers(l.context));
        multiply(output, layer);
        on_rows(tokens, shape_.hidden, [&](std::size_t token) {
            norm(numbers(l.attended), norms.two, token, numbers(l.normed_two), token);
        });
        multiply(gate_up, layer);
        on_rows(tokens, 2 * shape_.inner, [&](std::size_t token) {
            const std::size_t width = number(shape_.inner);
            const T* const gates = numbers(l.gate_up) + token * 2 * width;
            rows_.gate(gates, gates + width, width, numbers(l.inner) + token * width);
        });
        multiply(down, layer);
    }
    /// A token's queries are turned, and its keys and values written to the cache.
    void turn(LlmLayer<Tensor>& l, const Norms& norms, std::size_t token) noexcept {
        const std::size_t length = number(step_.queries);
        const std::size_t key_heads = number(shape_.key_heads);
        const std::size_t width = number(shape_.query_width());
        const auto turn_one = [&](const T* from, const std::vector<float>& scales, double factor,
                                  T* to) {
            const std::size_t angles = token % length * size_ / 2;
            rows_.turn(from, scales.empty() ? nullptr : scales.data(), cosines_.data() + angles,
                       sines_.data() + angles, static_cast<float>(factor), size_ / 2, to);
        };
        const T* const from = numbers(l.qkv) + token * number(shape_.qkv_width());
        for (std::size_t i = 0; i < width; i += size_)
            turn_one(from + i, norms.queries, data_.score_scale(),
                     numbers(l.queries) + token * width + i);
        for (std::size_t i = 0; i < key_heads; ++i) {
            const T* const key = from + width + i * size_;
            const std::size_t stretch = token / length * key_heads + i;
            const std::size_t row =
                stretch * number(step_.context) + number(step_.cached()) + token % length;
            turn_one(key, norms.keys, 1, numbers(l.keys) + row * size_);
            std::copy_n(key + key_heads * size_, size_, numbers(l.values) + row * size_);
        }
    }

    int threads_;
    dnnl::engine engine_ = workload::cpu();
    dnnl::stream stream_;
    dnnl_status_t status_ = dnnl_success;
    std::vector<std::int32_t> tokens_;
    std::vector<std::int64_t> chosen_;
    std::size_t size_ = number(shape_.head_size);
    LlmRows<T> rows_ = llm_rows<T>();
    HostAttention<T> attention_;
    std::array<ProductShape, products> shapes_ = ProductShape::all_of(step_);
    std::array<dnnl::matmul::primitive_desc, products> plans_;
    std::array<Places, products> places_;
    std::array<bool, products> by_panels_{};
    std::array<std::deque<Multiplied>, products> products_; // by layers
    std::deque<Tensor> weights_;
    HostBuffer<T> embedding_; // where the head has its own weights
    std::vector<Norms> norms_;
    std::vector<float> norm_last_;
    std::vector<float> cosines_, sines_; // of each new position
};

/// In the order of Precision.
using Either = OneOf<LlmHost<float>, LlmHost<std::uint16_t>>;

class LlmOnHost : public Either {
public:
    struct Params {
        Llm model;
        std::int64_t batch;
        std::int64_t length; ///< of a context or prompt
        std::int64_t layers;
        Shards shards;
        Precision precision;
        Symbolic threads;
    };
    static constexpr bool single_call = true; // a call is what a user waits for

protected:
    LlmOnHost(const Params& p, const LlmStep& step, const Context& context)
        : Either{p.precision, step, p.threads, context} {}
    static Fit fit_step(const Params& p, const LlmStep& step, const Machine& machine) {
        const auto fit =
            p.precision == Precision::fp32 ? LlmHost<float>::fit : LlmHost<std::uint16_t>::fit;
        return fit(step, p.threads, machine);
    }
    template <class... Own>
    static consteval auto axes_of(const Own&... own) {
        return std::tuple{
            choice("model", llm::model_help, &Params::model, llm::model_names, {Llm::llama3_1b}),
            own...,
            llm::layers_axis<Params>,
            llm::shards_axis<Params>,
            choice("precision", "type of weights, cache and activations; sums are fp32",
                   &Params::precision,
                   {Name{"bf16", Precision::bf16}, Name{"fp32", Precision::fp32}},
                   {Precision::bf16}),
            threads_axis(&Params::threads, {Symbol::all})};
    }
};

} // namespace

class LlmDecode : public LlmOnHost {
public:
    static constexpr Info info{
        .id = "model.llm_decode",
        .question = "How many tokens a second does this host decode with a whole language model?",
        .method =
            "One token of each sequence: embedding, all layers (RMSNorm, projection, rotary "
            "positions, the new row of the cache, attention to `context` tokens, output, gated "
            "perceptron), head, and the most likely token. Products are oneDNN's, or for up to "
            "32 tokens a kernel that streams its panels of weights, whichever is faster in a trial "
            "that goes round the layers (setting `implementation`). Weights are random. In each "
            "layer, a sample of what each stage stored is recomputed in fp64 from what the stage "
            "before stored, within the rounding of sums and of storing; the chosen tokens are "
            "compared with all scores.",
        .caveats =
            "One step at a fixed position, closed loop, no server: a call writes the same rows of "
            "the cache again. A context that grows, sampling and tokenising cost more. Bytes are "
            "the weights in products and the cache of all sequences, once; FLOP 2 for each weight "
            "and token, and attention. Random numbers, where models in use have 8 or 4 bits. "
            "`shards=8` is one of eight parts, without the all-reduce.",
        .headline = "item_rate",
        .ceiling = "memory.stream peak.dot peak.fma",
        .noise = Noise::workload,
        .items = "tokens",
    };
    static constexpr auto axes = axes_of(
        integer("batch", "sequences decoded together", "", &Params::batch, {1, 8}, {1, 4096}),
        integer("context", "tokens of a sequence, the new one included", "", &Params::length,
                {1536}, {2, 131072}));

    static Fit fit(const Params& p, const Machine& machine) {
        return fit_step(p, step_of(p, p.length, 1), machine);
    }
    LlmDecode(const Params& p, const Context& context)
        : LlmOnHost{p, step_of(p, p.length, 1), context} {}
};

class LlmPrefill : public LlmOnHost {
public:
    static constexpr Info info{
        .id = "model.llm_prefill",
        .question = "How many tokens a second of a prompt does this host take in with a whole "
                    "language model?",
        .method = "All tokens of each prompt through all layers, keys and values to the cache, the "
                  "head for the last token alone: the time of a call is the least time to the "
                  "first token. Products are oneDNN's (setting `implementation`), causal attention "
                  "is computed tile by tile in fp32. Weights are random. Each stage of each layer "
                  "is checked as in model.llm_decode.",
        .caveats = "Closed loop, no server: no queue, no batching of arrivals, no cached prefix. "
                   "FLOP are 2 for each weight and token, and attention to the tokens before.",
        .headline = "item_rate",
        .ceiling = "memory.stream peak.dot peak.fma",
        .noise = Noise::workload,
        .items = "tokens",
    };
    static constexpr auto axes =
        axes_of(integer("batch", "prompts at a time", "", &Params::batch, {1}, {1, 4096}),
                integer("tokens", "of a prompt", "", &Params::length, {512}, {1, 131072}));

    static Fit fit(const Params& p, const Machine& machine) {
        return fit_step(p, step_of(p, p.length, p.length), machine);
    }
    LlmPrefill(const Params& p, const Context& context)
        : LlmOnHost{p, step_of(p, p.length, p.length), context} {}
};

extern constinit const assay_benchmark llm_decode = define<LlmDecode>();
extern constinit const assay_benchmark llm_prefill = define<LlmPrefill>();

} // namespace assay::model
