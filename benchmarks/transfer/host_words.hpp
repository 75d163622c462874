// SPDX-License-Identifier: Apache-2.0
//
// The host's end of a copy: random words in pinned or in pageable memory, first touched by the thread that makes
// them, and their check.

#pragma once

#include "device/handles.hpp"
#include "transfer/copies.hpp"

#include <assay/benchmark.hpp>
#include <assay/verify.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <span>

namespace assay::transfer {

template <class Params>
consteval auto memory_axis(HostMemory Params::* field) {
    return choice("memory", "host memory: pinned, or pageable as from malloc", field,
                  {{"pinned", HostMemory::pinned}, {"pageable", HostMemory::pageable}},
                  {HostMemory::pinned});
}
inline Fit fits_on_host(std::int64_t bytes, const Machine& m) {
    const std::int64_t there = m.memory_available();
    return Fit::needs(there == 0 || bytes <= there, bytes,
                      " bytes of the host's free memory, there are ", there);
}

class HostWords {
public:
    HostWords(std::size_t count, HostMemory memory) : count_{count} {
        if (memory == HostMemory::pinned)
            pinned_ = device::PinnedBuffer<std::uint64_t>{count};
        else
            pageable_ =
                std::make_unique_for_overwrite<std::uint64_t[]>(count); // NOLINT(*-c-arrays)
        poison();
    }
    std::uint64_t* data() const { return pageable_ ? pageable_.get() : pinned_.data(); }
    std::span<std::uint64_t> view() const { return {data(), count_}; }

    void make(std::uint64_t seed) {
        assay::detail::fill(view(), 0, [=](std::size_t i) { return random_bits(seed, i); });
    }
    void poison() { std::ranges::fill(view(), ~std::uint64_t{0}); }
    void flip_bit(std::uint64_t pick) {
        data()[pick % count_] ^= std::uint64_t{1} << (pick >> 58U);
    }
    Check check(std::uint64_t seed) const {
        return check_each(
            count_, WrongWord{data(), seed}, 0,
            "every word against its recomputation from the random seed, on the receiving side");
    }

private:
    std::size_t count_;
    device::PinnedBuffer<std::uint64_t> pinned_;
    std::unique_ptr<std::uint64_t[]> pageable_; // NOLINT(*-c-arrays): no element is touched
};

/// Records where the host's memory was touched first, and which node the device is near (negative: the driver does
/// not say). Far memory is worth a warning: 14 instead of 57 GB/s have been seen.
inline void describe_nodes(int device_node, const Context& context) {
    unsigned cpu = 0;
    unsigned node = 0;
    if (::syscall(SYS_getcpu, &cpu, &node, nullptr) != 0) return;
    context.setting("host_node", node);
    if (device_node < 0) return;
    context.setting("device_node", device_node);
    if (device_node != static_cast<int>(node))
        context.warn(joined("the host's memory was touched on NUMA node ", node,
                            ", the device is near node ", device_node));
}

} // namespace assay::transfer
