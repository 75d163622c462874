// SPDX-License-Identifier: Apache-2.0
#include "decide/check.hpp"

#include "base/file.hpp"
#include "base/utc.hpp"
#include "json/words.hpp"
#include "record/convert.hpp"
#include "record/metrics.hpp"
#include "record/summary.hpp"
#include "stats/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

namespace assay::decide {
namespace {

/// The clocks of hosts differ, and may be set while a run goes on.
constexpr double clocks_differ = 300; // seconds

/// Recomputed values may differ in the last digits between compilers.
constexpr double same = 1e-9; // relative

bool is_same(double a, double b) {
    return std::abs(a - b) <= same * std::max(std::abs(a), std::abs(b));
}

using Number = std::optional<double>;

std::string show(const Number& number) { return number ? fmt::format("{}", *number) : "null"; }

class Check {
public:
    std::vector<Finding> run(const record::Run& run) {
        started_ = seconds_of(run.started);
        ended_ = seconds_of(run.ended);
        if (started_ && ended_ && *ended_ < *started_)
            add("run.ended",
                fmt::format("got {}, before the run started at {}", run.ended, run.started));
        std::set<std::string> identities;
        for (std::size_t i = 0; i < run.cases.size(); ++i) {
            const record::Case& c = run.cases[i];
            path_ = json::join("cases", i);
            const std::string series =
                fmt::format("{} on {} {}", identity(c), c.place.uuid, c.place.index);
            if (!identities.insert(series).second)
                add("", fmt::format("{} occurs twice", identity(c)));
            one_case(c);
        }
        path_ = "soak";
        if (run.soak) soak(*run.soak, run.cases);
        return std::move(findings_);
    }

private:
    void add(std::string_view key, std::string text) {
        const bool both = !path_.empty() && !key.empty();
        findings_.push_back({path_ + (both ? "." : "") + std::string{key}, std::move(text)});
    }

    void compare(const std::string& key, const Number& found, const Number& computed) {
        const bool agree = found && computed ? is_same(*found, *computed)
                                             : found.has_value() == computed.has_value();
        if (!agree)
            add(key, fmt::format("got {}, the stored values give {}", show(found), show(computed)));
    }

    void one_case(const record::Case& c) {
        if (c.status != record::Status::ok && c.reason.empty())
            add("reason", fmt::format("is empty, expected the reason why the case is {}",
                                      to_string(c.status)));
        ceiling("ceiling", c.ceiling);
        for (std::size_t i = 0; i < c.other_ceilings.size(); ++i)
            ceiling(json::join("other_ceilings", i), c.other_ceilings[i]);
        for (std::size_t i = 0; i < c.replicas.size(); ++i) replica(c, i);
        if (c.spread && c.spread->rules.value_or(1) < record::current_rules) return older(c);
        record::Case again = c;
        conclude(again, static_cast<int>(c.replicas.size()));
        status(c, again);
        telemetry(c.telemetry, again.telemetry);
        metrics(c, again);
        tables(c, again);
    }

    /// Readers conclude it again by today's rules, from its replicas: what it says itself is used nowhere.
    void older(const record::Case& c) {
        if (c.metrics.empty() || c.metrics.front().name != c.headline) return;
        std::vector<double> values;
        for (const auto& replica : c.replicas)
            if (const auto value = record::headline_of(c, replica)) values.push_back(*value);
        if (values.empty() || !c.metrics.front().value) return;
        const auto [least, most] = std::ranges::minmax(values);
        const double value = *c.metrics.front().value;
        if (value < least * (1 - same) || value > most * (1 + same))
            add("metrics[0].value",
                fmt::format("got {}, the replicas have {} to {}", value, least, most));
    }

    void ceiling(const std::string& key, const record::Ceiling& found) {
        if ((found.kind == record::CeilingKind::none) == found.value.has_value())
            add(key, found.value ? "has a value but is of kind none"
                                 : "has no value but is not of kind none");
    }

    void status(const record::Case& c, record::Case& again) {
        // The number of planned replicas is not in the record: an interrupted case may have
        // measured some of them.
        if (c.status == record::Status::interrupted) {
            again.status = c.status;
            again.metrics.clear();
        }
        // Told from a data sheet, not from the replicas.
        if (c.reason_code == record::ReasonCode::above_bound) {
            again.status = c.status;
            again.metrics.clear();
        }
        if (c.status != again.status)
            add("status", fmt::format("got {}, the replicas give {} ({})", to_string(c.status),
                                      to_string(again.status), again.reason));
    }

    void replica(const record::Case& c, std::size_t i) {
        const record::Replica& r = c.replicas[i];
        const std::string key = json::join("replicas", i);
        if (i > 0 && r.index <= c.replicas[i - 1].index)
            add(key + ".index", "replicas are not in order of their index, each once");
        const auto when = seconds_of(r.started);
        if (when && started_ && *when < *started_ - clocks_differ)
            add(key + ".started", fmt::format("got {}, before the run started", r.started));
        if (when && ended_ && *when > *ended_ + clocks_differ)
            add(key + ".started", fmt::format("got {}, after the run ended", r.started));
        if (r.status != record::Status::ok && r.reason.empty()) add(key + ".reason", "is empty");
        if (r.batches && r.values.size() > *r.batches)
            add(key + ".batches", fmt::format("got {}, fewer than the {} values that batches gave",
                                              *r.batches, r.values.size()));
        if (!r.values.empty() && r.calls && *r.calls == 0)
            add(key + ".calls", "got 0, but there are values");
        for (const record::Named& figure : r.extra)
            if (record::find_metric(figure.name) == nullptr)
                add(key + ".extra", fmt::format("unknown metric {}", json::show_text(figure.name)));
        // A replica that is not ok may have stopped anywhere.
        if (is_measured(r.status) || r.seconds) interval(key, r);
    }

    /// seconds is the mean of the values; the interval is that of batch means, or, where the clock is
    /// coarser than that, a wider one that is just as symmetric.
    void interval(const std::string& key, const record::Replica& r) {
        const stats::Interval computed = stats::batch_means_interval(r.values);
        compare(key + ".seconds", r.seconds, r.values.empty() ? Number{} : Number{computed.mean});
        if (!r.low || !r.high) {
            const bool neither = !r.low && !r.high;
            if (!neither || std::isfinite(computed.low))
                add(key, "low and high: expected both, or neither where there is one value");
            return;
        }
        const double below = computed.mean - *r.low;
        const double above = *r.high - computed.mean;
        const double rounding = same * std::abs(computed.mean);
        if (std::abs(below - above) > rounding || !std::isfinite(computed.low))
            add(key, fmt::format("low and high: {} and {} are not symmetric about the mean {}",
                                 *r.low, *r.high, computed.mean));
        else if (above < computed.high - computed.mean - rounding)
            add(key, fmt::format("low and high: {} to {} is narrower than {} to {}, which the "
                                 "values give",
                                 *r.low, *r.high, computed.low, computed.high));
    }

    void telemetry(const record::Telemetry& found, const record::Telemetry& computed) {
        compare("telemetry.window_seconds", found.window_seconds, computed.window_seconds);
        compare("telemetry.core_clock_hz", found.core_clock_hz, computed.core_clock_hz);
        compare("telemetry.foreign_cpu", found.foreign_cpu, computed.foreign_cpu);
        compare("telemetry.steal", found.steal, computed.steal);
        compare("telemetry.core_latency_seconds", found.core_latency_seconds,
                computed.core_latency_seconds);
        compare("telemetry.throttle_events", found.throttle_events, computed.throttle_events);
        compare("telemetry.page_migrations", found.page_migrations, computed.page_migrations);
        compare("telemetry.temperature_celsius", found.temperature_celsius,
                computed.temperature_celsius);
        compare("telemetry.energy_joules", found.energy_joules, computed.energy_joules);
        if (found.energy_scope != computed.energy_scope ||
            found.energy_note != computed.energy_note)
            add("telemetry.energy_scope", "differs from that of the replicas, or energy_note does");
        // Worst readings and sums of counts: nothing is rounded on the way.
        if (found.device != computed.device)
            add("telemetry.device", "differs from what the replicas give");
        if (found.disturbances != computed.disturbances)
            add("telemetry.disturbances", "differ from those of the replicas");
    }

    void metrics(const record::Case& c, const record::Case& again) {
        const bool shown = is_measured(c.status);
        if (!shown && !c.metrics.empty()) {
            add("metrics", fmt::format("there are {}, but the case is {}: expected none",
                                       c.metrics.size(), to_string(c.status)));
            return;
        }
        if (c.metrics.size() != again.metrics.size())
            add("metrics", fmt::format("there are {}, the stored values give {}", c.metrics.size(),
                                       again.metrics.size()));
        const std::size_t count = std::min(c.metrics.size(), again.metrics.size());
        for (std::size_t i = 0; i < count; ++i) {
            metric(json::join("metrics", i), c.metrics[i], again.metrics[i]);
            if (c.spread) percentiles(json::join("metrics", i), c.metrics[i]);
        }
    }

    void percentiles(const std::string& key, const record::Metric& found) {
        const auto p95 = found.p95.value_or(found.median.value_or(0));
        if (found.median.value_or(p95) > p95 || found.p99.value_or(p95) < p95)
            add(key, fmt::format("median, p95 and p99: {}, {} and {} are not in this order",
                                 show(found.median), show(found.p95), show(found.p99)));
    }

    void metric(const std::string& key, const record::Metric& found,
                const record::Metric& computed) {
        if (found.name != computed.name) {
            add(key + ".name", fmt::format("got {}, expected {}: the headline first, then the "
                                           "order of the table of metrics",
                                           json::show_text(found.name), computed.name));
            return;
        }
        if (found.unit != computed.unit)
            add(key + ".unit", fmt::format("got {}, expected {}", json::show_text(found.unit),
                                           json::show_text(computed.unit)));
        if (found.higher_is_better != computed.higher_is_better)
            add(key + ".higher_is_better", fmt::format("expected {}", computed.higher_is_better));
        if (found.interval_scope != computed.interval_scope)
            add(key + ".interval_scope",
                fmt::format("got {}, expected {}", to_string(found.interval_scope),
                            to_string(computed.interval_scope)));
        if (found.count != computed.count)
            add(key + ".count", fmt::format("got {}, there are {}", found.count, computed.count));
        compare(key + ".value", found.value, computed.value);
        compare(key + ".low", found.low, computed.low);
        compare(key + ".high", found.high, computed.high);
        compare(key + ".median", found.median, computed.median);
        compare(key + ".min", found.min, computed.min);
        compare(key + ".p95", found.p95, computed.p95);
        compare(key + ".p99", found.p99, computed.p99);
        if (found.levels.has_value() != computed.levels.has_value())
            return add(key + ".levels", "expected where the case has spread, and only there");
        if (!found.levels) return;
        compare(key + ".levels.mean", found.levels->mean, computed.levels->mean);
        compare(key + ".levels.slow", found.levels->slow, computed.levels->slow);
        compare(key + ".levels.share", found.levels->share, computed.levels->share);
    }

    void tables(const record::Case& c, const record::Case& again) {
        if (c.tables.size() != again.tables.size())
            return add("tables", fmt::format("got {}, the replicas give {}", c.tables.size(),
                                             again.tables.size()));
        for (std::size_t t = 0; t < c.tables.size(); ++t) {
            const record::Table& found = c.tables[t];
            const std::string key = json::join("tables", t);
            if (found.metric != again.tables[t].metric || found.rows != again.tables[t].rows ||
                found.columns != again.tables[t].columns ||
                found.values.size() != found.rows.size() * found.columns.size() ||
                found.values.size() != again.tables[t].values.size()) {
                add(key, "another metric or another shape than the replicas have");
                continue;
            }
            for (std::size_t i = 0; i < found.values.size(); ++i)
                compare(key + "." + json::join("values", i), found.values[i],
                        again.tables[t].values[i]);
        }
    }

    /// `whole`: all that it counts is in the file; otherwise a part of it.
    template <class Count>
    void count(const std::string& key, Count found, Count counted, bool whole) {
        if (whole ? found != counted : found < counted)
            add(key, fmt::format("got {}, the stored values give {}{}", found,
                                 whole ? "" : "at least ", counted));
    }

    /// The file has the first of thousands of visits, and those that went wrong.
    void soak(const record::Soak& soak, const std::vector<record::Case>& cases) {
        std::uint64_t wrong = 0;
        for (std::size_t i = 0; i < soak.phases.size(); ++i) {
            const auto& phase = soak.phases[i];
            wrong += phase.wrong;
            phase_of_soak(json::join("phases", i), phase, cases);
        }
        count("wrong", soak.wrong, wrong, true);
        count("corruptions", soak.wrong, std::uint64_t{soak.corruptions.size()}, false);
    }

    void phase_of_soak(const std::string& key, const record::SoakPhase& phase,
                       const std::vector<record::Case>& cases) {
        std::int64_t visits = 0;
        for (const auto& point : phase.points) visits += point.visits;
        count(key + ".visits", phase.visits, visits, true);
        const auto of = std::ranges::find(cases, phase.of, record::identity);
        if (of == cases.end()) return; // its name is hidden
        std::vector<const record::Replica*> kept;
        record::SoakVisit sum;
        for (const auto& replica : of->replicas) {
            if (!replica.soak) continue;
            kept.push_back(&replica);
            sum.calls += replica.soak->calls;
            sum.compared += replica.soak->compared;
            sum.checked += replica.soak->checked;
            sum.wrong += replica.soak->wrong;
        }
        const bool whole = std::cmp_equal(kept.size(), phase.visits);
        count(key + ".calls", phase.calls, sum.calls, whole);
        count(key + ".compared", phase.compared, sum.compared, whole);
        count(key + ".checked", phase.checked, sum.checked, whole);
        count(key + ".wrong", phase.wrong, sum.wrong, whole);
        if (!whole || kept.size() != phase.points.size()) return; // neighbours are merged
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const auto point = key + "." + json::join("points", i);
            compare(point + ".begun_seconds", phase.points[i].begun_seconds,
                    kept[i]->soak->begun_seconds);
            compare(point + ".seconds", phase.points[i].seconds, kept[i]->seconds);
        }
    }

    std::optional<double> started_; ///< seconds since 1970
    std::optional<double> ended_;
    std::string path_;
    std::vector<Finding> findings_;
};

constexpr const char* digests_key = "digests";

} // namespace

std::vector<Finding> check_digests(const json::Value& document, const record::Run& run) {
    if (!document.contains(digests_key)) {
        if (document.at("schema") == record::first_schema_name) return {};
        return {{digests_key,
                 fmt::format("is missing, expected in a file of {}", record::schema_name)}};
    }
    const auto stored = json::read<record::Digests>(document.at(digests_key), digests_key);
    if (!stored) return {{digests_key, stored.error().message}};
    const auto computed = record::digests_of(document);
    std::vector<Finding> findings;
    const auto compare = [&](std::string path, std::string_view what, const std::string& found,
                             const std::string& expected) {
        if (found != expected)
            findings.push_back(
                {std::move(path), fmt::format("does not have its digest: {} was changed or damaged "
                                              "after it was written",
                                              what)});
    };
    if (stored->algorithm != computed.algorithm)
        findings.push_back({"digests.algorithm",
                            fmt::format("got {}, expected {}", json::show_text(stored->algorithm),
                                        computed.algorithm)});
    compare("run", "it", stored->run, computed.run);
    compare("machine", "it", stored->machine, computed.machine);
    if (stored->cases.size() != run.cases.size())
        findings.push_back({"digests.cases", fmt::format("there are {}, for {} cases",
                                                         stored->cases.size(), run.cases.size())});
    for (std::size_t i = 0; i < std::min(stored->cases.size(), run.cases.size()); ++i)
        compare(json::join("cases", i), identity(run.cases[i]), stored->cases[i],
                computed.cases[i]);
    compare("digests.root", "a digest or the schema's name", stored->root,
            root_of(document, *stored));
    return findings;
}

std::vector<Finding> check_clock(const record::Run& run, std::optional<double> now) {
    constexpr double day = 86400; // seconds
    std::vector<Finding> findings;
    const auto started = seconds_of(run.started);
    if (run.clock && std::abs(run.clock->step_seconds) > clock_leeway)
        findings.push_back(
            {"run.clock.step_seconds",
             fmt::format("the wall clock was set {} by {:.0f} s during the run: its times and its "
                         "place among other runs are unknown",
                         run.clock->step_seconds < 0 ? "back" : "forward",
                         std::abs(run.clock->step_seconds)),
             "clock_was_set"});
    const auto built = run.clock ? seconds_of(run.clock->built) : std::nullopt;
    if (started && built && *started < *built - day)
        findings.push_back({"run.started",
                            fmt::format("got {}, before the program that measured was built ({}): "
                                        "the clock of the machine was wrong",
                                        run.started, run.clock->built),
                            "before_build"});
    for (const auto& [path, time] :
         {std::pair{"run.started", run.started}, std::pair{"run.ended", run.ended}})
        if (const auto when = seconds_of(time); now && when && *when > *now + day) {
            findings.push_back({path,
                                fmt::format("got {}, in the future: the clock of the measured "
                                            "machine or of this one is wrong",
                                            time),
                                "future"});
            break;
        }
    return findings;
}

std::vector<Finding> check_summaries(const record::Run& run) { return Check{}.run(run); }

Result<Checked> verify_text(std::string_view text, std::string_view source,
                            const record::ReadOptions& options) {
    record::ReadOptions all = options;
    all.values = true;
    all.as_stored = true;
    ASSAY_TRY(const auto run, parse_run(text, source, all));
    const auto schema = json::read_file(layout().share / "schema" / "run.json");
    if (!schema) return fail(schema.error().message, Fault::environment);
    ASSAY_TRY(const auto document, json::parse(text, source, {.bytes = options.bytes}));
    Checked checked{.findings = check_digests(document, run),
                    .has_digests = document.contains(digests_key)};
    auto add = [&](std::vector<Finding> findings) {
        std::ranges::move(findings, std::back_inserter(checked.findings));
    };
    if (auto fits = json::check_schema(document, *schema, source); !fits)
        add({{.path = {}, .text = fits.error().message}});
    else
        add(check_summaries(run));
    add(check_clock(run, seconds_now()));
    return checked;
}

Result<Checked> verify_run(const std::filesystem::path& path, const record::ReadOptions& options) {
    ASSAY_TRY(const auto text, read_whole(path, options.bytes));
    return verify_text(text, path.string(), options);
}

} // namespace assay::decide
