// SPDX-License-Identifier: Apache-2.0
#include "outcomes.hpp"

#include "record/convert.hpp"
#include "record/format.hpp"
#include "record/summary.hpp"
#include "stats/interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace assay::gpu {
namespace {

std::string text_at(const json::Value& object, const char* key) {
    if (!object.is_object()) return {};
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

const json::Value& list_at(const json::Value& object, const char* key) {
    static const json::Value none = json::Value::array();
    if (!object.is_object()) return none;
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : none;
}

/// Only these run the benchmark; the others look at its table.
bool measures(std::string_view test) {
    return test.find("SaysWhatFits") != test.npos || test.find("CanBePrepared") != test.npos;
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

/// The first line, shortened.
std::string shortened(std::string text) {
    constexpr std::size_t longest = 300;
    text = text.substr(0, text.find('\n'));
    return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

json::Value to_json(const Verdict& verdict) {
    return {{"outcome", to_string(verdict.outcome)}, {"words", verdict.words}};
}

std::string case_words(const record::Case& c) {
    if (c.metrics.empty() || !c.metrics.front().value)
        return fmt::format("{}: {}", record::to_string(c.status), c.reason);
    const auto& metric = c.metrics.front();
    std::string words = record::human(*metric.value, metric.unit);
    if (const auto share = record::share_of_ceiling(c))
        words += fmt::format(" ({:.0f}% of its ceiling)", 100 * *share);
    return words;
}

std::string parameter_words(const record::Case& c) {
    std::string words;
    for (const auto& [name, value] : c.parameters)
        words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, record::to_string(value));
    return words;
}

bool is_bad(const record::Case& c) {
    return c.status != record::Status::ok && c.status != record::Status::unstable &&
           c.status != record::Status::skipped;
}

} // namespace

std::string_view to_string(Outcome outcome) {
    switch (outcome) {
    case Outcome::passed:
        return "passed";
    case Outcome::failed:
        return "failed";
    case Outcome::skipped:
        return "skipped";
    case Outcome::missing:
        break;
    }
    return "missing";
}

Verdict read_contract(std::string_view text) {
    const auto parsed = json::parse(text, "the contract tests");
    if (!parsed) return {Outcome::failed, "the tests did not get to their end"};
    int ran = 0;
    int skipped = 0;
    for (const auto& suite : list_at(*parsed, "testsuites"))
        for (const auto& test : list_at(suite, "testsuite")) {
            const auto& failures = list_at(test, "failures");
            const auto name = text_at(test, "name");
            if (!failures.empty())
                return {Outcome::failed,
                        shortened(fmt::format("{}: {}", name, text_at(failures[0], "failure")))};
            if (!measures(name)) continue;
            ++ran;
            skipped += text_at(test, "result") == "SKIPPED" ? 1 : 0;
        }
    if (ran == 0) return {Outcome::failed, "no test ran"};
    if (ran == skipped) return {Outcome::skipped, "does not apply here"};
    return {Outcome::passed, ""};
}

Verdict read_sanitizer(std::string_view log) {
    auto count = number_after(log, "ERROR SUMMARY:");
    if (!count) count = number_after(log, "RACECHECK SUMMARY:");
    if (!count) return {Outcome::failed, "it did not get to its summary"};
    if (*count == 0) return {Outcome::passed, ""};
    return {Outcome::failed, fmt::format("{} errors", *count)};
}

PeerRate read_peer(std::string_view line) {
    const auto parsed = json::parse(line, "the peer");
    if (!parsed) return {.problem = "the peer said nothing that can be read"};
    PeerRate rate{.version = text_at(*parsed, "torch"), .problem = text_at(*parsed, "problem")};
    if (!rate.problem.empty()) return rate;
    const auto found = parsed->is_object() ? parsed->find("flop_rate") : parsed->end();
    if (found == parsed->end() || !found->is_number() || !(found->get<double>() > 0))
        rate.problem = "the peer gave no rate";
    else
        rate.flop_rate = found->get<double>();
    return rate;
}

Ratio ratio_of(std::string precision, const std::vector<double>& ours,
               const std::vector<double>& peer) {
    Ratio ratio{.precision = std::move(precision), .problem = {}};
    const auto pairs = std::min(ours.size(), peer.size());
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<stats::Estimate> own;
    std::vector<stats::Estimate> other;
    std::vector<stats::Estimate> both;
    for (std::size_t i = 0; i < pairs; ++i) {
        own.push_back({ours[i], unknown, unknown});
        other.push_back({peer[i], unknown, unknown});
        both.push_back({ours[i] / peer[i], unknown, unknown});
    }
    const auto combined = stats::combine_replicas(both);
    ratio.ours = stats::combine_replicas(own).value;
    ratio.peer = stats::combine_replicas(other).value;
    ratio.value = combined.value;
    ratio.low = combined.low;
    ratio.high = combined.high;
    if (!(ratio.value > 0)) ratio.problem = "there was nothing to compare";
    return ratio;
}

bool is_good(const Report& report) {
    bool any = false;
    for (const auto& row : report.rows) {
        for (const auto* verdict : {&row.contract, &row.memory, &row.races}) {
            if (verdict->outcome == Outcome::failed) return false;
            any = any || verdict->outcome == Outcome::passed;
        }
        if (std::ranges::any_of(row.cases, is_bad)) return false;
    }
    return any && report.quick_problem.empty();
}

json::Value to_json(const Report& report) {
    json::Value rows = json::Value::array();
    for (const auto& row : report.rows) {
        json::Value cases = json::Value::array();
        for (const auto& c : row.cases) cases.push_back(record::to_json(c));
        rows.push_back({{"benchmark", row.benchmark},
                        {"contract", to_json(row.contract)},
                        {"memcheck", to_json(row.memory)},
                        {"racecheck", to_json(row.races)},
                        {"cases", std::move(cases)}});
    }
    json::Value ratios = json::Value::array();
    for (const auto& r : report.ratios)
        ratios.push_back({{"precision", r.precision},
                          {"assay_flop_rate", r.ours},
                          {"torch_flop_rate", r.peer},
                          {"ratio", r.value},
                          {"low", r.low},
                          {"high", r.high},
                          {"problem", r.problem}});
    record::Machine machine;
    machine.devices = report.devices;
    machine.software = report.software;
    const auto described = record::to_json(machine);
    const auto part = [&](const char* key, json::Value none) {
        const auto found = described.find(key);
        return found == described.end() ? std::move(none) : *found;
    };
    return {{"schema", "assay.gpu-check/1"},
            {"date", report.date},
            {"version", report.version},
            {"devices", part("devices", json::Value::array())},
            {"software", part("software", json::Value::object())},
            {"good", is_good(report)},
            {"quick_seconds",
             report.quick_seconds ? json::Value(*report.quick_seconds) : json::Value(nullptr)},
            {"quick_problem", report.quick_problem},
            {"benchmarks", std::move(rows)},
            {"pytorch", std::move(ratios)}};
}

std::string to_text(const Report& report) {
    std::string out;
    for (const auto& device : report.devices)
        out += fmt::format("{} {} (compute capability {})\n", device.index, device.name,
                           device.compute_capability);
    out += fmt::format("\n{:<32} {:<9} {:<9} {:<9}\n", "BENCHMARK", "CONTRACT", "MEMCHECK",
                       "RACECHECK");
    for (const auto& row : report.rows) {
        out += fmt::format("{:<32} {:<9} {:<9} {:<9}\n", row.benchmark,
                           to_string(row.contract.outcome), to_string(row.memory.outcome),
                           to_string(row.races.outcome));
        for (const auto* verdict : {&row.contract, &row.memory, &row.races})
            if (verdict->outcome == Outcome::failed) out += fmt::format("    {}\n", verdict->words);
        for (const auto& c : row.cases)
            out += fmt::format("    {:<50} {}\n", parameter_words(c), case_words(c));
    }
    if (report.quick_seconds)
        out += fmt::format("\nquick on the device: {:.0f} s\n", *report.quick_seconds);
    if (!report.quick_problem.empty()) out += fmt::format("\nquick: {}\n", report.quick_problem);
    if (!report.ratios.empty()) out += "\ngemm.square[cublaslt] 8192 against PyTorch, by turns\n";
    for (const auto& r : report.ratios)
        out += r.problem.empty()
                   ? fmt::format("    {:<6} {:.3f} [{:.3f}, {:.3f}]  {} against {}\n", r.precision,
                                 r.value, r.low, r.high, record::human(r.ours, "FLOP/s"),
                                 record::human(r.peer, "FLOP/s"))
                   : fmt::format("    {:<6} {}\n", r.precision, r.problem);
    return out;
}

std::string to_markdown(const Report& report) {
    std::string out = "| benchmark | contract | memcheck | racecheck | on which chip, with what |\n"
                      "| --- | --- | --- | --- | --- |\n";
    const auto chip = report.devices.empty() ? std::string{"no device"} : report.devices[0].name;
    for (const auto& row : report.rows) {
        std::string figures;
        for (const auto& c : row.cases)
            figures += fmt::format("; {} {}", parameter_words(c), case_words(c));
        out += fmt::format("| {} | {} | {} | {} | {}, {}{} |\n", row.benchmark,
                           to_string(row.contract.outcome), to_string(row.memory.outcome),
                           to_string(row.races.outcome), chip, report.date.substr(0, 10), figures);
    }
    return out;
}

} // namespace assay::gpu
