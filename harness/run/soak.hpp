// SPDX-License-Identifier: Apache-2.0
//
// State of a soak: how long it has been going, the right results, the wrong ones, and how each case went. It
// measures nothing; visits come from this run, or from the journal of one that is continued.

#pragma once

#include "plan/plan.hpp"
#include "process/message.hpp"
#include "record/model.hpp"
#include "record/soak.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace assay::run {

class Soaking {
public:
    /// `now`: seconds since any origin.
    Soaking(const plan::Plan& plan, std::function<double()> now);

    /// A visit of an earlier attempt of this run.
    void resume(std::size_t index, const record::Case& step);
    double seconds() const { return seconds_; } ///< so far, without pauses between attempts
    bool is_over() const { return left() <= 0; }
    double left() const { return asked_ - seconds_; }
    int next_visit() const { return next_; }
    bool is_wrong() const { return wrong_ > 0; }

    /// The expected result of this case, for the worker; empty: not known.
    std::string expected(std::size_t index) const;
    void begin();
    /// The same visit of cases that were measured at once. One whose result is wrong becomes incorrect.
    void take(const std::vector<std::size_t>& cases,
              std::vector<process::message::Result>& attempts);

    record::Soak record() const;

private:
    struct Right {
        std::string digest;
        record::OutputHashes blocks; ///< empty where only the digest is known
    };
    void learn(const std::vector<std::size_t>& cases,
               const std::vector<process::message::Result>& attempts);
    void hold(std::size_t index, process::message::Result& attempt);
    void add(std::size_t index, const record::Replica& replica);

    std::function<double()> now_;
    double asked_;
    double seconds_ = 0;
    double begun_ = 0; ///< of the present step, by the clock
    int next_ = 0;
    std::uint64_t wrong_ = 0;
    std::vector<std::string> alike_; ///< of each case: those with the same word compute the same
    std::map<std::string, Right> right_; ///< by that word
    std::vector<record::SoakPhase> phases_;
    std::vector<record::Corruption> corruptions_;
};

/// Without what a visit among thousands is not worth.
void shorten(process::message::Result& visit);

} // namespace assay::run
