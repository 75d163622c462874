// SPDX-License-Identifier: Apache-2.0

#include "store/input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace assay::report {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class InputTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("assay-input-" + std::to_string(getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    fs::path make(const std::string& name, int age_seconds = 0) {
        const fs::path path = folder_ / name;
        fs::create_directories(path.parent_path());
        std::ofstream{path} << "{}";
        fs::last_write_time(path,
                            fs::file_time_type::clock::now() - std::chrono::seconds{age_seconds});
        return path;
    }
    fs::path folder_;
};

TEST_F(InputTest, AFileIsItself) {
    const auto path = make("other.json");
    const auto input = find_input(path.string());
    ASSERT_TRUE(input.has_value());
    EXPECT_EQ(input->file, path);
    EXPECT_EQ(input->label, "");
}

TEST_F(InputTest, AFolderIsTheNewestRunBelowIt) {
    make("a/1/run.json", 30);
    const auto newest = make("a/2/run.json", 10);
    make("b/run.json", 20);
    make("b/newer.json", 0);
    EXPECT_EQ(find_input(folder_.string())->file, newest);
}

TEST_F(InputTest, ALabelComesBeforeTheFirstEqualsSign) {
    const auto path = make("x=y/run.json");
    EXPECT_EQ(find_input("old=" + path.string())->label, "old");
    EXPECT_EQ(find_input("old=" + path.string())->file, path);
    // A path that is there as it stands is not a label.
    EXPECT_EQ(find_input(path.string())->label, "");
}

TEST_F(InputTest, WhatIsNotThereIsNamed) {
    EXPECT_THAT(find_input((folder_ / "none").string()).error().message, HasSubstr("no such file"));
    EXPECT_THAT(find_input(folder_.string()).error().message, HasSubstr("no run.json"));
    EXPECT_FALSE(find_input("").has_value());
    EXPECT_FALSE(find_input("label=").has_value());
}

TEST_F(InputTest, TheResultIsNotWrittenOver) {
    const auto path = make("run.json");
    const auto inputs = find_inputs({path.string()});
    ASSERT_TRUE(inputs.has_value());
    EXPECT_FALSE(check_output(folder_ / "." / "run.json", *inputs).has_value());
    EXPECT_TRUE(check_output(folder_ / "report.html", *inputs).has_value());
    EXPECT_TRUE(check_output("", *inputs).has_value());
}

} // namespace
} // namespace assay::report
