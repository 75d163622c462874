// SPDX-License-Identifier: Apache-2.0
#include "radix.hpp"

#include "keys.hpp"

namespace assay::sort {
namespace {

template <class Key>
class Keys {
public:
    Keys(Distribution distribution, std::int64_t footprint, int threads, const Context& context)
        : distribution_{distribution}, threads_{threads}, count_{keys::count_of<Key>(footprint)},
          narrow_{threads}, wide_{threads}, buckets_{threads}, in_{count_, {.threads = threads}},
          // Arrays at equal offsets in a 2 MiB page would fall into the same cache sets.
          out_{count_, {.threads = threads, .offset = 17 * cache_line}},
          spare_{count_, {.threads = threads, .offset = 5 * cache_line}} {
        detail::fill(in_.view(), threads,
                     [=](std::size_t i) { return keys::key_at<Key>(distribution, i); });
        const host::Trial trial =
            host::try_in_turns(ways.size(), [this](std::size_t way) { sort(way); });
        way_ = trial.best;
        poison();
        context.setting("digits", ways[way_]);
        context.setting("trial", host::others_of(trial, [](std::size_t i) { return ways[i]; }));
        context.setting("threads", threads);
        keys::describe<Key>(count_, context);
    }

    void run() noexcept { sort(way_); }
    Work work() const { return keys::work<Key>(count_); }
    Check verify() const {
        Check order = check_each(
            count_, keys::OutOfOrder<Key>{distribution_, in_.data(), out_.data()}, 0, keys::method);
        if (!order.passed) return order;
        const bool same = marks_of(in_) == marks_of(out_);
        return check_value(same ? 0 : 1, 0, keys::method, keys::lost);
    }
    Outputs outputs() const { return {out_}; }
    void poison() {
        detail::fill(out_.view(), threads_, [](std::size_t i) { return static_cast<Key>(~i); });
    }
    /// The lowest bit of one key, which may leave the order as it was.
    void spoil() { out_[spoils_.next() % count_] ^= 1; }

private:
    static constexpr std::array<const char*, 3> ways{"8 bits", "11 bits", "buckets, 12 bits"};
    void sort(std::size_t way) noexcept {
        const Arrays<Key> arrays{in_.data(), out_.data(), spare_.data(), count_};
        if (way == 0)
            narrow_.sort(arrays);
        else if (way == 1)
            wide_.sort(arrays);
        else
            buckets_.sort(arrays);
    }
    std::uint64_t marks_of(const HostBuffer<Key>& of) const {
        return sum_over_threads(threads_, [&](std::size_t thread, std::size_t team) {
            std::uint64_t sum = 0;
            for (const Key key : of.view(slice_of(count_, thread, team))) sum += keys::mark_of(key);
            return sum;
        });
    }

    Distribution distribution_;
    int threads_;
    std::size_t count_;
    Radix<Key, 8> narrow_;
    Radix<Key, 11> wide_;
    Buckets<Key> buckets_;
    HostBuffer<Key> in_;
    HostBuffer<Key> out_;
    HostBuffer<Key> spare_;
    std::size_t way_ = 0;
    Picks spoils_{keys::spoil_seed};
};

class RadixSort : public OneOf<Keys<std::uint32_t>, Keys<std::uint64_t>> {
public:
    struct Params {
        Type type = Type::uint32;
        Distribution distribution = Distribution::uniform;
        Symbolic footprint = Symbol::beyond_cache;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "sort.radix",
        .question = "How fast does this host sort integers?",
        .method =
            "Random keys are sorted by digits from one array into another: the least "
            "significant one first, 8 or 11 bits each, or 256 buckets by the most significant 8 "
            "bits and each bucket by digits of 12; whichever is fastest in a short trial. In "
            "each pass every thread counts the digits of its slice and writes its keys to "
            "their places. Skewed keys have one bit in eight set. The result must ascend, "
            "and the sums of a random number for each key must be equal before and after.",
        .caveats = "Bytes count each key read and written once, which any sorting must move; "
                   "every pass moves them three times, so a small share of memory.stream is "
                   "usual. The digits are the same for any distribution: a sort by comparison "
                   "gains from skewed keys, this one does not. Keys only, without values.",
        .headline = "item_rate",
        .ceiling = "memory.stream",
        .noise = Noise::memory,
        .items = "keys",
        .reproducible = true,
    };
    static constexpr auto axes = std::tuple_cat(
        keys::axes<Params>, std::tuple{threads_axis(&Params::threads, {Symbol::one, Symbol::all})});

    static Fit fit(const Params& p, const Machine& m) {
        return host::fits(p.threads, host::with_page_tables(m.bytes(p.footprint)), m);
    }

    RadixSort(const Params& p, const Context& context)
        : OneOf{p.type, p.distribution, context.machine().bytes(p.footprint),
                static_cast<int>(context.machine().workers(p.threads)), context} {}
};

} // namespace

extern constinit const assay_benchmark radix = define<RadixSort>();

} // namespace assay::sort
