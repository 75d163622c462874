// SPDX-License-Identifier: Apache-2.0
//
// The table of all descriptions: those that are shipped, and those of the user's folders.

#include "external/library.hpp"
#include "made.hpp"
#include "record/metrics.hpp"
#include "support/schema.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <iterator>
#include <string>

namespace assay::external {
namespace {

using made::TemporaryFolder;
using testing::HasSubstr;

TEST(Shipped, AreRightAndNameKnownMetrics) {
    const Library library{""};
    for (const char* problem : library.problems()) ADD_FAILURE() << problem;
    EXPECT_GE(library.benchmarks().size(), 5U);
    EXPECT_EQ(library.id(), "");
    for (const auto& description : library.descriptions())
        for (const auto& metric : description.metrics) {
            const auto* const known = record::find_metric(metric.name);
            ASSERT_NE(known, nullptr) << description.id << ": " << metric.name;
            EXPECT_EQ(known->unit, metric.unit.base) << description.id << ": " << metric.name;
        }
}

TEST(Shipped, ObeyTheSchema) {
    for (std::size_t i = 0; i < shipped_count; ++i)
        EXPECT_EQ(test::broken(shipped[i].text, "external"), "") << shipped[i].name;
    EXPECT_EQ(test::broken(made_json().dump(), "external"), "");
    auto wrong = made_json();
    wrong["command"] = "fio --name=x";
    EXPECT_NE(test::broken(wrong.dump(), "external"), "");
}

/// A longer or shorter list would be other programs than configs/external has.
TEST(Shipped, AreTheFilesOfTheFolder) {
    std::size_t files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator{ASSAY_SOURCE_DIR "/configs/external"})
        if (entry.path().extension() == ".json" && entry.path().filename() != "schema.json")
            ++files;
    EXPECT_EQ(shipped_count, files);
}

class Folder : public testing::Test {
protected:
    void put(const std::string& name, const std::string& text) {
        std::ofstream{folder_.path() / name} << text;
    }
    Library library() const { return Library{folder_.path().string()}; }
    std::size_t own() const { return library().benchmarks().size() - shipped_count; }
    TemporaryFolder folder_;
};

TEST_F(Folder, AddsToTheTable) {
    put("one.json", made_json().dump());
    put("readme.txt", "no description");
    const auto made = library();
    EXPECT_TRUE(made.problems().empty());
    ASSERT_EQ(made.benchmarks().size(), shipped_count + 1);
    const auto& b = *made.benchmarks().back();
    EXPECT_STREQ(b.id, "test.one");
    EXPECT_STREQ(b.headline, "bandwidth");
    EXPECT_STREQ(b.metrics_given, "bandwidth=B/s");
    EXPECT_STREQ(b.packages, "coreutils");
    EXPECT_EQ(b.parameter_count, 3U);
    EXPECT_EQ(b.parameters[0].kind, ASSAY_NAME);
    EXPECT_EQ(b.parameters[1].integer_high, 100);
    EXPECT_EQ(b.parameters[2].kind, ASSAY_STRING);
    EXPECT_THAT(b.method, HasSubstr("GPL-3.0-or-later"));
    EXPECT_NE(b.flags & ASSAY_LONG_CALLS, 0U);
}

TEST_F(Folder, SaysWhichFileIsWrongAndUsesTheOthers) {
    put("a.json", "{");
    put("b.json", made_json().dump());
    put("c.json", made_json().dump()); // the same id
    auto shipped_id = made_json();
    shipped_id["id"] = "fio.file";
    put("d.json", shipped_id.dump());
    std::filesystem::create_directory(folder_.path() / "e.json");
    const auto made = library();
    EXPECT_EQ(own(), 1U);
    ASSERT_EQ(made.problems().size(), 4U);
    EXPECT_THAT(made.problems()[0], HasSubstr("a.json"));
    EXPECT_THAT(made.problems()[1], HasSubstr("another description of test.one"));
    EXPECT_THAT(made.problems()[2], HasSubstr("another description of fio.file"));
    EXPECT_THAT(made.problems()[3], HasSubstr("e.json"));
    EXPECT_THAT(Library{"/nonexistent"}.problems()[0], HasSubstr("/nonexistent"));
}

/// A changed description or input is another build: a run that was planned with it does not go on.
TEST_F(Folder, ItsContentsAreAPartOfTheBuild) {
    auto json = made_json();
    json["inputs"] = {{{"name", "x"}, {"copy", "in.txt"}}};
    put("in.txt", "1");
    put("one.json", json.dump());
    const auto first = library().id();
    EXPECT_EQ(first.size(), 16U);
    EXPECT_EQ(library().id(), first);
    put("in.txt", "2");
    const auto second = library().id();
    EXPECT_NE(second, first);
    json["time_limit"] = 6;
    put("one.json", json.dump());
    EXPECT_NE(library().id(), second);
}

TEST_F(Folder, HasAPlaceForEachUpToALimit) {
    auto json = made_json();
    for (std::size_t i = 0; i < most_descriptions; ++i) {
        json["id"] = "test.n" + std::to_string(i);
        put(std::to_string(i) + ".json", json.dump());
    }
    const auto made = library();
    EXPECT_EQ(made.benchmarks().size(), most_descriptions);
    EXPECT_EQ(made.problems().size(), shipped_count);
    EXPECT_THAT(made.problems().front(), HasSubstr("more than 128"));
}

} // namespace
} // namespace assay::external
