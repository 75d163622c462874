// SPDX-License-Identifier: Apache-2.0
#include "block.hpp"

#include "bulk.hpp"
#include "fiber.hpp"
#include "schedule.hpp"

#include <link.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

namespace assay::device_on_cpu {

Place place;
std::byte* dynamic_memory = nullptr;

namespace {

enum class State : std::uint8_t { fresh, ready, in_barrier, in_cluster, in_word, in_warp, ended };

struct Thread {
    uint3 index{};
    State state = State::fresh;
    Fiber* fiber = nullptr;
    std::source_location site; ///< where it waits
    WarpWork work = nullptr;
    IsOver is_over = nullptr;
    void* operand = nullptr;
};

std::string words_of(const std::source_location& site) {
    const std::string path = site.file_name();
    return path.substr(path.find_last_of('/') + 1) + ':' + std::to_string(site.line());
}

/// The threads of a block. The blocks of one cluster run in turns, one cluster at a time in a process.
class Block {
public:
    void begin(const dim3& shape, unsigned lanes);
    /// The kernel's body for every thread, which step() runs.
    void start(const std::function<void()>& body, uint3 index, std::byte* memory);
    /// Can a warp go on, if need be from a barrier where all have arrived?
    bool is_able();
    void step();
    /// Lets threads go on whose word has come, or all from the barrier of their cluster.
    bool wake_words();
    bool is_in_cluster_barrier() const;
    void leave_cluster_barrier();
    const Thread* first_waiting() const;
    /// Gives up the stacks of threads that will not go on.
    void stop();
    std::byte* memory() const { return memory_; }
    Thread& current() { return *current_; }
    void wait(State state, const std::source_location& from);
    void give_up(const std::string& what) { fault_ = what; }
    unsigned lane() const { return static_cast<unsigned>(current_ - threads_.data()) % lanes_; }
    const std::string& fault() const { return fault_; }

private:
    struct Count {
        unsigned live = 0;
        unsigned in_warp = 0;
        unsigned in_word = 0;
    };
    void run_warp(unsigned warp);
    void run_fiber();
    void settle(unsigned warp);
    void meet(unsigned warp);
    void release_barrier();
    void make_all_ready();
    void arrange_pass(unsigned warp);
    void describe_difference(std::size_t first, std::size_t last);
    std::size_t warps() const { return (threads_.size() + lanes_ - 1) / lanes_; }
    std::size_t first_of(unsigned warp) const { return std::size_t{warp} * lanes_; }
    std::size_t end_of(unsigned warp) const {
        return std::min(first_of(warp) + lanes_, threads_.size());
    }
    Fiber& free_fiber();
    Thread* next_fresh();

    std::vector<Thread> threads_;
    unsigned lanes_ = 32; ///< of a warp
    std::vector<unsigned> ready_warps_;
    std::vector<std::size_t> pass_; ///< the lanes of a warp in the order in which they run
    std::size_t passed_ = 0;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Fiber*> free_;
    Fiber* entered_ = nullptr;
    Thread* current_ = nullptr;
    const std::function<void()>* body_ = nullptr;
    std::string fault_;
    uint3 index_{};
    std::byte* memory_ = nullptr; ///< dynamic, shared
};

constexpr unsigned most_in_cluster = 16;
unsigned in_cluster = 1;

/// Those of the cluster, in the order of their ranks.
std::array<Block, most_in_cluster>& blocks() {
    static std::array<Block, most_in_cluster> all;
    return all;
}
Block* running = nullptr;
Block& block() { return *running; }

void Block::begin(const dim3& shape, unsigned lanes) {
    lanes_ = lanes;
    threads_.assign(std::size_t{shape.x} * shape.y * shape.z, {});
    for (unsigned i = 0; i < threads_.size(); ++i)
        threads_[i].index = {i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y};
    fault_.clear();
}

void Block::start(const std::function<void()>& body, uint3 index, std::byte* memory) {
    body_ = &body;
    index_ = index;
    memory_ = memory;
    for (Thread& thread : threads_) thread.state = State::fresh;
    make_all_ready();
}

bool Block::is_able() {
    if (ready_warps_.empty()) release_barrier();
    return !ready_warps_.empty() || !fault_.empty();
}

void Block::step() {
    if (!fault_.empty()) return;
    running = this;
    place.block = index_;
    dynamic_memory = memory_;
    run_warp(ready_warps_[schedule().pick(ready_warps_.size())]);
}

bool Block::wake_words() {
    bool is_any = false;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        Thread& thread = threads_[i];
        if (thread.state != State::in_word || !thread.is_over(thread.operand)) continue;
        thread.state = State::ready;
        is_any = true;
        const auto warp = static_cast<unsigned>(i / lanes_);
        if (std::ranges::find(ready_warps_, warp) == ready_warps_.end())
            ready_warps_.push_back(warp);
    }
    return is_any;
}

const Thread* Block::first_waiting() const {
    const auto found = std::ranges::find_if(
        threads_, [](const Thread& thread) { return thread.state != State::ended; });
    return found == threads_.end() ? nullptr : &*found;
}

bool Block::is_in_cluster_barrier() const {
    return std::ranges::all_of(threads_, [](const Thread& thread) {
        return thread.state == State::in_cluster || thread.state == State::ended;
    });
}

void Block::leave_cluster_barrier() {
    for (Thread& thread : threads_)
        if (thread.state == State::in_cluster) thread.state = State::ready;
    make_all_ready();
}

void Block::make_all_ready() {
    ready_warps_.resize(warps());
    std::iota(ready_warps_.begin(), ready_warps_.end(), 0U);
}

void Block::stop() {
    fibers_.clear();
    free_.clear();
}

void Block::arrange_pass(unsigned warp) {
    pass_.clear();
    for (std::size_t i = first_of(warp); i < end_of(warp); ++i)
        if (threads_[i].state <= State::ready) pass_.push_back(i);
    if (schedule().order == Order::reversed) std::ranges::reverse(pass_);
    if (schedule().order == Order::random) std::ranges::shuffle(pass_, schedule().random);
    passed_ = 0;
}

void Block::run_warp(unsigned warp) {
    arrange_pass(warp);
    while (passed_ < pass_.size() && fault_.empty()) {
        Thread& thread = threads_[pass_[passed_++]];
        current_ = &thread;
        if (thread.state == State::fresh) thread.fiber = &free_fiber();
        entered_ = thread.fiber;
        place.thread = thread.index;
        entered_->enter();
    }
    if (fault_.empty()) settle(warp);
}

/// A fiber that waits for threads to run from their beginning.
Fiber& Block::free_fiber() {
    if (free_.empty()) {
        fibers_.push_back(std::make_unique<Fiber>([] { block().run_fiber(); }));
        return *fibers_.back();
    }
    Fiber* const last = free_.back();
    free_.pop_back();
    return *last;
}

Thread* Block::next_fresh() {
    if (passed_ == pass_.size() || threads_[pass_[passed_]].state != State::fresh) return nullptr;
    return &threads_[pass_[passed_++]];
}

/// Threads that do not wait follow each other on one stack.
void Block::run_fiber() {
    while (true) {
        Fiber* const own = entered_;
        while (true) {
            (*body_)();
            current_->state = State::ended;
            Thread* const next = next_fresh();
            if (next == nullptr) break;
            current_ = next;
            next->fiber = own;
            place.thread = next->index;
        }
        free_.push_back(own);
        own->leave();
    }
}

void Block::wait(State state, const std::source_location& from) {
    Thread& own = *current_;
    own.state = state;
    own.site = from;
    own.fiber->leave();
}

/// All lanes that could run have: what do they wait for?
void Block::settle(unsigned warp) {
    Count count;
    for (std::size_t i = first_of(warp); i < end_of(warp); ++i) {
        const State state = threads_[i].state;
        if (state != State::ended) ++count.live;
        if (state == State::in_warp) ++count.in_warp;
        if (state == State::in_word) ++count.in_word;
    }
    if (count.in_warp > 0 && count.in_warp == count.live) return meet(warp);
    if (count.in_warp > 0 && count.in_warp + count.in_word != count.live)
        return describe_difference(first_of(warp), end_of(warp));
    std::erase(ready_warps_, warp); // all wait, or have ended
}

void Block::meet(unsigned warp) {
    std::array<void*, most_lanes> operands{};
    WarpWork work = nullptr;
    for (std::size_t i = first_of(warp); i < end_of(warp); ++i) {
        Thread& thread = threads_[i];
        if (thread.state != State::in_warp) continue;
        if (work != nullptr && work != thread.work)
            return describe_difference(first_of(warp), end_of(warp));
        work = thread.work;
        operands[i - first_of(warp)] = thread.operand;
        thread.state = State::ready;
    }
    work(operands);
}

void Block::release_barrier() {
    const Thread* first = nullptr;
    std::size_t waiting = 0;
    for (const Thread& thread : threads_) {
        if (thread.state != State::in_barrier && thread.state != State::ended) return; // not yet
        if (thread.state != State::in_barrier) continue;
        ++waiting;
        if (first == nullptr) first = &thread;
        if (thread.site.line() != first->site.line())
            return describe_difference(0, threads_.size());
    }
    if (waiting == 0) return;
    if (waiting != threads_.size()) {
        fault_ = "barrier with exited threads: " + std::to_string(waiting) + " of " +
                 std::to_string(threads_.size()) + " threads wait at " + words_of(first->site);
        return;
    }
    for (Thread& thread : threads_) thread.state = State::ready;
    make_all_ready();
}

void Block::describe_difference(std::size_t first, std::size_t last) {
    fault_ = "divergent barrier: threads " + std::to_string(first) + " to " +
             std::to_string(last - 1) + " wait at";
    std::string before;
    for (std::size_t i = first; i < last; ++i) {
        if (threads_[i].state == State::ended) continue;
        const std::string here = words_of(threads_[i].site);
        if (here != before) fault_ += ' ' + here;
        before = here;
    }
}

// --- shared memory ---------------------------------------------------------------------------------------------------

constexpr int garbage = 0xdb; // no zero, and far from it as any number

/// `__shared__` is memory of this thread in the kernel's module: that of all its kernels, one after the other.
struct SharedOf {
    const void* kernel;
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
};

struct TlsIndex {
    unsigned long module;
    unsigned long offset;
};
extern "C" void*
__tls_get_addr(TlsIndex*); // NOLINT: the loader's, which makes it where it is not there yet

[[maybe_unused]] int find_shared(dl_phdr_info* info, std::size_t /*bytes*/, void* to) {
    auto& found = *static_cast<SharedOf*>(to);
    const auto at = reinterpret_cast<std::uintptr_t>(found.kernel);
    const ElfW(Phdr)* tls = nullptr;
    bool is_here = false;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        const auto begin = info->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_LOAD && at >= begin && at < begin + part.p_memsz) is_here = true;
        if (part.p_type == PT_TLS) tls = &part;
    }
    if (!is_here) return 0;
    if (tls != nullptr) {
        TlsIndex index{info->dlpi_tls_modid, 0};
        found.memory = static_cast<std::byte*>(__tls_get_addr(&index));
        found.bytes = tls->p_memsz;
    }
    return 1;
}

/// Values left by an earlier kernel would hide that this one reads before it writes.
void spoil_shared([[maybe_unused]] const void* kernel) {
#if !defined(                                                                                      \
    __SANITIZE_ADDRESS__) // there it is static, and a sanitizer has data of its own beside that of the thread
    static std::vector<SharedOf> known;
    auto found = std::ranges::find(known, kernel, &SharedOf::kernel);
    if (found == known.end()) {
        known.push_back({kernel});
        found = std::prev(known.end());
        ::dl_iterate_phdr(find_shared, &*found);
    }
    if (found->bytes > 0) std::memset(found->memory, garbage, found->bytes);
#endif
}

} // namespace

unsigned lane() { return block().lane(); }
void wait_for_block(const std::source_location& from) { block().wait(State::in_barrier, from); }
void wait_for_cluster(const std::source_location& from) { block().wait(State::in_cluster, from); }
void wait_until(IsOver is_over, void* operand, const std::source_location& from) {
    block().current().is_over = is_over;
    block().current().operand = operand;
    block().wait(State::in_word, from);
}
void together(WarpWork work, void* operand, const std::source_location& from) {
    block().current().work = work;
    block().current().operand = operand;
    block().wait(State::in_warp, from);
}
void fault(const std::string& what) { block().give_up(what); }
void set_schedule(const std::string& text) { schedule().set(text); }
std::size_t pick(std::size_t count) { return count == 1 ? 0 : schedule().pick(count); }
std::byte* dynamic_memory_of(unsigned rank) {
    return rank < in_cluster ? blocks()[rank].memory() : nullptr;
}

namespace {

/// No block of the cluster can go on: does something happen by itself?
bool is_woken(std::span<Block> cluster) {
    bool is_any = false;
    for (Block& each : cluster) is_any |= each.wake_words();
    if (is_any) return true;
    const bool is_left = std::ranges::any_of(
        cluster, [](const Block& each) { return each.first_waiting() != nullptr; });
    if (is_left && std::ranges::all_of(cluster, &Block::is_in_cluster_barrier)) {
        for (Block& each : cluster) each.leave_cluster_barrier();
        return true;
    }
    return is_left && finish_a_copy();
}

/// Runs the blocks of a cluster, which have been started, to their end. What was wrong, or "".
std::string run_cluster(std::span<Block> cluster) {
    std::string what;
    while (what.empty()) {
        std::vector<Block*> able;
        for (Block& each : cluster)
            if (each.is_able()) able.push_back(&each);
        if (able.empty() && is_woken(cluster)) continue;
        if (able.empty()) break;
        Block& next = *able[pick(able.size())];
        next.step();
        what = next.fault();
    }
    for (Block& each : cluster) {
        const Thread* const waits = each.first_waiting();
        if (what.empty() && waits != nullptr)
            what = "threads wait for ever at " + words_of(waits->site);
    }
    if (forget_copies() && what.empty()) what = "a block ends before its bulk copies";
    if (!what.empty())
        for (Block& each : cluster) each.stop();
    return what;
}

std::span<Block> begin(const Launch& launch) {
    spoil_shared(launch.kernel);
    place.blocks = launch.blocks;
    place.threads = launch.threads;
    const std::span<Block> cluster{blocks().data(), launch.cluster};
    for (Block& each : cluster) each.begin(launch.threads, launch.lanes);
    in_cluster = launch.cluster;
    return cluster;
}
} // namespace

std::string run_block(const Launch& launch, unsigned number, const std::function<void()>& body) {
    const std::span<Block> cluster = begin(launch);
    cluster.front().start(body, {number, 0, 0}, nullptr);
    return run_cluster(cluster);
}

std::string run_blocks(const Launch& launch, const std::function<void()>& body) {
    std::vector<std::vector<std::byte>> shared(
        launch.cluster,
        std::vector<std::byte>(launch.shared_bytes, static_cast<std::byte>(garbage)));
    const std::span<Block> cluster = begin(launch);
    const std::uint64_t plane = std::uint64_t{launch.blocks.x} * launch.blocks.y;
    const Numbers order{plane * launch.blocks.z / launch.cluster};
    std::string what;
    for (std::uint64_t i = 0; i < plane * launch.blocks.z / launch.cluster && what.empty(); ++i) {
        for (unsigned rank = 0; rank < launch.cluster; ++rank) {
            const std::uint64_t number = order.at(i) * launch.cluster + rank;
            cluster[rank].start(body,
                                {static_cast<unsigned>(number % launch.blocks.x),
                                 static_cast<unsigned>(number / launch.blocks.x % launch.blocks.y),
                                 static_cast<unsigned>(number / plane)},
                                shared[rank].data());
        }
        what = run_cluster(cluster);
    }
    return what;
}

} // namespace assay::device_on_cpu
