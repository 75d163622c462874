// SPDX-License-Identifier: Apache-2.0

#include "history/change_points.hpp"

#include "base/on_all_cores.hpp"
#include "stats/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace assay::history {
namespace {

/// Level of the first look, which only proposes: what it finds is tested again with the noise that all
/// machines show, and that test decides.
constexpr double generous_alpha = 0.2;
/// Neighbours in time are alike: with a correlation of 0.2 the variance of a mean is (1 + r) / (1 - r)
/// times what independent samples would have.
constexpr double inflation = 1.5;
/// Samples further from their level than so many deviations are pulled in.
constexpr double reach = 4;
/// Factor from the median of absolute deviations to the standard deviation of a normal distribution.
constexpr double mad_to_deviation = 1.4826;
/// 99% point of the likelihood ratio of the place of a change: Hansen (2000), Econometrica 68, 575,
/// table I. At 95% one change in twenty would be put beside the change that made it.
constexpr double place_threshold = 10.59;
/// Lines that teach something about noise in general; with fewer all series of the group are asked.
constexpr std::size_t fewest_lines = 4;

bool is_short(const SeriesLine& line) { return line.samples.size() < fewest_samples; }

/// A line on the way: its values and the places of its changes.
class Segmented {
public:
    Segmented() = default;
    explicit Segmented(const SeriesLine& line) {
        for (const auto& sample : line.samples) values_.push_back(sample.good);
        if (is_short(line)) {
            changes_ = {best_place()};
            return;
        }
        for (const auto& change : stats::find_steps(values_, generous_alpha))
            changes_.push_back(change.index);
        calm();
    }

    std::size_t changes() const { return changes_.size(); }
    std::size_t size() const { return values_.size(); }
    std::size_t place(std::size_t change) const { return changes_[change]; }
    std::size_t begin(std::size_t change) const { return change == 0 ? 0 : changes_[change - 1]; }
    std::size_t end(std::size_t change) const {
        return change + 1 == changes_.size() ? values_.size() : changes_[change + 1];
    }
    void remove(std::size_t change) {
        changes_.erase(changes_.begin() + static_cast<std::ptrdiff_t>(change));
    }

    /// About the levels of its segments.
    stats::VarianceEstimate variance() const {
        double squares = 0;
        for (std::size_t i = 0; i <= changes_.size(); ++i) {
            const auto part = segment(i);
            const double level = stats::mean(part);
            for (const double value : part) squares += (value - level) * (value - level);
        }
        const auto degrees = static_cast<double>(values_.size() - changes_.size() - 1);
        return {.variance = squares / degrees, .degrees = degrees};
    }

    /// Among how many a change was chosen: every place along the line, and where one of its levels begins
    /// or ends with another change, every pair of places.
    double choices(std::size_t change) const {
        const auto count = static_cast<double>(values_.size());
        return begin(change) == 0 && end(change) == values_.size() ? count : count * count;
    }
    double level(std::size_t i) const { return stats::mean(segment(i)); }
    stats::Difference difference(std::size_t change,
                                 const stats::VarianceEstimate& variance) const {
        const stats::Values all{values_};
        return stats::difference(all.subspan(begin(change), place(change) - begin(change)),
                                 all.subspan(place(change), end(change) - place(change)), variance);
    }

    /// Where a change explains most.
    std::size_t best_place() const {
        std::size_t best = 1;
        double most = -1;
        for (std::size_t i = 1; i < values_.size(); ++i) {
            const auto left = static_cast<double>(i);
            const auto right = static_cast<double>(values_.size() - i);
            const stats::Values all{values_};
            const double step = std::abs(stats::mean(all.subspan(i)) - stats::mean(all.first(i))) /
                                std::sqrt(1 / left + 1 / right);
            if (step <= most) continue;
            most = step;
            best = i;
        }
        return best;
    }
    /// Places of a change that explain its two segments about as well as the best, the best first.
    std::vector<std::size_t> places(std::size_t change, double variance) const {
        const stats::Values part =
            stats::Values{values_}.subspan(begin(change), end(change) - begin(change));
        const double center = stats::mean(part);
        std::vector<std::pair<double, std::size_t>> explained;
        double sum = 0;
        for (std::size_t i = 1; i < part.size(); ++i) {
            sum += part[i - 1] - center;
            const auto left = static_cast<double>(i);
            const auto right = static_cast<double>(part.size() - i);
            explained.emplace_back(-sum * sum * (1 / left + 1 / right), begin(change) + i);
        }
        std::ranges::sort(explained);
        const double limit = explained.front().first + place_threshold * variance;
        std::size_t first = values_.size();
        std::size_t last = 0;
        for (const auto& [cost, index] : explained) {
            if (cost > limit) break;
            first = std::min(first, index);
            last = std::max(last, index);
        }
        std::vector<std::size_t> places; // all between: one bad run does not exclude its place
        for (const auto& [cost, index] : explained)
            if (index >= first && index <= last) places.push_back(index);
        return places;
    }

private:
    std::span<const double> segment(std::size_t i) const {
        const std::size_t from = i == 0 ? 0 : changes_[i - 1];
        const std::size_t to = i == changes_.size() ? values_.size() : changes_[i];
        return std::span{values_}.subspan(from, to - from);
    }
    /// One bad run must not move a level.
    void calm() {
        std::vector<double> levels;
        std::vector<double> distances;
        for (std::size_t i = 0; i <= changes_.size(); ++i) {
            const auto part = segment(i);
            levels.insert(levels.end(), part.size(), stats::median(part));
        }
        for (std::size_t i = 0; i < values_.size(); ++i)
            distances.push_back(std::abs(values_[i] - levels[i]));
        const double most = reach * mad_to_deviation * stats::median(distances);
        if (most <= 0) return;
        for (std::size_t i = 0; i < values_.size(); ++i)
            values_[i] = std::clamp(values_[i], levels[i] - most, levels[i] + most);
    }

    std::vector<double> values_;
    std::vector<std::size_t> changes_; ///< indices of the first samples after them
};

class Search {
public:
    Search(std::span<const SeriesLine> lines, double alpha, double minimum_effect)
        : lines_{lines}, alpha_{alpha}, minimum_effect_{minimum_effect},
          least_{std::log1p(minimum_effect)}, segmented_(lines.size()) {
        on_all_cores(lines.size(), [&](std::size_t i) { segmented_[i] = Segmented{lines[i]}; });
        learn_noise();
    }

    Changes changes() {
        while (drop_weakest()) {
        }
        Changes out{.found = std::move(found_), .detectable = {}};
        for (std::size_t i = 0; i < lines_.size(); ++i) out.detectable.push_back(detectable(i));
        return out;
    }

private:
    /// Variance of a sample.
    stats::VarianceEstimate variance_of(std::size_t i) const {
        if (is_short(lines_[i])) return {noise_[i].variance, noise_[i].degrees};
        return stats::moderate(segmented_[i].variance(), noise_[i]);
    }
    /// The variance that records expect between runs holds at any distance.
    stats::VarianceEstimate inflated(std::size_t i) const {
        auto variance = variance_of(i);
        if (!is_short(lines_[i])) variance.variance *= inflation;
        return variance;
    }
    double detectable(std::size_t i) const {
        const auto& line = segmented_[i];
        const auto variance = inflated(i);
        const auto count = static_cast<double>(line.size());
        const double after = is_short(lines_[i]) ? 1 : std::max(2.0, std::floor(count / 4));
        const double squared_error = variance.variance * (1 / after + 1 / (count - after));
        // The price of all lines, and of every place along this one.
        const double level = alpha_ / (static_cast<double>(lines_.size()) * count);
        return stats::detectable_change({.log_ratio = 0,
                                         .standard_error = std::sqrt(squared_error),
                                         .degrees = variance.degrees,
                                         .p = 1,
                                         .low = 0,
                                         .high = 0},
                                        level, minimum_effect_);
    }

    void learn_noise() {
        // Noise of one series on all machines, or of all series of the group; lines whose samples are machines have
        // another kind of noise.
        std::map<std::tuple<std::size_t, bool, std::size_t>, std::vector<stats::VarianceEstimate>>
            of_series;
        std::map<std::tuple<std::size_t, bool>, std::vector<stats::VarianceEstimate>> of_group;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const bool single = !lines_[i].machine.empty();
            if (is_short(lines_[i])) continue;
            of_series[{lines_[i].group, single, lines_[i].series}].push_back(
                segmented_[i].variance());
            of_group[{lines_[i].group, single}].push_back(segmented_[i].variance());
        }
        std::map<std::tuple<std::size_t, bool, std::size_t>, stats::Prior> priors;
        std::map<std::tuple<std::size_t, bool>, stats::Prior> group_priors;
        for (const auto& [key, variances] : of_group)
            group_priors[key] = stats::fit_prior(variances);
        for (const auto& [key, variances] : of_series)
            if (variances.size() >= fewest_lines) priors[key] = stats::fit_prior(variances);
        const auto recorded = recorded_noise();
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const auto& line = lines_[i];
            const bool single = !line.machine.empty();
            if (is_short(line)) {
                noise_.push_back(recorded[i]);
                continue;
            }
            const auto own = priors.find({line.group, single, line.series});
            noise_.push_back(own != priors.end() ? own->second
                                                 : group_priors.at({line.group, single}));
        }
    }

    /// Noise of short lines: variance between replicas, moderated over all of these lines, and between runs. Means over
    /// the samples of a line.
    std::vector<stats::Prior> recorded_noise() const {
        std::vector<stats::VarianceEstimate> own(lines_.size());
        std::vector<stats::VarianceEstimate> known;
        std::vector<double> between(lines_.size());
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const auto& samples = lines_[i].samples;
            const auto count = static_cast<double>(samples.size());
            for (const auto& sample : samples) {
                own[i].variance += sample.replicas.variance / count;
                own[i].degrees += sample.replicas.degrees;
                between[i] += sample.between_runs / count;
            }
            if (is_short(lines_[i]) && own[i].degrees > 0) known.push_back(own[i]);
        }
        const auto prior = stats::fit_prior(known);
        std::vector<stats::Prior> noise;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const auto within = own[i].degrees > 0
                                    ? stats::moderate(own[i], prior)
                                    : stats::VarianceEstimate{prior.variance, prior.degrees};
            const auto all =
                stats::sum_of(within, {.variance = between[i],
                                       .degrees = std::numeric_limits<double>::infinity()});
            noise.push_back({.variance = all.variance, .degrees = all.degrees});
        }
        return noise;
    }

    /// Tests every change as things stand; takes the weakest of each line away where there is one too weak.
    bool drop_weakest() {
        found_.clear();
        std::vector<double> p; // lines without a change count as tests that found nothing
        std::vector<std::size_t> owner;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const auto& line = segmented_[i];
            const auto error = inflated(i);
            for (std::size_t k = 0; k < line.changes(); ++k) {
                const auto difference = line.difference(k, error);
                p.push_back(std::min(1.0, difference.p * line.choices(k)));
                owner.push_back(k);
                found_.push_back({.line = i,
                                  .at = line.place(k),
                                  .from = line.begin(k),
                                  .to = line.end(k),
                                  .places = line.places(k, variance_of(i).variance),
                                  .before = line.level(k),
                                  .after = line.level(k + 1),
                                  .difference = difference});
            }
            if (line.changes() == 0) p.push_back(1);
        }
        adjust(p);
        return remove_weak(owner);
    }

    void adjust(const std::vector<double>& p) {
        const auto adjusted = stats::benjamini_hochberg(p);
        std::size_t at = 0;
        std::size_t change = 0;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const std::size_t count = std::max<std::size_t>(segmented_[i].changes(), 1);
            if (segmented_[i].changes() > 0)
                for (std::size_t k = 0; k < count; ++k) found_[change++].p = adjusted[at + k];
            at += count;
        }
    }

    bool remove_weak(const std::vector<std::size_t>& owner) {
        std::map<std::size_t, std::size_t> weakest; // of each line: index into found_
        for (std::size_t i = 0; i < found_.size(); ++i) {
            const auto& change = found_[i];
            const bool holds =
                change.p <= alpha_ && std::abs(change.difference.log_ratio) >= least_;
            if (holds) continue;
            const auto [at, is_new] = weakest.try_emplace(change.line, i);
            if (!is_new && weakness(change) > weakness(found_[at->second])) at->second = i;
        }
        for (const auto& [line, index] : weakest) segmented_[line].remove(owner[index]);
        return !weakest.empty();
    }
    static std::pair<double, double> weakness(const FoundChange& change) {
        return {change.p, -std::abs(change.difference.log_ratio)};
    }

    std::span<const SeriesLine> lines_;
    double alpha_;
    double minimum_effect_;
    double least_; ///< smallest logarithm of a ratio that is called
    std::vector<Segmented> segmented_;
    std::vector<stats::Prior> noise_;
    std::vector<FoundChange> found_;
};

} // namespace

static bool shows_noise(const std::vector<Sample>& samples) {
    return samples.size() > 1 && std::ranges::all_of(samples, [](const Sample& sample) {
               return sample.replicas.degrees > 0;
           });
}

std::vector<SeriesLine> lines_of(const Tracks& tracks) {
    std::vector<SeriesLine> lines;
    for (std::size_t g = 0; g < tracks.groups.size(); ++g) {
        const auto& group = tracks.groups[g];
        for (std::size_t s = 0; s < group.series.size(); ++s) {
            const auto add = [&](const std::string& machine, const std::vector<Sample>& samples) {
                lines.push_back({.group = g, .series = s, .machine = machine, .samples = samples});
            };
            for (const auto& track : group.series[s].tracks)
                if (track.samples.size() >= fewest_samples || shows_noise(track.samples))
                    add(track.machine, track.samples);
            // Differences between machines are in no record.
            if (group.series[s].machines.size() >= fewest_samples)
                add("", group.series[s].machines);
        }
    }
    return lines;
}

Changes find_changes(std::span<const SeriesLine> lines, double alpha, double minimum_effect) {
    return Search{lines, alpha, minimum_effect}.changes();
}

} // namespace assay::history
