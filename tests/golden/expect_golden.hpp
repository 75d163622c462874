// SPDX-License-Identifier: Apache-2.0
//
// Compares an output with a file beside, byte by byte. A change on purpose is taken over by running the
// test with ASSAY_GOLDEN=write, and read in the diff.

#pragma once

#include "json/json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace assay::test {

inline void expect_golden(const std::string& name, const std::string& actual) {
    const std::filesystem::path path = std::filesystem::path{ASSAY_GOLDEN_DIR} / name;
    const char* mode = std::getenv("ASSAY_GOLDEN");
    if (mode != nullptr && std::string_view{mode} == "write") {
        std::ofstream{path, std::ios::binary} << actual;
        return;
    }
    std::ifstream file{path, std::ios::binary};
    std::ostringstream expected;
    expected << file.rdbuf();
    ASSERT_TRUE(file) << path << " is missing; ASSAY_GOLDEN=write makes it";
    EXPECT_EQ(actual, expected.str()) << "to take this over: ASSAY_GOLDEN=write";
}

/// "cells.contrast.ratio" and all other keys below a value; entries of lists have no number.
inline void add_keys(const json::Value& value, const std::string& path, std::set<std::string>& to) {
    if (!value.is_structured()) return;
    for (const auto& [key, entry] : value.items()) {
        const auto own = value.is_object() ? path + "." + key : path;
        to.insert(own);
        add_keys(entry, own, to);
    }
}

/// The entries of a list that add keys to those before: others say the same about a format.
inline json::Value abridged(const json::Value& value) {
    if (!value.is_structured()) return value;
    json::Value out = value.is_object() ? json::Value::object() : json::Value::array();
    std::set<std::string> seen;
    for (const auto& [key, entry] : value.items()) {
        const auto before = seen.size();
        add_keys(entry, "", seen);
        if (value.is_object())
            out[key] = abridged(entry);
        else if (out.empty() || seen.size() > before)
            out.push_back(abridged(entry));
    }
    return out;
}

/// A value that fits into one line stands in one.
inline std::string in_lines(const json::Value& value, const std::string& indent = "") {
    constexpr std::size_t widest = 150;
    auto line = json::to_line(value);
    if (!value.is_structured() || indent.size() + line.size() <= widest) return line;
    std::string out;
    for (const auto& [key, entry] : value.items())
        out += fmt::format("{}{}  {}{}", out.empty() ? "\n" : ",\n", indent,
                           value.is_object() ? json::to_line(key) + ": " : "",
                           in_lines(entry, indent + "  "));
    return fmt::format("{}{}\n{}{}", value.is_object() ? "{" : "[", out, indent,
                       value.is_object() ? "}" : "]");
}

inline void expect_golden_json(const std::string& name, const std::string& actual) {
    expect_golden(name, in_lines(abridged(json::Value::parse(actual))) + "\n");
}

} // namespace assay::test
