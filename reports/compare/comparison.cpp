// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"

#include "base/on_all_cores.hpp"
#include "compare/arrange.hpp"
#include "compare/contrast.hpp"
#include "compare/sides.hpp"
#include "compare/units.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/compare.hpp"
#include "document/texts/words.hpp"
#include "document/words.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace assay::compare {

using namespace document;
namespace {

constexpr std::size_t values_kept = 200; // of a cell: what a strip can show

/// A row of the result before it has words: where its figures come from.
struct Draft {
    std::size_t row = 0;              ///< of the arrangement: it names this one
    std::vector<std::size_t> rows;    ///< of the arrangement, for each side
    std::vector<std::size_t> merged;  ///< all of the arrangement that it stands for
    std::vector<std::size_t> invalid; ///< figures of each side that are none
    MeasuredRow measured;
    std::size_t libraries = 1;
};

class Builder {
public:
    Builder(const store::Collection& collection, Arrangement arrangement,
            const CompareOptions& options)
        : collection_{collection}, options_{options}, arrangement_{std::move(arrangement)},
          units_{collection, arrangement_}, sides_{arrangement_.sides.size()} {}

    Comparison build() {
        out_.alpha = options_.alpha;
        out_.correction = options_.correction;
        out_.minimum_effect = options_.minimum_effect;
        out_.by_family = options_.table == std::vector<std::string>{"family"};
        out_.unit = units_.unit();
        out_.sides = describe_sides(collection_, arrangement_, units_);
        for (std::size_t side = 1; side < sides_; ++side) out_.paired |= units_.paired(side);
        out_.notes = notes_of(collection_, arrangement_, units_);
        auto drafts = by_library();
        auto others = take_others(drafts);
        if (arrangement_.across.any()) {
            drafts = by_question(drafts);
            others = by_question(others);
        }
        out_.series = drafts.size();
        fill(drafts, Part::judged, out_.tables, out_.tallies);
        if (!arrangement_.library_is_column && !arrangement_.across.any())
            fill(by_question(drafts), Part::questions, out_.questions, out_.question_tallies);
        std::vector<Tally> tallies;
        fill(others, Part::others, out_.others, tallies);
        if (std::ranges::any_of(out_.questions, [](const ComparedTable& table) {
                return std::ranges::any_of(
                    table.rows, [](const ComparedRow& row) { return row.libraries > 1; });
            }))
            out_.notes.push_back(say<text::compare::note_best>());
        add_not_compared(drafts);
        return std::move(out_);
    }

private:
    std::vector<Draft> by_library() const {
        std::vector<Draft> drafts(arrangement_.rows.size());
        on_all_cores(drafts.size(), [&](std::size_t i) {
            const auto& row = arrangement_.rows[i];
            Draft& draft = drafts[i];
            draft = {.row = i,
                     .rows = std::vector(sides_, i),
                     .merged = {i},
                     .invalid = std::vector<std::size_t>(sides_, 0)};
            draft.measured.higher_is_better = collection_.series[row.series].higher_is_better;
            for (std::size_t side = 0; side < sides_; ++side) {
                const auto used = used_of(collection_, row.sides[side]);
                draft.measured.sides.push_back(units_.sample(used, draft.invalid[side]));
                draft.measured.quality.push_back(quality_of(collection_, used));
                draft.measured.core_latency.push_back(core_latency(collection_, used));
                draft.measured.times.push_back(units_.times(used, row));
                draft.measured.all_pairs.push_back(
                    units_.of_all_pairs(row.sides.front(), row.sides[side]));
            }
        });
        return drafts;
    }

    /// Rows of metrics that are not judged: the last ones.
    std::vector<Draft> take_others(std::vector<Draft>& drafts) const {
        const auto others = std::ranges::partition_point(
            drafts, [&](const Draft& draft) { return arrangement_.rows[draft.row].is_primary; });
        std::vector<Draft> taken{std::make_move_iterator(others),
                                 std::make_move_iterator(drafts.end())};
        drafts.erase(others, drafts.end());
        return taken;
    }

    /// The same with the best library of each side in one row.
    std::vector<Draft> by_question(const std::vector<Draft>& drafts) const {
        std::vector<Draft> questions;
        std::map<std::pair<std::uint32_t, std::string>, std::size_t> known;
        std::vector<std::set<std::string>> libraries;
        for (const auto& draft : drafts) {
            const auto& row = arrangement_.rows[draft.row];
            const auto [entry, fresh] = known.try_emplace(
                {row.table, question_of(collection_, arrangement_, row)}, questions.size());
            if (fresh) {
                questions.push_back(draft);
                libraries.emplace_back();
            }
            auto& best = questions[entry->second];
            if (!fresh) best.merged.push_back(draft.row);
            for (std::size_t side = 0; side < sides_; ++side) {
                const auto& sample = draft.measured.sides[side];
                if (sample.empty()) continue;
                libraries[entry->second].insert(collection_.series[row.series].library);
                auto& chosen = best.measured.sides[side];
                if (!fresh && !chosen.empty() && !is_better(draft, sample, chosen)) continue;
                chosen = sample;
                best.measured.quality[side] = draft.measured.quality[side];
                best.measured.times[side] = draft.measured.times[side];
                best.measured.core_latency[side] = draft.measured.core_latency[side];
                if (!fresh) best.measured.all_pairs.clear(); // of several libraries
                best.rows[side] = draft.row;
            }
        }
        for (std::size_t i = 0; i < questions.size(); ++i)
            questions[i].libraries = libraries[i].size();
        return questions;
    }
    static bool is_better(const Draft& draft, const Sample& sample, const Sample& other) {
        const bool larger = average(sample) > average(other);
        return draft.measured.higher_is_better == larger;
    }

    enum class Part : std::uint8_t { judged, questions, others };
    void fill(const std::vector<Draft>& drafts, Part part, std::vector<ComparedTable>& tables,
              std::vector<Tally>& tallies) {
        std::vector<MeasuredRow> measured;
        for (const auto& draft : drafts) measured.push_back(draft.measured);
        const auto how = how_to_test(sides_that(&Units::paired), sides_that(&Units::interleaved));
        const Tests tests{measured, how};
        if (part == Part::judged) {
            out_.tests = tests.count();
            find_apart(tests, drafts.size());
            note_times(tests, measured, how);
        }
        std::vector<WeightedRow> common; // every row of the families' table counts alike
        tallies.assign(sides_, {});
        for (const auto& [title, rows] : group(drafts)) {
            auto table = table_of(drafts, tests, rows, title, part);
            for (std::size_t side = 0; side < sides_; ++side)
                add(tallies[side], table.tallies[side]);
            const auto count = static_cast<double>(table.means.front().count);
            for (const auto row : rows)
                if (is_common(drafts[row], tests, row))
                    common.push_back({.row = row, .weight = 1 / count});
            tables.push_back(std::move(table));
        }
        if (part != Part::judged) return;
        out_.overall = means_of(tests, common);
        rank(measured, common);
    }
    TestOptions how_to_test(std::vector<bool> paired, std::vector<bool> interleaved) const {
        return {.alpha = options_.alpha,
                .correction = options_.correction,
                .minimum_effect = options_.minimum_effect,
                .paired = std::move(paired),
                .interleaved = std::move(interleaved),
                .unit = units_.unit(),
                .one_machine = units_.one_machine()};
    }

    /// Sides by their overall ratio, each tested against the one behind it.
    void rank(const std::vector<MeasuredRow>& rows, const std::vector<WeightedRow>& common) {
        if (!stands_for_all(out_, common.size())) {
            for (auto& mean : out_.overall) static_cast<Contrast&>(mean) = {};
            return;
        }
        for (std::size_t side = 0; side < sides_; ++side)
            if (!apart_[side]) out_.ranking.push_back({.side = side});
        std::ranges::stable_sort(out_.ranking, std::ranges::greater{}, [&](const Ranked& entry) {
            return out_.overall[entry.side].ratio.value_or(0);
        });
        std::size_t first = 0; // of those with the same rank
        for (std::size_t i = 1; i < out_.ranking.size(); ++i) {
            auto& entry = out_.ranking[i];
            const auto over = [&](std::size_t ahead) {
                return against(rows, common, out_.ranking[ahead].side, entry.side);
            };
            out_.ranking[i - 1].over_next = over(i - 1);
            if (over(first).outcome == ContrastOutcome::better) first = i;
            entry.rank = first + 1;
        }
    }
    MeanRatio against(const std::vector<MeasuredRow>& rows, const std::vector<WeightedRow>& common,
                      std::size_t side, std::size_t other) const {
        if (other == 0) return out_.overall[side];
        if (side == 0) return mirrored(out_.overall[other]);
        std::vector<MeasuredRow> two;
        for (const auto& row : rows) two.push_back(of_two(row, other, side));
        const auto with_first = [&](bool (Units::*are)(std::size_t) const) {
            return std::vector{false, (units_.*are)(side) && (units_.*are)(other)};
        };
        return Tests{two, how_to_test(with_first(&Units::paired), with_first(&Units::interleaved))}
            .mean(common, 1);
    }

    /// Rows of each table. Metrics never share one: as in benchstat, a mean is of one unit.
    struct Group {
        std::uint32_t table = 0;
        std::string metric;
        bool only_metric = true; ///< of its table
    };
    std::vector<std::pair<Group, std::vector<std::size_t>>>
    group(const std::vector<Draft>& drafts) const {
        std::vector<std::pair<Group, std::vector<std::size_t>>> groups;
        std::map<std::pair<std::uint32_t, std::string>, std::size_t> known;
        std::map<std::uint32_t, std::size_t> metrics;
        for (std::size_t i = 0; i < drafts.size(); ++i) {
            const auto& row = arrangement_.rows[drafts[i].row];
            const auto& metric = collection_.series[row.series].metric;
            const auto [entry, fresh] = known.try_emplace({row.table, metric}, groups.size());
            if (fresh) {
                groups.push_back({{.table = row.table, .metric = metric}, {}});
                ++metrics[row.table];
            }
            groups[entry->second].second.push_back(i);
        }
        for (auto& [title, rows] : groups) title.only_metric = metrics[title.table] == 1;
        return groups;
    }

    ComparedTable table_of(const std::vector<Draft>& drafts, const Tests& tests,
                           const std::vector<std::size_t>& rows, const Group& title,
                           Part part) const {
        const bool by_question = part == Part::questions || arrangement_.across.any();
        ComparedTable table{.name = arrangement_.tables[title.table]};
        const auto words = family_words(table.name);
        table.title = out_.by_family ? words.title : table.name;
        table.question = out_.by_family ? words.question : "";
        if (!title.only_metric || part == Part::others) {
            table.name = fmt::format("{}.{}", table.name, plain(title.metric));
            table.title = say<text::compare::table_metric>(table.title, metric_title(title.metric));
        }
        std::vector<WeightedRow> common;
        table.tallies.assign(sides_, {});
        table.rows.resize(rows.size());
        on_all_cores(rows.size(), [&](std::size_t i) {
            table.rows[i] = row_of(drafts[rows[i]], tests, rows[i], by_question);
        });
        for (std::size_t i = 0; i < rows.size(); ++i) {
            count(table.tallies, table.rows[i]);
            table.rows[i].common = is_common(drafts[rows[i]], tests, rows[i]);
            if (table.rows[i].common) common.push_back({.row = rows[i]});
        }
        table.means = means_of(tests, common);
        return table;
    }

    ComparedRow row_of(const Draft& draft, const Tests& tests, std::size_t index,
                       bool by_question) const {
        const auto& arranged = arrangement_.rows[draft.row];
        const auto& series = collection_.series[arranged.series];
        ComparedRow row{.identity = by_question ? question_of(collection_, arrangement_, arranged)
                                                : identity_of(collection_, arrangement_, arranged),
                        .family = plain(family_of(series.benchmark)),
                        .benchmark = plain(series.benchmark),
                        .what = words_of(collection_, arrangement_, arranged),
                        .beside = beside_of(collection_, arrangement_, arranged),
                        .extra = plain(arranged.extra),
                        .libraries = draft.libraries,
                        .metric = plain(metric_title(series.metric)),
                        .unit = plain(series.unit),
                        .higher_is_better = series.higher_is_better};
        if (!by_question && !arrangement_.library_is_column) row.library = plain(series.library);
        for (auto parameter : parameters_of(collection_, arrangement_, arranged)) {
            parameter.name = plain(parameter.name);
            if (auto* text = std::get_if<std::string>(&parameter.value)) *text = plain(*text);
            row.parameters.push_back(std::move(parameter));
        }
        row.name = case_name(row.benchmark, row.parameters);
        if (!row.beside.empty()) row.name = join({row.name, row.beside});
        if (!row.extra.empty()) row.name = say<text::words::labelled>(row.extra, row.name);
        for (std::size_t side = 0; side < sides_; ++side)
            row.cells.push_back(cell_of(draft, tests, index, side, by_question));
        return row;
    }

    Cell cell_of(const Draft& draft, const Tests& tests, std::size_t index, std::size_t side,
                 bool by_question) const {
        const auto& sample = draft.measured.sides[side];
        const auto& source = arrangement_.rows[draft.rows[side]];
        const auto& observations = source.sides[side];
        Cell cell{.count = sample.size()};
        if (!sample.empty()) {
            const auto used = used_of(collection_, observations);
            cell.knowledge = draft.measured.quality[side].knowledge;
            if (const auto delivered = delivered_of(collection_, observations)) {
                cell.delivered = delivered->value;
                cell.fast_share = delivered->share;
            }
            // One case of one run is shown as its own report shows it, with its interval.
            const auto& first = collection_.observations[used.front()];
            cell.value = used.size() == 1 ? *first.value : average(sample);
            if (used.size() == 1 && first.low && first.high)
                std::tie(cell.low, cell.high) = std::pair{*first.low, *first.high};
            else if (const auto interval = tests.interval(sample); interval && used.size() > 1)
                std::tie(cell.low, cell.high) = *interval;
            const std::size_t step = (sample.size() + values_kept - 1) / values_kept;
            for (std::size_t i = 0; i < sample.size(); i += step)
                cell.values.push_back(sample[i].value);
            cell.share_of_ceiling = share_of_ceiling(collection_, source, used);
            if (by_question) cell.library = plain(collection_.series[source.series].library);
        }
        cell.notes = notes_of_cell(collection_, source.conditions, observations);
        if (arrangement_.across.any() && !sample.empty())
            if (auto merged = merged_of(collection_, arrangement_, source); !merged.empty())
                cell.notes.insert(cell.notes.begin(), std::move(merged));
        if (side == 0) return cell;
        cell.contrast = tests.of(index, side).contrast;
        cell.contrast->about = about(draft, side, cell.contrast->no_verdict);
        if (const auto pairs = tests.of(index, side).second.size();
            cell.contrast->paired &&
            pairs < std::max(sample.size(), draft.measured.sides.front().size()))
            cell.notes.push_back(say<text::compare::pairs>(
                pairs, std::max(sample.size(), draft.measured.sides.front().size())));
        return cell;
    }
    /// Sides that allow no verdict, and what disturbed them: "A: the hypervisor took 12% of the CPU time".
    std::string about(const Draft& draft, std::size_t side, NoVerdict reason) const {
        std::vector<std::string> parts;
        if (reason == NoVerdict::cpus_moved) {
            for (const auto one : {std::size_t{0}, side})
                parts.push_back(say<text::words::labelled>(
                    out_.sides[one].label, record::human(draft.measured.core_latency[one], "s")));
            return join(parts);
        }
        for (const auto one : {std::size_t{0}, side}) {
            const auto& quality = draft.measured.quality[one];
            if (reason == NoVerdict::two_levels ? quality.levels == 0
                                                : quality.knowledge == record::Knowledge::known)
                continue;
            std::string cause;
            for (const auto index : arrangement_.rows[draft.rows[one]].sides[one])
                if (const auto& by = collection_.observations[index].cause; by && cause.empty())
                    cause = cause_in_words(*by);
            if (cause.empty() && quality.knowledge == record::Knowledge::rough)
                cause = say<text::compare::too_noisy>();
            const auto& label = out_.sides[one].label;
            parts.push_back(cause.empty() ? label : say<text::words::labelled>(label, cause));
        }
        return join(parts);
    }
    /// A row that every side has, but for those that share none with the first.
    bool is_common(const Draft& draft, const Tests& tests, std::size_t row) const {
        if (draft.measured.sides.front().empty()) return false;
        for (std::size_t side = 0; side < sides_; ++side) {
            if (apart_[side]) continue;
            const auto& sample = draft.measured.sides[side];
            if (sample.empty() || has_zero(sample)) return false;
            if (side > 0 && !is_counted(tests.of(row, side).contrast)) return false;
        }
        return true;
    }
    /// Sides without a row that may be counted: a host among devices.
    void find_apart(const Tests& tests, std::size_t rows) {
        apart_.assign(sides_, true);
        apart_.front() = false;
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t side = 1; side < sides_; ++side)
                if (is_counted(tests.of(row, side).contrast)) apart_[side] = false;
    }
    std::vector<MeanRatio> means_of(const Tests& tests,
                                    const std::vector<WeightedRow>& common) const {
        std::vector<MeanRatio> means(sides_);
        for (std::size_t side = 1; side < sides_; ++side) means[side] = tests.mean(common, side);
        means.front().count = common.size();
        if (!common.empty()) means.front().ratio = 1;
        return means;
    }
    std::vector<bool> sides_that(bool (Units::*are)(std::size_t) const) const {
        std::vector<bool> sides(sides_, false);
        for (std::size_t side = 1; side < sides_; ++side) sides[side] = (units_.*are)(side);
        return sides;
    }

    /// Variance assumed between times where runs are few.
    void note_times(const Tests& tests, const std::vector<MeasuredRow>& rows,
                    const TestOptions& how) {
        std::set<std::string> sources;
        bool unknown = false;
        for (std::size_t row = 0; row < rows.size(); ++row)
            for (std::size_t side = 1; side < sides_; ++side) {
                const auto& between = tests.of(row, side).contrast.between_runs;
                if (between)
                    sources.insert(between->history == 0
                                       ? say<text::compare::usual>()
                                       : say<text::compare::history_of>(between->history));
                unknown |= !between && needs_times(rows[row], side, how);
            }
        if (!sources.empty())
            out_.notes.push_back(say<text::compare::note_times>(
                list_of({sources.begin(), sources.end()}, 3))); // three say enough
        else if (unknown)
            out_.notes.push_back(say<text::compare::note_no_times>());
    }

    /// In the order of ContrastOutcome.
    static constexpr std::array counters{&Tally::better, &Tally::worse, &Tally::same,
                                         &Tally::cannot_tell, &Tally::missing};
    static void add(Tally& sum, const Tally& more) {
        for (const auto counter : counters) sum.*counter += more.*counter;
    }
    static void count(std::vector<Tally>& tallies, const ComparedRow& row) {
        for (std::size_t side = 0; side < tallies.size(); ++side) {
            const auto& cell = row.cells[side];
            if (cell.contrast)
                ++(tallies[side].*counters.at(static_cast<std::size_t>(cell.contrast->outcome)));
            else if (!cell.value)
                ++tallies[side].missing;
        }
    }

    void add_not_compared(const std::vector<Draft>& drafts) {
        std::vector<std::vector<bool>> measured; // of each row of the arrangement that is judged
        for (const auto& draft : drafts) {
            std::vector<bool> has;
            for (const auto& sample : draft.measured.sides) has.push_back(!sample.empty());
            for (const auto row : draft.merged) {
                measured.resize(std::max(measured.size(), row + 1));
                measured[row] = has;
            }
            for (std::size_t side = 0; side < sides_; ++side) {
                out_.sides[side].measured += has[side] ? 1 : 0;
                if (draft.invalid[side] > 0)
                    out_.not_compared.push_back({.what = identity_of(collection_, arrangement_,
                                                                     arrangement_.rows[draft.row]),
                                                 .reason = say<text::compare::no_figure>(),
                                                 .where = {out_.sides[side].label}});
            }
        }
        for (auto& entry : find_unlike(collection_, arrangement_, measured))
            out_.not_compared.push_back(std::move(entry));
        for (auto& entry : arrangement_.left_out) out_.not_compared.push_back(entry);
        for (const auto& problem : collection_.problems)
            out_.not_compared.push_back({.what = plain(problem.where),
                                         .reason = translated(plain(problem.reason)),
                                         .cause = say<text::compare::not_read>(),
                                         .code = NotComparedCode::file});
    }

    const store::Collection& collection_;
    const CompareOptions& options_;
    Arrangement arrangement_;
    Units units_;
    std::size_t sides_;
    std::vector<bool> apart_; ///< for each side
    Comparison out_;
};

} // namespace

Result<Comparison> compare(const store::Collection& collection, const CompareOptions& options) {
    if (!(options.alpha > 0 && options.alpha < 1))
        return fail(fmt::format("--alpha: invalid value {} (expected e.g. 0.01)", options.alpha));
    if (!(options.minimum_effect >= 0 && options.minimum_effect < 1))
        return fail(
            fmt::format("--minimum-effect: invalid value {} (expected 0 to below 1; 0.01 is 1%)",
                        options.minimum_effect));
    ASSAY_TRY(auto arrangement, arrange(collection, options));
    const bool apart = are_places_apart(collection, arrangement);
    auto comparison = Builder{collection, std::move(arrangement), options}.build();
    if (has_common(comparison) || !apart || !options.across.empty()) return comparison;
    // A host and a device have no case in common, but questions.
    auto wider = options;
    wider.across = {"device", "backend"};
    auto other = compare(collection, wider);
    if (!other || !has_common(*other)) return comparison;
    other->notes.insert(other->notes.begin(), say<text::compare::note_across>());
    return other;
}

} // namespace assay::compare
