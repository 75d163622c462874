// SPDX-License-Identifier: Apache-2.0
#include "block.hpp"

#include "fiber.hpp"

#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace assay::device_on_cpu {

Place place;
std::byte* dynamic_memory = nullptr;

namespace {

enum class Order : std::uint8_t { sequence, reversed, random };

/// In which order blocks, warps and lanes run.
struct Schedule {
    Order order = Order::sequence;
    std::minstd_rand random;

    void set(const std::string& text) {
        order = text.empty() || text == "sequence" ? Order::sequence
                : text == "reversed"               ? Order::reversed
                                                   : Order::random;
        if (order == Order::random) random.seed(static_cast<unsigned>(std::stoul(text)));
    }
    std::uint64_t below(std::uint64_t count) { return random() % count; }
    /// One of `count`.
    std::size_t pick(std::size_t count) {
        return order == Order::sequence ? 0 : order == Order::reversed ? count - 1 : below(count);
    }
};

Schedule& schedule() {
    static Schedule made = [] {
        Schedule from;
        const char* text = std::getenv("ASSAY_CPU_SCHEDULE"); // NOLINT(concurrency-mt-unsafe)
        from.set(text == nullptr ? "" : text);
        return from;
    }();
    return made;
}

/// Numbers below `count`, each once: in order, reversed, or with a random step.
class Numbers {
public:
    explicit Numbers(std::uint64_t count) : count_{count} {
        Schedule& by = schedule();
        if (by.order != Order::random) return;
        first_ = by.below(count);
        step_ = 1 + by.below(count);
        while (std::gcd(step_, count) != 1) ++step_;
    }
    std::uint64_t at(std::uint64_t i) const {
        const std::uint64_t number = (first_ + i * step_) % count_;
        return schedule().order == Order::reversed ? count_ - 1 - number : number;
    }

private:
    std::uint64_t count_;
    std::uint64_t first_ = 0;
    std::uint64_t step_ = 1;
};

enum class State : std::uint8_t { fresh, ready, in_barrier, in_warp, ended };

struct Thread {
    uint3 index{};
    State state = State::fresh;
    Fiber* fiber = nullptr;
    std::source_location site; ///< where it waits
    WarpWork work = nullptr;
    void* operand = nullptr;
};

std::string words_of(const std::source_location& site) {
    const std::string path = site.file_name();
    return path.substr(path.find_last_of('/') + 1) + ':' + std::to_string(site.line());
}

/// The threads of the block that runs. One block at a time in a process.
class Block {
public:
    void begin(const dim3& shape, unsigned lanes);
    /// The kernel's body for every thread.
    void run(const std::function<void()>& body);
    void wait(State state, const std::source_location& from, WarpWork work, void* operand);
    void give_up(const std::string& what) { fault_ = what; }
    unsigned lane() const { return static_cast<unsigned>(current_ - threads_.data()) % lanes_; }
    const std::string& fault() const { return fault_; }

private:
    struct Count {
        unsigned live = 0;
        unsigned in_warp = 0;
        unsigned in_barrier = 0;
    };
    void run_warp(unsigned warp);
    void run_fiber();
    void settle(unsigned warp);
    void meet(unsigned warp);
    void release_barrier();
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
};

Block& block() {
    static Block the_block;
    return the_block;
}

void Block::begin(const dim3& shape, unsigned lanes) {
    lanes_ = lanes;
    threads_.assign(std::size_t{shape.x} * shape.y * shape.z, {});
    for (unsigned i = 0; i < threads_.size(); ++i)
        threads_[i].index = {i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y};
    fault_.clear();
}

void Block::run(const std::function<void()>& body) {
    body_ = &body;
    for (Thread& thread : threads_) thread.state = State::fresh;
    ready_warps_.resize(warps());
    std::iota(ready_warps_.begin(), ready_warps_.end(), 0U);
    while (fault_.empty()) {
        if (ready_warps_.empty()) release_barrier();
        if (ready_warps_.empty()) return;
        run_warp(ready_warps_[schedule().pick(ready_warps_.size())]);
    }
    fibers_.clear(); // those of threads that will not go on
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

void Block::wait(State state, const std::source_location& from, WarpWork work, void* operand) {
    Thread& own = *current_;
    own.state = state;
    own.site = from;
    own.work = work;
    own.operand = operand;
    own.fiber->leave();
}

/// All lanes that could run have: what do they wait for?
void Block::settle(unsigned warp) {
    Count count;
    for (std::size_t i = first_of(warp); i < end_of(warp); ++i) {
        const State state = threads_[i].state;
        if (state != State::ended) ++count.live;
        if (state == State::in_warp) ++count.in_warp;
        if (state == State::in_barrier) ++count.in_barrier;
    }
    if (count.in_warp > 0 && count.in_warp == count.live) return meet(warp);
    if (count.in_barrier != count.live) return describe_difference(first_of(warp), end_of(warp));
    std::erase(ready_warps_, warp); // in the barrier, or ended
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
    ready_warps_.resize(warps());
    std::iota(ready_warps_.begin(), ready_warps_.end(), 0U);
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
void wait_for_block(const std::source_location& from) {
    block().wait(State::in_barrier, from, nullptr, nullptr);
}
void together(WarpWork work, void* operand, const std::source_location& from) {
    block().wait(State::in_warp, from, work, operand);
}
void fault(const std::string& what) { block().give_up(what); }
void set_schedule(const std::string& text) { schedule().set(text); }

namespace {
void begin(const Launch& launch) {
    spoil_shared(launch.kernel);
    place.blocks = launch.blocks;
    place.threads = launch.threads;
    block().begin(launch.threads, launch.lanes);
}
} // namespace

std::string run_block(const Launch& launch, unsigned number, const std::function<void()>& body) {
    begin(launch);
    place.block = {number, 0, 0};
    block().run(body);
    return block().fault();
}

std::string run_blocks(const Launch& launch, const std::function<void()>& body) {
    std::vector<std::byte> shared(launch.shared_bytes, static_cast<std::byte>(garbage));
    dynamic_memory = shared.data();
    begin(launch);
    const std::uint64_t plane = std::uint64_t{launch.blocks.x} * launch.blocks.y;
    const Numbers order{plane * launch.blocks.z};
    for (std::uint64_t i = 0; i < plane * launch.blocks.z && block().fault().empty(); ++i) {
        const std::uint64_t number = order.at(i);
        place.block = {static_cast<unsigned>(number % launch.blocks.x),
                       static_cast<unsigned>(number / launch.blocks.x % launch.blocks.y),
                       static_cast<unsigned>(number / plane)};
        block().run(body);
    }
    return block().fault();
}

} // namespace assay::device_on_cpu
