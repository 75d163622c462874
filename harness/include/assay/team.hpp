// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assay/module.h"

#include <cstdint>

namespace assay {

/// Processes that measure together; a single process is a team of one. Calls are collective.
class Team {
public:
    explicit Team(const assay_team* team = nullptr) : team_{team} {}
    int rank() const { return team_ == nullptr ? 0 : team_->rank; }
    int size() const { return team_ == nullptr ? 1 : team_->size; }
    void barrier() const {
        if (team_ != nullptr) team_->barrier(team_->context);
    }
    double max(double value) const {
        if (team_ != nullptr) team_->max(team_->context, &value, 1);
        return value;
    }
    /// The argument of rank 0; those of other ranks are ignored.
    std::uint64_t from_root(std::uint64_t value) const {
        if (team_ != nullptr) team_->broadcast(team_->context, &value, sizeof value);
        return value;
    }

private:
    const assay_team* team_;
};

} // namespace assay
