// SPDX-License-Identifier: Apache-2.0
//
// Everything a subject is asked to do, done by all ranks of a team in step. The invariant: every
// function here makes the same collective calls on every rank and returns success on all or on
// none, so that no rank is left waiting for one that gave up.

#pragma once

#include "measure/subject.hpp"

#include <assay/team.hpp>

namespace assay::measure {

class TeamSubject {
public:
    TeamSubject(Subject& subject, BatchRunner& runner, Team team)
        : subject_{subject}, runner_{runner}, team_{team} {}

    /// One batch after a rewind where the subject wants one; the seconds of the slowest rank.
    Result<double> run(std::uint64_t calls);
    Result<void> poison();
    Result<void> spoil();
    /// Passes when it passes on every rank.
    Result<record::Verification> verify();
    /// The verdict on a spoiled result: did verify() object on at least one rank? Not on every one: in
    /// a reduction to one rank the others hold no result that could be wrong.
    Result<bool> verify_objects();

    std::uint64_t from_root(std::uint64_t value) const { return team_.from_root(value); }
    bool is_root() const { return team_.rank() == 0; }
    const Subject& subject() const { return subject_; }

private:
    /// An error on any rank becomes an error on all.
    Result<void> agree(Result<void> outcome);
    /// Number of the highest rank for which `condition` holds, plus one; 0 for none.
    int any_rank(bool condition);

    Subject& subject_;
    BatchRunner& runner_;
    Team team_;
};

} // namespace assay::measure
