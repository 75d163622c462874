// SPDX-License-Identifier: Apache-2.0
#include "outcomes.hpp"

#include "record/format.hpp"
#include "record/summary.hpp"
#include "stats/interval.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <sstream>

namespace assay::gpu {
namespace {

std::string shortened(const std::string& text) {
    constexpr std::size_t longest = 300;
    return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);)
        if (!line.empty()) lines.push_back(line);
    return lines;
}

std::string last_line_of(const std::string& text) {
    const auto lines = lines_of(text);
    return lines.empty() ? std::string{} : shortened(lines.back());
}

/// Why it is not done, where nothing else can be said of it.
Verdict unfinished(const Said& said, const std::string& words) {
    const auto outcome = said.cut_off ? Outcome::cut_off : Outcome::failed;
    if (words.empty()) return {outcome, said.ending};
    return {outcome, shortened(fmt::format("{}: {}", said.ending, words))};
}

/// Only these run the benchmark; the others look at its table.
bool measures(std::string_view test) {
    constexpr std::array running{"ComputesAndIsChecked", "RunsMoreThanOnce", "SaysHowMuchItDoes",
                                 "CanBePreparedAgain"};
    return std::ranges::any_of(running, [&](const char* name) { return test.starts_with(name); });
}

/// Output of GoogleTest: "[ RUN ] Suite.Test/of", what the test says, "[ OK ] ... (3 ms)".
struct Tests {
    int passed = 0;        ///< of those that measure
    std::string going_on;  ///< begun, not ended
    std::string failed;    ///< the first that failed
    std::string complaint; ///< of that one
    std::string why;       ///< the first that was skipped gave this reason
};

Tests read_tests(const std::string& log) {
    constexpr std::size_t mark = 13; // "[ RUN      ] "
    Tests tests;
    std::string said;
    for (const auto& line : lines_of(log)) {
        if (line.starts_with("[ RUN      ]") && line.size() > mark) {
            tests.going_on = line.substr(line.rfind('.') + 1);
            said.clear();
        } else if (tests.going_on.empty()) {
            continue; // before the first test, or GoogleTest's summary
        } else if (line.starts_with("[       OK ]")) {
            tests.passed += measures(tests.going_on) ? 1 : 0;
            tests.going_on.clear();
        } else if (line.starts_with("[  SKIPPED ]")) {
            if (tests.why.empty()) tests.why = said;
            tests.going_on.clear();
        } else if (line.starts_with("[  FAILED  ]")) {
            if (tests.failed.empty()) {
                tests.failed = tests.going_on;
                tests.complaint = said;
            }
            tests.going_on.clear();
        } else if (!line.starts_with("=========") && !line.ends_with(": Failure") &&
                   !line.ends_with(": Skipped")) {
            said += (said.empty() ? "" : " ") + line;
        }
    }
    return tests;
}

std::optional<long> number_after(std::string_view text, std::string_view words) {
    const auto at = text.rfind(words);
    if (at == text.npos) return std::nullopt;
    const auto from = text.find_first_of("0123456789", at);
    if (from == text.npos) return std::nullopt;
    long value = 0;
    const auto* end = text.data() + text.size();
    if (std::from_chars(text.data() + from, end, value).ec != std::errc{}) return std::nullopt;
    return value;
}

std::string table_of(const std::vector<Row>& rows, Outcome outcome) {
    std::string out;
    for (const auto& row : rows)
        if (row.verdict.outcome == outcome)
            out += fmt::format("  {:<10} {:<60} {}\n", row.part, row.name, row.verdict.words);
    return out;
}

} // namespace

std::string_view to_string(Outcome outcome) {
    constexpr std::array names{"not_started", "passed", "failed", "skipped", "missing", "cut_off"};
    return names.at(static_cast<std::size_t>(outcome));
}

Verdict read_fact(const Said& said) {
    const auto words = last_line_of(said.log);
    return said.ending.empty() ? Verdict{Outcome::passed, words} : unfinished(said, words);
}

Verdict read_users(const Said& said) {
    if (!said.ending.empty()) return unfinished(said, last_line_of(said.log));
    const auto users = lines_of(said.log);
    if (users.empty()) return {Outcome::passed, "none"};
    return {Outcome::failed,
            shortened(fmt::format("others use the device: {}", fmt::join(users, "; ")))};
}

Verdict read_libraries(const Said& said) {
    if (!said.ending.empty()) return unfinished(said, last_line_of(said.log));
    std::vector<std::string> lost;
    for (const auto& line : lines_of(said.log))
        if (line.ends_with("not found")) lost.push_back(line.substr(line.find_first_not_of(" \t")));
    if (lost.empty()) return {Outcome::passed, ""};
    return {Outcome::missing, shortened(fmt::format("{}", fmt::join(lost, "; ")))};
}

Verdict read_contract(const Said& said) {
    const auto tests = read_tests(said.log);
    if (!tests.failed.empty()) {
        // A module that cannot be loaded has one test of its own name in place of its benchmarks'.
        const bool is_loaded = tests.failed.ends_with("/" + said.test);
        return {is_loaded ? Outcome::failed : Outcome::missing,
                shortened(is_loaded ? fmt::format("{}: {}", tests.failed, tests.complaint)
                                    : tests.complaint)};
    }
    if (said.cut_off || !tests.going_on.empty())
        return unfinished(
            said, fmt::format("{}, {} tests had passed",
                              tests.going_on.empty() ? "between tests" : "in " + tests.going_on,
                              tests.passed));
    if (!said.ending.empty()) return unfinished(said, last_line_of(said.log));
    if (tests.passed > 0) return {Outcome::passed, ""};
    if (!tests.why.empty()) return {Outcome::skipped, shortened(tests.why)};
    return {Outcome::failed, "no test ran"};
}

Verdict read_sanitizer(const Said& said) {
    auto count = number_after(said.log, "ERROR SUMMARY:");
    if (!count) count = number_after(said.log, "RACECHECK SUMMARY:");
    if (count.value_or(0) > 0) return {Outcome::failed, fmt::format("{} errors", *count)};
    if (auto tests = read_contract(said); tests.outcome != Outcome::passed) return tests;
    if (!count) return {Outcome::failed, "it did not get to its summary"};
    return {Outcome::passed, ""};
}

Verdict read_measurement(const Said& said) { return read_fact(said); }

namespace {

/// "PASS: cuda:0 PASS, host PASS", of what `assay run --check` printed.
std::string verdict_line(const Said& said) {
    for (const auto& line : lines_of(said.log))
        for (const char* word : {"PASS", "WARN", "FAIL", "INCONCLUSIVE", "ERROR", "SKIP"})
            if (line.starts_with(word)) return shortened(line);
    return last_line_of(said.log);
}

/// Text of a program behind its warnings.
std::optional<json::Value> json_of(const Said& said) {
    const auto begin = said.log.find('{');
    if (begin == said.log.npos) return std::nullopt;
    auto value = json::parse(std::string_view{said.log}.substr(begin), "its output",
                             {.bytes = std::size_t{64} << 20U});
    if (!value || !value->is_object()) return std::nullopt;
    return *std::move(value);
}
Verdict unreadable(const Said& said) { return unfinished(said, last_line_of(said.log)); }

} // namespace

Verdict read_accepted(const Said& said) {
    if (said.ending.empty()) return {Outcome::passed, verdict_line(said)};
    return unfinished(said, verdict_line(said));
}

Verdict read_judged(const Said& said) {
    if (said.cut_off || said.ending.ends_with("code 1")) return read_accepted(said);
    const bool is_judged = said.ending.empty() || said.ending.ends_with("code 3");
    return is_judged ? Verdict{Outcome::passed, verdict_line(said)} : read_accepted(said);
}

Verdict read_compared(const Said& said) {
    constexpr double enough = 0.02;
    constexpr std::array known{"gemm.", "memory.stream", "fft.", "md."};
    const auto value = json_of(said);
    if (!value || !value->contains("tables")) return unreadable(said);
    std::vector<std::string> wrong;
    std::size_t rows = 0;
    for (const auto& table : value->at("tables"))
        for (const auto& row : table.at("rows")) {
            const auto& cells = row.at("cells");
            if (cells.size() < 2 || !cells.at(1).at("contrast").is_object()) continue;
            ++rows;
            const auto& contrast = cells.at(1).at("contrast");
            const auto name = row.at("identity").get<std::string>();
            const auto outcome = contrast.value("outcome", json::Value{});
            if (outcome == "better" || outcome == "worse") {
                wrong.push_back(fmt::format("{}: {}", name, outcome.get<std::string>()));
                continue;
            }
            const auto benchmark = row.at("benchmark").get<std::string>();
            const auto resolved = contrast.value("detectable", json::Value{});
            const bool matters = std::ranges::any_of(
                known, [&](const char* begin) { return benchmark.starts_with(begin); });
            if (matters && !(resolved.is_number() && resolved.get<double>() <= enough))
                wrong.push_back(name + ": not resolved below 2%");
        }
    if (rows == 0) return {Outcome::failed, "no case was compared"};
    if (!wrong.empty())
        return {Outcome::failed, shortened(fmt::format("{}", fmt::join(wrong, "; ")))};
    return {Outcome::passed, fmt::format("{} cases, none faster or slower", rows)};
}

Verdict read_shared(const Said& said) {
    const auto value = json_of(said);
    if (!value || !value->contains("nodes") || !value->contains("verdict")) return unreadable(said);
    const auto verdict = value->at("verdict").get<std::string>();
    bool is_named = false;
    for (const auto& node : value->at("nodes"))
        for (const auto& check : node.value("checks", json::Value::array()))
            is_named |= check.value("cause", json::Value{}) == "device_shared";
    if (verdict == "FAIL") return {Outcome::failed, "FAIL by another process"};
    if (!is_named)
        return {Outcome::failed, fmt::format("{}, and the other process is not named", verdict)};
    return {Outcome::passed, verdict + ", and the other process is named"};
}

Verdict read_profile(const Said& said) {
    if (auto measured = read_fact(said); measured.outcome != Outcome::passed) return measured;
    if (said.log.find("==PROF== Profiling") == said.log.npos)
        return {Outcome::failed, "no kernel was profiled: " + last_line_of(said.log)};
    return {Outcome::passed, ""};
}

Verdict verdict_of(const record::Case& c) {
    using record::Status;
    if (c.status == Status::skipped) return {Outcome::skipped, c.reason};
    const bool measured = record::is_measured(c.status);
    if (!measured || c.metrics.empty() || !c.metrics.front().value)
        return {c.status == Status::interrupted ? Outcome::cut_off : Outcome::failed,
                shortened(fmt::format("{}: {}", record::to_string(c.status), c.reason))};
    const auto& metric = c.metrics.front();
    auto words = record::human(*metric.value, metric.unit);
    if (const auto share = record::share_of_ceiling(c))
        words += fmt::format(" ({:.0f}% of its ceiling)", 100 * *share);
    if (c.verification && c.verification->error)
        words += fmt::format(", error {:.2g}", *c.verification->error);
    if (measured && c.status != Status::ok)
        words += fmt::format(", {}: {}", to_string(c.status), c.reason);
    return {Outcome::passed, words};
}

std::string name_of(const record::Case& c) {
    auto name = fmt::format("{}[{}]", c.benchmark, c.library);
    for (const auto& parameter : c.parameters)
        name += fmt::format(" {}={}", parameter.name, record::to_string(parameter.value));
    return name;
}

PeerTime read_peer(std::string_view line) {
    const auto parsed = json::parse(line, "the peer");
    if (!parsed || !parsed->is_object())
        return {.problem = "the peer said nothing that can be read"};
    PeerTime time{.problem = parsed->value("problem", json::Value{}).is_string()
                                 ? (*parsed)["problem"].get<std::string>()
                                 : std::string{}};
    if (!time.problem.empty()) return time;
    const auto found = parsed->find("seconds");
    if (found == parsed->end() || !found->is_number() || !(found->get<double>() > 0))
        time.problem = "the peer gave no time";
    else
        time.seconds = found->get<double>();
    const auto second = parsed->find("back_to_back");
    if (second != parsed->end() && second->is_number() && second->get<double>() > 0)
        time.back_to_back = second->get<double>();
    return time;
}

Verdict verdict_of(const Ratio& ratio) {
    const auto pairs = std::min(ratio.ours.size(), ratio.theirs.size());
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<stats::Estimate> ours;
    std::vector<stats::Estimate> theirs;
    std::vector<stats::Estimate> both;
    for (std::size_t i = 0; i < pairs; ++i) {
        ours.push_back({ratio.ours[i], unknown, unknown});
        theirs.push_back({ratio.theirs[i], unknown, unknown});
        both.push_back({ratio.ours[i] / ratio.theirs[i], unknown, unknown});
    }
    const auto combined = stats::combine_replicas(both);
    if (!(combined.value > 0)) return {Outcome::failed, "there was nothing to compare"};
    const auto interval = combined.low > 0 && combined.high > 0 // not of one pair
                              ? fmt::format(" [{:.3f}, {:.3f}]", combined.low, combined.high)
                              : std::string{};
    return {Outcome::passed,
            fmt::format("{:.3f}{}: {} against {}, {} pairs", combined.value, interval,
                        record::human(stats::combine_replicas(ours).value, ratio.unit),
                        record::human(stats::combine_replicas(theirs).value, ratio.unit), pairs)};
}

bool has(const Report& report, Outcome outcome) {
    return std::ranges::any_of(report.rows,
                               [&](const Row& row) { return row.verdict.outcome == outcome; });
}

json::Value to_json(const Report& report) {
    json::Value rows = json::Value::array();
    for (const auto& row : report.rows)
        rows.push_back({{"part", row.part},
                        {"name", row.name},
                        {"outcome", to_string(row.verdict.outcome)},
                        {"words", row.verdict.words},
                        {"seconds", row.seconds}});
    json::Value ratios = json::Value::array();
    for (const auto& r : report.ratios)
        ratios.push_back(
            {{"name", r.name}, {"unit", r.unit}, {"assay", r.ours}, {"pytorch", r.theirs}});
    return {{"schema", "assay.gpu-check/2"}, {"date", report.date},
            {"version", report.version},     {"part", report.part},
            {"state", report.state},         {"budget_seconds", report.budget},
            {"seconds", report.seconds},     {"rows", std::move(rows)},
            {"turns", std::move(ratios)},    {"left_out", report.left_out}};
}

std::string to_text(const Report& report) {
    auto out = fmt::format("gpu-check {} of {}: {} after {:.0f} s of {:.0f} s\n", report.part,
                           report.date, report.state, report.seconds, report.budget);
    for (const auto outcome : {Outcome::failed, Outcome::cut_off, Outcome::missing,
                               Outcome::not_started, Outcome::skipped, Outcome::passed})
        if (const auto table = table_of(report.rows, outcome); !table.empty())
            out += fmt::format("\n{}\n{}", to_string(outcome), table);
    if (!report.left_out.empty())
        out += fmt::format("\nno room in the archive for: {}\n", fmt::join(report.left_out, ", "));
    return out;
}

std::string to_markdown(const Report& report) {
    const auto chip = std::ranges::find(report.rows, "driver", &Row::name);
    std::string out = fmt::format("{}, {}\n\n| benchmark | what was tried |\n| --- | --- |\n",
                                  chip == report.rows.end() ? "" : chip->verdict.words,
                                  report.date.substr(0, report.date.find('T')));
    std::vector<std::string> seen;
    for (const auto& row : report.rows) {
        const auto name = row.name.substr(0, row.name.find(' '));
        if (!name.ends_with(']') || std::ranges::find(seen, name) != seen.end()) continue;
        seen.push_back(name);
        std::string tried;
        for (const auto& other : report.rows)
            if (other.name.substr(0, other.name.find(' ')) == name &&
                other.verdict.outcome != Outcome::not_started)
                tried +=
                    fmt::format("{}{}{} {}{}{}", tried.empty() ? "" : "; ", other.part,
                                other.name.substr(name.size()), to_string(other.verdict.outcome),
                                other.verdict.words.empty() ? "" : ": ", other.verdict.words);
        if (!tried.empty()) out += fmt::format("| {} | {} |\n", name, tried);
    }
    return out;
}

} // namespace assay::gpu
