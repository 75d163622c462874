// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP (the terminal is gone) during a run: the first one ends it in order, a second one ends this
// process at once, as without a handler. Those that were ignored before (nohup) remain so. One object at a time.

#pragma once

#include <optional>

namespace assay::harness {

class Signals {
public:
    /// `limit_seconds`: after which SIGALRM counts as such a signal; never unless given.
    explicit Signals(std::optional<double> limit_seconds = {});
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    Signals(Signals&&) = delete;
    Signals& operator=(Signals&&) = delete;
    ~Signals(); ///< restores the previous handlers

    /// As the first signal does, from any thread; caught() is `preempted` then.
    void preempt();
    static constexpr int preempted = -1;

    int caught() const;                            ///< the first signal, or 0
    int descriptor() const { return descriptor_; } ///< readable after a signal

private:
    int descriptor_;
};

} // namespace assay::harness
