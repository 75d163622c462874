// SPDX-License-Identifier: Apache-2.0
#include "device/graph.hpp"
#include "gemm/cublaslt_tuned.hpp"
#include "workload/device_attention_kernels.cuh"
#include "workload/device_tensor.cuh"
#include "workload/transformer_stages.hpp"

#include <array>
#include <deque>
#include <functional>
#include <optional>

namespace assay::workload {
namespace {

// --- kernels between the products ---------------------------------------------------------------------

constexpr unsigned attend_warps = 4;

/// Queries of a head against all keys of its sequence. Warps have a tile of queries each; those of a block read the
/// same keys and values, mostly from the first level.
template <class T>
__global__ void __launch_bounds__(attend_warps* warp)
    attend_head(const T* qkv, T* results, std::uint32_t length, std::uint32_t heads) {
    constexpr auto size = static_cast<unsigned>(head_size);
    constexpr unsigned of_block = attend_warps * tile;
    const unsigned blocks = (length + of_block - 1) / of_block; // of a head
    const unsigned first_query = blockIdx.x % blocks * of_block + threadIdx.x / warp * tile;
    if (first_query >= length) return;
    const unsigned head = blockIdx.x / blocks % heads;
    const std::uint64_t width = static_cast<std::uint64_t>(heads) * size;
    const std::uint64_t first_token =
        static_cast<std::uint64_t>(blockIdx.x / blocks / heads) * length;
    const T* const queries = qkv + first_token * 3 * width + head * size;
    const Attended<size> found =
        attend<T, size>({queries, 3 * width}, first_query, length, {queries + width, 3 * width},
                        {queries + 2 * width, 3 * width}, 0, length, score_scale);
    const float share[2] = {1 / found.total[0], 1 / found.total[1]};
    each_eight<T>(found.sums, share, [&](unsigned row, unsigned number, const auto& eight) {
        if (first_query + row >= length) return;
        T* const to = results + (first_token + first_query + row) * width + head * size + number;
        *reinterpret_cast<device::Pack<T, 8>*>(to) = eight;
    });
}

constexpr unsigned norm_threads = 128;

/// In every thread.
__device__ float sum_of_block(float own) {
    __shared__ float sums[norm_threads / warp];
    own = device::sum_of_warp(own);
    __syncthreads(); // the sum before has been read
    if (device::lane() == 0) sums[device::warp()] = own;
    __syncthreads();
    float sum = 0;
    for (const float each : sums) sum += each;
    return sum;
}

/// A row by a block. It is read three times, twice from the first level.
template <class T>
__global__ void __launch_bounds__(norm_threads)
    normalise(const T* from, const float* scales, const float* shifts, T* to, std::uint32_t width) {
    using Eight = device::Pack<T, 8>;
    const std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x) * width;
    const auto each = [&](const auto& use) {
        for (unsigned i = 8 * threadIdx.x; i < width; i += 8 * norm_threads)
            use(i, device::read_only(reinterpret_cast<const Eight*>(from + first + i)));
    };
    float sum = 0;
    each([&](unsigned, const Eight& eight) {
        for (const T& number : eight.values) sum += static_cast<float>(number);
    });
    const auto count = static_cast<float>(width);
    const float mean = sum_of_block(sum) / count;
    float squares = 0;
    each([&](unsigned, const Eight& eight) {
        for (const T& number : eight.values) {
            const float off = static_cast<float>(number) - mean;
            squares = fmaf(off, off, squares);
        }
    });
    const float factor = 1 / sqrtf(sum_of_block(squares) / count + norm_epsilon);
    each([&](unsigned i, Eight eight) {
        for (unsigned k = 0; k < 8; ++k) {
            const float normal = (static_cast<float>(eight.values[k]) - mean) * factor;
            eight.values[k] = static_cast<T>(fmaf(normal, scales[i + k], shifts[i + k]));
        }
        *reinterpret_cast<Eight*>(to + first + i) = eight;
    });
}

/// x Phi(x) of eight numbers.
template <class T>
struct Gelu {
    const device::Pack<T, 8>* from;
    device::Pack<T, 8>* to;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        device::Pack<T, 8> eight = device::read_only(from + i);
        for (T& number : eight.values) {
            const auto x = static_cast<float>(number);
            constexpr float root_half = 0.707106781F;
            number = static_cast<T>(x / 2 * (1 + erff(root_half * x)));
        }
        to[i] = eight;
    }
};

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

// --- the layer ----------------------------------------------------------------------------------------

template <class T>
constexpr auto product_precision =
    is_bf16<T> ? gemm::DevicePrecision::bf16 : gemm::DevicePrecision::fp16;

std::array<gemm::Shape, 4> products_of(const TransformerShape& s) {
    return {gemm::Shape{3 * s.hidden, s.tokens(), s.hidden},
            {s.hidden, s.tokens(), s.hidden},
            {s.inner(), s.tokens(), s.hidden},
            {s.hidden, s.tokens(), s.inner()}};
}

template <class T>
class Layer : public LayerStages<DeviceTensor<T>> {
public:
    Layer(const TransformerShape& shape, device::Place& place, const Context& context)
        : Base{{shape, stored, stored, MatrixUnits{lost, is_bf16<T> ? 0x1p-9 : 0x1p-11}}},
          place_{place}, workspace_{gemm::workspace_bytes(product_precision<T>, {})} {
        input_ = tensor(shape.hidden);
        fill(input_.data(), input_.size(), Rounded<T>{uniform(data_.activations())});
        const auto make = [this](std::int64_t width) { return tensor(width); };
        this->add_forward(true, make, make);
        constexpr std::size_t most_operations = 4; // as in gemm.square
        place_.clock.expect_operations(most_operations);
        add_steps();
        graph_.emplace(place_.stream, [this] {
            for (const auto& step : steps_) step();
        });
        place_.clock.expect_operations(graph_->operations());
        Base::poison();
        context.setting("implementation", names_.words());
        context.setting("heads", shape.heads());
        context.setting("operations", graph_->operations());
        context.setting("workspace_bytes", workspace_.bytes());
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
                     const DeviceTensor<T>& to, const T* added = nullptr) {
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
        auto& product = products_.emplace_back(
            library_, gemm::Conditions{.precision = product_precision<T>},
            gemm::Operands{.a = operand(weights, inputs, outputs),
                           .b = operand(from.data(), inputs, tokens),
                           .c = operand(to.data(), outputs, tokens),
                           .bias = bias,
                           .added = added},
            gemm::Scratch{.workspace = workspace_.data(), .bytes = workspace_.bytes()},
            place_.stream, place_.clock);
        product.tune(gemm::Product::most, {.rounds = 3, .seconds = 1});
        names_.add(gemm::text_of(product.config()));
        planning_seconds_ += watch.seconds();
        add([&product] { product.queue(); });
    }
    void add_norm(Kind kind, const DeviceTensor<T>& from, const DeviceTensor<T>& to) {
        const std::int64_t h = shape_.hidden;
        const auto* const scales = constant<float>(h, uniform(data_.scales(kind)), wide_);
        const auto* const shifts = constant<float>(h, uniform(data_.biases(kind)), wide_);
        add([=, this, &from, &to] {
            device::launch(
                normalise<T>,
                {static_cast<unsigned>(shape_.tokens()), norm_threads, place_.stream.get()},
                from.data(), scales, shifts, to.data(), static_cast<std::uint32_t>(h));
        });
    }
    void add_steps() {
        const auto [qkv, output, inner, outer] = products_of(shape_);
        add_product(Kind::qkv, qkv, input_, qkv_);
        add([this] {
            const auto length = static_cast<std::uint32_t>(shape_.sequence);
            const auto heads = static_cast<std::uint32_t>(shape_.heads());
            const std::int64_t blocks = (shape_.sequence + attend_warps * tile - 1) /
                                        (attend_warps * tile) * shape_.heads() * shape_.batch;
            device::launch(
                attend_head<T>,
                {static_cast<unsigned>(blocks), attend_warps * warp, place_.stream.get()},
                qkv_.data(), context_.data(), length, heads);
        });
        add_product(Kind::output, output, context_, attended_, input_.data());
        add_norm(Kind::norm_one, attended_, middle_);
        add_product(Kind::inner, inner, middle_, before_gelu_);
        add([this] {
            using Eight = device::Pack<T, 8>;
            device::on_each(place_.stream, inner_.size() / 8,
                            Gelu<T>{reinterpret_cast<const Eight*>(before_gelu_.data()),
                                    reinterpret_cast<Eight*>(inner_.data())});
        });
        add_product(Kind::outer, outer, inner_, summed_, middle_.data());
        add_norm(Kind::norm_two, summed_, result_);
    }

    device::Place& place_;
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
        Pass pass = Pass::forward;
    };
    static constexpr Info info{
        .id = "workload.transformer_layer",
        .question = "What is the token rate of one encoder layer of a transformer on this device?",
        .method = "One layer as in BERT: QKV projection, attention with softmax for every head of "
                  "64, output projection, residual, layer norm, MLP of four times the width with "
                  "GELU, residual, layer norm. The four products with weights are cuBLASLt's, with "
                  "bias and residual in the same call, each by the fastest algorithm of a trial. "
                  "Attention (fused, by matrix instructions, scores in registers), GELU and norms "
                  "are kernels of this program. All of it is one CUDA graph. Every stage is "
                  "checked: a sample of its results, spread evenly, is recomputed in fp64 from "
                  "what the previous stage stored, within the rounding of sums and of storing.",
        .caveats = "FLOP are those of the matrix products and of attention. GELU is exact and a "
                   "pass of its own: the library's is an approximation. Attention re-reads keys "
                   "and values from the caches: long sequences are slower than by the best "
                   "kernels known. Weights of one layer may stay in the second level. A small "
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
        std::tuple{choice("precision", "type of weights and activations; sums are fp32",
                          &Params::precision,
                          {Name{"bf16", Format::bf16}, Name{"fp16", Format::fp16}}),
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
        : OneOf{p.precision, TransformerShape{p.batch, p.sequence, p.hidden},
                static_cast<device::Place&>(*this), context} {}

    device::EventClock& clock() { return device::Place::clock; }
    void metrics(Metrics& metrics) const {
        metrics.add(
            "planning_time",
            std::visit([](const auto& layer) { return layer.planning_seconds(); }, state()));
    }
};

} // namespace

extern constinit const assay_benchmark cublaslt_transformer = define<CublasltTransformer>();

} // namespace assay::workload
