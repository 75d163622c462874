// SPDX-License-Identifier: Apache-2.0
//
// SIGINT and SIGTERM while a run is going: the first asks it to end in order, a second one ends this
// process at once, as if nobody handled it. One object at a time.

#pragma once

namespace assay::harness {

class Signals {
public:
    Signals();
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    Signals(Signals&&) = delete;
    Signals& operator=(Signals&&) = delete;
    ~Signals(); ///< what was before is back

    int caught() const;                            ///< the first signal, or 0
    int descriptor() const { return descriptor_; } ///< readable once a signal has come

private:
    int descriptor_;
};

} // namespace assay::harness
