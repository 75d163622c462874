// SPDX-License-Identifier: Apache-2.0
//
// A stack of its own for work that can pause. Entered from the stack of the caller, left to it again.

#pragma once

#include <cstddef>
#include <memory>

namespace assay::device_on_cpu {

class Fiber {
public:
    struct State;
    /// `body` begins at the first enter() and never returns: it ends with a leave() that nobody enters after.
    explicit Fiber(void (*body)());
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber(Fiber&&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    Fiber& operator=(Fiber&&) = delete;

    /// Runs it until it leaves.
    void enter();
    /// Back to who entered this fiber; called on it.
    void leave();

private:
    std::unique_ptr<State> state_;
};

} // namespace assay::device_on_cpu
