// SPDX-License-Identifier: Apache-2.0
//
// Compares the results of a soak with each other: bit by bit where the benchmark has a digest, otherwise by its check.
// A difference is located by running again, which gives the right bits to compare with. So there is no
// second copy of the output, and a call that is right costs one pass over it.

#pragma once

#include "record/soak.hpp"
#include "worker/subject.hpp"

#include <cstdint>
#include <optional>

namespace assay::worker {

class Comparison {
public:
    /// The subject is a team of one; a team is only checked.
    Comparison(Subject& subject, const Hooks& hooks) : subject_{subject}, hooks_{hooks} {}

    /// Finds the right result: that of two calls in a row that agree, and agree with other processes.
    Result<void> begin();
    /// After a call of the window.
    Result<void> look();
    /// The same by the check of the benchmark, whose answer is given.
    Result<void> judge(const record::Verification& verification);

    const record::SoakVisit& found() const { return found_; }
    /// Digest of the right result.
    const Digest& reference() const { return reference_; }
    void count(std::uint64_t calls) { found_.calls += calls; }

private:
    struct Wrong {
        Digest digest;
        std::size_t first = 0; ///< block that differs
        std::optional<OutputBlock> block{};
    };
    Result<Digest> again();
    Result<Wrong> taken(Digest digest, const Digest& right);
    Result<record::Replay> replay(const Digest& right);
    Result<void> record_wrong(const Wrong& wrong, const Digest& right, record::HeldAgainst held,
                              record::Replay right_again);
    record::Corruption* add(record::HeldAgainst held, record::Replay right_again);

    Subject& subject_;
    const Hooks& hooks_;
    Digest reference_;
    record::SoakVisit found_;
};

} // namespace assay::worker
