// SPDX-License-Identifier: Apache-2.0

#include "attention_kernels.hpp"
#include "precision.hpp"
#include "samples.hpp"
#include "transformer_data.hpp"

#include <assay/define.hpp>

#include <numbers>
#include <span>
#include <variant>

namespace assay::workload {
namespace {

/// bf16 as it lies in memory.
inline float widen(float value) { return value; }
inline float widen(std::int8_t value) { return value; }
inline float widen(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }

/// The largest of uniform numbers of variance 1.
constexpr float root3 = std::numbers::sqrt3_v<float>;

constexpr int largest_int8 = 127; // symmetric: -128 is not used

/// Keys and values of all sequences and heads: a pair of those has `context` rows of `size` numbers.
template <class T>
struct Cache {
    Cache(std::size_t rows, std::size_t size, int threads)
        : keys{rows * size, {.threads = threads}},
          values{rows * size, {.threads = threads, .offset = 17 * cache_line}} {
        fill(keys.view(), 61, threads);
        fill(values.view(), 62, threads);
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
                return random_value(Precision::fp32, seed, i, -root3, root3);
            else if constexpr (std::is_same_v<T, std::int8_t>)
                return random_integer<T>(seed, i, -largest_int8, largest_int8);
            else
                return gemm::to_bfloat16(random_value(Precision::bf16, seed, i, -root3, root3))
                    .bits;
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
            return random_uniform<float>(seed, row, 0.75F, 1.25F) * (root3 / largest_int8);
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
    };
    static constexpr Info info{
        .id = "workload.attention",
        .question = "How fast does this host run the attention of a decoding step?",
        .method = "For each sequence and head, one query attends to all `context` cached keys and "
                  "values with softmax, in one pass that reads every row once, as FlashDecoding "
                  "does. The cache is fp32, bf16, or int8 with one fp32 scale per key and value (a "
                  "head of a token), widened in registers; queries and arithmetic are fp32. Rows "
                  "are divided evenly among threads, across sequences, and the parts are merged. "
                  "For a sample of heads all outputs are recomputed in fp64 from the cached "
                  "numbers, within fp32 rounding. A call produces one token per sequence.",
        .caveats = "Bytes are the cached keys, values and scales, once. int8 excludes quantising "
                   "the new row of each head and has more arithmetic per byte. A KV cache that "
                   "fits in the processor's caches is faster than memory. Multi-head attention: "
                   "grouped queries have more arithmetic per byte. The rest of the model, whose "
                   "weights are also read for every token, is not included.",
        .headline = "bandwidth",
        .ceiling = "memory.stream",
        .noise = Noise::workload,
        .reproducible = true,
    };
    static constexpr std::tuple axes{
        integer("batch", "sequences decoded together", "", &Params::batch, {1, 4}, {1, 4096}),
        integer("context", "tokens in the cache of a sequence", "", &Params::context, {4096},
                {1, 1 << 20}),
        integer("heads", "heads of the layer", "", &Params::heads, {32}, {1, 1024}),
        integer("head_size", "numbers of a key or value, a multiple of 16", "", &Params::head_size,
                {128}, {16, 1024}),
        choice("precision", "type of the cache", &Params::precision,
               {Name{"fp32", Precision::fp32}, Name{"bf16", Precision::bf16},
                Name{"int8", Precision::int8}}),
        threads_axis(&Params::threads, {Symbol::all}),
    };
    static constexpr bool single_call = true; // a call is what a user waits for

    static Fit fit(const Params& p, const Machine& m) {
        if (p.head_size % 16 != 0)
            return Fit::no("head_size must be a multiple of 16, the widest vector");
        const std::int64_t rows = p.batch * p.heads * p.context;
        const std::int64_t scale = p.precision == Precision::int8 ? 4 : 0;
        return host::fits(p.threads, 2 * rows * (p.head_size * bytes_of(p.precision) + scale), m);
    }

    Attention(const Params& p, const Context& context)
        : threads_{static_cast<int>(context.machine().workers(p.threads))},
          pairs_{static_cast<std::size_t>(p.batch * p.heads)},
          context_{static_cast<std::size_t>(p.context)},
          size_{static_cast<std::size_t>(p.head_size)}, batch_{static_cast<double>(p.batch)},
          cache_{make(p, threads_)}, queries_{pairs_ * size_}, results_{pairs_ * size_},
          parts_(2 * static_cast<std::size_t>(threads_)), part_results_{parts_.size() * size_} {
        // Scores of variance 1: queries are divided by sqrt(size) here and not in every call.
        const float most = std::sqrt(3.0F / static_cast<float>(size_));
        fill_uniform(queries_.view(), 63, -most, most);
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
        const double numbers = 2 * static_cast<double>(pairs_ * context_ * size_);
        return {.flops = 2 * numbers,
                .bytes = std::visit(
                    [](const auto& cache) { return static_cast<double>(cache.bytes()); }, cache_),
                .items = batch_};
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
        for (std::size_t pair = damage.first; pair < damage.last; ++pair) {
            float& value = results_[pair * size_ + pick % size_];
            value = damaged(Precision::fp32, value);
        }
    }

private:
    using Any = std::variant<Cache<float>, Cache<std::uint16_t>, ScaledCache>;

    static Any make(const Params& p, int threads) {
        const auto rows = static_cast<std::size_t>(p.batch * p.heads * p.context);
        const auto size = static_cast<std::size_t>(p.head_size);
        if (p.precision == Precision::fp32)
            return Any{std::in_place_type<Cache<float>>, rows, size, threads};
        if (p.precision == Precision::int8)
            return Any{std::in_place_type<ScaledCache>, rows, size, threads};
        return Any{std::in_place_type<Cache<std::uint16_t>>, rows, size, threads};
    }

    /// What a thread did of a pair that it shares with others.
    struct alignas(cache_line) Part {
        std::size_t pair = 0;
        std::size_t rows = 0; // 0: nothing
        Attended attended{};
    };

    template <class Rows>
    void run_on(const Rows& cache) noexcept {
        on_each_thread(threads_, [&](std::size_t thread, std::size_t team) {
            // The cache was touched in the same slices.
            const Slice own = slice_of(pairs_ * context_, thread, team);
            parts_[2 * thread].rows = 0;
            parts_[2 * thread + 1].rows = 0;
            for (std::size_t at = own.first; at < own.last;) {
                const std::size_t pair = at / context_;
                const std::size_t end = std::min((pair + 1) * context_, own.last);
                const std::size_t rows = end - at;
                const bool is_whole = rows == context_;
                const std::size_t slot = 2 * thread + (at == own.first ? 0 : 1);
                float* to =
                    is_whole ? results_.data() + pair * size_ : part_results_.data() + slot * size_;
                const Attended attended =
                    attend(queries_.data() + pair * size_, cache.keys_from(at, size_),
                           cache.values_from(at, size_), rows, size_, to);
                if (is_whole)
                    scale(to, 1 / attended.sum);
                else
                    parts_[slot] = {.pair = pair, .rows = rows, .attended = attended};
                at = end;
            }
        });
        for (std::size_t i = 0; i < parts_.size();) i = join_from(i);
    }
    void scale(float* numbers, float factor) const {
        for (std::size_t i = 0; i < size_; ++i) numbers[i] *= factor;
    }
    /// Joins the parts of one pair, which follow each other; where the next pair's begin.
    std::size_t join_from(std::size_t first) {
        if (parts_[first].rows == 0) return first + 1;
        const std::size_t pair = parts_[first].pair;
        std::size_t end = first;
        float largest = -std::numeric_limits<float>::infinity();
        for (; end < parts_.size() && (parts_[end].rows == 0 || parts_[end].pair == pair); ++end)
            if (parts_[end].rows != 0) largest = std::max(largest, parts_[end].attended.largest);
        float* to = results_.data() + pair * size_;
        std::fill_n(to, size_, 0.0F);
        float sum = 0;
        for (std::size_t i = first; i < end; ++i) {
            if (parts_[i].rows == 0) continue;
            const float weight = std::exp(parts_[i].attended.largest - largest);
            sum += weight * parts_[i].attended.sum;
            for (std::size_t d = 0; d < size_; ++d) to[d] += weight * part_results_[i * size_ + d];
        }
        scale(to, 1 / sum);
        return end;
    }

    Samples samples() const {
        constexpr std::size_t heads = 16; // each reads the whole cache of its pair
        return {pairs_, heads, round_};
    }
    template <class Rows>
    Check verify_on(const Rows& cache) const {
        const Samples which = samples();
        std::vector<AttentionReference> references(which.size());
        on_each_slice(threads_, which.size(), 1, [&](Slice slice) {
            for (std::size_t i = slice.first; i < slice.last; ++i) {
                const float* query = queries_.data() + which[i] * size_;
                const std::size_t first = which[i] * context_;
                references[i] = AttentionReference{
                    context_, size_, [&](auto d) { return query[d]; },
                    [&](auto j, auto d) { return cache.key(first + j, d, size_); }};
            }
        });
        return check_each(
            which.size() * size_,
            [&](std::size_t i) {
                const std::size_t pair = which[i / size_];
                const std::size_t d = i % size_;
                return references[i / size_]
                    .expect(Precision::fp32,
                            [&](auto j) { return cache.value(pair * context_ + j, d, size_); })
                    .error(results_[pair * size_ + d]);
            },
            1,
            "all outputs of a sample of heads recomputed in fp64; 1 is several standard deviations "
            "of fp32 rounding in scores, probabilities and sums");
    }

    int threads_;
    std::size_t pairs_; // of a sequence and a head
    std::size_t context_;
    std::size_t size_;
    double batch_;
    Any cache_;
    HostBuffer<float> queries_;
    HostBuffer<float> results_;
    std::vector<Part> parts_;        // two of each thread: where its slice begins and ends
    HostBuffer<float> part_results_; // of those
    std::uint64_t round_ = 0;        // of samples
    Picks spoils_{64};
};

} // namespace

extern constinit const assay_benchmark attention = define<Attention>();

} // namespace assay::workload
