// SPDX-License-Identifier: Apache-2.0
//
// What tests of imports share. The files in tests/fuzz/corpus/import are described in tests/fuzz/imports.md.

#pragma once

#include "import/import.hpp"
#include "record/model.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace assay::imports {

using record::Case;
inline std::string file(const std::string& name) {
    auto text = test::content_of(std::string{ASSAY_IMPORTS} + "/" + name);
    EXPECT_FALSE(text.empty()) << name;
    return text;
}
/// With another text at one place.
inline std::string changed(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline Import import_of(const std::string& text, const std::string& name = "it.txt",
                        const ImportOptions& options = {}) {
    return must(import_text(text, name, options));
}
inline Import imported(const std::string& name, const ImportOptions& options = {}) {
    return import_of(file(name), name, options);
}
inline record::Run run_of(const std::string& text, const std::string& name = "it.txt",
                          const ImportOptions& options = {}) {
    return import_of(text, name, options).run;
}
inline std::vector<NotUnderstood> unread(const std::string& text) {
    return import_of(text).not_understood;
}

/// The case of this identity, behind "external.".
inline const Case& only(const record::Run& run, const std::string& identity) {
    static const Case none;
    for (const auto& c : run.cases)
        if (record::identity(c) == "external." + identity) return c;
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

inline double value(const record::Run& run, const std::string& identity, std::string_view metric) {
    return value(only(run, identity), metric);
}

inline std::string refusal(const std::string& text, const ImportOptions& options = {},
                           const std::string& name = "it.txt") {
    const auto import = import_text(text, name, options);
    EXPECT_FALSE(import);
    return import ? "" : import.error().message;
}

} // namespace assay::imports
