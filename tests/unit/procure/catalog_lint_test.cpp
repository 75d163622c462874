// SPDX-License-Identifier: Apache-2.0
//
// The catalogue: slips and the code that lint has for each (the installed one has none), and entries as people and programs
// see them.

#include "base/utc.hpp"
#include "procure/catalog_document.hpp"
#include "procure/catalog_lint.hpp"
#include "support/document.hpp"
#include "support/schema.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

namespace assay::procure {
namespace {

using namespace document;
using namespace testing;

std::string file_of_hardware(const std::string& content) {
    return R"({"schema":"assay.hardware/1","checked":"2026-11-20","sources":{"s":"a book"},)" +
           content + "}";
}
const std::string all = R"("figures":[{"of":["*"],"source":"s","sure":"retrieved"}])";

/// Three types of a provider with one GPU of 80 GB, and cores of their own.
const std::string good = file_of_hardware(
    R"("providers":[{"id":"p","aliases":["P Cloud"]},{"id":"q"}],)"
    R"("accelerators":[{"id":"g","name":"G 80","architecture":"a","form_factor":"f","power":700,)"
    R"("memory":{"bytes":80e9},"peaks":{"tensor":{"tf32":5e14,"bf16":1e15,"fp8":2e15},"sparse":{"bf16":2e15}},)" +
    all +
    R"(}],"instances":[)"
    R"({"provider":"p","type":"a","vcpus":8,"memory_gib":64,"gpu":"g","gpus":1,"gpu_memory_gb":80,)" +
    all + R"(},{"provider":"p","type":"b","vcpus":16,"memory_gib":128,)" + all +
    R"(},{"provider":"p","type":"c","vcpus":32,"memory_gib":256,)" + all + R"(},)" +
    R"({"provider":"q","type":"a","vcpus":192,"cores":96,"threads_per_core":2,"memory_gib":2048,)" +
    all + "}]");

std::vector<document::LintRow> findings(const std::string& text, const char* today = "2026-11-25") {
    const auto schema = *json::read_file(layout().share / "schema" / "hardware.json");
    const auto read =
        reference::parse_hardware({{.text = good, .source = "good.json"},
                                   {.text = text, .source = "mine.json", .is_laid_over = true}},
                                  schema);
    if (!read) return {lint_unreadable("mine.json", read.error().message)};
    return lint(*read, {.files = {"mine.json"}, .now = *seconds_of(today)});
}
std::vector<std::string> codes(const std::string& content, const char* today = "2026-11-25") {
    std::vector<std::string> found;
    for (const auto& one : findings(file_of_hardware(content), today))
        found.push_back(fmt::format("{} {}", one.code, one.about));
    return found;
}
/// An instance that is laid over, or new.
std::vector<std::string> instance(const std::string& type, const std::string& figures,
                                  const std::string& origin = all) {
    return codes(R"("instances":[{"provider":"p","type":")" + type + R"(",)" + figures +
                 (origin.empty() ? "" : ',' + origin) + "}]");
}
std::vector<std::string> accelerator(const std::string& figures) {
    return codes(R"("accelerators":[{"id":"h","name":"H","architecture":"a","form_factor":"f",)" +
                 figures + ',' + all + "}]");
}

TEST(CatalogLint, SaysNothingOfTheInstalledCatalogue) {
    const auto hardware = reference::read_hardware().value();
    std::vector<std::string> found;
    for (const auto& one : lint(hardware, {.files = {}, .now = *seconds_of("2026-11-25")}))
        found.push_back(fmt::format("{} {}: {}", one.code, one.about, one.what));
    EXPECT_THAT(found, IsEmpty());
}

TEST(CatalogLint, SaysNothingOfGoodEntries) {
    EXPECT_THAT(instance("new", R"("vcpus":64,"cores":32,"threads_per_core":2,"memory_gib":512)"),
                IsEmpty());
    EXPECT_THAT(accelerator(R"("peaks":{"tensor":{"tf32":1e14,"bf16":2e14,"fp8":4e14}})"),
                IsEmpty());
}

TEST(CatalogLint, FindsIdsThatNothingHas) {
    EXPECT_THAT(instance("new", R"("gpu":"h100","gpus":8)"), ElementsAre("unknown_id p/new"));
    EXPECT_THAT(instance("new", R"("cpu":"epyc")"), ElementsAre("unknown_id p/new"));
    EXPECT_THAT(codes(R"("instances":[{"provider":"r","type":"a"}])"),
                ElementsAre("unknown_id r/a"));
    EXPECT_THAT(
        instance(
            "new",
            R"("vcpus":8,"conflicts":[{"of":"cores","value":4,"source":"s","sure":"retrieved"}])"),
        ElementsAre("unknown_id p/new"));
}

TEST(CatalogLint, FindsAFactorOfAThousand) {
    EXPECT_THAT(instance("new", R"("memory_gib":512000)"), ElementsAre("unit_slip p/new"));
    EXPECT_THAT(instance("new", R"("memory_gib":0.512)"), ElementsAre("unit_slip p/new"));
    EXPECT_THAT(instance("new", R"("memory_gib":4096)"), IsEmpty()) << "larger than all, and right";
}

TEST(CatalogLint, FindsMoreCoresThanThreads) {
    EXPECT_THAT(instance("new", R"("vcpus":32,"cores":64)"), ElementsAre("more_cores p/new"));
}

TEST(CatalogLint, FindsSparsePeaksInDenseFields) {
    EXPECT_THAT(accelerator(R"("peaks":{"tensor":{"bf16":2e15},"sparse":{"bf16":1.98e15}})"),
                ElementsAre("sparse_as_dense h"));
    EXPECT_THAT(accelerator(R"("peaks":{"tensor":{"tf32":5e14,"bf16":2e15}})"),
                ElementsAre("sparse_as_dense h"));
    const std::string rates =
        R"("rates":[{"compute_capability":"9.9","vector":{},"tensor":{"bf16":4096},"figures":[]}],)";
    const auto of = [&](const char* bf16) {
        return codes(
            rates +
            R"("accelerators":[{"id":"h","name":"H","architecture":"a","form_factor":"f","compute_capability":"9.9","multiprocessors":132,"clock":{"tensor":1.83e9},"peaks":{"tensor":{"bf16":)" +
            bf16 + "}}," + all + "}]");
    };
    EXPECT_THAT(of("1979e12"), ElementsAre("sparse_as_dense h"));
    EXPECT_THAT(of("989e12"), IsEmpty());
}

TEST(CatalogLint, FindsEntriesOfOneName) {
    EXPECT_THAT(
        codes(R"("accelerators":[{"id":"h","name":"G 80","architecture":"a","form_factor":"f"}])"),
        ElementsAre("same_name h"));
    EXPECT_THAT(codes(R"("providers":[{"id":"r","aliases":["p cloud"]}])"),
                ElementsAre("same_name r"));
}

TEST(CatalogLint, FindsFiguresOfNoSource) {
    EXPECT_THAT(instance("new", R"("vcpus":8)", ""), ElementsAre("no_source p/new"));
}

TEST(CatalogLint, FindsDaysThatAreYetToComeOrLongPast) {
    const std::string entry = R"("instances":[{"provider":"p","type":"b","vcpus":16,)" + all + "}]";
    EXPECT_THAT(codes(entry, "2026-11-19"), ElementsAre("future_day "));
    EXPECT_THAT(codes(entry, "2026-11-20"), IsEmpty());
    EXPECT_THAT(codes(entry, "2027-11-20"), IsEmpty());
    EXPECT_THAT(codes(entry, "2027-11-22"), ElementsAre("old_check "));
}

TEST(CatalogLint, FindsGpusThatTheirMemoryContradicts) {
    EXPECT_THAT(instance("new", R"("gpu":"g","gpus":8,"gpu_memory_gb":80)"),
                ElementsAre("gpu_memory_differs p/new"));
    EXPECT_THAT(instance("new", R"("gpu":"g","gpus":8,"gpu_memory_gb":640)"), IsEmpty());
    EXPECT_THAT(instance("new", R"("gpu":"g","gpus":0.5,"gpu_memory_gb":40)"), IsEmpty());
}

TEST(CatalogLint, FindsContradictionsThatNoConflictNames) {
    const std::string conflict =
        R"("conflicts":[{"of":"vcpus","value":16,"source":"s","sure":"retrieved"}],)";
    EXPECT_THAT(instance("b", R"("vcpus":24)"), ElementsAre("conflict_missing p/b"));
    EXPECT_THAT(instance("b", conflict + R"("vcpus":24)"), IsEmpty());
    EXPECT_THAT(instance("b", R"("vcpus":16)"), IsEmpty()) << "the same";
    EXPECT_THAT(instance("new", R"("vcpus":16,"cores":16,"threads_per_core":2)"),
                ElementsAre("conflict_missing p/new"));
    EXPECT_THAT(accelerator(R"("memory":{"bandwidth":2e12,"bus_bits":8192,"clock":2e9})"),
                ElementsAre("conflict_missing h"));
}

TEST(CatalogLint, SaysWhatCannotBeRead) {
    const auto found = findings("{");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().code, "unreadable");
    EXPECT_THAT(found.front().what, HasSubstr("mine.json"));
    const LintedCatalog linted{.entries = 0, .files = {"mine.json"}, .findings = found};
    EXPECT_TRUE(any_serious(linted));
    EXPECT_THAT(to_json(linted), HasSubstr("assay.catalog.lint/1"));
    EXPECT_EQ(test::broken(to_json(linted), "lint"), "");
}

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
} // namespace assay::procure
