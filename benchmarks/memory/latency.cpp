// SPDX-License-Identifier: Apache-2.0

#include "chase.hpp"

namespace assay::memory {
namespace {

class Latency {
public:
    struct Params {
        Symbolic footprint = Symbol::beyond_cache;
        Pages pages = Pages::huge;
    };
    static constexpr Info info{
        .id = "memory.latency",
        .question = "What is the load-to-use latency of one core, by footprint?",
        .method = "Pointer chase through one pointer per cache line in random order over the whole "
                  "footprint, 2048 dependent loads per call, resuming where the last call stopped. "
                  "Checked: the chain visits every line exactly once, and each call ends 2048 "
                  "nodes further.",
        .caveats =
            "Address translation is included: with small pages a large footprint misses the TLB on "
            "nearly every load, with huge pages much later. Footprints that fit in a cache measure "
            "that cache; with beyond_cache up to a quarter of the lines still hit one. The setting "
            "`pages` is what the system provided. Other cores are idle: see memory.loaded_latency.",
        .headline = "latency",
        .noise = Noise::latency,
    };
    static constexpr std::tuple axes{
        chain_axis(&Params::footprint),
        pages_axis(&Params::pages),
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

extern constinit const assay_benchmark latency = define<Latency>();

} // namespace assay::memory
