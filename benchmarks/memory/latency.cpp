// SPDX-License-Identifier: Apache-2.0

#include "chase.hpp"

#include <assay/define.hpp>
#include <assay/units.hpp>

#include <tuple>

namespace assay::memory {
namespace {

using namespace units;

class Latency {
public:
    struct Params {
        Symbolic footprint = Symbol::beyond_cache;
        Pages pages = Pages::huge;
    };
    static constexpr Info info{
        .id = "memory.latency",
        .question = "How long does one core wait for one load, by how much data it works on?",
        .method =
            "A chain of pointers, one per cache line, in random order through the whole "
            "footprint: no address is known before the load before it has ended. A call takes "
            "2048 steps from where the last one stopped; the latency is time by steps. Checked: "
            "the chain visits every line exactly once, and the call ended at the node 2048 "
            "further along.",
        .caveats =
            "What a dependent load costs, address translation included: on small pages a large "
            "footprint misses the translation buffers with nearly every step, on huge pages much "
            "later. Footprints that fit into a cache measure that cache. Beyond the caches some "
            "lines are still found in them: with beyond_cache up to a quarter. What the system "
            "really gave is the setting `pages`. Other cores are idle; see memory.loaded_latency.",
        .headline = "latency",
    };
    static constexpr std::tuple axes{
        symbolic(
            "footprint", "bytes that the chain runs through", "B", &Params::footprint,
            {Symbolic{16_KiB}, Symbolic{256_KiB}, Symbolic{8_MiB}, Symbolic{Symbol::beyond_cache}},
            {1_KiB, 16_TiB}, {Symbol::beyond_cache}),
        choice("pages", "huge (2 MiB) or small (the usual size, 4 KiB on most)", &Params::pages,
               {Name{"huge", Pages::huge}, Name{"small", Pages::small}}, {Pages::huge}),
    };
    /// rewind() only mends what spoil() broke.
    static constexpr std::uint64_t safe_calls = 1U << 30U;

    static Fit fit(const Params& p, const Machine& m) {
        return fits_memory(m.bytes(p.footprint), p.pages, m);
    }

    Latency(const Params& p, const Context& context)
        : chase_{static_cast<std::size_t>(context.machine().bytes(p.footprint)), p.pages} {
        chase_.describe(context, p.pages);
    }
    void run() noexcept { chase_.walk(steps); }
    Work work() const { return {.steps = steps}; }
    Check verify() const { return chase_.verify(); }
    void poison() { chase_.poison(); }
    void spoil() { chase_.spoil(); }
    void rewind() { chase_.mend(); }

private:
    // 2 us where a step takes a nanosecond, five hundred times what calling and leaving the loop
    // costs; 0.4 ms where it takes 200.
    static constexpr std::uint64_t steps = 2048;

    Chase chase_;
};

} // namespace

extern constinit const assay_benchmark latency;
constinit const assay_benchmark latency = define<Latency>();

} // namespace assay::memory
