// SPDX-License-Identifier: Apache-2.0

#include "procure/catalog_document.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "document/language.hpp"
#include "document/lint.hpp"
#include "document/text.hpp"
#include "document/texts/catalog.hpp"
#include "document/texts/limits.hpp"
#include "json/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

namespace assay::reference {

ASSAY_FIELDS(OtherFigure, (record.origin.source, "source"), (record.origin.sure, "sure"),
             (record.origin.checked, "checked"), (record.origin.file, "file"), of, value, why)

} // namespace assay::reference

namespace assay::procure {

using namespace document;
using reference::CatalogEntry;
using reference::Kind;

namespace {

/// Of installed files the name alone.
std::string file_in_words(const std::string& file) {
    const std::filesystem::path path{file};
    return plain(path.parent_path() == layout().share / "hardware" ? path.filename().string()
                                                                   : file);
}

std::string sure_in_words(const std::string& sure) {
    return std::string{find_text("sure", sure).value_or(sure)};
}
std::string origin_in_words(const reference::Origin& origin) {
    if (origin.source.empty()) return say<text::catalog::of_no_source>();
    std::vector<std::string> parts{sure_in_words(origin.sure)};
    if (!origin.checked.empty()) parts.push_back(plain(origin.checked));
    return say<text::catalog::origin>(plain(origin.source), join(parts));
}

using Figures = std::map<std::string, reference::Figure, std::less<>>;
/// With those of a processor's cores, and without the rates in which an accelerator departs from its capability.
Figures figures_of(const CatalogEntry& entry) {
    auto figures = entry.sheet->figures;
    if (entry.processor != nullptr)
        for (const auto& [path, figure] : entry.processor->core.sheet.figures)
            if (path.starts_with("rates.")) figures.try_emplace(path, figure);
    if (entry.accelerator != nullptr)
        std::erase_if(figures, [](const auto& own) { return own.first.starts_with("rates."); });
    return figures;
}

std::string title_of(const CatalogEntry& entry) {
    return plain(entry.instance != nullptr ? entry.sheet->id : entry.sheet->name);
}

Cell cell_of(std::string_view path, const json::Value& value) {
    Cell cell{.text = figure_in_words(path, value)};
    if (value.is_number()) {
        cell.number = value.get<double>();
        cell.unit = unit_of_figure(path);
        if (cell.unit.empty()) cell.unit = unit_count;
    }
    return cell;
}

/// Sources by number, in the order in which they are met.
class Sources {
public:
    std::string mark(const reference::Origin& origin, bool with_file) {
        auto text = origin_in_words(origin);
        if (with_file) text = say<text::catalog::in_file>(text, file_in_words(origin.file));
        const auto [known, is_new] = numbers_.try_emplace(text, numbers_.size() + 1);
        if (is_new) all_.push_back(std::move(text));
        return fmt::format("[{}]", known->second);
    }
    std::vector<Block> blocks() const {
        std::vector<Block> blocks;
        for (std::size_t i = 0; i < all_.size(); ++i)
            blocks.emplace_back(Paragraph{.text = all_[i], .mark = fmt::format("[{}]", i + 1)});
        return blocks;
    }

private:
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::string> all_;
};

Section others_of(const std::vector<CatalogEntry>& entries, std::string title,
                  std::vector<reference::OtherFigure> reference::Sheet::* which, Sources& sources,
                  bool with_file) {
    Table table{.columns = {{.title = say<text::catalog::figure>()},
                            {.title = say<text::catalog::here>(), .numeric = true},
                            {.title = say<text::catalog::other>(), .numeric = true},
                            {.title = say<text::catalog::source>(), .rank = 1}},
                .sheet = title};
    for (const auto& entry : entries)
        for (const auto& other : entry.sheet->*which) {
            const auto own = entry.sheet->figures.find(other.of);
            auto name = name_of_figure(other.of);
            if (entries.size() > 1) name = say<text::limits::finding_of>(title_of(entry), name);
            Cell here;
            if (own != entry.sheet->figures.end()) {
                here = cell_of(other.of, own->second.value);
                here.detail = sources.mark(own->second.origin, with_file);
            }
            auto there = cell_of(other.of, other.value);
            there.detail = sources.mark(other.origin, with_file);
            table.rows.push_back({.cells = {{.text = std::move(name)},
                                            std::move(here),
                                            std::move(there),
                                            {.text = plain(other.why)}}});
        }
    Section section{.title = std::move(title)};
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
}

std::string kind_in_words(Kind kind) {
    return std::string{find_text("catalog_kind", to_string(kind)).value_or(to_string(kind))};
}

Table list_of_kind(const std::vector<CatalogEntry>& entries, Kind kind) {
    constexpr std::array instances{"vcpus", "cores",         "memory_gib",  "cpu",
                                   "gpus",  "local_disk_gb", "network_gbps"};
    constexpr std::array processors{"cores", "clock.boost", "memory.channels",
                                    "memory.transfer_rate"};
    constexpr std::array accelerators{"memory.bytes", "memory.bandwidth", "peaks.tensor.bf16",
                                      "peaks.tensor.fp64", "power"};
    constexpr std::array network_cards{"port_gbps", "pcie.generation", "pcie.lanes"};
    std::vector<std::string_view> paths;
    const auto take = [&](const auto& own) { paths.assign(own.begin(), own.end()); };
    if (kind == Kind::instance) take(instances);
    if (kind == Kind::processor) take(processors);
    if (kind == Kind::accelerator) take(accelerators);
    if (kind == Kind::network_card) take(network_cards);
    Table table{.columns = {{.title = kind_in_words(kind)}}, .sheet = kind_in_words(kind)};
    for (const auto path : paths)
        table.columns.push_back({.title = name_of_figure(path),
                                 .numeric = path != "cpu",
                                 .rank = static_cast<std::uint8_t>(table.columns.size() / 2)});
    table.columns.push_back({.title = say<text::catalog::id>(), .rank = 1});
    for (const auto& entry : entries) {
        if (entry.kind != kind) continue;
        Row row{.cells = {{.text = title_of(entry)}}};
        for (const auto path : paths) {
            const auto found = entry.sheet->figures.find(path);
            row.cells.push_back(
                found == entry.sheet->figures.end() ? Cell{} : cell_of(path, found->second.value));
            if (path == "gpus" && entry.instance != nullptr && !entry.instance->gpu.empty())
                row.cells.back().text += " × " + plain(entry.instance->gpu);
        }
        row.cells.push_back(
            {.text = kind == Kind::instance ? std::string{} : plain(entry.sheet->id),
             .tone = Tone::quiet});
        table.rows.push_back(std::move(row));
    }
    return table;
}

struct FigureRow {
    const std::string& of;
    const reference::Figure& figure;
};
ASSAY_FIELDS(FigureRow, (record.figure.origin.source, "source"),
             (record.figure.origin.sure, "sure"), (record.figure.origin.checked, "checked"),
             (record.figure.origin.file, "file"), of, (record.figure.value, "value"),
             (unit_of_figure(record.of), "unit"))

struct Shown {
    const CatalogEntry& entry;
    Figures figures;
};
std::vector<FigureRow> rows_of(const Figures& figures) {
    std::vector<FigureRow> rows;
    for (const auto& [path, figure] : figures) rows.push_back({path, figure});
    return rows;
}
ASSAY_FIELDS(Shown, (record.entry.kind, "kind"), (record.entry.sheet->id, "id"),
             (record.entry.sheet->name, "name"), (record.entry.sheet->names, "names"),
             (record.entry.sheet->note, "note"), (rows_of(record.figures), "figures"),
             (record.entry.sheet->conflicts, "conflicts"),
             (record.entry.sheet->replaced, "replaced"))

} // namespace

Document make_document(const std::vector<CatalogEntry>& entries) {
    std::vector<Figures> figures;
    std::vector<std::string> paths;
    std::vector<std::string> names;
    bool is_laid_over = false;
    for (const auto& entry : entries) {
        names.push_back(title_of(entry));
        figures.push_back(figures_of(entry));
        for (const auto& [path, figure] : figures.back()) {
            paths.push_back(path);
            is_laid_over = is_laid_over || figure.origin.file != entry.sheet->file;
        }
        is_laid_over = is_laid_over || !entry.sheet->replaced.empty();
    }
    std::ranges::sort(paths);
    paths.erase(std::ranges::unique(paths).begin(), paths.end());
    Document document{
        .kind = "catalog", .kicker = say<text::catalog::kicker>(), .title = list_of(names, 4)};
    Sources sources;
    Table table{.columns = {{.title = say<text::catalog::figure>()}},
                .sheet = say<text::catalog::kicker>()};
    for (const auto& name : names) table.columns.push_back({.title = name, .numeric = true});
    for (const auto& path : paths) {
        Row row{.cells = {{.text = name_of_figure(path)}}};
        for (const auto& own : figures) {
            const auto found = own.find(path);
            row.cells.emplace_back();
            if (found == own.end()) continue;
            row.cells.back() = cell_of(path, found->second.value);
            row.cells.back().detail =
                found->second.origin.source.empty() && !found->second.value.is_number()
                    ? std::string{}
                    : sources.mark(found->second.origin, is_laid_over);
        }
        table.rows.push_back(std::move(row));
    }
    std::size_t conflicts = 0;
    for (const auto& entry : entries) conflicts += entry.sheet->conflicts.size();
    document.verdict =
        conflicts == 0
            ? say_count<text::catalog::no_conflicts>(paths.size())
            : say<text::catalog::some_conflicts>(say_count<text::catalog::figures>(paths.size()),
                                                 say_count<text::catalog::conflicts_of>(conflicts));
    document.tone = conflicts == 0 ? Tone::plain : Tone::weak;
    document.sections.push_back(
        {.title = say<text::catalog::kicker>(), .blocks = {std::move(table)}, .heading = false});
    for (auto section : {others_of(entries, say<text::catalog::conflicts>(),
                                   &reference::Sheet::conflicts, sources, is_laid_over),
                         others_of(entries, say<text::catalog::was_replaced>(),
                                   &reference::Sheet::replaced, sources, is_laid_over)})
        if (!section.blocks.empty()) document.sections.push_back(std::move(section));
    Section notes{.title = say<text::catalog::notes>()};
    for (const auto& entry : entries)
        if (!entry.sheet->note.empty())
            notes.blocks.emplace_back(Paragraph{
                .text = say<text::limits::finding_of>(title_of(entry), plain(entry.sheet->note))});
    if (!notes.blocks.empty()) document.sections.push_back(std::move(notes));
    document.sections.push_back(
        {.title = say<text::catalog::sources>(), .blocks = sources.blocks()});
    return document;
}

Document list_document(const std::vector<CatalogEntry>& entries) {
    Document document{.kind = "catalog",
                      .kicker = say<text::catalog::kicker>(),
                      .title = say_count<text::catalog::count>(entries.size()),
                      .verdict = say<text::catalog::show_one>()};
    for (const auto kind : reference::kinds)
        if (auto table = list_of_kind(entries, kind); !table.rows.empty())
            document.sections.push_back(
                {.title = kind_in_words(kind), .blocks = {std::move(table)}});
    return document;
}

std::string to_json(const std::vector<CatalogEntry>& entries) {
    json::Value list = json::Value::array();
    for (const auto& entry : entries) list.push_back(json::encode(Shown{entry, figures_of(entry)}));
    return json::to_text({{"schema", "assay.catalog/1"}, {"entries", std::move(list)}});
}

Document make_document(const LintedCatalog& linted) {
    auto rows = linted.findings;
    std::vector<std::string> files;
    for (const auto& file : linted.files) files.push_back(file_in_words(file));
    for (auto& row : rows) row.file = file_in_words(row.file);
    return lint_document(say<text::catalog::kicker>(),
                         say<text::catalog::lint_title>(list_of(files, 3)),
                         say_count<text::catalog::count>(linted.entries),
                         say<text::catalog::lint_found>(
                             say_count<text::limits::findings>(rows.size()), serious_of(rows)),
                         files, rows);
}

std::string to_json(const LintedCatalog& linted) {
    const auto& rows = linted.findings;
    return json::to_text({{"schema", "assay.catalog.lint/1"},
                          {"files", linted.files},
                          {"entries", linted.entries},
                          {"serious", serious_of(rows)},
                          {"findings", lint_rows(rows, "entry", false)}});
}

bool any_serious(const LintedCatalog& linted) { return serious_of(linted.findings) > 0; }

} // namespace assay::procure
