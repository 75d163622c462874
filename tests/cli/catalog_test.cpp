// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of hardware from outside: shown, checked, and laid over by files of one's own.

#include "json/json.hpp"
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace assay;
using cli_test::Folder;
using cli_test::parsed;
using cli_test::run;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Half the memory of p5.48xlarge, by a source of its own.
const char* const ours =
    R"({"schema":"assay.hardware/1","sources":{"we":"our contract"},"instances":[)"
    R"({"provider":"aws","type":"p5.48xlarge","memory_gib":1024,"gpus":8,)"
    R"("figures":[{"of":["*"],"source":"we","sure":"retrieved"}]}]})";

TEST(CatalogVerb, ShowsEntriesSideBySide) {
    const auto shown = run({"catalog", "show", "AWS p5.48xlarge", "H100 SXM5", "l40s"});
    EXPECT_EQ(shown.code, 0) << shown.error;
    EXPECT_THAT(shown.output, AllOf(HasSubstr("NVIDIA L40S"), HasSubstr("3200 Gb/s"),
                                    HasSubstr("What other sources say"), HasSubstr("[1]")));
    EXPECT_THAT(run({"catalog", "show", "--kind", "processors", "--lang", "zh"}).output,
                HasSubstr("处理器"));
    EXPECT_EQ(run({"catalog", "lint"}).code, 0);
}

TEST(CatalogVerb, LaysFilesOverIt) {
    const Folder folder;
    const auto file = folder.write("ours.json", ours).string();
    const auto json = parsed(run({"catalog", "show", "p5.48xlarge", "--catalog", file, "--json"}));
    const auto& replaced = json["entries"][0]["replaced"];
    ASSERT_EQ(replaced.size(), 1U);
    EXPECT_EQ(replaced[0]["of"], "memory_gib");
    EXPECT_EQ(replaced[0]["value"], 2048);
    const auto lint = run({"catalog", "lint", file});
    EXPECT_EQ(lint.code, 0) << "a caution";
    EXPECT_THAT(lint.output, HasSubstr("(conflict_missing)"));

    const auto offers =
        folder
            .write("offers.csv", "provider,instance,tariff,memory_gib,price,currency,date\n"
                                 "Amazon,p5.48xlarge,spot,1024,1,USD,2026-11-01\n")
            .string();
    EXPECT_THAT(run({"offers", "lint", offers}).output, HasSubstr("memory_gib is 1024, but 2048"));
    EXPECT_THAT(run({"offers", "lint", offers, "--catalog", file}).output,
                Not(HasSubstr("catalog_differs")));
}

TEST(CatalogVerb, RefusesWhatItDoesNotKnow) {
    const Folder folder;
    const auto none = folder.write("none.json", "{").string();
    const auto refused = [](const std::vector<std::string>& words, const std::string& part) {
        const auto ended = run(words);
        EXPECT_EQ(ended.code, 2) << part;
        EXPECT_EQ(ended.output, "") << part;
        EXPECT_THAT(ended.error, HasSubstr(part));
    };
    refused({"catalog", "list"}, "did you mean \"lint\"?");
    refused({"catalog", "show", "H100"}, "nvidia-h100-pcie-80gb");
    refused({"catalog", "show", "absent"}, "\"absent\"");
    refused({"catalog", "show", "--kind", "gpus"}, "accelerators");
    refused({"catalog", "show", "--catalog", none}, "none.json");
    refused({"capacity", "H100", "--set", "parameters=7e9"}, "nvidia-h100-sxm5-80gb");
    const auto lint = run({"catalog", "lint", none});
    EXPECT_EQ(lint.code, 2);
    EXPECT_THAT(lint.output, HasSubstr("(unreadable)"));
}

TEST(CatalogVerb, CapacityIsAboutTheInstancesThatAreNamed) {
    const auto shown =
        run({"capacity", "p5.48xlarge", "--set", "parameters=7e9", "--set", "layers=32", "--set",
             "heads=32", "--set", "hidden=4096", "--set", "sequence=4096"});
    EXPECT_EQ(shown.code, 0);
    EXPECT_THAT(shown.output,
                AllOf(HasSubstr("aws/p5.48xlarge"), HasSubstr("8 × NVIDIA H100 SXM5 80GB")));
}

} // namespace
