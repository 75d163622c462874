// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace assay {
namespace {

TEST(LineFile, CutsATornLineOfAnyLengthAndGoesOn) {
    const auto path =
        std::filesystem::path{testing::TempDir()} / ("assay_lines_" + std::to_string(::getpid()));
    for (const std::size_t torn : {0U, 1U, 4095U, 4096U, 10'000U})
        for (const std::string whole : {"", "one\n", "one\ntwo\n"}) {
            std::ofstream{path, std::ios::trunc} << whole << std::string(torn, 'x');
            auto file = LineFile::open(path);
            ASSERT_TRUE(file) << file.error().message;
            EXPECT_EQ(file->bytes(), whole.size());
            EXPECT_FALSE(LineFile::open(path)) << "one writer at a time";
            ASSERT_TRUE(file->add("next"));
            EXPECT_EQ(read_whole(path, 100), whole + "next\n");
        }
    std::filesystem::remove(path);
}

TEST(LineFile, IsNeverAStandardStream) {
    const auto path =
        std::filesystem::path{testing::TempDir()} / ("assay_lines_" + std::to_string(::getpid()));
    const int input = ::dup(STDIN_FILENO);
    ::close(STDIN_FILENO);
    {
        const auto file = LineFile::open(path);
        ASSERT_TRUE(file);
        EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFD), -1);
    }
    ::dup2(input, STDIN_FILENO);
    ::close(input);
    std::filesystem::remove(path);
}

TEST(LineFile, SaysWhatCannotBeOpened) {
    const auto file = LineFile::open("/no/such/folder/lines");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().fault, Fault::environment);
    EXPECT_NE(file.error().message.find("/no/such/folder/lines"), std::string::npos);
}

} // namespace
} // namespace assay
