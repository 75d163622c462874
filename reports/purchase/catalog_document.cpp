// SPDX-License-Identifier: Apache-2.0

#include "base/console.hpp"
#include "base/file.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/catalog.hpp"
#include "document/texts/limits.hpp"
#include "json/codec.hpp"
#include "purchase/catalog.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace assay::reference {

ASSAY_FIELDS(OtherFigure, (record.origin.source, "source"), (record.origin.sure, "sure"),
             (record.origin.checked, "checked"), (record.origin.file, "file"), of, value, why)

} // namespace assay::reference

namespace assay::purchase {

using namespace document;
using reference::CatalogEntry;
using reference::Kind;

namespace {

// --- figures, by their paths ---------------------------------------------------------------------

/// "B/s"; empty for counts and texts.
std::string_view unit_of(std::string_view path) {
    struct PathUnit {
        std::string_view begins;
        std::string_view ends;
        std::string_view unit;
    };
    static constexpr std::array units{PathUnit{"peaks.", ".int8", "OP/s"},
                                      PathUnit{"peaks.", "", "FLOP/s"},
                                      PathUnit{"rates.", "", "1/clock"},
                                      PathUnit{"memory.clock", "", "Hz"},
                                      PathUnit{"clock.", "", "Hz"},
                                      PathUnit{"", "bytes", "B"},
                                      PathUnit{"", "bandwidth", "B/s"},
                                      PathUnit{"memory.transfer_rate", "", "T/s"},
                                      PathUnit{"power", "", "W"},
                                      PathUnit{"", "_gib", "GiB"},
                                      PathUnit{"", "_gb", "GB"},
                                      PathUnit{"", "_gbps", "Gb/s"},
                                      PathUnit{"memory.bus_bits", "", "bit"}};
    for (const auto& [begins, ends, unit] : units)
        if (path.starts_with(begins) && path.ends_with(ends)) return unit;
    return {};
}

/// "Tensor peak, bf16": a name where the path, or what it begins with, has one.
std::string name_of(std::string_view path) {
    const auto known = [](std::string key) {
        std::ranges::replace(key, '.', '_');
        return find_text("figure", key);
    };
    if (const auto whole = known(std::string{path})) return std::string{*whole};
    const auto dot = path.rfind('.');
    const auto part = dot == path.npos ? std::nullopt : known(std::string{path.substr(0, dot)});
    return part ? fmt::format("{} {}", *part, plain(path.substr(dot + 1))) : plain(path);
}

/// "3.35 TB/s", "192 GiB".
std::string in_words(std::string_view unit, double number) {
    if (unit.empty()) return fmt::format("{:g}", number);
    const bool as_given = unit.starts_with('G') || unit == "1/clock" || unit == "bit";
    return as_given ? fmt::format("{:.6g} {}", number, unit) : record::human(number, unit);
}

Cell cell_of(std::string_view path, const json::Value& value) {
    if (value.is_string()) return {.text = plain(value.get<std::string>())};
    if (value.is_boolean())
        return {.text = value.get<bool>() ? say<text::catalog::yes>() : say<text::catalog::no>()};
    if (!value.is_number()) return {};
    const auto unit = unit_of(path);
    const double number = value.get<double>();
    return {.text = in_words(unit, number),
            .number = number,
            .unit = std::string{unit.empty() ? unit_count : unit}};
}

// --- entries -------------------------------------------------------------------------------------

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

std::string kind_in_words(Kind kind) {
    return std::string{find_text("catalog_kind", to_string(kind)).value_or(to_string(kind))};
}

/// Sources by number, in the order in which they are met.
class Sources {
public:
    Cell cell(std::string_view path, const reference::Figure& figure) {
        auto cell = cell_of(path, figure.value);
        const auto& origin = figure.origin;
        if (!origin.source.empty() || figure.value.is_number()) cell.detail = mark(origin);
        return cell;
    }
    std::vector<Block> blocks;

private:
    /// Files of --catalog are named, those that are installed are not.
    std::string mark(const reference::Origin& origin) {
        auto text = say<text::catalog::of_no_source>();
        if (!origin.source.empty()) {
            std::vector<std::string> parts{
                std::string{find_text("sure", origin.sure).value_or(origin.sure)}};
            if (!origin.checked.empty()) parts.push_back(plain(origin.checked));
            text = say<text::catalog::origin>(plain(origin.source), join(parts));
        }
        if (std::filesystem::path{origin.file}.parent_path() != layout().share / "hardware")
            text = say<text::catalog::in_file>(text, plain(origin.file));
        const auto [known, is_new] = numbers_.try_emplace(text, numbers_.size() + 1);
        auto number = fmt::format("[{}]", known->second);
        if (is_new) blocks.emplace_back(Paragraph{.text = std::move(text), .mark = number});
        return number;
    }

    std::map<std::string, std::size_t> numbers_;
};

/// Values of other sources, or values before a --catalog file replaced them.
Section others_of(const std::vector<CatalogEntry>& entries, std::string title,
                  std::vector<reference::OtherFigure> reference::Sheet::* which, Sources& sources) {
    Table table{.columns = {{.title = say<text::catalog::figure>()},
                            {.title = say<text::catalog::here>(), .numeric = true},
                            {.title = say<text::catalog::other>(), .numeric = true},
                            {.title = say<text::catalog::source>(), .rank = 1}},
                .sheet = title};
    for (const auto& entry : entries)
        for (const auto& other : entry.sheet->*which) {
            const auto own = entry.sheet->figures.find(other.of);
            auto name = name_of(other.of);
            if (entries.size() > 1) name = say<text::limits::finding_of>(title_of(entry), name);
            auto here =
                own == entry.sheet->figures.end() ? Cell{} : sources.cell(other.of, own->second);
            auto there = sources.cell(other.of, {other.value, other.origin});
            table.rows.push_back({.cells = {{.text = std::move(name)},
                                            std::move(here),
                                            std::move(there),
                                            {.text = plain(other.why)}}});
        }
    Section section{.title = std::move(title)};
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
}

Table list_of_kind(const std::vector<CatalogEntry>& entries, Kind kind) {
    static const std::map<Kind, std::vector<std::string_view>> shown{
        {Kind::instance,
         {"vcpus", "cores", "memory_gib", "cpu", "gpus", "local_disk_gb", "network_gbps"}},
        {Kind::processor, {"cores", "clock.boost", "memory.channels", "memory.transfer_rate"}},
        {Kind::accelerator,
         {"memory.bytes", "memory.bandwidth", "peaks.tensor.bf16", "peaks.tensor.fp64", "power"}},
        {Kind::network_card, {"port_gbps", "pcie.generation", "pcie.lanes"}}};
    const auto& paths = shown.at(kind);
    Table table{.columns = {{.title = kind_in_words(kind)}}, .sheet = kind_in_words(kind)};
    for (const auto path : paths)
        table.columns.push_back({.title = name_of(path),
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
            if (path == "gpus" && !entry.instance->gpu.empty())
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
             (unit_of(record.of), "unit"))

std::vector<FigureRow> rows_of(const Figures& figures) {
    std::vector<FigureRow> rows;
    for (const auto& [path, figure] : figures) rows.push_back({path, figure});
    return rows;
}
struct Shown {
    const CatalogEntry& entry;
    Figures figures;
};
ASSAY_FIELDS(Shown, (record.entry.kind, "kind"), (record.entry.sheet->id, "id"),
             (record.entry.sheet->name, "name"), (record.entry.sheet->names, "names"),
             (record.entry.sheet->note, "note"), (rows_of(record.figures), "figures"),
             (record.entry.sheet->conflicts, "conflicts"),
             (record.entry.sheet->replaced, "replaced"))

} // namespace

Document make_document(const std::vector<CatalogEntry>& entries) {
    Document document{.kind = "catalog", .kicker = say<text::catalog::kicker>()};
    Table table{.columns = {{.title = say<text::catalog::figure>()}},
                .sheet = say<text::catalog::kicker>()};
    std::vector<Figures> figures;
    std::set<std::string> paths;
    std::vector<std::string> names;
    std::size_t conflicts = 0;
    Section notes{.title = say<text::catalog::notes>()};
    for (const auto& entry : entries) {
        names.push_back(title_of(entry));
        table.columns.push_back({.title = names.back(), .numeric = true});
        for (const auto& [path, figure] : figures.emplace_back(figures_of(entry)))
            paths.insert(path);
        conflicts += entry.sheet->conflicts.size();
        if (!entry.sheet->note.empty())
            notes.blocks.emplace_back(Paragraph{
                .text = say<text::limits::finding_of>(names.back(), plain(entry.sheet->note))});
    }
    Sources sources;
    for (const auto& path : paths) {
        Row row{.cells = {{.text = name_of(path)}}};
        for (const auto& own : figures) {
            const auto found = own.find(path);
            row.cells.push_back(found == own.end() ? Cell{} : sources.cell(path, found->second));
        }
        table.rows.push_back(std::move(row));
    }
    document.title = list_of(names, 4);
    document.verdict =
        conflicts == 0
            ? say_count<text::catalog::no_conflicts>(paths.size())
            : say<text::catalog::some_conflicts>(say_count<text::catalog::figures>(paths.size()),
                                                 say_count<text::catalog::conflicts_of>(conflicts));
    document.tone = conflicts == 0 ? Tone::plain : Tone::weak;
    document.sections = {
        {.title = say<text::catalog::kicker>(), .blocks = {std::move(table)}, .heading = false},
        others_of(entries, say<text::catalog::conflicts>(), &reference::Sheet::conflicts, sources),
        others_of(entries, say<text::catalog::was_replaced>(), &reference::Sheet::replaced,
                  sources),
        std::move(notes)};
    std::erase_if(document.sections, [](const Section& one) { return one.blocks.empty(); });
    document.sections.push_back(
        {.title = say<text::catalog::sources>(), .blocks = std::move(sources.blocks)});
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

} // namespace assay::purchase
