// SPDX-License-Identifier: Apache-2.0
//
// What tests of imports share. The files in tests/fuzz/corpus/import are described in tests/fuzz/imports.md.

#pragma once

#include "import/import.hpp"
#include "record/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace assay::report {

using record::Case;
inline std::string file(const std::string& name) {
    std::ifstream in{std::string{ASSAY_IMPORTS} + "/" + name, std::ios::binary};
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_FALSE(text.str().empty()) << name;
    return text.str();
}

inline Import imported(const std::string& name, const ImportOptions& options = {}) {
    const auto import = import_text(file(name), name, options);
    EXPECT_TRUE(import) << (import ? "" : import.error().message);
    return import.value_or(Import{});
}

inline const Case& only(const record::Run& run, std::string_view identity) {
    static const Case none;
    for (const auto& c : run.cases)
        if (record::identity(c) == identity) return c;
    std::string all;
    for (const auto& c : run.cases) all += record::identity(c) + '\n';
    ADD_FAILURE() << "no case " << identity << " among\n" << all;
    return none;
}

inline double value(const Case& c, std::string_view metric) {
    for (const auto& m : c.metrics)
        if (m.name == metric) return m.value.value_or(-1);
    ADD_FAILURE() << record::identity(c) << " has no " << metric;
    return -1;
}

inline bool has(const Case& c, std::string_view metric) {
    return std::ranges::find(c.metrics, metric, &record::Metric::name) != c.metrics.end();
}

inline std::string refusal(const std::string& text, const ImportOptions& options = {},
                           const std::string& name = "it.txt") {
    const auto import = import_text(text, name, options);
    EXPECT_FALSE(import);
    return import ? "" : import.error().message;
}

} // namespace assay::report
