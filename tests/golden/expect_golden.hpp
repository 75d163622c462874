// SPDX-License-Identifier: Apache-2.0
//
// Compares an output with a file beside, byte by byte. A change on purpose is taken over by running the
// test with ASSAY_GOLDEN=write, and read in the diff.

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
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

} // namespace assay::test
