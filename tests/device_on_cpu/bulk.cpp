// SPDX-License-Identifier: Apache-2.0
//
// Clusters, mbarriers and bulk copies as the PTX ISA describes them (mapa; mbarrier; cp.async.bulk).

#include "bulk.hpp"

#include "devices.hpp"
#include "kernels.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace assay::device_on_cpu {
namespace {

std::byte* shared_at(unsigned at) { return dynamic_memory + at; }

/// What an mbarrier holds.
struct Barrier {
    std::int32_t bytes; ///< expected and not yet there
    std::uint8_t arrivals;
    std::uint8_t missing; ///< arrivals
    std::uint8_t parity;  ///< of the phase that runs
    std::uint8_t mark;
};
static_assert(sizeof(Barrier) == 8);
constexpr std::uint8_t mark = 0x5a;

Barrier* barrier_at(unsigned at) {
    auto* const barrier = reinterpret_cast<Barrier*>(shared_at(at));
    if (at % sizeof(Barrier) == 0 && barrier->mark == mark) return barrier;
    fault("not an initialised mbarrier");
    return nullptr;
}
void end_phase(Barrier& barrier) {
    if (barrier.missing != 0 || barrier.bytes != 0) return;
    barrier.missing = barrier.arrivals;
    barrier.parity ^= 1U;
}

/// A load arrives at a barrier, a store is waited for by the thread that asked for it: its last ones may be left.
struct Copy {
    std::byte* to;
    const std::byte* from;
    std::size_t bytes;
    Barrier* barrier;
    std::uint64_t thread;
    std::uint64_t number; ///< among the stores of that thread
};
std::vector<Copy> copies;
std::map<std::uint64_t, std::uint64_t> stores; ///< of each thread of the blocks that run

std::uint64_t this_thread() { return std::uint64_t{place.block.x} << 32U | place.thread.x; }

void finish(std::size_t number) {
    const Copy copy = copies[number];
    copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(number));
    std::memcpy(copy.to, copy.from, copy.bytes);
    if (copy.barrier == nullptr) return;
    copy.barrier->bytes -= static_cast<std::int32_t>(copy.bytes);
    end_phase(*copy.barrier);
}

void ask_for(const Copy& copy, const void* global) {
    const auto odd = reinterpret_cast<std::uintptr_t>(copy.to) |
                     reinterpret_cast<std::uintptr_t>(copy.from) | copy.bytes;
    if (odd % 16 != 0 || !is_whole(global, copy.bytes))
        return fault("a bulk copy that is not aligned to 16 bytes, or beside an allocation");
    copies.push_back(copy);
    if (pick(2) == 1) finish(copies.size() - 1);
}

} // namespace

bool finish_a_copy() {
    if (copies.empty()) return false;
    finish(copies.size() - 1 - pick(copies.size()));
    return true;
}
bool forget_copies() {
    const bool is_any = !copies.empty();
    copies.clear();
    stores.clear();
    return is_any;
}

void init_barrier(unsigned at, unsigned arrivals) {
    const auto count = static_cast<std::uint8_t>(arrivals);
    const Barrier made{.bytes = 0, .arrivals = count, .missing = count, .parity = 0, .mark = mark};
    std::memcpy(shared_at(at), &made, sizeof made);
}
void arrive_expecting(unsigned at, unsigned bytes) {
    Barrier* const barrier = barrier_at(at);
    if (barrier == nullptr) return;
    barrier->bytes += static_cast<std::int32_t>(bytes);
    --barrier->missing;
    end_phase(*barrier);
}
void wait_for_phase(unsigned at, unsigned parity) {
    struct Operand {
        const Barrier* barrier;
        unsigned parity;
    } operand{barrier_at(at), parity};
    if (operand.barrier == nullptr) return;
    wait_until(
        [](void* wanted) {
            const auto& of = *static_cast<const Operand*>(wanted);
            return of.barrier->parity != of.parity;
        },
        &operand, std::source_location::current());
}
/// All of a thread's accesses happen in its order: there is nothing to order.
void fence_before_bulk() {}
void bulk_load(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
    Barrier* const arrives_at = barrier_at(barrier);
    if (arrives_at == nullptr) return;
    ask_for({shared_at(to), static_cast<const std::byte*>(from), bytes, arrives_at, 0, 0}, from);
}
void bulk_store(void* to, unsigned from, unsigned bytes) {
    ask_for({static_cast<std::byte*>(to), shared_at(from), bytes, nullptr, this_thread(),
             ++stores[this_thread()]},
            to);
}
void wait_for_bulk_reads(unsigned most) {
    const auto is_due = [most](const Copy& copy) {
        return copy.barrier == nullptr && copy.thread == this_thread() &&
               copy.number + most <= stores[copy.thread];
    };
    for (auto due = std::ranges::find_if(copies, is_due); due != copies.end();
         due = std::ranges::find_if(copies, is_due))
        finish(static_cast<std::size_t>(due - copies.begin()));
}

unsigned cluster_rank() {
    unsigned rank = 0;
    while (dynamic_memory_of(rank) != dynamic_memory) ++rank;
    return rank;
}
void* shared_of(void* own, unsigned rank) {
    std::byte* const memory = dynamic_memory_of(rank);
    if (memory == nullptr) fault("a block that the cluster does not have");
    return memory == nullptr ? own : memory + (static_cast<std::byte*>(own) - dynamic_memory);
}
void sync_cluster() { wait_for_cluster(std::source_location::current()); }

} // namespace assay::device_on_cpu
