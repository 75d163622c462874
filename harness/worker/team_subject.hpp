// SPDX-License-Identifier: Apache-2.0
//
// The functions of a subject, executed by all ranks of a team together. The invariant: every
// function here makes the same collective calls on every rank and returns success on all or on
// none, so that no rank is left waiting for one that gave up.

#pragma once

#include "worker/subject.hpp"

#include <assay/team.hpp>

namespace assay::worker {

class TeamSubject {
public:
    TeamSubject(Subject& subject, BatchRunner& runner, Team team)
        : subject_{subject}, runner_{runner}, team_{team} {}

    /// One batch, after a rewind if the subject needs one; the seconds of the slowest rank.
    Result<double> run(std::uint64_t calls);
    Result<void> poison();
    Result<void> spoil();
    /// Passes if it passes on every rank.
    Result<record::Verification> verify();
    /// After an injected error: did verify() fail on at least one rank? Not on all: in a reduction to one
    /// rank the others have no result that could be wrong.
    Result<bool> verify_objects();

    std::uint64_t from_root(std::uint64_t value) const { return team_.from_root(value); }
    bool is_root() const { return team_.rank() == 0; }
    /// The rank that the last error is of.
    int failed_rank() const { return failed_rank_; }
    const Subject& subject() const { return subject_; }

private:
    /// An error on any rank becomes an error on all.
    Result<void> agree(Result<void> outcome);
    /// Number of the highest rank for which `condition` holds, plus one; 0 for none.
    int any_rank(bool condition);

    Subject& subject_;
    BatchRunner& runner_;
    Team team_;
    int failed_rank_ = 0;
};

} // namespace assay::worker
