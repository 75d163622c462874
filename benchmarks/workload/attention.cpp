// SPDX-License-Identifier: Apache-2.0

#include "attention_data.hpp"
#include "attention_kernels.hpp"

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
          shape_{AttentionShape::of(p)}, context_{static_cast<std::size_t>(p.context)},
          size_{static_cast<std::size_t>(p.head_size)}, group_{static_cast<std::size_t>(p.group)},
          cache_{make(p, threads_)}, queries_{shape_.queries() * size_}, results_{queries_.size()},
          parts_(2 * static_cast<std::size_t>(threads_)),
          part_results_{parts_.size() * group_ * size_}, part_states_(parts_.size() * group_),
          scratch_each_{attention_scratch(group_, size_)},
          scratch_{scratch_each_ * static_cast<std::size_t>(threads_)} {
        const float most_of_queries = attention_data::most_of_queries(shape_);
        fill_uniform(queries_.view(), attention_data::queries_seed, -most_of_queries,
                     most_of_queries);
        poison();
        context.setting("isa", attention_instructions());
        context.setting("threads", threads_);
        context.setting("cache_bytes", work().bytes);
    }

    void run() noexcept {
        if (const auto* fp32 = std::get_if<Cache<float>>(&cache_)) run_on(*fp32);
        if (const auto* bf16 = std::get_if<Cache<std::uint16_t>>(&cache_)) run_on(*bf16);
        if (const auto* int8 = std::get_if<ScaledCache>(&cache_)) run_on(*int8);
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

    /// A thread's part of a stretch that it shares with others.
    struct alignas(cache_line) Part {
        std::size_t stretch = 0;
        std::size_t rows = 0; // 0: nothing
    };

    template <class Rows>
    void run_on(const Rows& cache) noexcept {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t team) {
            // The cache was touched in the same slices.
            const Slice own = slice_of(shape_.stretches() * context_, thread, team);
            parts_[2 * thread].rows = 0;
            parts_[2 * thread + 1].rows = 0;
            for (std::size_t at = own.first; at < own.last;) {
                const std::size_t stretch = at / context_;
                const std::size_t end = std::min((stretch + 1) * context_, own.last);
                const std::size_t slot = 2 * thread + (at == own.first ? 0 : 1);
                parts_[slot] = {.stretch = stretch, .rows = end - at};
                attend_part(cache, at, end - at, slot, scratch_.data() + thread * scratch_each_);
                at = end;
            }
        });
        for (std::size_t i = 0; i < parts_.size();) i = join_from(i);
    }
    /// Where it is a whole stretch, its results; else what join_from() takes.
    template <class Rows>
    void attend_part(const Rows& cache, std::size_t first, std::size_t rows, std::size_t slot,
                     float* scratch) noexcept {
        const std::size_t query = parts_[slot].stretch * group_;
        const bool is_whole = rows == context_;
        const Group group{.count = group_,
                          .queries = queries_.data() + query * size_,
                          .results = is_whole ? results_.data() + query * size_
                                              : part_results_.data() + slot * group_ * size_,
                          .states = part_states_.data() + slot * group_,
                          .scratch = scratch};
        const auto keys = cache.keys_from(first, size_);
        const auto values = cache.values_from(first, size_);
        // One query waits for memory whatever it computes: its rows are read by the simplest loop.
        if (group_ == 1)
            *group.states = attend(group.queries, keys, values, rows, size_, group.results);
        else
            attend(group, keys, values, rows, size_);
        if (!is_whole) return;
        parts_[slot].rows = 0;
        for (std::size_t q = 0; q < group_; ++q)
            scale(group.results + q * size_, 1 / group.states[q].sum);
    }
    void scale(float* numbers, float factor) const {
        for (std::size_t i = 0; i < size_; ++i) numbers[i] *= factor;
    }
    /// Joins the parts of one stretch, which follow each other; where the next one's begin.
    std::size_t join_from(std::size_t first) noexcept {
        if (parts_[first].rows == 0) return first + 1;
        const std::size_t stretch = parts_[first].stretch;
        std::size_t end = first;
        while (end < parts_.size() && (parts_[end].rows == 0 || parts_[end].stretch == stretch))
            ++end;
        for (std::size_t q = 0; q < group_; ++q) join(first, end, stretch * group_ + q, q);
        return end;
    }
    void join(std::size_t first, std::size_t end, std::size_t query, std::size_t q) noexcept {
        float largest = -std::numeric_limits<float>::infinity();
        for (std::size_t i = first; i < end; ++i)
            if (parts_[i].rows != 0)
                largest = std::max(largest, part_states_[i * group_ + q].largest);
        float* to = results_.data() + query * size_;
        std::fill_n(to, size_, 0.0F);
        float sum = 0;
        for (std::size_t i = first; i < end; ++i) {
            if (parts_[i].rows == 0) continue;
            const Attended& state = part_states_[i * group_ + q];
            const float weight = std::exp(state.largest - largest);
            sum += weight * state.sum;
            for (std::size_t d = 0; d < size_; ++d)
                to[d] += weight * part_results_[(i * group_ + q) * size_ + d];
        }
        scale(to, 1 / sum);
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
    std::size_t context_;
    std::size_t size_;
    std::size_t group_;
    Any cache_;
    HostBuffer<float> queries_;
    HostBuffer<float> results_;
    std::vector<Part> parts_;           // two of each thread: where its slice begins and ends
    HostBuffer<float> part_results_;    // of those, for each query of a group
    std::vector<Attended> part_states_; // the same
    std::size_t scratch_each_;          // of a thread
    HostBuffer<float> scratch_;
    std::uint64_t round_ = 0; // of samples
    Picks spoils_{attention_data::spoil_seed};
};

} // namespace

extern constinit const assay_benchmark attention = define<Attention>();

} // namespace assay::workload
