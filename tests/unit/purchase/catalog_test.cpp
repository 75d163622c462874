// SPDX-License-Identifier: Apache-2.0
//
// Entries of the catalogue as people and programs see them.

#include "purchase/catalog.hpp"
#include "support/document.hpp"
#include "support/schema.hpp"

#include <gmock/gmock.h>

#include <set>

namespace assay::purchase {
namespace {

using namespace document;
using namespace testing;

const reference::Hardware& shipped() {
    static const auto hardware = reference::read_hardware().value();
    return hardware;
}
std::vector<reference::CatalogEntry> named(const std::vector<std::string>& names) {
    std::vector<reference::CatalogEntry> entries;
    for (const auto& name : names)
        entries.push_back(reference::entry_named(shipped(), name).value());
    return entries;
}
const Table& table_of(const Section& section) { return std::get<Table>(section.blocks.front()); }
const Row& row_of(const Table& table, std::string_view name) {
    static const Row none;
    for (const auto& row : table.rows)
        if (row.cells.front().text == name) return row;
    return none;
}

TEST(CatalogDocument, ShowsEntriesSideBySideWithSources) {
    const auto document = make_document(named({"H100 SXM5", "L40S"}));
    const auto& table = table_of(document.sections.front());
    ASSERT_EQ(table.columns.size(), 3U);
    EXPECT_EQ(table.columns[1].title, "NVIDIA H100 SXM5 80GB");
    const auto& bandwidth = row_of(table, "Memory bandwidth");
    ASSERT_EQ(bandwidth.cells.size(), 3U);
    EXPECT_EQ(bandwidth.cells[1].text, "3.35 TB/s");
    EXPECT_EQ(bandwidth.cells[1].number, 3.35e12);
    EXPECT_EQ(bandwidth.cells[1].detail.front(), '[');
    // A sparse peak has a row of its own.
    EXPECT_EQ(row_of(table, "Tensor peak, bf16").cells[1].number, 989.4e12);
    EXPECT_EQ(row_of(table, "Sparse tensor peak, bf16").cells[1].number, 1979e12);
    EXPECT_TRUE(row_of(table, "Sparse tensor peak, bf16").cells[2].text.empty());
    const auto& sources = document.sections.back();
    EXPECT_EQ(std::get<Paragraph>(sources.blocks.front()).mark, "[1]");
    EXPECT_GT(sources.blocks.size(), 4U);
}

TEST(CatalogDocument, EveryFigureHasANameInBothLanguages) {
    for (const auto language : {Language::en, Language::zh}) {
        const test::Speaking in{language};
        std::set<std::string> nameless;
        const auto document = make_document(reference::entries_of(shipped()));
        for (const auto& row : table_of(document.sections.front()).rows)
            if (row.cells.front().text.find_first_of("_.") != std::string::npos)
                nameless.insert(row.cells.front().text);
        EXPECT_THAT(nameless, IsEmpty());
    }
}

TEST(CatalogDocument, ListsAllByKind) {
    const auto document = list_document(reference::entries_of(shipped()));
    ASSERT_EQ(document.sections.size(), 4U) << "instances, accelerators, processors, networks";
    EXPECT_EQ(table_of(document.sections.front()).rows.size(), shipped().instances.size());
}

TEST(CatalogDocument, ProgramsGetEveryFigureWithItsSource) {
    const auto text = to_json(named({"p5.48xlarge"}));
    EXPECT_EQ(test::broken(text, "catalog"), "");
    const auto data = json::parse(text, "stdout").value();
    const auto& entry = data["entries"][0];
    EXPECT_EQ(entry["id"], "aws/p5.48xlarge");
    const auto figure = std::ranges::find_if(
        entry["figures"], [](const auto& one) { return one["of"] == "memory_gib"; });
    ASSERT_NE(figure, entry["figures"].end());
    EXPECT_EQ((*figure)["value"], 2048);
    EXPECT_EQ((*figure)["unit"], "GiB");
    EXPECT_EQ((*figure)["sure"], "retrieved");
    EXPECT_NE((*figure)["source"], "");
}

} // namespace
} // namespace assay::purchase
