// SPDX-License-Identifier: Apache-2.0

#include "import/draft.hpp"

#include "base/hash.hpp"
#include "base/sha256.hpp"
#include "base/version.hpp"
#include "extract/times.hpp"
#include "json/words.hpp"
#include "record/metrics.hpp"
#include "record/summary.hpp"
#include "stats/interval.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace assay::imports {
namespace {

/// Groups of this many values at most are kept in a run, as of our own measurements.
constexpr std::size_t kept_values = 200;

/// Keeps ids of imported machines apart from those of machines that we saw ourselves.
constexpr std::string_view application = "assay.imported/1";

constexpr std::size_t id_digits = 16;

/// Means of groups of consecutive values, equal in size.
void shorten(record::Replica& replica) {
    const std::size_t group = (replica.values.size() + kept_values - 1) / kept_values;
    if (group <= 1) return;
    std::vector<double> kept;
    for (std::size_t i = 0; i + group <= replica.values.size(); i += group) {
        double sum = 0;
        for (std::size_t k = 0; k < group; ++k) sum += replica.values[i + k];
        kept.push_back(sum / static_cast<double>(group));
    }
    replica.values = std::move(kept);
    if (replica.calls) *replica.calls *= group;
}

bool is_control(char c) {
    constexpr unsigned char first_printed = 0x20;
    constexpr char deleted = 0x7f;
    return static_cast<unsigned char>(c) < first_printed || c == deleted;
}

void conclude_replica(record::Replica& replica) {
    if (replica.values.empty()) return;
    replica.batches = replica.values.size();
    shorten(replica);
    const auto interval = stats::batch_means_interval(replica.values);
    replica.seconds = interval.mean;
    if (!std::isfinite(interval.low)) return;
    replica.low = interval.low;
    replica.high = interval.high;
}

std::string warning_of(const record::Case& c, std::string_view tool) {
    return c.verification && c.verification->passed
               ? fmt::format("Imported: checked by {} itself, not by assay.", tool)
               : "Imported: not verified by assay.";
}

} // namespace

Draft::Draft(std::string tool, const ImportOptions& options)
    : tool_{std::move(tool)}, options_{options} {
    import_.tool = tool_;
    import_.run.imported = record::Imported{.tool = tool_};
}

void Draft::begin_process(std::string where) { processes_.push_back({std::move(where), {}}); }

void Draft::skip(std::string where, std::string_view text, std::string reason, bool is_in_front) {
    constexpr std::size_t shown = 120; // bytes of a line: enough to find it by
    constexpr std::size_t most = 100'000;
    if (import_.not_understood.size() >= most)
        return note("too many lines were not understood to list all");
    explain(where, "refused: " + reason);
    import_.not_understood.push_back(
        {std::move(where), json::show_text(text, shown), std::move(reason), is_in_front});
}

void Draft::note(const std::string& text, bool many) {
    auto& notes = import_.run.imported->notes;
    constexpr std::size_t most = 5;
    constexpr std::size_t most_of_all = 100;
    if (notes.size() == most_of_all || (many && many_ == most) ||
        std::ranges::find(notes, text) != notes.end())
        return;
    many_ += many ? 1 : 0;
    notes.push_back(text);
}

void Draft::explain(const std::string& where, std::string_view what) {
    constexpr std::size_t most = 100'000;
    constexpr std::size_t shown = 200; // bytes
    if (options_.explained != nullptr && options_.explained->size() < most)
        options_.explained->push_back({where, std::string{what.substr(0, shown)}});
}

void Draft::add_host(std::string_view name) {
    if (name.empty()) return;
    processes_.back().hosts.emplace(name);
    hosts_.emplace(name);
}

void Draft::set_tool_version(std::string_view version) {
    if (version.starts_with('v')) version.remove_prefix(1);
    if (version.empty() || !import_.run.imported->tool_version.empty()) return;
    import_.run.imported->tool_version = version;
    add_software(tool_ + ".version", version);
}

void Draft::add_software(const std::string& name, std::string_view version) {
    if (!version.empty() && record::find(machine().software, name) == nullptr)
        machine().software.push_back({name, std::string{version}});
}

void Draft::set_started(std::string_view text) {
    const auto moment = moment_of(text);
    if (!moment) return note(fmt::format("invalid date {}", json::show_text(text)));
    if (!moment->has_zone) note("its date has no time zone; UTC is assumed");
    run().started = moment->utc;
}

void Draft::set_ended(std::string_view text) {
    if (const auto moment = moment_of(text)) run().ended = moment->utc;
}

void Draft::add(Reading reading) {
    const auto is_text = [](const record::Named& parameter) {
        const auto* text = std::get_if<std::string>(&parameter.value);
        return text == nullptr || std::ranges::none_of(*text, is_control);
    };
    if (!std::ranges::all_of(reading.parameters, is_text) ||
        std::ranges::any_of(reading.name, is_control))
        return skip(reading.where, reading.name, "contains control characters");
    record::Case c;
    c.benchmark = fmt::format("external.{}.{}", tool_, reading.name);
    const auto first_of = [](const std::string& said, const std::string& found,
                             std::string_view otherwise) {
        if (!said.empty()) return said;
        return found.empty() ? std::string{otherwise} : found;
    };
    c.place.kind = first_of(options_.place, reading.place, "host");
    c.library = first_of(options_.library, reading.library, tool_);
    c.settings = reading.settings;
    c.work = reading.work;
    c.headline = reading.headline;
    c.status = reading.status;
    c.reason = reading.reason;
    // A name stands once in a result; a broken output may say it twice.
    const auto take = [&c](const record::NamedList& parameters) {
        for (const auto& parameter : parameters)
            if (record::find(c.parameters, parameter.name) == nullptr)
                c.parameters.push_back(parameter);
    };
    take(reading.parameters);
    take(options_.parameters);
    const auto [entry, is_new] = by_identity_.try_emplace(record::identity(c), cases_.size());
    if (is_new) cases_.push_back({.result = std::move(c)});
    add_to(cases_[entry->second], reading);
}

void Draft::add_to(Gathered& gathered, const Reading& reading) {
    auto& c = gathered.result;
    // A wrong result in one place is a wrong result.
    if (reading.verification && (!c.verification || c.verification->passed))
        c.verification = reading.verification;
    if (reading.status != record::Status::ok) {
        if (!gathered.processes.empty())
            skip(reading.where, reading.reason, "the same case failed after it had given values");
        return;
    }
    const std::size_t process = processes_.size() - 1;
    const bool same_process = !gathered.processes.empty() && gathered.processes.back() == process;
    if (same_process) {
        auto& replica = c.replicas.back();
        if (!reading.seconds)
            return skip(reading.where, record::identity(c),
                        "duplicate case: the first one is used");
        replica.values.push_back(*reading.seconds);
        constexpr double other_work = 1.5; // times; noise of repetitions is less
        const double ratio = *reading.seconds / replica.values.front();
        if (ratio > other_work || ratio < 1 / other_work)
            note(fmt::format("{} was measured several times in one output, with times that differ "
                             "by more than half; its value is their mean",
                             c.benchmark),
                 true);
        if (replica.calls != reading.calls) replica.calls.reset();
        // Ends of what was seen grow apart; of other figures the first stays.
        for (const auto& figure : reading.extra)
            for (auto& known : replica.extra)
                if (known.name == figure.name) {
                    const double a = std::get<double>(known.value);
                    const double b = std::get<double>(figure.value);
                    const bool lowest =
                        known.name.starts_with("fastest_") || known.name.starts_with("worst_");
                    if (lowest || known.name.starts_with("slowest_") ||
                        known.name.starts_with("best_"))
                        known.value = lowest ? std::min(a, b) : std::max(a, b);
                }
        return;
    }
    record::Replica replica{.index = static_cast<int>(gathered.processes.size()),
                            .started = run().started,
                            .status = record::Status::ok,
                            .calls = reading.calls,
                            .p99 = reading.p99,
                            .extra = reading.extra};
    if (reading.seconds) replica.values.push_back(*reading.seconds);
    if (reading.table) replica.tables.push_back(*reading.table);
    c.status = record::Status::ok;
    c.reason.clear();
    c.replicas.push_back(std::move(replica));
    gathered.processes.push_back(process);
    refuse_other_hosts(gathered);
}

void Draft::refuse_other_hosts(const Gathered& gathered) {
    const auto& a = processes_[gathered.processes.front()];
    const auto& b = processes_[gathered.processes.back()];
    if (&a != &b)
        note("several outputs in the file have the same cases: each counts as a process of one "
             "measurement");
    if (a.hosts.empty() || b.hosts.empty() || a.hosts == b.hosts || !refusal_.empty()) return;
    const auto names = [](const Process& process) {
        constexpr std::size_t shown = 60; // bytes
        return json::show_text(fmt::format("{}", fmt::join(process.hosts, ", ")), shown);
    };
    refusal_ =
        fmt::format("{}{} hold the same case, measured on different hosts ({} and {}): put each "
                    "into a file of its own",
                    a.where.empty() ? "its first output and "
                                    : "the outputs that begin at " + a.where + " and ",
                    b.where, names(a), names(b));
}

void Draft::finish_case(Gathered& gathered) const {
    auto& c = gathered.result;
    for (auto& replica : c.replicas) {
        replica.started = import_.run.started;
        conclude_replica(replica);
    }
    record::conclude(c, static_cast<int>(c.replicas.size()));
    if (!c.metrics.empty()) c.warnings.push_back(warning_of(c, tool_));
}

void Draft::finish_machine(std::string_view digest) {
    auto& m = machine();
    m.provider = options_.provider;
    m.instance = options_.instance;
    if (!options_.cpu_model.empty()) m.cpu_model = options_.cpu_model;
    if (!options_.machine.empty()) {
        m.id = options_.machine;
        return;
    }
    std::string facts;
    if (!options_.label.empty()) {
        facts = options_.label;
    } else {
        for (const auto& host : hosts_) facts += host + '\n';
    }
    if (facts.empty()) {
        // Nobody knows which machine it was: no other file may be taken for one of the same.
        import_.unknown.emplace_back("--machine or --label");
        facts = digest;
    }
    m.id = to_hex(hmac_sha256(application, facts)).substr(0, id_digits);
}

Result<Import> Draft::finish(std::string_view content, std::string_view source,
                             std::string format) {
    if (is_full())
        return fail(fmt::format("{}: more than {} cases, the most that one import takes; "
                                "split the file",
                                source, options_.cases));
    if (!refusal_.empty()) {
        const bool is_lines = content.find("}\n{") != std::string_view::npos;
        return fail(fmt::format("{}: {}{}", source, refusal_,
                                is_lines ? fmt::format(": split -l 1 {} node-", source) : ""));
    }
    const bool any = std::ranges::any_of(
        cases_, [](const auto& gathered) { return !gathered.processes.empty(); });
    if (!any) {
        std::string reason = "it has no result line";
        // Text of a launcher in front says least.
        const auto& unread = import_.not_understood;
        const auto told = std::ranges::find(unread, false, &NotUnderstood::is_in_front);
        if (!unread.empty()) {
            const auto& line = told == unread.end() ? unread.front() : *told;
            reason = fmt::format("{}: {}", line.where, line.reason);
        } else if (!cases_.empty()) {
            reason = "no case has a value: " + cases_.front().result.reason;
        } else if (!import_.run.imported->notes.empty()) {
            reason += "; " + import_.run.imported->notes.front();
        }
        return fail(fmt::format("{}: read as {}, but {}", source, tool_, reason));
    }
    const std::string digest = to_hex(sha256(content));
    auto& run = import_.run;
    if (!options_.started.empty()) {
        const auto moment = moment_of(options_.started);
        if (!moment)
            return fail(
                fmt::format("--started: invalid time {} (expected e.g. 2026-01-31T12:34:56Z)",
                            json::show_text(options_.started)));
        run.started = moment->utc;
    }
    if (!run.ended.empty() && run.ended < run.started) {
        // With --started the file's end belongs to another start, and is silently left out.
        if (options_.started.empty()) note("its end was left out: it lies before its start");
        run.ended.clear();
    }
    if (std::ranges::any_of(cases_, [](const auto& c) { return c.result.place.kind == "unknown"; }))
        import_.unknown.emplace_back("--place");
    if (run.started.empty()) import_.unknown.emplace_back("--started");
    run.id = fmt::format("import-{}-{}", tool_, digest.substr(0, id_digits));
    run.suite = "imported";
    run.status = "done";
    run.version = version();
    run.imported->format = std::move(format);
    run.imported->file = std::filesystem::path{source}.filename().string();
    run.imported->sha256 = digest;
    finish_machine(digest);
    std::string plan;
    for (auto& gathered : cases_) {
        finish_case(gathered);
        plan += record::identity(gathered.result) + '\n';
        run.cases.push_back(std::move(gathered.result));
    }
    run.digest = hash_of(plan);
    return std::move(import_);
}

} // namespace assay::imports
