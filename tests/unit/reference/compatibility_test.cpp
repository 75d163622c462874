// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "reference/compatibility.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace {

using namespace assay;
using namespace assay::datasheet;
using testing::HasSubstr;

Result<Compatibility> parse(const std::string& text) {
    const auto schema = json::read_file(layout().share / "schema" / "compatibility.json");
    return parse_compatibility(text, "table", schema.value());
}

TEST(Compatibility, TheInstalledTableIsReadWhole) {
    const auto known = read_compatibility();
    ASSERT_TRUE(known) << known.error().message;
    const auto cuda13 = std::ranges::find(known->toolkits, Version{13}, &ToolkitRow::toolkit);
    ASSERT_NE(cuda13, known->toolkits.end());
    EXPECT_EQ(cuda13->driver, (Version{580, 65, 6}));
    for (const auto& chip : known->chips) {
        EXPECT_FALSE(chip.first_toolkit.empty()) << chip.compute_capability;
        EXPECT_TRUE(chip.last_toolkit.empty() || chip.last_toolkit > chip.first_toolkit);
        EXPECT_FALSE(chip.source.empty());
    }
}

TEST(Compatibility, SaysWhatIsWrongWithAFile) {
    const std::string begin = R"({"schema": "assay.compatibility/1", "sources": {}, "chips": [], )";
    EXPECT_TRUE(parse(begin + R"("toolkits": []})"));
    const auto row = [&](const std::string& driver) {
        return parse(begin + R"("toolkits": [{"toolkit": "13", "source": "s", "driver": )" +
                     driver + "}]}");
    };
    EXPECT_TRUE(row(R"("580.65.06")"));
    EXPECT_THAT(row(R"("new")").error().message, HasSubstr("driver"));
    for (const auto* driver : {"580", "null", R"("")", R"("1.")"})
        EXPECT_FALSE(row(driver)) << driver;
    EXPECT_FALSE(parse(""));
    EXPECT_FALSE(parse("[]"));
    EXPECT_FALSE(parse(begin + R"("toolkits": [{}]})"));
}

} // namespace
