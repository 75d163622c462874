// SPDX-License-Identifier: Apache-2.0
//
// A made-up /proc and /sys for one test, gone afterwards.

#pragma once

#include "machine/files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace assay::machine {

class Scratch {
public:
    Scratch() {
        const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
        root_ = std::filesystem::path{testing::TempDir()} /
                (std::string{test->test_suite_name()} + "." + test->name());
        std::filesystem::remove_all(root_);
        std::filesystem::create_directories(root_);
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(root_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    Scratch(Scratch&&) = delete;
    Scratch& operator=(Scratch&&) = delete;

    void write(const std::filesystem::path& path, std::string_view text) const {
        const auto file = root_ / path.relative_path();
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file, std::ios::binary} << text;
    }
    void copy(const std::filesystem::path& tree) const {
        std::filesystem::copy(tree, root_,
                              std::filesystem::copy_options::recursive |
                                  std::filesystem::copy_options::overwrite_existing);
    }
    const std::filesystem::path& root() const { return root_; }
    Files files() const { return Files{root_}; }

private:
    std::filesystem::path root_;
};

} // namespace assay::machine
