// SPDX-License-Identifier: Apache-2.0
#include "record/journal.hpp"

#include "base/hash.hpp"
#include "record/layout.hpp"
#include "record/noise.hpp"
#include "record/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace assay::record {

ASSAY_FIELDS(JournalHeader, run, suite, started, version, digest, machine, replicas, modules,
             pairing, seed, campaign, note, tags, cases)

ASSAY_FIELDS(JournalStep, (record.case_index, "case"), result)

namespace {

constexpr double usual_target = 0.02; // relative half width
constexpr const char* checksum_differs = "damaged: checksum differs";
constexpr const char* machine_key = "as_begun"; // `machine` is its id
constexpr std::string_view crc_key = R"(,"crc":")";

/// The line of a value with its checksum.
std::string sealed(const json::Value& value) {
    auto line = json::to_line(value);
    line.pop_back();
    return fmt::format("{}{}{:08x}\"}}", line, crc_key, crc32(line));
}

bool has_crc(std::string_view line) {
    constexpr std::size_t digits = 8;
    const auto length = crc_key.size() + digits + 2;
    if (line.size() < length) return false;
    const auto body = line.substr(0, line.size() - length);
    return line.substr(body.size()) == fmt::format("{}{:08x}\"}}", crc_key, crc32(body));
}

Result<void> read_header(std::string_view line, const std::string& source, bool& has_crcs,
                         JournalContent& content) {
    ASSAY_TRY(const auto value, json::parse(line, source));
    json::Document document{value, source};
    const auto root = document.root();
    std::string schema;
    root.read("schema", schema);
    has_crcs = schema == journal_schema_name;
    if (!has_crcs && schema != first_journal_schema_name)
        root.expected("schema", fmt::format("\"{}\"", journal_schema_name));
    ASSAY_TRY(document.result());
    if (has_crcs && !has_crc(line)) return fail(fmt::format("{}: {}", source, checksum_differs));
    ASSAY_TRY(content.header, json::read<JournalHeader>(value, source));
    if (!value.contains(machine_key)) return {};
    ASSAY_TRY(content.machine, json::read<Machine>(value.at(machine_key), source));
    return {};
}

Result<JournalStep> step_from(std::string_view line, const std::string& source) {
    ASSAY_TRY(const auto value, json::parse(line, source));
    return json::read<JournalStep>(value, source);
}

} // namespace

Result<JournalContent> parse_journal(std::string_view text, std::string_view source) {
    JournalContent content;
    bool has_crcs = true;
    std::size_t number = 0;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        ++number;
        const auto place = [&] { return fmt::format("{}: line {}", source, number); };
        const auto line = text.substr(0, end);
        if (!content.header) {
            ASSAY_TRY(read_header(line, place(), has_crcs, content));
        } else if (has_crcs && !has_crc(line)) { // of a million, only the first costs a message
            if (++content.damaged == 1)
                content.first_damage = fmt::format("{}: {}", place(), checksum_differs);
        } else if (auto step = step_from(line, place())) {
            content.steps.push_back(*std::move(step));
        } else if (++content.damaged == 1) {
            content.first_damage = std::move(step).error().message;
        }
        text.remove_prefix(end + 1);
        content.bytes += end + 1;
    }
    return content;
}

Result<JournalContent> read_journal(const std::filesystem::path& path, std::size_t limit) {
    ASSAY_TRY(const auto text, read_whole(path, limit));
    return parse_journal(text, path.string());
}

Result<Journal> Journal::create(const std::filesystem::path& path, const JournalHeader& header,
                                const std::optional<Machine>& machine) {
    ASSAY_TRY(auto file, LineFile::open(path));
    if (file.bytes() > 0)
        return fail(fmt::format("{} has a run already; it is not overwritten", path.string()));
    json::Value first{{"schema", journal_schema_name}};
    first.update(json::encode(header));
    if (!header.pairing) first.erase("pairing");
    if (machine) first[machine_key] = json::encode(*machine);
    ASSAY_TRY(file.add(sealed(first)));
    flush_folder(path.parent_path());
    return Journal{std::move(file)};
}

Result<Journal> Journal::resume(const std::filesystem::path& path, const JournalContent& content) {
    ASSAY_TRY(auto file, LineFile::open(path));
    // Another line was written between our read and our lock.
    if (file.bytes() != content.bytes)
        return fail(fmt::format("{} has {} since it was read; try again", path.string(),
                                file.bytes() > content.bytes ? "grown" : "become shorter"),
                    Fault::environment);
    return Journal{std::move(file)};
}

Result<void> Journal::add(const JournalStep& step) { return file_.add(sealed(json::encode(step))); }

Run run_of(JournalContent content) {
    JournalHeader header = std::move(content.header).value_or(JournalHeader{});
    Run run{.id = std::move(header.run),
            .suite = std::move(header.suite),
            .started = std::move(header.started),
            .status = std::string{to_string(Status::interrupted)},
            .version = std::move(header.version),
            .digest = std::move(header.digest),
            .pairing = std::move(header.pairing),
            .campaign = std::move(header.campaign),
            .note = std::move(header.note),
            .tags = std::move(header.tags),
            .machine = std::move(content.machine).value_or(Machine{})};
    if (run.machine.id.empty()) run.machine.id = std::move(header.machine);
    std::map<std::uint64_t, Case> cases; // in the order of the plan
    for (JournalStep& step : content.steps) {
        const auto [known, is_new] = cases.try_emplace(step.case_index, step.result);
        if (is_new) known->second.replicas.clear();
        add_step(known->second, std::move(step.result));
    }
    run.ended = run.started;
    for (auto& [index, c] : cases) {
        for (const Replica& replica : c.replicas) run.ended = std::max(run.ended, replica.started);
        const int planned = header.replicas.value_or(1);
        if (!c.spread) // older journals do not say what was expected
            c.spread =
                expected_spread(noise_level({}, NoisePlace::guest), usual_target, planned, {});
        conclude(c, planned);
        run.cases.push_back(std::move(c));
    }
    return run;
}

Result<Run> read_ended_run(const std::filesystem::path& path, std::size_t limit) {
    if (is_being_written(path))
        return fail(fmt::format("{} is being written by a run; wait until it ends", path.string()),
                    Fault::environment);
    ASSAY_TRY(auto content, read_journal(path, limit));
    if (!content.header)
        return fail(fmt::format("{}: the run ended before it measured anything", path.string()));
    return run_of(std::move(content));
}

void add_warning(std::vector<std::string>& warnings, std::string warning) {
    constexpr std::size_t most = 100;
    constexpr std::size_t most_bytes = std::size_t{64} << 10U;
    static const std::string left_out = "further warnings were left out";
    std::size_t bytes = warning.size() + left_out.size();
    for (const auto& earlier : warnings) bytes += earlier.size();
    if (warnings.size() + 1 >= most || bytes > most_bytes) warning = left_out;
    if (std::ranges::find(warnings, warning) == warnings.end())
        warnings.push_back(std::move(warning));
}

void add_step(Case& into, Case step) {
    for (Replica& replica : step.replicas) {
        const auto same = std::ranges::find(into.replicas, replica.index, &Replica::index);
        if (same != into.replicas.end())
            *same = std::move(replica);
        else
            into.replicas.push_back(std::move(replica));
    }
    std::ranges::sort(into.replicas, {}, &Replica::index);
    if (!step.settings.empty()) into.settings = std::move(step.settings);
    if (!step.evidence.empty()) into.evidence = std::move(step.evidence);
    if (!step.work.empty()) into.work = std::move(step.work);
    const bool has_failed = into.verification && !into.verification->passed;
    if (step.verification && !has_failed) into.verification = std::move(step.verification);
    for (std::string& warning : step.warnings) add_warning(into.warnings, std::move(warning));
    if (into.replicas.empty()) set_conclusion(into, conclusion(step));
}

} // namespace assay::record
