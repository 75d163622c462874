// SPDX-License-Identifier: Apache-2.0

#include "attention_data.hpp"
#include "attention_kernels.hpp"
#include "attention_stretches.hpp"

#include <span>
#include <variant>

namespace assay::workload {
namespace {

/// bf16 as it lies in memory.
inline float widen(float value) { return value; }
inline float widen(std::int8_t value) { return value; }
inline float widen(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }

using attention_data::most;

constexpr int largest_int8 = 127; // symmetric: -128 is not used

/// Keys and values of all sequences and heads: a pair of those has `context` rows of `size` numbers.
template <class T>
struct Cache {
    Cache(std::size_t rows, std::size_t size, int threads)
        : keys{rows * size, {.threads = threads}},
          values{rows * size, {.threads = threads, .offset = 17 * cache_line}} {
        fill(keys.view(), attention_data::keys_seed, threads);
        fill(values.view(), attention_data::values_seed, threads);
    }

    const T* keys_from(std::size_t row, std::size_t size) const { return keys.data() + row * size; }
    const T* values_from(std::size_t row, std::size_t size) const {
        return values.data() + row * size;
    }
    float key(std::size_t row, std::size_t i, std::size_t size) const {
        return widen(keys[row * size + i]);
    }
    float value(std::size_t row, std::size_t i, std::size_t size) const {
        return widen(values[row * size + i]);
    }
    std::size_t bytes() const { return keys.bytes() + values.bytes(); }

    HostBuffer<T> keys;
    HostBuffer<T> values;

private:
    static void fill(std::span<T> to, std::uint64_t seed, int threads) {
        assay::detail::fill(to, threads, [seed](std::size_t i) {
            if constexpr (std::is_same_v<T, float>)
                return random_value(Precision::fp32, seed, i, -most, most);
            else if constexpr (std::is_same_v<T, std::int8_t>)
                return random_integer<T>(seed, i, -largest_int8, largest_int8);
            else
                return gemm::to_bfloat16(random_value(Precision::bf16, seed, i, -most, most)).bits;
        });
    }
};

/// The same in 8 bits, with a scale for each row: the largest number of a row is 127 times it. Rows
/// differ in size, or a kernel that took a neighbour's scale would pass.
struct ScaledCache : Cache<std::int8_t> {
    ScaledCache(std::size_t rows, std::size_t size, int threads)
        : Cache{rows, size, threads},
          key_scales{rows, {.threads = threads, .offset = 5 * cache_line}},
          value_scales{rows, {.threads = threads, .offset = 9 * cache_line}} {
        scale(key_scales, 71, threads);
        scale(value_scales, 72, threads);
    }
    ScaledRows keys_from(std::size_t row, std::size_t size) const {
        return {.numbers = Cache::keys_from(row, size), .scales = key_scales.data() + row};
    }
    ScaledRows values_from(std::size_t row, std::size_t size) const {
        return {.numbers = Cache::values_from(row, size), .scales = value_scales.data() + row};
    }
    double key(std::size_t row, std::size_t i, std::size_t size) const {
        return double{key_scales[row]} * Cache::key(row, i, size);
    }
    double value(std::size_t row, std::size_t i, std::size_t size) const {
        return double{value_scales[row]} * Cache::value(row, i, size);
    }
    std::size_t bytes() const { return Cache::bytes() + key_scales.bytes() + value_scales.bytes(); }

    HostBuffer<float> key_scales;
    HostBuffer<float> value_scales;

private:
    static void scale(HostBuffer<float>& scales, std::uint64_t seed, int threads) {
        assay::detail::fill(scales.view(), threads, [seed](std::size_t row) {
            return random_uniform<float>(seed, row, 0.75F, 1.25F) * (most / largest_int8);
        });
    }
};

class Attention {
public:
    struct Params {
        std::int64_t batch = 1;
        std::int64_t context = 4096;
        std::int64_t heads = 32;
        std::int64_t head_size = 128;
        Precision precision = Precision::bf16;
        Symbolic threads = Symbol::all;
        std::int64_t group = 1;
    };
    static constexpr Info info{
        .id = "workload.attention",
        .question = "How fast does this host run the attention of a decoding step?",
        .method = "For each sequence and head, one query attends to all `context` cached keys and "
                  "values with softmax, in one pass that reads every row once, as FlashDecoding "
                  "does. `group` heads share keys and values (grouped-query attention): a block "
                  "of rows stays in the first cache for all their queries. The cache is fp32, "
                  "bf16, or int8 with one fp32 scale per key and value (a head of a token), "
                  "widened in registers; queries and arithmetic are fp32. Rows are divided evenly "
                  "among threads, across sequences, and the parts are merged. For a sample of "
                  "heads all outputs are recomputed in fp64 from the cached numbers, within fp32 "
                  "rounding. A call produces one token per sequence.",
        .caveats = "Bytes are the cached keys, values and scales, once. FLOP are those of scores "
                   "and weighted values, so arithmetic per byte grows by `group`: large groups "
                   "are bound by the vector units. int8 excludes quantising the new row of each "
                   "head and has more arithmetic per byte. A KV cache that fits in the "
                   "processor's caches is faster than memory. The rest of the model, whose "
                   "weights are also read for every token, is not included.",
        .headline = "bandwidth",
        .ceiling = "memory.stream peak.fma:precision=fp32",
        .noise = Noise::workload,
        .reproducible = true,
    };
    static constexpr auto axes = std::tuple_cat(
        attention_data::axes<Params>,
        std::tuple{choice("precision", "type of the cache", &Params::precision,
                          {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16},
                           Name{"int8", Precision::int8}}),
                   threads_axis(&Params::threads, {Symbol::all})},
        attention_data::group_axis<Params>);
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& m) {
        if (p.head_size % 16 != 0)
            return Fit::no("head_size must be a multiple of 16, the widest vector");
        const auto shape = AttentionShape::of(p);
        if (Fit fit = shape.fits(); !fit) return fit;
        const std::int64_t scale = p.precision == Precision::int8 ? 4 : 0;
        return host::fits(p.threads,
                          2 * shape.rows() * (p.head_size * bytes_of(p.precision) + scale), m);
    }

    Attention(const Params& p, const Context& context)
        : threads_{static_cast<int>(context.machine().workers(p.threads))},
          shape_{AttentionShape::of(p)}, size_{static_cast<std::size_t>(p.head_size)},
          cache_{make(p, threads_)}, queries_{shape_.queries() * size_}, results_{queries_.size()},
          stretches_{threads_, shape_.stretches(), static_cast<std::size_t>(p.context),
                     static_cast<std::size_t>(p.group), size_} {
        const float most_of_queries = attention_data::most_of_queries(shape_);
        fill_uniform(queries_.view(), attention_data::queries_seed, -most_of_queries,
                     most_of_queries);
        poison();
        context.setting("isa", attention_instructions());
        context.setting("threads", threads_);
        context.setting("cache_bytes", work().bytes);
    }

    void run() noexcept {
        const auto run_on = [this](const auto* cache) {
            if (cache != nullptr) stretches_.run(*cache, queries_.data(), results_.data());
        };
        // The cache was touched in the same slices.
        run_on(std::get_if<Cache<float>>(&cache_));
        run_on(std::get_if<Cache<std::uint16_t>>(&cache_));
        run_on(std::get_if<ScaledCache>(&cache_));
    }
    Work work() const {
        return shape_.work(std::visit(
            [](const auto& cache) { return static_cast<double>(cache.bytes()); }, cache_));
    }
    Check verify() const {
        return std::visit([this](const auto& cache) { return verify_on(cache); }, cache_);
    }
    Outputs outputs() const { return {results_}; }
    void poison() {
        std::ranges::fill(results_.view(), std::numeric_limits<float>::quiet_NaN());
        ++round_;
    }
    /// One number of as many heads in a row as surely hold one that is looked at.
    void spoil() {
        const std::uint64_t pick = spoils_.next();
        const Slice damage = samples().damage(pick >> 16U);
        for (std::size_t query = damage.first; query < damage.last; ++query) {
            float& value = results_[query * size_ + pick % size_];
            value = damaged(Precision::fp32, value);
        }
    }

private:
    using Any = std::variant<Cache<float>, Cache<std::uint16_t>, ScaledCache>;

    static Any make(const Params& p, int threads) {
        const auto rows = static_cast<std::size_t>(AttentionShape::of(p).rows());
        const auto size = static_cast<std::size_t>(p.head_size);
        if (p.precision == Precision::fp32)
            return Any{std::in_place_type<Cache<float>>, rows, size, threads};
        if (p.precision == Precision::int8)
            return Any{std::in_place_type<ScaledCache>, rows, size, threads};
        return Any{std::in_place_type<Cache<std::uint16_t>>, rows, size, threads};
    }

    Samples samples() const { return attention_data::samples(shape_, round_); }
    template <class Rows>
    Check verify_on(const Rows& cache) const {
        return attention_data::check(
            shape_, {Precision::fp32, roundoff_of(Precision::fp32)}, samples(), threads_,
            [&](auto query, auto d) { return queries_[query * size_ + d]; },
            [&](auto /*sample*/, auto row, auto d) { return cache.key(row, d, size_); },
            [&](auto /*sample*/, auto row, auto d) { return cache.value(row, d, size_); },
            [&](auto query, auto d) { return results_[query * size_ + d]; });
    }

    int threads_;
    AttentionShape shape_;
    std::size_t size_;
    Any cache_;
    HostBuffer<float> queries_;
    HostBuffer<float> results_;
    AttentionStretches stretches_;
    std::uint64_t round_ = 0; // of samples
    Picks spoils_{attention_data::spoil_seed};
};

} // namespace

extern constinit const assay_benchmark attention = define<Attention>();

} // namespace assay::workload
