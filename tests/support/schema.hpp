// SPDX-License-Identifier: Apache-2.0
//
// Does a text obey a schema of share/assay/schema? EXPECT_EQ(test::broken(text, "cost"), "") says how it does not.

#pragma once

#include "base/file.hpp"
#include "json/json.hpp"

#include <string>
#include <string_view>

namespace assay::test {

inline std::string broken(std::string_view text, const std::string& schema) {
    const auto rules = json::read_file(layout().share / "schema" / (schema + ".json"));
    if (!rules) return rules.error().message;
    const auto value = json::parse(text, schema);
    if (!value) return value.error().message;
    const auto fine = json::check_schema(*value, *rules, schema);
    return fine ? "" : fine.error().message;
}

} // namespace assay::test
