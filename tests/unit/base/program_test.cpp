// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "base/program.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace assay {
namespace {

TEST(RunAndRead, HasBothStreamsAndTheCode) {
    const auto said = run_and_read({"sh", "-c", "echo out; echo err >&2; exit 3"});
    ASSERT_TRUE(said) << said.error().message;
    EXPECT_EQ(said->code, 3);
    EXPECT_EQ(said->text, "out\nerr\n");
    EXPECT_EQ(run_and_read({"sh", "-c", "kill -9 $$"})->code, -1);
}

TEST(RunAndRead, ReadsItsInputAndKeepsAtMostAFewBlocks) {
    const TemporaryFolder folder;
    ASSERT_FALSE(folder.path().empty());
    const auto file = folder.path() / "input";
    ASSERT_TRUE(write_atomically(file, std::string(1 << 20U, 'x')));
    const auto said = run_and_read({"cat"}, file);
    ASSERT_TRUE(said);
    EXPECT_EQ(said->code, 0);
    EXPECT_GE(said->text.size(), 65536U);
    EXPECT_LT(said->text.size(), 65536U + 4096U);
}

TEST(RunAndRead, SaysWhatCannotBeStarted) {
    const auto said = run_and_read({"no-such-program"});
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().fault, Fault::environment);
    EXPECT_NE(said.error().message.find("cannot start no-such-program"), std::string::npos);
}

TEST(TemporaryFolder, IsGoneWithAllInIt) {
    std::filesystem::path was;
    {
        const TemporaryFolder folder;
        was = folder.path();
        ASSERT_TRUE(write_atomically(was / "file", "x"));
    }
    EXPECT_FALSE(std::filesystem::exists(was));
}

} // namespace
} // namespace assay
