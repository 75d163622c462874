// SPDX-License-Identifier: Apache-2.0
//
// A regular expression that has to match a whole text. RE2 takes linear time,
// whatever the text holds.

#pragma once

#include <re2/re2.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::extract {

/// Names and texts of the groups that took part.
using Groups = std::vector<std::pair<std::string, std::string>>;

class Pattern {
public:
    bool empty() const { return text_.empty(); }
    bool matches(std::string_view text) const;
    /// Named groups that took part; false where it does not match.
    bool match(std::string_view text, Groups& groups) const;
    /// Every place of the text that matches: name.0, name.1, ...
    void find_all(std::string_view text, Groups& groups) const;
    /// The place of its one group, or the whole text where it has none.
    std::optional<std::string_view> value_in(std::string_view text) const;
    int groups() const { return compiled_->NumberOfCapturingGroups(); }
    /// The problem with it; empty if it is valid.
    std::string set(std::string text);

private:
    std::string text_;
    std::shared_ptr<const RE2> compiled_;
};

} // namespace assay::extract
