// SPDX-License-Identifier: Apache-2.0
#include "fiber.hpp"

#include <sys/mman.h>

#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
// Saves what a function must preserve on the old stack and takes it from the new one: a few nanoseconds, where
// swapcontext() asks the kernel for the mask of signals each time.
extern "C" void assay_switch_stack(void** from, void* to);
asm(R"(
    .text
    .globl assay_switch_stack
    .type assay_switch_stack, @function
assay_switch_stack:
    pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
    ret
    .size assay_switch_stack, .-assay_switch_stack
)");
#else
#include <ucontext.h>
#endif

namespace assay::device_on_cpu {
namespace {

constexpr std::size_t stack_bytes = 256U << 10U; // frames of kernels are larger under a sanitizer

#if defined(__x86_64__)
struct Context {
    void* stack_pointer = nullptr;
    void prepare(std::byte* stack, void (*entry)()) {
        // The layout after a call: the return address below a multiple of 16 bytes, under it six registers.
        auto** top = reinterpret_cast<void**>(stack + stack_bytes - 64);
        *--top = nullptr;
        *--top = reinterpret_cast<void*>(entry);
        for (int i = 0; i < 6; ++i) *--top = nullptr;
        stack_pointer = top;
    }
    void switch_to(const Context& other) {
        assay_switch_stack(&stack_pointer, other.stack_pointer);
    }
};
#else
struct Context {
    ucontext_t context{};
    void prepare(std::byte* stack, void (*entry)()) {
        ::getcontext(&context);
        context.uc_stack.ss_sp = stack;
        context.uc_stack.ss_size = stack_bytes;
        ::makecontext(&context, entry, 0);
    }
    void switch_to(const Context& other) { ::swapcontext(&context, &other.context); }
};
#endif

} // namespace

struct Fiber::State {
    void (*body)() = nullptr;
    std::byte* stack = nullptr;
    Context own;
    Context caller;
    // The address sanitizer's data for each stack.
    void* own_fake = nullptr;
    void* caller_fake = nullptr;
    const void* caller_stack = nullptr;
    std::size_t caller_bytes = 0;

    void arrived() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(own_fake, &caller_stack, &caller_bytes);
#endif
    }
};

namespace {
Fiber::State* starting = nullptr;
} // namespace

Fiber::Fiber(void (*body)()) : state_{std::make_unique<State>()} {
    void* const memory = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    state_->stack = static_cast<std::byte*>(memory);
    state_->body = body;
    state_->own.prepare(state_->stack, [] {
        State& own = *starting;
        own.arrived();
        own.body();
    });
}

Fiber::~Fiber() {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(state_->stack, stack_bytes); // of frames that were given up
#endif
    ::munmap(state_->stack, stack_bytes);
}

void Fiber::enter() {
    State& to = *state_;
    starting = &to;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&to.caller_fake, to.stack, stack_bytes);
#endif
    to.caller.switch_to(to.own);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(to.caller_fake, nullptr, nullptr);
#endif
}

void Fiber::leave() {
    State& from = *state_;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&from.own_fake, from.caller_stack, from.caller_bytes);
#endif
    from.own.switch_to(from.caller);
    from.arrived();
}

} // namespace assay::device_on_cpu
