// SPDX-License-Identifier: Apache-2.0
//
// What nccl-tests and rccl-tests print, from 2.0 to 2.19. The line of titles says which columns there are: they changed
// over the years (res for error for #wrong, figures of single iterations, time stamps). A file may hold several outputs.

#include "import/lines.hpp"
#include "import/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace assay::imports {
namespace {

using Words = std::vector<std::string_view>;

std::size_t position_of(const Words& titles, std::string_view title, std::size_t from = 0) {
    for (std::size_t i = from; i < titles.size(); ++i)
        if (titles[i] == title) return i;
    return titles.size();
}

/// The word after `key`: "20" after "iters:" in "warmup iters: 5 iters: 20".
std::string_view after(const Words& words, std::string_view key, std::string_view not_after = "") {
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
        if (words[i] == key && (not_after.empty() || i == 0 || words[i - 1] != not_after))
            return words[i + 1];
    return {};
}

/// What stands behind the first colon: "2.27.7" of "RCCL version : 2.27.7".
std::string_view value_of(std::string_view line) {
    return trimmed(line.substr(std::min(line.find(':'), line.size() - 1) + 1));
}

/// The program in a line that starts it: "+ mpirun -np 8 ./all_reduce_perf -b 8".
std::string_view program_in(const Words& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto name = words[i].substr(words[i].find_last_of('/') + 1);
        if (name.find("_perf") == std::string_view::npos || nccl::collective_of(name).empty())
            continue;
        if (i + 1 == words.size() || words[i + 1].starts_with('-')) return words[i];
    }
    return {};
}

/// Parts of one output, in the order in which they are printed; one that comes again begins another output.
enum class Part : std::uint8_t { nothing, version, name, settings, devices, titles };

/// What one output says before its results.
struct Output {
    Part part = Part::nothing;
    std::string where;     ///< its first line
    std::string_view said; ///< its program
    nccl::Table table;
    std::int64_t ranks_each = 1;                ///< of one process
    std::map<std::int64_t, std::size_t> listed; ///< rank to line
    std::map<std::string_view, std::int64_t>
        groups;   ///< communicators of NCCL_TESTS_SPLIT and their ranks
    Words titles; ///< parts of a text that outlives this reader
    bool has_wrong = true;
    bool in_milliseconds = false;
    std::size_t ended = 0; ///< line
};

class Reader {
public:
    Reader(std::string_view source, Draft& draft) : source_{source}, draft_{draft} {}

    Result<void> read(std::string_view text) {
        find_programs(text);
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            number_ = lines.number();
            ASSAY_TRY(line(lines.content()));
        }
        return finish();
    }

private:
    /// Lines that start a program, in the order of the file: a shell's have no label. One that an output has ended behind
    /// names no further output.
    void find_programs(std::string_view text) {
        std::size_t number = 0;
        while (!text.empty()) {
            const auto content = trimmed(take_label(take_line(text)).rest);
            ++number;
            if (content.find("Out of bounds values") != std::string_view::npos) {
                programs_[number] = {};
            } else if (content.find("_perf") != std::string_view::npos &&
                       !content.starts_with('#')) {
                if (const auto program = program_in(words_of(content)); !program.empty())
                    programs_[number] = program;
            }
        }
    }
    std::string_view program_before(std::size_t number) const {
        const auto next = programs_.lower_bound(number);
        return next == programs_.begin() ? std::string_view{} : std::prev(next)->second;
    }

    std::string where() const { return fmt::format("line {}", number_); }
    tl::unexpected<Error> refused(const std::string& why) const {
        return fail(fmt::format("{}: {}: {}", source_, where(), why));
    }

    Result<void> line(std::string_view text) {
        const bool comment = text.starts_with('#');
        if (comment) text = trimmed(text.substr(1));
        const Words words = words_of(text);
        if (words.empty()) return {};
        if (position_of(words, "algbw") < words.size() &&
            position_of(words, "busbw") < words.size())
            return titles(words);
        if (words[0] == "nThread") return settings(words);
        if (text.starts_with("nccl-tests version")) return version(words);
        if (text.starts_with("rccl-tests:")) {
            output_.table.rccl = true;
            draft_.add_software("rccl-tests.version", after(words, "Version"));
        } else if (text.starts_with("RCCL version")) {
            output_.table.rccl = true;
            draft_.add_software("rccl.version", value_of(text));
        } else if (text.starts_with("HIP version")) {
            draft_.add_software("hip.version", value_of(text));
        } else if (text.starts_with("ROCm version")) {
            draft_.add_software("rocm.version", value_of(text));
        } else if (text.starts_with("Hostname ") || text.starts_with("Librccl path")) {
            return {}; // rccl-tests: the list of devices names the host
        } else if (text.starts_with("NCCL version ")) { // NCCL_DEBUG=VERSION: "2.27.3+cuda12.9"
            draft_.add_software("nccl.version", words[2].substr(0, words[2].find('+')));
        } else if (text.starts_with("Collective test starting:")) {
            ASSAY_TRY(begin(Part::name));
            output_.said = words.back();
        } else if (words[0] == "Rank" && comment) {
            return device(text, words);
        } else if (text.starts_with("Out of bounds values") && words.size() > 5) {
            if (output_.ended > 0) return mixed("the end of an output");
            output_.ended = number_;
            if (const auto wrong = number_of(words[5]); wrong && *wrong > 0) flush(wrong);
        } else if (text.starts_with("error:") && comment) {
            draft_.note("nccl-tests says " + std::string{text});
        } else if (!comment && !programs_.contains(number_) &&
                   !text.starts_with("Avg bus bandwidth")) {
            return row(text, words);
        }
        return {};
    }

    /// Lines of two outputs that were written at the same time cannot be told apart.
    Result<void> mixed(const char* what) const {
        return refused(fmt::format("{} stands behind the end of another at line {}: outputs of two "
                                   "jobs are mixed; put each into a file of its own",
                                   what, output_.ended));
    }

    /// A part of an output; the first of another one where it does not follow.
    Result<void> begin(Part part) {
        const bool follows = part > output_.part || (part == Part::devices && part == output_.part);
        if (!follows || output_.part == Part::nothing) {
            ASSAY_TRY(finish());
            output_ = {};
            output_.where = where();
            output_.said = program_before(number_);
            draft_.begin_process(where());
        }
        output_.part = part;
        return {};
    }

    /// Of one output.
    Result<void> finish() {
        flush(std::nullopt);
        return nccl::check_bandwidths(output_.table, source_);
    }

    Result<void> version(const Words& words) {
        ASSAY_TRY(begin(Part::version));
        draft_.set_tool_version(after(words, "version"));
        for (const auto word : words)
            if (word.starts_with("nccl-library="))
                if (const auto code = integer_of(word.substr(word.find('=') + 1)))
                    draft_.add_software("nccl.version", nccl::version_of(*code));
        return {};
    }

    Result<void> settings(const Words& words) {
        ASSAY_TRY(begin(Part::settings));
        auto& table = output_.table;
        if (const auto iterations = integer_of(after(words, "iters:", "warmup"));
            iterations && *iterations > 0)
            table.iterations = static_cast<std::uint64_t>(*iterations);
        for (const auto& [key, name] :
             {std::pair{"nThread", "nthreads"}, {"nGpus", "ngpus"}, {"graph:", "graph"}})
            if (const auto value = integer_of(after(words, key)))
                table.settings.push_back({name, *value});
        constexpr std::int64_t most = 4096; // threads, and devices of one process
        for (const char* key : {"nThread", "nGpus"})
            if (const auto value = integer_of(after(words, key)).value_or(1);
                value >= 1 && value <= most)
                output_.ranks_each *= value;
        return {};
    }

    Result<void> device(std::string_view text, const Words& words) {
        constexpr std::int64_t most = 10'000'000;
        const auto rank = integer_of(words.size() > 1 ? words[1] : "");
        if (!rank || *rank < 0 || *rank > most) {
            draft_.skip(where(), text, "it names no rank");
            return {};
        }
        ASSAY_TRY(begin(Part::devices));
        const auto [entry, is_new] = output_.listed.try_emplace(*rank, number_);
        if (!is_new)
            return refused(fmt::format("rank {} is listed again, first at line {}: the list of "
                                       "ranks contradicts itself, as of two jobs that are mixed",
                                       *rank, entry->second));
        ++output_.groups[after(words, "Group")];
        draft_.add_host(after(words, "on"));
        if (const auto bracket = text.find(']'); bracket != std::string_view::npos) {
            const auto name = trimmed(text.substr(bracket + 1));
            draft_.add_software("device", name);
            output_.table.rccl = output_.table.rccl || nccl::is_amd(name);
        }
        return {};
    }

    /// The list is cut where lines of a process are too long, so the largest rank counts, and whole processes.
    std::optional<std::int64_t> ranks() const {
        if (output_.listed.empty()) return std::nullopt;
        const auto each = output_.ranks_each;
        const auto all = (output_.listed.rbegin()->first + each) / each * each;
        if (output_.groups.size() == 1) return all;
        const auto first = output_.groups.begin()->second;
        const bool complete = all == static_cast<std::int64_t>(output_.listed.size());
        const bool equal = std::ranges::all_of(
            output_.groups, [&](const auto& group) { return group.second == first; });
        return complete && equal ? std::optional{first} : std::nullopt;
    }

    Result<void> titles(const Words& words) {
        ASSAY_TRY(begin(Part::titles));
        output_.titles = words;
        output_.in_milliseconds = position_of(words, "res") < words.size(); // before 2.4
        output_.has_wrong = position_of(words, "#wrong") < words.size();
        if (!output_.has_wrong)
            draft_.note("this version of nccl-tests prints a largest error for each line and no "
                        "number of wrong values: only its sum at the end was looked at");
        output_.table.cpu_time = position_of(words, "cputime") < words.size();
        output_.table.ranks = ranks();
        return nccl::complete_ranks(output_.table, draft_.options(), source_);
    }

    /// Before #wrong there is only one number for the whole output: any line of it may be the wrong one.
    /// None is no proof of the opposite, as the check may have been switched off.
    void flush(std::optional<double> wrong) {
        for (auto& [line, figures] : unchecked_) {
            figures.wrong = wrong;
            nccl::add(output_.table, line, figures, draft_);
        }
        unchecked_.clear();
    }

    Result<void> row(std::string_view line, Words words) {
        if (output_.titles.empty()) {
            draft_.skip(where(), line, "it stands before any line of titles", true);
            return {};
        }
        Words titles = output_.titles;
        // A time stamp is two words.
        if (titles.back() == "timestamp" && words.size() == titles.size() + 1) words.pop_back();
        // Collectives without an operation or a root once left these columns empty.
        for (const std::string_view absent : {"redop", "root"})
            if (words.size() < titles.size()) std::erase(titles, absent);
        if (words.size() != titles.size() || !integer_of(words[0]) || *integer_of(words[0]) < 0) {
            draft_.skip(
                where(), line,
                fmt::format("it is no line of {} values under the titles", output_.titles.size()));
            return {};
        }
        if (output_.ended > 0) return mixed("a line of results");
        auto& table = output_.table;
        if (table.collective.empty())
            if (auto chosen = nccl::choose_collective(table, output_.said, output_.where,
                                                      draft_.options(), source_);
                !chosen)
                return chosen;
        const auto text = [&](std::string_view title) {
            const auto i = position_of(titles, title);
            return i < words.size() ? std::string{words[i]} : std::string{};
        };
        const nccl::Line values{.bytes = *integer_of(words[0]),
                                .type = text("type"),
                                .operation = text(output_.in_milliseconds ? "op" : "redop"),
                                .root = text("root"),
                                .where = where()};
        const std::string_view time = table.cpu_time ? "cputime" : "time";
        const auto first = position_of(titles, time);
        const auto second = position_of(titles, time, first + 1);
        half(false, values, titles, words, first, second);
        if (second < titles.size()) half(true, values, titles, words, second, titles.size());
        return {};
    }

    void half(bool in_place, const nccl::Line& line, const Words& titles, const Words& words,
              std::size_t begin, std::size_t end) {
        const auto value = [&](std::string_view title) -> std::optional<double> {
            const auto i = position_of(titles, title, begin);
            return i < end ? number_of(words[i]) : std::nullopt;
        };
        const auto time = begin < end ? number_of(words[begin]) : std::nullopt;
        const auto algorithm = value("algbw");
        const auto bus = value("busbw");
        if (!time || !algorithm || !bus)
            return draft_.skip(line.where, in_place ? "in-place" : "out-of-place",
                               "time, algbw and busbw should be numbers");
        const double unit = output_.in_milliseconds ? 1e3 : 1; // us
        const nccl::Figures figures{.in_place = in_place,
                                    .microseconds = *time * unit,
                                    .algorithm_bandwidth = *algorithm,
                                    .bus_bandwidth = *bus,
                                    .wrong = value("#wrong"),
                                    .fastest = value("i_min"),
                                    .slowest = value("i_max"),
                                    .p99 = value("i_p99")};
        if (output_.has_wrong)
            nccl::add(output_.table, line, figures, draft_);
        else
            unchecked_.emplace_back(line, figures);
    }

    std::string_view source_;
    Draft& draft_;
    Output output_;
    std::map<std::size_t, std::string_view> programs_; ///< by line; empty where an output ends
    std::size_t number_ = 0;
    std::vector<std::pair<nccl::Line, nccl::Figures>> unchecked_;
};

} // namespace

Result<void> read_nccl_text(std::string_view text, std::string_view source, Draft& draft) {
    return Reader{source, draft}.read(text);
}

} // namespace assay::imports
