// SPDX-License-Identifier: Apache-2.0
#include "device/back_to_back.hpp"
#include "gemm/cublaslt_tuned.hpp"
#include "workload/device_tensor.cuh"
#include "workload/transformer_kernels.cuh"
#include "workload/transformer_stages.hpp"

#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace assay::workload {
namespace {

/// TransformerData::weight(), as cuBLASLt takes it: a row for each output.
template <class T>
struct Weights {
    Rounded<T> from;
    std::uint64_t inputs;
    std::uint64_t outputs;
    ASSAY_HOST_DEVICE T operator()(std::uint64_t i) const {
        return from(i % inputs * outputs + i / inputs);
    }
};

template <class T>
constexpr auto product_precision =
    is_bf16<T> ? gemm::DevicePrecision::bf16 : gemm::DevicePrecision::fp16;

std::array<gemm::Shape, 4> products_of(const TransformerShape& s) {
    return {gemm::Shape{3 * s.hidden, s.tokens(), s.hidden},
            {s.hidden, s.tokens(), s.hidden},
            {s.inner(), s.tokens(), s.hidden},
            {s.hidden, s.tokens(), s.inner()}};
}

/// Largest errors of what the library's epilogue says is GELU, against both forms; 1 is what a check allows. Inputs are
/// products with a matrix of ones on the diagonal, which are exact.
struct EpilogueErrors {
    double erf =
        std::numeric_limits<double>::infinity(); ///< where the library has no such epilogue
    double tanh = std::numeric_limits<double>::infinity();
    double of(GeluForm form) const { return form == GeluForm::erf ? erf : tanh; }
    std::string words() const {
        const auto rounded = [](double error) { return std::round(100 * error) / 100; };
        return joined("errors in units of what is allowed: erf ", rounded(erf), ", tanh ",
                      rounded(tanh));
    }
};
template <class T>
struct Diagonal {
    std::uint64_t edge;
    ASSAY_HOST_DEVICE T operator()(std::uint64_t i) const {
        return static_cast<T>(i / edge == i % edge ? 1.0F : 0.0F);
    }
};
/// Evenly spread over the numbers whose GELU is neither 0 nor the number itself.
template <class T>
struct Spread {
    float step;
    ASSAY_HOST_DEVICE T operator()(std::uint64_t i) const {
        return static_cast<T>(step * static_cast<float>(i) - 6);
    }
};
template <class T>
EpilogueErrors errors_of_epilogue(const gemm::Library& library, device::Place& place,
                                  const gemm::Scratch& scratch, Precision stored) {
    constexpr std::uint64_t edge = 64;
    constexpr std::uint64_t count = edge * edge;
    const std::array<device::Buffer<T>, 4> numbers{
        device::Buffer<T>{count}, device::Buffer<T>{count}, device::Buffer<T>{count},
        device::Buffer<T>{edge}};
    const auto& [diagonal, inputs, results, bias] = numbers;
    device::for_each_now(place.stream, count, device::Fill{diagonal.data(), Diagonal<T>{edge}});
    device::for_each_now(place.stream, count,
                         device::Fill{inputs.data(), Spread<T>{12.0F / count}});
    device::set_bytes(bias, 0, place.stream);
    device::set_bytes(results, 0xff, place.stream); // NaN
    const auto operand = [&](const device::Buffer<T>& of) {
        return gemm::Operand{gemm::spec_of(product_precision<T>).a, of.data(), nullptr, edge, edge};
    };
    try {
        const gemm::Product product{library,
                                    product_precision<T>,
                                    gemm::Accumulation::exact,
                                    {.a = operand(diagonal),
                                     .b = operand(inputs),
                                     .c = operand(results),
                                     .bias = bias.data(),
                                     .has_gelu = true},
                                    scratch};
        if (product.algorithms() == 0) return {};
        product.queue(0, place.stream);
    } catch (const gemm::LibraryError&) {
        cudaGetLastError(); // a launch that failed
        return {};
    }
    const auto from = device::to_host(inputs, place.stream);
    const auto to = device::to_host(results, place.stream);
    const auto largest = [&](GeluForm form) {
        const auto error = [&](std::size_t i) {
            const double x = static_cast<float>(from[i]);
            return expect_gelu({.value = x, .allowed = 0}, stored, form)
                .error(static_cast<float>(to[i]));
        };
        return check_each(count, error, 1, "").error;
    };
    return {largest(GeluForm::erf), largest(GeluForm::tanh)};
}

template <class T>
class Layer : public LayerStages<DeviceTensor<T>> {
public:
    Layer(const TransformerShape& shape, GeluForm gelu, device::Place& place,
          const Context& context)
        : Base{{shape, stored, stored, MatrixUnits{lost, is_bf16<T> ? 0x1p-9 : 0x1p-11}}},
          place_{place}, gelu_{gelu}, workspace_{gemm::workspace_bytes(product_precision<T>, {})} {
        input_ = tensor(shape.hidden);
        fill(input_.data(), input_.size(), Rounded<T>{uniform(data_.activations())});
        const auto make = [this](std::int64_t width) { return tensor(width); };
        const auto errors = errors_of_epilogue<T>(library_, place_, scratch(), stored);
        has_gelu_apart_ = !(errors.of(gelu) <= 1);
        this->add_forward(has_gelu_apart_, make, make, gelu);
        add_steps();
        graph_.emplace(place_.stream, [this] { queue(); });
        place_.clock.expect_operations(graph_->operations());
        Base::poison();
        context.setting("implementation", names_.words());
        context.setting("heads", shape.heads());
        context.setting("operations", graph_->operations());
        context.setting("workspace_bytes", workspace_.bytes());
        context.setting("gelu_by", has_gelu_apart_ ? "kernel" : "epilogue");
        context.setting("gelu_of_epilogue", errors.words());
    }

    void queue() const {
        for (const auto& step : steps_) step();
    }
    void run() { graph_->launch(place_.stream); }
    Work work() const {
        return {.flops = shape_.flops(), .items = static_cast<double>(shape_.tokens())};
    }
    Check verify() const {
        input_.look_again();
        for (const auto& stage : stages_) stage.tensor->look_again();
        return Base::verify();
    }
    double planning_seconds() const { return planning_seconds_; }

private:
    using Base = LayerStages<DeviceTensor<T>>;
    using Kind = TransformerData::Kind;
    using Base::attended_;
    using Base::before_gelu_;
    using Base::context_;
    using Base::data_;
    using Base::inner_;
    using Base::input_;
    using Base::middle_;
    using Base::qkv_;
    using Base::result_;
    using Base::shape_;
    using Base::stages_;
    using Base::summed_;

    static constexpr Precision stored = is_bf16<T> ? Precision::bf16 : Precision::fp16;
    static double lost(std::int64_t products) {
        return gemm::tolerance_of(product_precision<T>, gemm::Accumulation::exact, products)
            .absolute;
    }
    gemm::Scratch scratch() const { return {workspace_.data(), workspace_.bytes()}; }
    static device::Uniform<float> uniform(const Numbers& of) { return {of.seed, of.low, of.high}; }

    DeviceTensor<T> tensor(std::int64_t width) const {
        return {shape_.tokens() * width, place_.stream};
    }
    template <class Number, class Make>
    void fill(Number* to, std::uint64_t count, const Make& make) const {
        device::for_each_now(place_.stream, count, device::Fill{to, make});
    }
    template <class Number>
    const Number* constant(std::int64_t count, const auto& make, auto& among) const {
        const auto& made = among.emplace_back(static_cast<std::size_t>(count));
        fill(made.data(), made.size(), make);
        return made.data();
    }
    /// Done at once, so that the next has numbers to work on, and in every call.
    void add(std::function<void()> step) {
        step();
        device::check(cudaGetLastError());
        place_.stream.wait();
        steps_.push_back(std::move(step));
    }
    void add_product(Kind kind, const gemm::Shape& of, const DeviceTensor<T>& from,
                     const DeviceTensor<T>& to, const T* added = nullptr, bool has_gelu = false) {
        const auto outputs = static_cast<std::uint64_t>(of.m);
        const auto inputs = static_cast<std::uint64_t>(of.k);
        const auto tokens = static_cast<std::uint64_t>(of.n);
        const T* const weights = constant<T>(
            of.m * of.k, Weights<T>{{uniform(data_.weights(kind))}, inputs, outputs}, narrow_);
        const T* const bias = constant<T>(of.m, Rounded<T>{uniform(data_.biases(kind))}, narrow_);
        constexpr auto storage = gemm::spec_of(product_precision<T>).a;
        const auto operand = [&](const T* data, std::uint64_t inner, std::uint64_t rows) {
            return gemm::Operand{storage, const_cast<T*>(data), nullptr, inner, rows}; // NOLINT
        };
        const Stopwatch watch;
        auto& product =
            products_.emplace_back(library_, gemm::Conditions{.precision = product_precision<T>},
                                   gemm::Operands{.a = operand(weights, inputs, outputs),
                                                  .b = operand(from.data(), inputs, tokens),
                                                  .c = operand(to.data(), outputs, tokens),
                                                  .bias = bias,
                                                  .added = added,
                                                  .has_gelu = has_gelu},
                                   scratch(), place_.stream, place_.clock);
        product.tune(gemm::Product::most, {.rounds = 3, .seconds = 1}, gemm::Queued::in_graph);
        names_.add(gemm::text_of(product.config()));
        planning_seconds_ += watch.seconds();
        add([&product] { product.queue(); });
    }
    void add_norm(Kind kind, const DeviceTensor<T>& from, const DeviceTensor<T>& to) {
        const std::int64_t h = shape_.hidden;
        const auto* const scales = constant<float>(h, uniform(data_.scales(kind)), wide_);
        const auto* const shifts = constant<float>(h, uniform(data_.biases(kind)), wide_);
        const NormOf<T> norm{from.data(),
                             scales,
                             shifts,
                             to.data(),
                             static_cast<std::uint32_t>(shape_.tokens()),
                             static_cast<std::uint32_t>(h)};
        add([norm, this] { queue_norm(norm, place_.stream); });
    }
    void add_gelu() {
        const auto each = [this](const auto& gelu) {
            add([gelu, this] { device::on_each(place_.stream, inner_.size() / 8, gelu); });
        };
        if (gelu_ == GeluForm::erf)
            each(Gelu<T>{before_gelu_.data(), inner_.data()});
        else
            each(Gelu<T, GeluForm::tanh>{before_gelu_.data(), inner_.data()});
    }
    void add_steps() {
        const auto [qkv, output, inner, outer] = products_of(shape_);
        add_product(Kind::qkv, qkv, input_, qkv_);
        const HeadsOf<T> heads{qkv_.data(), context_.data(),
                               static_cast<std::uint32_t>(shape_.sequence),
                               static_cast<std::uint32_t>(shape_.heads())};
        const auto blocks =
            static_cast<unsigned>(heads.blocks_of_head() * shape_.heads() * shape_.batch);
        add([heads, blocks, this] {
            device::launch(attend_head<T>,
                           {blocks, attend_threads, place_.stream.get(), attend_bytes}, heads);
        });
        add_product(Kind::output, output, context_, attended_, input_.data());
        add_norm(Kind::norm_one, attended_, middle_);
        add_product(Kind::inner, inner, middle_, has_gelu_apart_ ? before_gelu_ : inner_, nullptr,
                    !has_gelu_apart_);
        if (has_gelu_apart_) add_gelu();
        add_product(Kind::outer, outer, inner_, summed_, middle_.data());
        add_norm(Kind::norm_two, summed_, result_);
    }

    device::Place& place_;
    GeluForm gelu_;
    bool has_gelu_apart_ = true;
    gemm::Library library_ = gemm::open_library();
    device::Buffer<std::uint8_t> workspace_;
    std::deque<device::Buffer<T>> narrow_;   // weights, biases
    std::deque<device::Buffer<float>> wide_; // scales and shifts of norms
    std::deque<gemm::ChosenProduct> products_;
    std::vector<std::function<void()>> steps_;
    std::optional<device::Graph> graph_;
    Kernels names_;
    double planning_seconds_ = 0;
};

class CublasltTransformer : private device::Place, public OneOfFormats<Layer> {
public:
    struct Params {
        std::int64_t batch = 1;
        std::int64_t sequence = 128;
        std::int64_t hidden = 768;
        Format precision = Format::bf16;
        GeluForm gelu = GeluForm::erf;
        Pass pass = Pass::forward;
    };
    static constexpr Info info{
        .id = "workload.transformer_layer",
        .question = "What is the token rate of one encoder layer of a transformer on this device?",
        .method = "One layer as in BERT: QKV projection, attention with softmax for every head of "
                  "64, output projection, residual, layer norm, MLP of four times the width with "
                  "GELU, residual, layer norm. The four products with weights are cuBLASLt's, with "
                  "bias and residual in the same call, each by the fastest algorithm of a trial "
                  "that runs in a graph. Attention (fused, by matrix instructions, scores in "
                  "registers) and norms are kernels of this program. So is GELU, unless the "
                  "library's computes the chosen function: a product whose sums are exact tells "
                  "before. All of it is one CUDA graph. Every stage is "
                  "checked: a sample of its results, spread evenly, is recomputed in fp64 from "
                  "what the previous stage stored, within the rounding of sums and of storing.",
        .caveats = "FLOP are those of the matrix products and of attention. GELU by a kernel is a "
                   "pass of its own. Attention re-reads keys and values from the second level for "
                   "every 64 queries: long sequences are slower than by the best kernels known. "
                   "Weights of one layer may stay in the second level. A small "
                   "batch does not fill a device. No padding, no mask; forward alone.",
        .headline = "flop_rate",
        .ceiling = "peak.tensor",
        .place = "cuda",
        .bound = Bound::matrix_units,
        .noise = Noise::workload,
        .items = "tokens",
    };
    static constexpr auto axes = std::tuple_cat(
        transformer_axes<Params>,
        std::tuple{
            choice("precision", "type of weights and activations; sums are fp32",
                   &Params::precision, {Name{"bf16", Format::bf16}, Name{"fp16", Format::fp16}}),
            choice("gelu", "exact, or its approximation with tanh", &Params::gelu,
                   {Name{"erf", GeluForm::erf}, Name{"tanh", GeluForm::tanh}}, {GeluForm::erf}),
            choice("pass", "forward alone", &Params::pass, {Name{"forward", Pass::forward}},
                   {Pass::forward})});
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const TransformerShape shape{p.batch, p.sequence, p.hidden};
        if (Fit fit = shape.fits(); !fit) return fit;
        // GELU's input is stored, too, and scores are not.
        const std::int64_t numbers = 17 * shape.tokens() * shape.hidden + shape.weights();
        constexpr std::int64_t workspace = gemm::workspace_bytes(gemm::DevicePrecision::bf16, {});
        if (Fit fit = device::fits_device(2 * numbers + workspace, 80); !fit) return fit;
        const bool is_bf16 = p.precision == Format::bf16;
        return gemm::fits_product(
            {.precision = is_bf16 ? product_precision<__nv_bfloat16> : product_precision<__half>},
            products_of(shape));
    }

    CublasltTransformer(const Params& p, const Context& context)
        : OneOf{p.precision, TransformerShape{p.batch, p.sequence, p.hidden}, p.gelu,
                static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
    void metrics(Metrics& metrics) {
        std::visit(
            [&](const auto& layer) {
                metrics.add("planning_time", layer.planning_seconds());
                device::add_back_to_back(metrics, device::Place::clock, stream,
                                         [&] { layer.queue(); });
            },
            state());
    }
};

} // namespace

extern constinit const assay_benchmark cublaslt_transformer = define<CublasltTransformer>();

} // namespace assay::workload
