// SPDX-License-Identifier: Apache-2.0
#include "record/journal.hpp"

#include "base/file.hpp"
#include "json/words.hpp"
#include "record/layout.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
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
    if (const auto schema = json::get_string(value, "schema", source); !schema)
        return tl::unexpected{schema.error()};
    else if (*schema != journal_schema_name)
        return fail(fmt::format("{}: schema: got {}, expected \"{}\"", source,
                                json::show_text(*schema), journal_schema_name));
    return json::read<JournalHeader>(value, source);
}

tl::unexpected<Error> system_error(std::string_view action, const std::filesystem::path& path) {
    return fail(fmt::format("cannot {} {}: {}", action, path.string(),
                            std::system_category().message(errno)),
                Fault::environment);
}

/// Opens for appending and takes the lock, so that two runs cannot write into each other's lines.
Result<int> open_locked(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return system_error("write", path);
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    const bool taken = errno == EWOULDBLOCK;
    auto error = taken ? fail(fmt::format("{} is being written by another run", path.string()),
                              Fault::environment)
                       : system_error("lock", path);
    ::close(fd);
    return error;
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
    const auto fd = open_locked(path);
    if (!fd) return tl::unexpected{fd.error()};
    Journal journal{path, *fd, 0};
    // What a run that died at once may have left is a piece of one line; anything more is a run.
    constexpr std::size_t longest_header = std::size_t{64} << 10U;
    const auto left = read_whole(path, longest_header);
    if (!left) return tl::unexpected{left.error()};
    if (left->find('\n') != left->npos)
        return fail(fmt::format("{} holds a run already: it is not overwritten", path.string()));
    if (::ftruncate(*fd, 0) != 0) return system_error("write", path);
    json::Value first{{"schema", journal_schema_name}};
    first.update(json::encode(header));
    if (!header.pairing) first.erase("pairing");
    if (auto written = journal.append(json::to_line(first)); !written)
        return tl::unexpected{std::move(written).error()};
    flush_folder(path.parent_path());
    return journal;
}

Result<Journal> Journal::resume(const std::filesystem::path& path, const JournalContent& content) {
    const auto fd = open_locked(path);
    if (!fd) return tl::unexpected{fd.error()};
    Journal journal{path, *fd, content.bytes};
    struct stat facts{};
    if (::fstat(*fd, &facts) != 0) return system_error("read", path);
    if (std::cmp_less(facts.st_size, content.bytes))
        return fail(fmt::format("{} has become shorter since it was read", path.string()),
                    Fault::environment);
    // A torn line is cut off; a whole one was written between our reading and our lock.
    const auto text = read_whole(path, static_cast<std::size_t>(facts.st_size));
    if (!text) return tl::unexpected{text.error()};
    if (text->find('\n', content.bytes) != text->npos)
        return fail(fmt::format("{} has grown since it was read: try again", path.string()),
                    Fault::environment);
    if (::ftruncate(*fd, static_cast<off_t>(content.bytes)) != 0)
        return system_error("write", path);
    return journal;
}

Journal::Journal(std::filesystem::path path, int descriptor, std::uint64_t bytes)
    : path_{std::move(path)}, descriptor_{descriptor}, bytes_{bytes} {}

Journal::Journal(Journal&& other) noexcept
    : path_{std::move(other.path_)}, descriptor_{std::exchange(other.descriptor_, -1)},
      bytes_{other.bytes_} {}

Journal& Journal::operator=(Journal&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

Journal::~Journal() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> Journal::add(const JournalStep& step) {
    return append(json::to_line(json::encode(step)));
}

Result<void> Journal::append(std::string line) {
    line += '\n';
    if (write_all(descriptor_, line) && ::fdatasync(descriptor_) == 0) {
        bytes_ += line.size();
        return {};
    }
    auto error = system_error("write", path_);
    // Half a line must not stay: the next one would be glued to it. Where it cannot be taken back,
    // nothing more is written.
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0)
        ::close(std::exchange(descriptor_, -1));
    return error;
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
    if (!step.work.empty()) into.work = std::move(step.work);
    const bool has_failed = into.verification && !into.verification->passed;
    if (step.verification && !has_failed) into.verification = std::move(step.verification);
    for (std::string& warning : step.warnings)
        if (std::ranges::find(into.warnings, warning) == into.warnings.end())
            into.warnings.push_back(std::move(warning));
    if (into.replicas.empty()) {
        into.status = step.status;
        into.reason = std::move(step.reason);
        into.reason_code = step.reason_code;
    }
}

} // namespace assay::record
