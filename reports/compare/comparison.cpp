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
    std::vector<std::size_t> useless; ///< figures of each side that are none
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
        count_measured(drafts);
        fill(drafts, Part::judged, out_.tables, out_.means, out_.tallies);
        if (!arrangement_.library_is_column && !arrangement_.across.any())
            fill(by_question(drafts), Part::questions, out_.questions, out_.question_means,
                 out_.question_tallies);
        std::vector<MeanRatio> means;
        std::vector<Tally> tallies;
        fill(others, Part::others, out_.others, means, tallies);
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
                     .useless = std::vector<std::size_t>(sides_, 0)};
            draft.measured.higher_is_better = collection_.series[row.series].higher_is_better;
            for (std::size_t side = 0; side < sides_; ++side) {
                draft.measured.sides.push_back(units_.sample(row.sides[side], draft.useless[side]));
                draft.measured.useless.push_back(useless(collection_, row.sides[side]));
                draft.measured.core_latency.push_back(core_latency(collection_, row.sides[side]));
                draft.measured.times.push_back(units_.times(row.sides[side], row));
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
                best.measured.useless[side] = draft.measured.useless[side];
                best.measured.times[side] = draft.measured.times[side];
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
              std::vector<MeanRatio>& means, std::vector<Tally>& tallies) {
        std::vector<MeasuredRow> measured;
        for (const auto& draft : drafts) measured.push_back(draft.measured);
        const auto how = how_to_test(sides_that(&Units::paired), sides_that(&Units::interleaved));
        const Tests tests{measured, how};
        if (part == Part::judged) out_.tests = tests.count();
        if (part == Part::judged) note_times(tests, measured, how);
        std::vector<WeightedRow> common;
        std::map<std::uint32_t, double> of_family;
        tallies.assign(sides_, {});
        for (const auto& [title, rows] : group(drafts)) {
            auto table = table_of(drafts, tests, rows, title, part);
            for (std::size_t side = 0; side < sides_; ++side)
                add(tallies[side], table.tallies[side]);
            for (const auto row : rows) {
                if (!is_common(drafts[row], tests, row)) continue;
                common.push_back({.row = row});
                ++of_family[title.table];
            }
            tables.push_back(std::move(table));
        }
        means = means_of(tests, common);
        if (part != Part::judged) return;
        for (auto& [row, weight] : common)
            weight = 1 / of_family[arrangement_.rows[drafts[row].row].table];
        out_.overall = means_of(tests, common);
        rank(measured, common);
    }
    TestOptions how_to_test(std::vector<bool> paired, std::vector<bool> interleaved) const {
        return {.alpha = options_.alpha,
                .correction = options_.correction,
                .minimum_effect = options_.minimum_effect,
                .paired = std::move(paired),
                .interleaved = std::move(interleaved),
                .unit = units_.unit()};
    }

    /// Sides by their overall ratio, each tested against the one behind it.
    void rank(const std::vector<MeasuredRow>& rows, const std::vector<WeightedRow>& common) {
        if (common.empty()) return;
        for (std::size_t side = 0; side < sides_; ++side) out_.ranking.push_back({.side = side});
        std::ranges::stable_sort(out_.ranking, std::ranges::greater{}, [&](const Ranked& entry) {
            return out_.overall[entry.side].ratio.value_or(0);
        });
        std::size_t first = 0; // of those with the same rank
        for (std::size_t i = 1; i < sides_; ++i) {
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
        const auto both = [&](const auto& list) { return std::vector{list[other], list[side]}; };
        std::vector<MeasuredRow> two;
        for (const auto& row : rows)
            two.push_back({.higher_is_better = row.higher_is_better,
                           .sides = both(row.sides),
                           .useless = both(row.useless),
                           .core_latency = both(row.core_latency),
                           .times = both(row.times)});
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
        const bool is_family = options_.table == std::vector<std::string>{"family"};
        table.title = is_family ? words.title : table.name;
        table.question = is_family ? words.question : "";
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
        for (const auto index : rows)
            if (is_common(drafts[index], tests, index)) common.push_back({.row = index});
        for (const auto& row : table.rows) count(table.tallies, row);
        table.means = means_of(tests, common);
        name_rows(table, part != Part::others);
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
            // One case of one run is shown as its own report shows it.
            const auto& first = collection_.observations[observations.front()];
            cell.value = observations.size() == 1 ? *first.value : average(sample);
            const auto interval = interval_of(observations, tests, sample);
            if (interval)
                std::tie(cell.low, cell.high) = std::pair{interval->first, interval->second};
            const std::size_t step = (sample.size() + values_kept - 1) / values_kept;
            for (std::size_t i = 0; i < sample.size(); i += step)
                cell.values.push_back(sample[i].value);
            cell.share_of_ceiling = share_of_ceiling(collection_, source, observations);
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
            if (draft.measured.useless[one] == NoVerdict::none) continue;
            std::string cause;
            for (const auto index : arrangement_.rows[draft.rows[one]].sides[one])
                if (const auto& by = collection_.observations[index].cause; by && cause.empty())
                    cause = cause_in_words(*by);
            const auto& label = out_.sides[one].label;
            parts.push_back(cause.empty() ? label : say<text::words::labelled>(label, cause));
        }
        return join(parts);
    }
    /// One case of one run has the interval that its own report shows.
    std::optional<std::pair<double, double>>
    interval_of(const std::vector<std::uint32_t>& observations, const Tests& tests,
                const Sample& sample) const {
        if (observations.size() == 1) {
            const auto& only = collection_.observations[observations.front()];
            if (only.low && only.high) return std::pair{*only.low, *only.high};
            return {};
        }
        return tests.interval(sample);
    }

    bool is_common(const Draft& draft, const Tests& tests, std::size_t row) const {
        if (std::ranges::any_of(draft.measured.sides, &Sample::empty)) return false;
        if (std::ranges::any_of(draft.measured.sides, has_zero)) return false;
        for (std::size_t side = 1; side < sides_; ++side)
            if (is_useless(tests.of(row, side).contrast.no_verdict)) return false;
        return true;
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

    /// What stands for other times where runs are few.
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

    static void add(Tally& sum, const Tally& more) {
        sum.better += more.better;
        sum.worse += more.worse;
        sum.same += more.same;
        sum.cannot_tell += more.cannot_tell;
        sum.missing += more.missing;
    }
    static void count(std::vector<Tally>& tallies, const ComparedRow& row) {
        for (std::size_t side = 0; side < tallies.size(); ++side) {
            auto& tally = tallies[side];
            const auto& cell = row.cells[side];
            if (!cell.contrast) {
                if (!cell.value) ++tally.missing;
                continue;
            }
            switch (cell.contrast->outcome) {
            case ContrastOutcome::better:
                ++tally.better;
                break;
            case ContrastOutcome::worse:
                ++tally.worse;
                break;
            case ContrastOutcome::same:
                ++tally.same;
                break;
            case ContrastOutcome::cannot_tell:
                ++tally.cannot_tell;
                break;
            case ContrastOutcome::missing:
                ++tally.missing;
                break;
            }
        }
    }

    void count_measured(const std::vector<Draft>& drafts) {
        for (const auto& draft : drafts)
            for (std::size_t side = 0; side < sides_; ++side)
                if (!draft.measured.sides[side].empty()) ++out_.sides[side].measured;
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
            for (std::size_t side = 0; side < sides_; ++side)
                if (draft.useless[side] > 0)
                    out_.not_compared.push_back({.what = identity_of(collection_, arrangement_,
                                                                     arrangement_.rows[draft.row]),
                                                 .reason = say<text::compare::no_figure>(),
                                                 .where = {out_.sides[side].label}});
        }
        for (auto& entry : find_unlike(collection_, arrangement_, measured))
            out_.not_compared.push_back(std::move(entry));
        for (auto& entry : arrangement_.left_out) out_.not_compared.push_back(entry);
        for (const auto& problem : collection_.problems)
            out_.not_compared.push_back({.what = plain(problem.where),
                                         .reason = translated(plain(problem.reason)),
                                         .where = {}});
    }

    const store::Collection& collection_;
    const CompareOptions& options_;
    Arrangement arrangement_;
    Units units_;
    std::size_t sides_;
    Comparison out_;
};

} // namespace

Result<Comparison> compare(const store::Collection& collection, const CompareOptions& options) {
    if (!(options.alpha > 0 && options.alpha < 1))
        return fail(fmt::format("alpha {} is no level; it lies between 0 and 1, as 0.01 does",
                                options.alpha));
    if (!(options.minimum_effect >= 0 && options.minimum_effect < 1))
        return fail(fmt::format("the minimum effect {} is out of range; 0.01 is 1%, below 1",
                                options.minimum_effect));
    ASSAY_TRY(auto arrangement, arrange(collection, options));
    return Builder{collection, std::move(arrangement), options}.build();
}

} // namespace assay::compare
