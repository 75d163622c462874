// SPDX-License-Identifier: Apache-2.0

#include "device/clock.hpp"
#include "device/properties.hpp"
#include "memory/device_sweep.hpp"

#include <assay/define.hpp>
#include <assay/random.hpp>
#include <assay/units.hpp>

#include <cstdint>
#include <tuple>

namespace assay::memory {
namespace {

using namespace units;

enum class SweepAccess : std::uint8_t { read };

class DeviceHierarchy {
public:
    struct Params {
        SweepAccess access = SweepAccess::read;
        Through through = Through::l1;
        Symbolic footprint = Symbol::beyond_cache;
    };
    static constexpr Info info{
        .id = "memory.hierarchy",
        .version = 2, // 1: of 4 MiB asked for it read 2, of 32 MiB 25
        .question =
            "How fast are the caches of this device and the memory behind them, by footprint?",
        .method = "16-byte loads and the additions that keep them, by one block of 1024 threads "
                  "per multiprocessor, each repeating over its own slice of the footprint. A sweep "
                  "over footprints shows each level as a plateau. Data is random; the sum of every "
                  "thread is recomputed on the device.",
        .caveats =
            "`footprint` is the total over all multiprocessors: l1 and l2 are what these levels of "
            "this device surely hold, about half of them. The first-level caches together hold "
            "more than half of the second level on most devices, so l2 is measured with `through` "
            "l2, which bypasses the first level. Other values become the nearest with slices of "
            "16, 32 KiB or a multiple of 64 KiB per multiprocessor; the setting `footprint` is "
            "what was read. Some memories give more to the many blocks of memory.stream.",
        .headline = "bandwidth",
        .place = "cuda",
        .bound = Bound::memory,
    };
    static constexpr std::tuple axes{
        choice("access", "what the loop does: read", &Params::access,
               {{"read", SweepAccess::read}}),
        choice("through", "where loads look first: l1, the multiprocessor's cache; l2, past it",
               &Params::through, {{"l1", Through::l1}, {"l2", Through::l2}}),
        symbolic("footprint", "bytes over all multiprocessors", "B", &Params::footprint,
                 {Symbol::l1, Symbol::l2, Symbol::beyond_cache}, {256_KiB, 16_TiB},
                 {Symbol::l1, Symbol::l2, Symbol::beyond_cache}),
    };

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        if (p.through == Through::l1 && p.footprint.symbol == Symbol::l2)
            return Fit::no("not applicable: the first level caches hold a part of what the second "
                           "level holds; through=l2 passes by them");
        const bool is_plain = p.footprint.symbol == Symbol::none;
        if (Fit device = device::fits_device(is_plain ? p.footprint.number : 256_MiB); !device)
            return device;
        const auto least = device::properties().multiprocessors * sweep_tile;
        return Fit::needs(!is_plain || 4 * p.footprint.number >= 3 * least, least,
                          " bytes for so many multiprocessors, not ", p.footprint.number);
    }

    DeviceHierarchy(const Params& p, const Context& context)
        : through_{p.through}, shape_{shape_for(p)}, clock_{stream_}, words_{2 * shape_.vectors()},
          sums_{shape_.threads()} {
        prepare_sweep(through_, shape_);
        fill_sweep(words_.data(), shape_, stream_);
        stream_.wait();
        context.setting("footprint", shape_.bytes());
        context.tell({.footprint_bytes = static_cast<double>(shape_.bytes())});
        context.setting("slice", shape_.bytes() / shape_.blocks);
        context.setting("blocks", shape_.blocks);
        context.setting("passes", shape_.passes);
        context.setting("loads_per_thread", shape_.tiles_at_once < 4 ? 4 : shape_.tiles_at_once);
    }

    device::EventClock& clock() { return clock_; }
    void run() { launch_sweep(through_, words_.data(), sums_.data(), shape_, stream_); }
    Work work() const { return {.bytes = shape_.bytes() * static_cast<double>(shape_.passes)}; }
    Check verify() const { return check_sweep(sums_.data(), shape_, stream_); }

    void poison() { poison_sweep(sums_.data(), shape_, stream_); }
    /// One bit of one sum.
    void spoil() { device::flip_bit(sums_, spoils_.next(), stream_); }

private:
    static SweepShape shape_for(const Params& p) {
        const auto found = device::properties();
        const bool is_level = p.footprint.symbol == Symbol::l1 || p.footprint.symbol == Symbol::l2;
        // What a block may share is most of what a multiprocessor has for both, cache and sharing.
        return sweep_shape(is_level ? sweep_level(p.footprint.symbol, found.multiprocessors,
                                                  found.shared_bytes_per_block, found.l2_bytes)
                                    : device::footprint(p.footprint, 1, found),
                           found.multiprocessors);
    }

    Through through_;
    SweepShape shape_;
    device::Stream stream_;
    device::EventClock clock_;
    device::Buffer<std::uint64_t> words_;
    device::Buffer<std::uint32_t> sums_; // of the threads
    Picks spoils_{12};
};

} // namespace

extern constinit const assay_benchmark device_hierarchy = define<DeviceHierarchy>();

} // namespace assay::memory
