// SPDX-License-Identifier: Apache-2.0
#include "record/journal.hpp"

#include "base/crc32.hpp"
#include "record/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::record {

template <class Visit>
void each_field(Visit&& visit, Maybe<JournalHeader> auto& header) {
    visit("run", header.run);
    visit("suite", header.suite);
    visit("started", header.started);
    visit("version", header.version);
    visit("digest", header.digest);
    visit("machine", header.machine);
    visit("replicas", header.replicas);
    visit("modules", header.modules);
    visit("pairing", header.pairing);
    visit("seed", header.seed);
    visit("campaign", header.campaign);
    visit("note", header.note);
    visit("tags", header.tags);
    visit("cases", header.cases);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<JournalStep> auto& step) {
    visit("case", step.case_index);
    visit("result", step.result);
}

namespace {

constexpr const char* checksum_differs = "damaged: checksum differs";
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

Result<JournalHeader> header_from(std::string_view line, const std::string& source,
                                  bool& has_crcs) {
    const auto value = json::parse(line, source);
    if (!value) return tl::unexpected{value.error()};
    json::Document document{*value, source};
    const auto root = document.root();
    std::string schema;
    root.read("schema", schema);
    has_crcs = schema == journal_schema_name;
    if (!has_crcs && schema != first_journal_schema_name)
        root.expected("schema", fmt::format("\"{}\"", journal_schema_name));
    if (auto read = document.result(); !read) return tl::unexpected{read.error()};
    if (has_crcs && !has_crc(line)) return fail(fmt::format("{}: {}", source, checksum_differs));
    return json::read<JournalHeader>(*value, source);
}

Result<JournalStep> step_from(std::string_view line, const std::string& source, bool has_crcs) {
    if (has_crcs && !has_crc(line)) return fail(fmt::format("{}: {}", source, checksum_differs));
    const auto value = json::parse(line, source);
    if (!value) return tl::unexpected{value.error()};
    return json::read<JournalStep>(*value, source);
}

} // namespace

Result<JournalContent> parse_journal(std::string_view text, std::string_view source) {
    JournalContent content;
    bool has_crcs = true;
    std::size_t number = 0;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        const std::string place = fmt::format("{}: line {}", source, ++number);
        const auto line = text.substr(0, end);
        if (!content.header) {
            auto header = header_from(line, place, has_crcs);
            if (!header) return tl::unexpected{std::move(header).error()};
            content.header = *std::move(header);
        } else if (auto step = step_from(line, place, has_crcs)) {
            content.steps.push_back(*std::move(step));
        } else {
            content.damaged.push_back(std::move(step).error().message);
        }
        text.remove_prefix(end + 1);
        content.bytes += end + 1;
    }
    return content;
}

Result<JournalContent> read_journal(const std::filesystem::path& path, std::size_t limit) {
    const auto text = read_whole(path, limit);
    if (!text) return tl::unexpected{text.error()};
    return parse_journal(*text, path.string());
}

Result<Journal> Journal::create(const std::filesystem::path& path, const JournalHeader& header) {
    auto file = LineFile::open(path);
    if (!file) return tl::unexpected{file.error()};
    if (file->bytes() > 0)
        return fail(fmt::format("{} holds a run already: it is not overwritten", path.string()));
    json::Value first{{"schema", journal_schema_name}};
    first.update(json::encode(header));
    if (!header.pairing) first.erase("pairing");
    if (auto written = file->add(sealed(first)); !written)
        return tl::unexpected{std::move(written).error()};
    flush_folder(path.parent_path());
    return Journal{*std::move(file)};
}

Result<Journal> Journal::resume(const std::filesystem::path& path, const JournalContent& content) {
    auto file = LineFile::open(path);
    if (!file) return tl::unexpected{file.error()};
    // Another line was written between our read and our lock.
    if (file->bytes() != content.bytes)
        return fail(fmt::format("{} has {} since it was read: try again", path.string(),
                                file->bytes() > content.bytes ? "grown" : "become shorter"),
                    Fault::environment);
    return Journal{*std::move(file)};
}

Result<void> Journal::add(const JournalStep& step) { return file_.add(sealed(json::encode(step))); }

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
