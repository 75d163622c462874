// SPDX-License-Identifier: Apache-2.0
//
// Reads CSV back.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

/// RFC 4180, strictly.
inline std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
    std::vector<std::vector<std::string>> rows{{""}};
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto& cell = rows.back().back();
        if (quoted) {
            if (text[i] != '"')
                cell += text[i];
            else if (i + 1 < text.size() && text[i + 1] == '"')
                cell += text[i++];
            else
                quoted = false;
        } else if (text[i] == '"') {
            EXPECT_EQ(cell, "");
            quoted = true;
        } else if (text[i] == ',') {
            rows.back().emplace_back();
        } else if (text.substr(i, 2) == "\r\n") {
            rows.push_back({""});
            ++i;
        } else {
            EXPECT_NE(text[i], '\n');
            cell += text[i];
        }
    }
    EXPECT_FALSE(quoted);
    EXPECT_EQ(rows.back(), std::vector<std::string>{""}); // ends in CRLF
    rows.pop_back();
    return rows;
}

inline std::size_t column(const std::vector<std::vector<std::string>>& rows,
                          const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(rows.front(), name) - rows.front().begin());
}

} // namespace assay::test
