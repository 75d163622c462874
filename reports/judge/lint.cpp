// SPDX-License-Identifier: Apache-2.0

#include "judge/lint.hpp"

#include "base/console.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "document/texts/limits.hpp"
#include "judge/match.hpp"
#include "record/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace assay::judge {

using namespace document;
namespace {

using document::LintRow;
using document::Severity;

/// Rounding of data sheets.
constexpr double above = 1.005;
/// A bound of this share of the peak or more may be meant.
constexpr double likely_share = 0.2;
constexpr double thousand = 1000;
constexpr double half = 0.5;
/// Neighbours, such as boards of one chip, are nearer to each other than this.
constexpr double apart = 3;

/// The bound that a bad device misses: a rate's lower one, a time's upper one.
std::optional<double> bound_of(const Limit& limit) {
    return limit.at_least ? limit.at_least : limit.at_most;
}
bool is_rate(const Limit& limit) { return limit.at_least.has_value(); }
std::string in_words(double value, const Limit& limit) {
    return limit.share_of.empty() ? record::human(value, limit.unit) : record::human_percent(value);
}
std::string bound_in_words(const Limit& limit) { return in_words(*bound_of(limit), limit); }

/// Precisions that a text names: "H100 BF16 GEMM".
std::set<std::string> precisions_in(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    std::set<std::string> found;
    for (const auto& name : reference::precision_names) {
        const std::string word{name.hardware};
        for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
            const auto is_word = [&](std::size_t i) {
                return i < text.size() &&
                       ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9'));
            };
            if ((at == 0 || !is_word(at - 1)) && !is_word(at + word.size())) found.insert(word);
        }
    }
    return found;
}

class Linter {
public:
    Linter(const std::vector<NamedLimits>& files, const LintOptions& options)
        : files_{files}, options_{options}, now_{options.now ? *options.now : seconds_now()} {
        for (const auto& file : files)
            for (const auto& limit : file.limits.limits) {
                by_id_.try_emplace(limit.id, &limit);
                alike_[about(limit)].push_back(&limit);
            }
    }

    std::vector<LintRow> take() {
        for (const auto& file : files_) {
            file_ = &file;
            dates(file);
            for (const auto& limit : file.limits.limits) {
                limit_ = &limit;
                one(limit);
            }
            limit_ = nullptr;
            shares(file);
            other_machines(file);
        }
        return std::move(found_);
    }

private:
    /// Only limits of one benchmark, metric and unit are compared.
    static std::string about(const Limit& limit) {
        return fmt::format("{}\n{}\n{}", pattern_of(limit.cases, "benchmark"), limit.metric,
                           limit.unit);
    }

    void add(std::string_view code, std::string what, std::string instead,
             Severity severity = Severity::serious) {
        found_.push_back({.code = code,
                          .severity = severity,
                          .file = file_->file,
                          .about = limit_ == nullptr ? std::string{} : plain(limit_->id),
                          .what = std::move(what),
                          .instead = std::move(instead)});
    }

    void dates(const NamedLimits& file) {
        limit_ = nullptr;
        if (is_over(file.limits.expires, now_))
            add("expired", say<text::limits::file_expired>(plain(file.limits.expires)),
                say<text::limits::derive_anew>());
        for (const auto& waiver : file.limits.waivers) waived(waiver);
    }

    void waived(const Waiver& waiver) {
        const auto what = plain(waiver.limit.empty() ? waiver.cause : waiver.limit);
        if (is_over(waiver.expires, now_))
            return add(
                "waiver_expired",
                say<text::limits::waiver_expired>(what, plain(waiver.owner), plain(waiver.expires)),
                say<text::limits::remove_waiver>());
        if (!is_over(waiver.expires, now_ + longest_waiver))
            add("waiver_long", say<text::limits::waiver_long>(what, plain(waiver.expires)),
                say<text::limits::within_a_year>());
        if (!waiver.limit.empty()) known_limit(waiver.limit);
    }

    /// Checks the limit that a waiver or a share names.
    void known_limit(const std::string& id) {
        if (by_id_.contains(id)) return;
        std::vector<std::string> ids;
        for (const auto& [known, limit] : by_id_) ids.push_back(known);
        const auto near = nearest(id, ids);
        add("unknown_limit", say<text::limits::unknown_limit>(plain(id)),
            near.empty() ? say<text::limits::add_file>() : say<text::limits::did_you_mean>(near),
            near.empty() ? Severity::caution : Severity::serious);
    }

    void one(const Limit& limit) {
        if (limit.expires != file_->limits.expires && is_over(limit.expires, now_))
            add("expired", say<text::limits::expired>(plain(limit.expires)),
                say<text::limits::derive_anew>());
        const bool wrong_size = against_peaks(limit);
        if (!wrong_size && !reached_by_all(limit)) below_what_is_known(limit);
        stacked(limit);
        precision(limit);
        chip(limit);
        others(limit);
        if (!limit.written.empty())
            add("unit_converted",
                say<text::limits::unit_converted>(
                    plain(limit.written), fmt::format("{:g} {}", *bound_of(limit), limit.unit)),
                {}, Severity::note);
        if (const auto base = base_of(limit); !base.empty()) known_limit(std::string{base});
        for (auto& row : unknown_names(limit, options_))
            add(row.code, std::move(row.what), std::move(row.instead), row.severity);
    }

    /// True where it has said that the bound is far off.
    bool against_peaks(const Limit& limit) {
        if (limit.share_of == "siblings" &&
            (limit.at_least.value_or(0) > above || limit.at_most.value_or(1) < 1 / above)) {
            add("above_peak", say<text::limits::above_siblings>(bound_in_words(limit)),
                say<text::limits::at_most_all>());
            return true;
        }
        const bool of_sheet = limit.share_of == "datasheet" || !sheet_of(limit).empty();
        if (of_sheet && limit.at_least.value_or(0) > above) {
            add("above_peak", say<text::limits::above_datasheet>(bound_in_words(limit)),
                say<text::limits::at_most_all>());
            return true;
        }
        if (options_.hardware == nullptr || !is_rate(limit)) return false;
        const double bound = *limit.at_least;
        for (const auto& peak : peaks(limit)) {
            const double share = bound / peak.most;
            if (share > above && share <= peak.newer) continue;
            const auto most = record::human(peak.most, limit.unit);
            for (const double factor : {thousand, 1 / thousand})
                if (share * factor >= likely_share && share * factor <= above &&
                    // A slow chip is not a slip of a fast one, and a guest may have one core of hundreds.
                    (factor < 1 || (peak.newer == 1 && (peak.usual || limit.unit == "B/s")))) {
                    add("unit_slip",
                        say<text::limits::unit_slip>(bound_in_words(limit),
                                                     factor > 1 ? "1000" : "1/1000", peak.of, most),
                        say<text::limits::probably>(record::human(bound * factor, limit.unit)));
                    return true;
                }
            if (share > above) {
                add("above_peak",
                    say<text::limits::above_peak>(bound_in_words(limit), peak.of, most),
                    say<text::limits::at_most_value>(most));
                return true;
            }
            constexpr double nothing = 0.01;
            if (peak.usual && (share < nothing || bound < half * *peak.usual)) {
                add(share < nothing ? "reached_by_all" : "below_half",
                    say<text::limits::share_of_peak>(
                        bound_in_words(limit), record::human_percent(bound / *peak.usual),
                        record::human(*peak.usual, limit.unit), peak.of),
                    say<text::limits::from_fleet>());
                return true;
            }
        }
        return false;
    }

    /// By the chips that it names, otherwise by those of the runs.
    std::vector<Peak> peaks(const Limit& limit) const {
        std::vector<Peak> found;
        if (options_.runs != nullptr && !limit.machine.contains("device") &&
            !limit.machine.contains("cpu"))
            for (const auto& machine : options_.runs->machines) {
                if (!is_for(limit.machine, machine)) continue;
                auto own = limit;
                own.machine["cpu"] = machine.cpu_model;
                for (const auto& device : machine.devices) own.machine["device"] = device.name;
                std::ranges::move(peaks_of(own, *options_.hardware), std::back_inserter(found));
            }
        return found.empty() ? peaks_of(limit, *options_.hardware) : found;
    }

    bool reached_by_all(const Limit& limit) {
        if (limit.unit == "s" && limit.at_most && *limit.at_most > most_latency(limit)) {
            add("reached_by_all", say<text::limits::reached_by_all>(bound_in_words(limit)),
                say<text::limits::from_fleet>());
            return true;
        }
        const auto bound = limit.at_least;
        if (!bound) return false;
        double least = 1; // items a second
        if (limit.unit == "B/s" || limit.unit == "FLOP/s" || limit.unit == "OP/s") least = thousand;
        if (!limit.share_of.empty() || limit.unit == "1") least = 0.01;
        if (*bound > least) return false;
        add("reached_by_all", say<text::limits::reached_by_all>(bound_in_words(limit)),
            say<text::limits::from_fleet>());
        return true;
    }

    /// Half of the median of the nodes that somebody measured.
    void below_what_is_known(const Limit& limit) {
        const auto bound = bound_of(limit);
        if (!limit.share_of.empty()) return;
        for (const auto* other : alike_[about(limit)]) {
            if (!other->center || is_rate(*other) != is_rate(limit) ||
                (other != &limit && !is_same_question(*other, limit)))
                continue;
            const double center = *other->center;
            if (is_rate(limit) ? *bound >= half * center : *bound <= center / half) continue;
            add("below_half",
                say<text::limits::share_of_known>(
                    bound_in_words(limit), record::human_percent(*bound / center),
                    in_words(center, limit),
                    plain(other->source.empty() ? other->id : other->source)),
                say<text::limits::from_fleet>());
            return;
        }
    }

    /// Are they about one benchmark in one precision, for machines that may be the same?
    static bool is_same_question(const Limit& a, const Limit& b) {
        const auto differ = [](const Selector& one, const Selector& two, std::string_view key,
                               bool needed) {
            const auto first = pattern_of(one, key);
            const auto second = pattern_of(two, key);
            if (first.empty() || second.empty()) return needed && first != second;
            return first != second && !overlap(first, second);
        };
        for (const auto& [key, pattern] : a.cases)
            if (differ(a.cases, b.cases, key, false)) return false;
        for (const auto* key : {"precision", "machines", "direction"})
            if (differ(a.cases, b.cases, key, true)) return false;
        for (const auto* key : {"device", "cpu", "instance"})
            if (differ(a.machine, b.machine, key, true)) return false;
        return true;
    }

    void stacked(const Limit& limit) {
        if (base_of(limit).empty() || !bound_of(limit) || *bound_of(limit) == 1) return;
        const auto base = by_id_.find(base_of(limit));
        if (base == by_id_.end() || !bound_of(*base->second)) return;
        const auto& below = *base->second;
        // A share of what other cases must reach is a relation; of the same cases it is a second tolerance.
        if (below.share_of.empty() && below.kind != LimitKind::fleet && below.cases != limit.cases)
            return;
        const double both = *bound_of(limit) * *bound_of(below);
        add("stacked",
            say<text::limits::stacked>(bound_in_words(limit), plain(below.id),
                                       bound_in_words(below), in_words(both, below)),
            say<text::limits::one_tolerance>());
    }

    void precision(const Limit& limit) {
        auto named = precisions_in(limit.id);
        named.merge(precisions_in(limit.title));
        const auto pattern = pattern_of(limit.cases, "precision");
        if (named.empty() || pattern.empty()) return;
        for (const auto& name : reference::precision_names)
            if (matches(pattern, std::string{name.parameter}) &&
                named.contains(std::string{name.hardware}))
                return;
        add("precision_differs",
            say<text::limits::precision_differs>(fmt::format("{}", fmt::join(named, ", ")),
                                                 plain(pattern)),
            say<text::limits::set_precision>(*named.begin()));
    }

    void chip(const Limit& limit) {
        if (limit.measured_on.empty() || limit.machine.empty()) return;
        for (const auto* key : {"device", "cpu", "instance"}) {
            const auto pattern = pattern_of(limit.machine, key);
            if (!pattern.empty() && matches(pattern, limit.measured_on)) return;
        }
        auto meant = pattern_of(limit.machine, "device");
        if (meant.empty()) meant = pattern_of(limit.machine, "instance");
        if (meant.empty()) meant = pattern_of(limit.machine, "cpu");
        if (meant.empty()) return;
        add("other_chip", say<text::limits::other_chip>(plain(limit.measured_on), plain(meant)),
            say<text::limits::measure_there>(plain(meant)));
    }

    void others(const Limit& limit) {
        for (const auto* other : alike_[about(limit)]) {
            if (other == &limit || other->id == limit.id || other->cases != limit.cases ||
                other->metric != limit.metric || other->unit != limit.unit ||
                other->share_of != limit.share_of || is_rate(*other) != is_rate(limit))
                continue;
            const double ratio = *bound_of(limit) / *bound_of(*other);
            const bool laxer = is_rate(limit) ? ratio < 1 : ratio > 1;
            if (!laxer) continue; // the other one has the finding
            if (other->machine == limit.machine && other->kind == limit.kind) {
                add("gates_differ",
                    say<text::limits::gates_differ>(bound_in_words(limit), plain(other->id),
                                                    bound_in_words(*other), plain(other->file)),
                    say<text::limits::one_gate>(), Severity::serious);
                return;
            }
            const double by = is_rate(limit) ? 1 / ratio : ratio;
            if (by > apart && limit.share_of.empty() && is_same_question(limit, *other) &&
                pattern_of(limit.machine, "mode") == pattern_of(other->machine, "mode")) {
                add("neighbours_differ",
                    say<text::limits::neighbours_differ>(bound_in_words(limit), plain(other->id),
                                                         bound_in_words(*other),
                                                         fmt::format("{:.3g}", by)),
                    say<text::limits::compare_both>(), Severity::caution);
                return;
            }
        }
    }

    /// Most limits of a file take one share of the median: another share is a slip of the digits.
    void shares(const NamedLimits& file) {
        constexpr std::size_t fewest = 3;
        constexpr double same = 0.02; // bounds are rounded
        std::vector<std::pair<const Limit*, double>> all;
        for (const auto& limit : file.limits.limits)
            if (limit.center && limit.share_of.empty() && limit.kind != LimitKind::fleet)
                all.emplace_back(&limit, *bound_of(limit) / *limit.center);
        std::ranges::sort(all, {}, [](const auto& one) { return one.second; });
        std::size_t most = 0; // of these begin at `usual`
        std::size_t usual = 0;
        for (std::size_t from = 0, to = 0; from < all.size(); ++from) {
            while (to < all.size() && all[to].second <= all[from].second * (1 + same)) ++to;
            if (to - from > most) {
                most = to - from;
                usual = from;
            }
        }
        if (most < fewest) return;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i >= usual && i < usual + most) continue;
            const auto& [limit, share] = all[i];
            limit_ = limit;
            add("odd_share",
                say<text::limits::odd_share>(bound_in_words(*limit), record::human_percent(share),
                                             in_words(*limit->center, *limit),
                                             record::human_percent(all[usual].second)),
                say<text::limits::probably>(in_words(all[usual].second * *limit->center, *limit)),
                Severity::caution);
            limit_ = nullptr;
        }
    }

    /// One line for all of them: a file may be for a whole park of machines.
    void other_machines(const NamedLimits& file) {
        if (options_.runs == nullptr) return;
        std::vector<std::string> others;
        for (const auto& limit : file.limits.limits)
            if (!is_for_any(limit, *options_.runs)) others.push_back(plain(limit.id));
        if (others.empty()) return;
        constexpr std::size_t named = 3;
        add("matches_nothing",
            say_count<text::limits::other_machines>(others.size(), list_of(others, named)), {},
            Severity::note);
    }

    const std::vector<NamedLimits>& files_;
    const LintOptions& options_;
    double now_;
    std::map<std::string, const Limit*, std::less<>> by_id_;
    std::map<std::string, std::vector<const Limit*>> alike_;
    std::vector<LintRow> found_;
    const NamedLimits* file_ = nullptr;
    const Limit* limit_ = nullptr;
};

} // namespace

std::vector<LintRow> lint(const std::vector<NamedLimits>& files, const LintOptions& options) {
    return Linter{files, options}.take();
}

std::vector<LintRow> lint_unreadable(const std::string& file, std::string_view text,
                                     const std::string& error) {
    std::vector<LintRow> found;
    if (const auto value = json::parse(text, file); value && value->is_object())
        if (const auto limits = value->find("limits"); limits != value->end() && limits->is_array())
            for (const auto& limit : *limits) {
                if (!limit.is_object() || limit.contains("unit") || limit.contains("share_of"))
                    continue;
                const auto id = limit.find("id");
                const bool has_id = id != limit.end() && id->is_string();
                found.push_back({.code = "unit_missing",
                                 .file = file,
                                 .about = has_id ? plain(id->get<std::string>()) : std::string{},
                                 .what = say<text::limits::unit_missing>(),
                                 .instead = say<text::limits::write_unit>()});
            }
    if (found.empty())
        found.push_back({.code = "unreadable",
                         .file = file,
                         .what = plain(error),
                         .instead = say<text::limits::by_schema>()});
    return found;
}

} // namespace assay::judge
