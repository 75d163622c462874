// SPDX-License-Identifier: Apache-2.0
//
// Descriptions for tests, with one thing changed, and scripts that stand for programs.

#pragma once

#include "external/description.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace assay::external {

using Json = nlohmann::json;

inline Json made_json(const std::string& program = "true") {
    return Json::parse(R"json({
      "schema": "assay.external/1", "id": "test.one", "question": "How?", "method": "By it.", "caveats": "None.",
      "program": {"name": ")json" +
                       program +
                       R"json(", "packages": ["coreutils"], "licence": "GPL-3.0-or-later"},
      "parameters": [
        {"name": "mode", "help": "what", "choices": ["fast", "slow"], "defaults": ["fast"]},
        {"name": "size", "help": "how much", "range": [1, 100], "defaults": [7]},
        {"name": "where", "help": "a folder", "defaults": ["/tmp"]}],
      "words": {"flags": {"of": "mode", "values": {"fast": [], "slow": ["-s", "{size}"]}}},
      "command": ["{tool}", "{flags}", "--size={size}"],
      "time_limit": 5,
      "metrics": [{"metric": "bandwidth", "match": "rate: ([^ ]+) MB/s", "unit": "MB/s"}],
      "checks": [{"notices": "an error", "match": "errors: (.*)", "equals": 0}]})json");
}

inline Description made(const Json& json, const std::filesystem::path& folder = {}) {
    return parse_description(json.dump(), "made.json", folder);
}

/// The problem found; fails the test without one.
inline std::string problem_of(const Json& json, const std::filesystem::path& folder = {}) {
    try {
        static_cast<void>(made(json, folder));
    } catch (const Problem& problem) {
        return problem.what();
    }
    ADD_FAILURE() << "accepted: " << json.dump();
    return {};
}

/// A program in `folder` that a shell executes.
inline std::string script(const std::filesystem::path& folder, const std::string& lines,
                          const std::string& name = "tool") {
    const auto file = folder / name;
    std::ofstream{file} << "#!/bin/sh\n" << lines << '\n';
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
}

} // namespace assay::external
