// SPDX-License-Identifier: Apache-2.0
#include "record/journal.hpp"

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
    visit("pairing", header.pairing);
}

template <class Visit>
void each_field(Visit&& visit, Maybe<JournalStep> auto& step) {
    visit("case", step.case_index);
    visit("result", step.result);
}

namespace {

Result<JournalHeader> header_from(const json::Value& value, const std::string& source) {
    json::Document document{value, source};
    const auto root = document.root();
    std::string schema;
    root.read("schema", schema);
    if (schema != journal_schema_name)
        root.expected("schema", fmt::format("\"{}\"", journal_schema_name));
    if (auto read = document.result(); !read) return tl::unexpected{read.error()};
    return json::read<JournalHeader>(value, source);
}

} // namespace

Result<JournalContent> parse_journal(std::string_view text, std::string_view source) {
    JournalContent content;
    std::size_t number = 0;
    for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
        const std::string place = fmt::format("{}: line {}", source, ++number);
        const auto value = json::parse(text.substr(0, end), place);
        if (!value) return tl::unexpected{value.error()};
        if (!content.header) {
            auto header = header_from(*value, place);
            if (!header) return tl::unexpected{std::move(header).error()};
            content.header = *std::move(header);
        } else {
            auto step = json::read<JournalStep>(*value, place);
            if (!step) return tl::unexpected{std::move(step).error()};
            content.steps.push_back(*std::move(step));
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
    if (auto written = file->add(json::to_line(first)); !written)
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

Result<void> Journal::add(const JournalStep& step) {
    return file_.add(json::to_line(json::encode(step)));
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
    for (std::string& warning : step.warnings)
        if (std::ranges::find(into.warnings, warning) == into.warnings.end())
            into.warnings.push_back(std::move(warning));
    if (into.replicas.empty()) set_conclusion(into, conclusion(step));
}

} // namespace assay::record
