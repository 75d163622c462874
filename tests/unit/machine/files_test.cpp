// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "machine/files.hpp"
#include "trees.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

namespace assay::machine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Files, MissingIsEmpty) {
    const Files files{"/no/such/place"};
    EXPECT_FALSE(files.exists("/proc"));
    EXPECT_EQ(files.text("/proc/cpuinfo"), "");
    EXPECT_EQ(files.line("/proc/cpuinfo"), "");
    EXPECT_EQ(files.number("/x"), std::nullopt);
    EXPECT_THAT(files.names("/"), IsEmpty());
    EXPECT_EQ(files.link_name("/x"), "");
}

TEST(Files, ReadsNoMoreThanTheLimit) {
    const Scratch scratch;
    scratch.write("/big", std::string(1'000'000, 'x'));
    EXPECT_EQ(scratch.files().text("/big").size(), Files::text_limit);
    EXPECT_EQ(scratch.files().text("/big", 10), "xxxxxxxxxx");
    EXPECT_EQ(scratch.files().line("/big").size(), 200U);
}

TEST(Files, AFolderOrAPipeIsNoText) {
    const Scratch scratch;
    scratch.write("/folder/file", "x");
    ASSERT_EQ(::mkfifo((scratch.root() / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(scratch.files().text("/folder"), "");
    EXPECT_EQ(scratch.files().text("/pipe"), "");
}

TEST(Files, OnlyPrintableTextLeaves) {
    const Scratch scratch;
    scratch.write("/a", "x\x01\xffy\tz\n second");
    EXPECT_EQ(scratch.files().line("/a"), "x??y z");
    using namespace std::string_literals;
    scratch.write("/b", "model\0rest"s);
    EXPECT_EQ(scratch.files().text("/b"), "model");
}

TEST(Files, NumbersAreWholeWords) {
    const Scratch scratch;
    scratch.write("/a", " 42 rest\n");
    scratch.write("/b", "42x\n");
    scratch.write("/c", "99999999999999999999\n");
    EXPECT_EQ(scratch.files().number("/a"), 42);
    EXPECT_EQ(scratch.files().number("/b"), std::nullopt);
    EXPECT_EQ(scratch.files().number("/c"), std::nullopt);
}

TEST(Text, SplitsAndFinds) {
    EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
    EXPECT_THAT(words("  a \t b\n"), ElementsAre("a", "b"));
    EXPECT_THAT(words(" \n"), IsEmpty());
    EXPECT_EQ(value_of("ab : 1\na\t: 2\na: 3", "a", ':'), "2");
    EXPECT_EQ(value_of("a", "a", ':'), "");
    EXPECT_EQ(to_number(""), std::nullopt);
    EXPECT_EQ(to_number("-7"), -7);
}

} // namespace
} // namespace assay::machine
