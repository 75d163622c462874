// SPDX-License-Identifier: Apache-2.0
#include "support/temporary_folder.hpp"
#include "worker/module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace {

using namespace assay;
using namespace assay::harness;
using harness::made::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::filesystem::path odd(int number) {
    return std::filesystem::path{ASSAY_ODD_MODULES} / ("odd_" + std::to_string(number) + ".so");
}

/// Why the module cannot be used: refused by load() or by describe().
std::string refusal(const std::filesystem::path& path) {
    const auto module = Module::load(path);
    if (!module) return module.error().message;
    const auto manifest = describe(*module);
    return manifest ? "" : manifest.error().message;
}

TEST(Module, ASoundOneIsDescribed) {
    const auto module = Module::load(odd(0));
    ASSERT_TRUE(module) << module.error().message;
    const auto manifest = describe(*module);
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_EQ(manifest->module, "odd");
    EXPECT_EQ(manifest->build_id.size(), 40U) << "a SHA-1 by the linker";
    EXPECT_EQ(manifest->benchmarks.at(0).parameters.at(0).integer_high, 9);
    EXPECT_FALSE(manifest->benchmarks.at(0).items) << "it names none";
    EXPECT_NE(module->find("odd.one"), nullptr);
    EXPECT_EQ(module->find("odd.two"), nullptr);
}

TEST(Module, AnotherInterfaceIsNamed) {
    EXPECT_THAT(refusal(odd(1)),
                AllOf(HasSubstr("was built for interface 2"), HasSubstr("this assay speaks 1")));
}

TEST(Module, FieldsBeyondItsSizeAreNotRead) {
    const auto module = Module::load(odd(3));
    ASSERT_TRUE(module) << module.error().message;
    EXPECT_EQ(module->table().launcher, nullptr);
    EXPECT_EQ(module->table().facts, nullptr);
    const auto manifest = describe(*module);
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_EQ(manifest->launcher, "");
}

TEST(Module, OneFromBeforeDigestsHasNone) {
    const auto module = Module::load(odd(13));
    ASSERT_TRUE(module) << module.error().message;
    EXPECT_EQ(module->find("odd.one")->digest, nullptr);
    const auto manifest = describe(*module);
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_FALSE(manifest->benchmarks.at(0).reproducible.value());
}

TEST(Module, EntriesOfAShorterLayoutAreFoundByTheirSize) {
    const auto module = Module::load(odd(4));
    ASSERT_TRUE(module) << module.error().message;
    const auto* benchmark = module->find("odd.one");
    ASSERT_NE(benchmark, nullptr);
    ASSERT_EQ(benchmark->parameter_count, 2U);
    EXPECT_STREQ(benchmark->parameters[1].name, "second");
    EXPECT_EQ(benchmark->parameters[1].default_count, 0U);
}

TEST(Module, WhatIsDamagedIsRefusedWithAReason) {
    EXPECT_THAT(refusal(odd(2)), HasSubstr("returned no table"));
    EXPECT_THAT(refusal(odd(5)), HasSubstr("odd.one has no function sample"));
    EXPECT_THAT(refusal(odd(6)), HasSubstr("odd.one is given twice"));
    EXPECT_THAT(refusal(odd(7)), HasSubstr("hole"));
    EXPECT_THAT(refusal(odd(8)), HasSubstr("damaged"));
    EXPECT_THAT(refusal(odd(9)), HasSubstr("entries of 0 bytes"));
    EXPECT_THAT(refusal(odd(10)), HasSubstr("module name"));
    EXPECT_THAT(refusal(odd(11)), HasSubstr("no known kind"));
}

TEST(Module, AFileThatIsNoneIsRefused) {
    const TemporaryFolder folder;
    EXPECT_THAT(refusal(folder.path() / "absent.so"), HasSubstr("no such file"));
    EXPECT_THAT(refusal(folder.path()), HasSubstr("no such file"));
    EXPECT_THAT(refusal(folder.write("text.so", "hello")), HasSubstr("not an assay module"));
    EXPECT_THAT(refusal(folder.write("empty.so", "")), HasSubstr("not an assay module"));
    EXPECT_THAT(refusal(ASSAY_PLAIN_LIBRARY), HasSubstr("no symbol assay_module"));
}

TEST(Module, ALibraryThatIsMissingBelowIsAFaultOfTheEnvironment) {
    const TemporaryFolder folder;
    const auto path = folder.write("cut.so", std::string{"\x7f"
                                                         "ELF"} +
                                                 std::string(100, '\0'));
    const auto module = Module::load(path);
    ASSERT_FALSE(module);
    EXPECT_EQ(module.error().fault, Fault::environment);
}

} // namespace
