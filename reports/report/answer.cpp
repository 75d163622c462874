// SPDX-License-Identifier: Apache-2.0

#include "report/answer.hpp"

#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/count.hpp"
#include "document/texts/facts.hpp"
#include "document/texts/verdict.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"
#include "record/summary.hpp"
#include "report/findings.hpp"
#include "report/soak.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace assay::report {

using namespace document;
namespace {

using document::Tone;
using record::Run;
using record::Status;

// A message of fewer bytes takes as long as an empty one; latency is what it shows.
constexpr double small_message = 1024;
// An interval of more than this, either way, leaves the order of machines open.
constexpr double widest = 0.3;
constexpr std::size_t most_tiles = 12; // two rows of six
constexpr std::size_t names_shown = 3;

bool is_small(const Row& row) {
    return row.bytes && *row.bytes <= small_message && is_about_links(row.benchmark);
}

std::string name_with_library(const Row& row) {
    return say<text::words::in_brackets>(row.name, row.library);
}

/// What people call the bandwidth of a memory: the first of these that was measured, whatever the others reached.
constexpr std::array<std::string_view, 8> stream_kernels{"triad", "nstream", "add",  "scale",
                                                         "copy",  "dot",     "read", "write"};

std::string part_of(const Row& row, std::string_view parameter) {
    const auto found = std::ranges::find(row.parameters, parameter) - row.parameters.begin();
    return static_cast<std::size_t>(found) < row.parts.size()
               ? row.parts[static_cast<std::size_t>(found)]
               : "";
}

/// Where a row stands among those of its tile: a better one is greater.
using Rank = std::tuple<std::ptrdiff_t, int, double, double>;
Rank rank_of(const Row& row, const Shown& shown) {
    const auto kernel = std::ranges::find(stream_kernels, part_of(row, "kernel"));
    const auto preference =
        row.benchmark == "memory.stream" ? stream_kernels.end() - kernel : std::ptrdiff_t{0};
    const bool is_bound = row.knowledge == record::Knowledge::at_least;
    const int known = is_reliable(row) ? 2 : is_bound ? 1 : 0;
    // The largest of what is too noisy is the luckiest: there the narrowest counts.
    const double value = known == 0 && shown.low && shown.high ? *shown.low - *shown.high
                         : shown.higher_is_better              ? *shown.number
                                                               : -*shown.number;
    // For latencies by footprint the memory itself counts; for messages the smallest that has a size.
    double size = 0;
    if (row.benchmark == "memory.latency")
        size = row.bytes.value_or(0);
    else if (row.bytes && !shown.higher_is_better)
        size = *row.bytes > 0 ? -*row.bytes : -std::numeric_limits<double>::infinity();
    return {preference, known, size, value};
}

/// Empty where no tile shows it. Small and large messages answer two questions.
std::string tile_of(const Row& row, const Shown& shown) {
    const auto family = family_of(row.benchmark);
    if (family == "collective" || family == "network") {
        if (!is_small(row) && !shown.higher_is_better) return ""; // times grow with the size
        return fmt::format("{} {}", family, is_small(row) ? "latency" : "rate");
    }
    auto key = row.benchmark;
    std::ranges::replace(key, '.', '_');
    const auto text = find_text("tile", key);
    if (!text) return "";
    record::Values values;
    for (std::size_t i = 0; i < row.parameters.size() && i < row.parts.size(); ++i)
        values.push_back({row.parameters[i], row.parts[i]});
    return filled(*text, values).value_or("");
}

struct Best {
    const Row* row = nullptr;
    Shown shown;
    Rank rank;
    std::string name;
    bool of_several_places = false; ///< of which the list has values
};

/// The best row of each tile, by family and in the order of the run.
std::vector<Best> best_rows(const Report& report, bool any_benchmark) {
    std::vector<Best> best;
    std::map<std::string, std::size_t> known;
    for (const auto& section : report.sections)
        for (const auto& row : section.rows) {
            auto shown = shown_of(row);
            if (!shown.number) continue;
            auto name = any_benchmark ? row.benchmark : tile_of(row, shown);
            if (name.empty()) continue;
            const auto rank = rank_of(row, shown);
            const auto [entry, is_new] = known.try_emplace(
                fmt::format("{} {}", row.place,
                            row.benchmark == "memory.stream" ? row.benchmark : name),
                best.size());
            if (is_new)
                best.push_back({.row = &row,
                                .shown = std::move(shown),
                                .rank = rank,
                                .name = std::move(name)});
            else if (rank > best[entry->second].rank)
                best[entry->second] = {
                    .row = &row, .shown = std::move(shown), .rank = rank, .name = std::move(name)};
        }
    return best;
}

/// The question that people ask first.
std::size_t place_of_family(const Row& row) {
    static constexpr std::array<std::string_view, 9> order{
        "gemm", "peak", "memory", "latency", "fft", "stencil", "md", "collective", "network"};
    return static_cast<std::size_t>(std::ranges::find(order, family_of(row.benchmark)) -
                                    order.begin());
}

/// The rows of the list of key values, in its order.
std::vector<Best> shown_first(const Report& report) {
    auto best = best_rows(report, false);
    if (best.empty()) best = best_rows(report, true);
    std::ranges::stable_sort(best, {}, [](const Best& b) { return place_of_family(*b.row); });
    std::set<std::pair<std::string, std::string>>
        products; // precisions that a library multiplies in
    std::set<std::string> places;
    const auto precision = [](const Best& b) {
        return std::pair{b.row->place, b.name.substr(b.name.rfind(' ') + 1)};
    };
    for (const auto& b : best) {
        places.insert(b.row->place);
        if (family_of(b.row->benchmark) == "gemm") products.insert(precision(b));
    }
    // A product says more than the peak that bounds it.
    std::erase_if(best, [&](const Best& b) {
        return family_of(b.row->benchmark) == "peak" && products.contains(precision(b));
    });
    if (best.size() > most_tiles) best.resize(most_tiles);
    for (auto& b : best) b.of_several_places = places.size() > 1;
    return best;
}

std::string tile_name(const Best& best) {
    const auto& row = *best.row;
    auto name = is_about_links(row.benchmark) ? row.brief
                : best.name == row.benchmark  ? row.short_name
                                              : best.name;
    return best.of_several_places ? say<text::words::in_brackets>(name, row.place) : name;
}

Fact tile(const Best& best) {
    const auto& row = *best.row;
    const auto name = tile_name(best);
    std::vector<std::string> detail;
    if (!best.shown.interval.empty()) detail.push_back(best.shown.interval);
    const auto* bound =
        best.shown.is_primary && !row.bounds.empty() ? &row.bounds.front() : nullptr;
    if (bound != nullptr)
        detail.push_back(bound->kind == record::CeilingKind::datasheet
                             ? say<text::facts::of_sheet>(bound->share)
                             : say<text::facts::of_ceiling>(bound->share));
    if (!row.place.starts_with(row.library)) detail.push_back(row.library);
    return {.name = name,
            .text = best.shown.wide ? say<text::facts::about>(best.shown.text) : best.shown.text,
            .key = name,
            .detail = join(detail),
            .share = bound != nullptr ? std::optional{share_of(row, *bound)} : std::nullopt,
            .tone = best.shown.wide    ? Tone::quiet
                    : is_reliable(row) ? Tone::plain
                                       : Tone::weak};
}

std::string case_counts(const Run& run) {
    std::map<Status, std::size_t> counts;
    std::size_t checked = 0;
    std::size_t figures = 0;
    for (const auto& c : run.cases) {
        ++counts[c.status];
        if (headline(c) == nullptr) continue;
        ++figures;
        if (c.verification && c.verification->passed) ++checked;
    }
    std::vector<std::string> parts;
    for (const auto& [status, count] : counts)
        parts.push_back(say<text::facts::in_state>(count, status_in_words(status)));
    std::vector<std::string> said{say<text::words::sentence>(say<text::words::labelled>(
        say_count<text::count::cases>(run.cases.size()),
        parts.empty() ? say<text::facts::nothing_run>() : list_of(parts, parts.size())))};
    if (figures > 0 && checked == figures) said.push_back(say<text::facts::all_verified>());
    if (checked < figures) said.push_back(say_count<text::facts::unverified>(figures - checked));
    return sentences(said);
}

std::string not_measured(const Run& run, const Report& report) {
    std::vector<std::string> parts;
    for (const auto& group : report.missing) {
        const std::string status{status_in_words(group.status)};
        parts.push_back(say<text::words::in_brackets>(
            group.cases.size() == 1 ? group.cases.front()
                                    : say_count<text::count::cases>(group.cases.size()),
            group.reason.empty() ? status : say<text::words::labelled>(status, group.reason)));
    }
    constexpr std::size_t shown = 3; // reasons in one line; the section below has them all
    std::vector<std::string> said;
    if (!parts.empty()) said.push_back(say<text::words::sentence>(list_of(parts, shown)));
    for (std::size_t i = 0; i < std::min(run.left_out.size(), shown); ++i)
        said.push_back(as_sentence(run.left_out[i].note));
    if (run.left_out.size() > shown)
        said.push_back(say_count<text::facts::more_left_out>(run.left_out.size() - shown));
    return said.empty() ? say<text::facts::nothing_left_out>() : sentences(said);
}

/// Counts of the rows: those with a value, those to be careful with, ...
struct Counts {
    std::size_t values = 0;
    std::map<record::Knowledge, std::size_t> kinds; ///< how well the values are known
    std::size_t unverified = 0;
    std::size_t broken = 0;
    std::vector<std::string> wrong; ///< names
};

Counts count(const Run& run, const Report& report) {
    Counts counts;
    for (const auto& section : report.sections)
        for (const auto& row : section.rows) {
            if (row.status == Status::incorrect) counts.wrong.push_back(name_with_library(row));
            if (!row.number) continue;
            ++counts.values;
            ++counts.kinds[row.knowledge];
        }
    for (const auto& group : report.missing)
        if (group.status != Status::skipped && group.status != Status::interrupted)
            counts.broken += group.cases.size();
    for (const auto& c : run.cases)
        if (headline(c) != nullptr && !c.verification) ++counts.unverified;
    return counts;
}

bool are_mostly_rough(const Counts& counts) {
    const auto rough = counts.kinds.find(record::Knowledge::rough);
    return rough != counts.kinds.end() && 2 * rough->second > counts.values;
}
bool are_all_known(const Counts& counts) {
    const auto known = counts.kinds.find(record::Knowledge::known);
    return known != counts.kinds.end() && known->second == counts.values;
}

/// Subject of the first line: a family, or one benchmark.
struct Field {
    std::string_view of;
    std::string (*name)();
};
constexpr std::array<Field, 3> fields{{{"gemm", &say<text::verdict::products>},
                                       {"peak", &say<text::verdict::arithmetic>},
                                       {"memory.stream", &say<text::verdict::memory>}}};

/// "H100" of "NVIDIA H100 80GB HBM3", "RTX 4090" of "NVIDIA GeForce RTX 4090".
std::string model_of(std::string_view name) {
    for (const std::string_view maker :
         {"NVIDIA ", "AMD ", "Tesla ", "Instinct ", "GeForce ", "Quadro "})
        if (name.starts_with(maker)) name.remove_prefix(maker.size());
    return std::string{name.substr(0, name.find_first_of(" -", name.find_first_of("0123456789")))};
}

std::string range_of(const std::vector<double>& shares) {
    const auto [low, high] = std::ranges::minmax(shares);
    const auto from = record::human_percent(low);
    const auto to = record::human_percent(high);
    return from == to ? to : say<text::verdict::range>(from.substr(0, from.size() - 1), to);
}

/// "GEMM 91 to 101% of peak, memory 62.4 GB/s": what the list below has of the host or the devices, without rough
/// values; of one device its data sheet alone where that bounds all of them.
std::string reached(const Run& run, const std::vector<Best>& best, bool on_host) {
    std::vector<std::string> parts;
    std::vector<std::string> of_sheet;
    for (const auto& field : fields) {
        const Best* first = nullptr;
        std::vector<const Row*> reliable;
        for (const auto& b : best) {
            const auto& row = *b.row;
            if ((row.place == "host") != on_host || row.knowledge == record::Knowledge::rough ||
                (family_of(row.benchmark) != field.of && row.benchmark != field.of))
                continue;
            if (first == nullptr) first = &b;
            if (is_reliable(row) && !row.bounds.empty()) reliable.push_back(&row);
        }
        if (first == nullptr) continue;
        // A range is of one kind of bound.
        const bool by_sheet = std::ranges::all_of(reliable, [](const Row* row) {
            return bound_of(*row, record::CeilingKind::datasheet) != nullptr;
        });
        std::vector<double> shares;
        for (const auto* row : reliable) {
            const auto* bound = bound_of(*row, by_sheet ? record::CeilingKind::datasheet
                                                        : record::CeilingKind::measured);
            // The best memory value is the measured bound of others.
            if (bound != nullptr && (by_sheet || row->benchmark != "memory.stream"))
                shares.push_back(share_of(*row, *bound));
        }
        if (shares.empty()) {
            const bool is_memory = first->row->benchmark == field.of;
            parts.push_back(say<text::verdict::rate>(is_memory ? field.name() : first->name,
                                                     first->shown.text));
            continue;
        }
        const auto range = range_of(shares);
        if (by_sheet) of_sheet.push_back(say<text::verdict::value>(field.name(), range));
        parts.push_back(by_sheet ? say<text::verdict::of_sheet>(field.name(), range)
                                 : say<text::verdict::of_peak>(field.name(), range));
    }
    if (parts.empty()) return "";
    const auto& devices = run.machine.devices;
    const bool is_one_kind = !on_host && !devices.empty() && !devices.front().name.empty() &&
                             std::ranges::all_of(devices, [&](const auto& device) {
                                 return device.name == devices.front().name;
                             });
    if (is_one_kind && of_sheet.size() == parts.size())
        return say_count<text::verdict::reaches_sheet>(
            devices.size(), model_of(devices.front().name), join(of_sheet));
    const auto text = say<text::words::sentence>(join(parts));
    return capitalised(text);
}

/// "6 of 22 values are too noisy to quote, none of those below."
template <const Entry& text>
void add_unsure(const Counts& counts, record::Knowledge kind, const std::vector<Best>& best,
                std::vector<std::string>& said) {
    const auto found = counts.kinds.find(kind);
    if (found == counts.kinds.end()) return;
    std::vector<std::string> names;
    for (const auto& b : best)
        if (b.row->knowledge == kind) names.push_back(tile_name(b));
    said.push_back(say_count<text>(found->second, counts.values,
                                   names.empty()
                                       ? say<text::verdict::none_below>()
                                       : say<text::verdict::below>(list_of(names, names_shown))));
}

std::string verified_in_words(const Run& run, const Report& report, const Counts& counts) {
    if (counts.unverified == counts.values && run.imported)
        return say_count<text::verdict::imported>(counts.values, run.imported->tool);
    if (counts.unverified > 0)
        return say_count<text::verdict::unverified>(counts.values, counts.unverified);
    if (are_mostly_rough(counts))
        return say_count<text::verdict::do_not_quote>(counts.values,
                                                      counts.kinds.at(record::Knowledge::rough));
    const auto best = shown_first(report);
    std::vector<std::string> said;
    for (const bool on_host : {false, true})
        if (auto text = reached(run, best, on_host); !text.empty())
            said.push_back(said.empty() ? std::move(text) : say<text::verdict::host>(text));
    if (are_all_known(counts)) said.push_back(say_count<text::verdict::reliable>(counts.values));
    add_unsure<text::verdict::rough>(counts, record::Knowledge::rough, best, said);
    add_unsure<text::verdict::at_least>(counts, record::Knowledge::at_least, best, said);
    return sentences(said);
}

} // namespace

const Bound* bound_of(const Row& row, record::CeilingKind kind) {
    const auto found = std::ranges::find(row.bounds, kind, &Bound::kind);
    return found == row.bounds.end() ? nullptr : &*found;
}

double share_of(const Row& row, const Bound& bound) {
    return row.higher_is_better ? *row.number / bound.number : bound.number / *row.number;
}

Shown shown_of(const Row& row) {
    Shown shown{.text = row.value,
                .interval = row.interval,
                .title = row.title,
                .number = row.number,
                .low = row.low,
                .high = row.high,
                .unit = row.unit,
                .higher_is_better = row.higher_is_better};
    const auto time = std::ranges::find(row.figures, "time", &Figure::name);
    if (is_small(row) && row.unit == "B/s" && row.bounds.empty() && time != row.figures.end())
        shown = {.text = time->text,
                 .interval = time->interval,
                 .title = time->title,
                 .number = time->number,
                 .low = time->low,
                 .high = time->high,
                 .unit = time->unit,
                 .higher_is_better = false,
                 .is_primary = false};
    if (row.knowledge == record::Knowledge::at_least) { // its spread is what disturbed it
        shown.text = shown.higher_is_better ? say<text::facts::at_least>(shown.text)
                                            : say<text::facts::at_most>(shown.text);
        shown.interval.clear();
    } else if (shown.number && shown.low && shown.high)
        shown.wide = *shown.high - *shown.number > widest * *shown.number ||
                     *shown.number - *shown.low > widest * *shown.number;
    return shown;
}

bool is_reliable(const Row& row) {
    return row.number && row.knowledge == record::Knowledge::known && !shown_of(row).wide;
}

Tone tone_of(const Row& row) {
    if (!row.number) return Tone::bad;
    return row.knowledge == record::Knowledge::known ? Tone::good : Tone::weak;
}

std::vector<Fact> tiles_of(const Report& report) {
    std::vector<Fact> tiles;
    for (const auto& b : shown_first(report)) tiles.push_back(tile(b));
    return tiles;
}

std::vector<Fact> summarise(const Run& run, const Report& report) {
    std::string worst = say<text::facts::nothing_to_do>();
    if (!report.findings.empty()) {
        worst = report.findings.front().what;
        if (const std::size_t more = report.findings.size() - 1; more > 0)
            worst = sentences({worst, say_count<text::facts::more_findings>(more)});
    }
    std::vector<std::string> tiles;
    for (const auto& tile : report.tiles)
        tiles.push_back(tile.detail.empty()
                            ? fmt::format("{} {}", tile.name, tile.text)
                            : say<text::facts::best_figure>(tile.name, tile.text, tile.detail));
    const auto fact = [](const Entry& name, std::string text) {
        return Fact{.name = std::string{language_in_use() == Language::zh ? name.zh : name.en},
                    .text = std::move(text),
                    .key = name.en};
    };
    return {fact(text::facts::best_figures,
                 tiles.empty() ? say<text::facts::no_figure>()
                               : say<text::words::sentence>(list_of(tiles, tiles.size()))),
            fact(text::facts::worst_finding, std::move(worst)),
            fact(text::facts::cases, case_counts(run)),
            fact(text::facts::not_measured, not_measured(run, report)),
            fact(text::facts::quietness, quietness(run))};
}

void judge(const Run& run, Report& report) {
    const auto counts = count(run, report);
    std::vector<std::string> said;
    const bool stopped = run.status == "interrupted";
    const bool wrong = !counts.wrong.empty();
    const bool lost = lost_data(run);
    if (wrong)
        said.push_back(say_count<text::verdict::wrong>(counts.wrong.size(),
                                                       list_of(counts.wrong, names_shown)));
    if (lost) said.push_back(say<text::verdict::lost>());
    if (counts.broken > 0) said.push_back(say_count<text::verdict::broken>(counts.broken));
    if (stopped) said.push_back(say<text::verdict::stopped>());
    if (report.soak) {
        report.tone = move_answer(*report.soak, said);
        report.verdict = sentences(said);
        if (wrong || lost) report.tone = Tone::bad;
        return;
    }
    said.push_back(counts.values == 0 ? say<text::verdict::nothing>()
                                      : verified_in_words(run, report, counts));
    const bool all_known = are_all_known(counts);
    if (counts.values > 0 && !all_known && !wrong)
        if (auto cause = busy_cause(record::busy_of(run)); !cause.empty())
            said.push_back(std::move(cause));
    report.verdict = sentences(said);
    if (wrong || lost || counts.values == 0 || are_mostly_rough(counts))
        report.tone = Tone::bad;
    else if (counts.broken > 0 || stopped || !all_known)
        report.tone = Tone::weak;
    else
        report.tone = counts.unverified > 0 ? Tone::plain : Tone::good;
}

} // namespace assay::report
