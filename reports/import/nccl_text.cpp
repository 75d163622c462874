// SPDX-License-Identifier: Apache-2.0
//
// What nccl-tests print. The line of titles says which columns there are: they changed over the years
// (root, #wrong for error, figures of single iterations, time stamps). A file may hold several outputs.

#include "import/lines.hpp"
#include "import/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::report {
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

class Reader {
public:
    Reader(std::string_view source, Draft& draft) : source_{source}, draft_{draft} {}

    Result<void> read(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            const auto line = lines.content();
            if (line.starts_with('#'))
                comment(line);
            else if (auto done = row(line, lines.number()); !done)
                return done;
        }
        flush(std::nullopt);
        return {};
    }

private:
    void comment(std::string_view line) {
        line = trimmed(line.substr(1));
        const Words words = words_of(line);
        if (words.empty()) return;
        if (position_of(words, "algbw") < words.size() &&
            position_of(words, "busbw") < words.size()) {
            titles(words);
        } else if (words[0] == "nThread") {
            start();
            settings(words);
        } else if (line.starts_with("nccl-tests version")) {
            start();
            begun_by_version_ = true;
            draft_.set_tool_version(after(words, "version"));
            for (const auto word : words)
                if (word.starts_with("nccl-library="))
                    if (const auto code = integer_of(word.substr(word.find('=') + 1)))
                        draft_.add_software("nccl.version", nccl::version_of(*code));
        } else if (line.starts_with("Collective test starting:")) {
            table_.collective = nccl::collective_of(words.back());
        } else if (words[0] == "Rank") {
            device(line, words);
        } else if (line.starts_with("Out of bounds values") && words.size() > 5) {
            if (const auto wrong = number_of(words[5]); wrong && *wrong > 0) flush(wrong);
        } else if (line.starts_with("error:")) {
            draft_.note("nccl-tests says " + std::string{line});
        }
    }

    /// Another output begins; its first line is the version's or, before 2.17, that of the settings.
    void start() {
        if (begun_by_version_) {
            begun_by_version_ = false; // the settings belong to it
            return;
        }
        flush(std::nullopt);
        draft_.begin_process();
        table_ = {};
        titles_.clear();
        ranks_ = 0;
    }

    void settings(const Words& words) {
        if (const auto iterations = integer_of(after(words, "iters:", "warmup"));
            iterations && *iterations > 0)
            table_.iterations = static_cast<std::uint64_t>(*iterations);
        for (const auto& [key, name] :
             {std::pair{"nThread", "nthreads"}, {"nGpus", "ngpus"}, {"graph:", "graph"}})
            if (const auto value = integer_of(after(words, key)))
                table_.settings.push_back({name, *value});
    }

    void device(std::string_view line, const Words& words) {
        ++ranks_;
        table_.ranks = ranks_;
        draft_.add_host(after(words, "on"));
        if (const auto bracket = line.find(']'); bracket != std::string_view::npos)
            draft_.add_software("device", trimmed(line.substr(bracket + 1)));
    }

    void titles(const Words& words) {
        titles_ = words;
        // The words are parts of a text that outlives this reader.
        has_wrong_ = position_of(words, "#wrong") < words.size();
        if (!has_wrong_)
            draft_.note(
                "this version of nccl-tests prints a largest error for each line and no number "
                "of wrong values: only its sum at the end was looked at");
        table_.cpu_time = position_of(words, "cputime") < words.size();
    }

    /// Before #wrong there is only one number for the whole output: any line of it may be the wrong one.
    /// None is no proof of the opposite, as the check may have been switched off.
    void flush(std::optional<double> wrong) {
        for (auto& [line, figures] : unchecked_) {
            figures.wrong = wrong;
            nccl::add(table_, line, figures, draft_);
        }
        unchecked_.clear();
    }

    Result<void> row(std::string_view line, std::size_t number) {
        const std::string where = fmt::format("line {}", number);
        Words words = words_of(line);
        if (titles_.empty()) {
            draft_.skip(where, line, "it stands before any line of titles");
            return {};
        }
        Words titles = titles_;
        // A time stamp is two words.
        if (titles.back() == "timestamp" && words.size() == titles.size() + 1) words.pop_back();
        // Collectives without an operation or a root once left these columns empty.
        for (const std::string_view absent : {"redop", "root"})
            if (words.size() < titles.size()) std::erase(titles, absent);
        if (words.size() != titles.size() || !integer_of(words[0])) {
            draft_.skip(where, line,
                        fmt::format("it is no line of {} values under the titles", titles_.size()));
            return {};
        }
        if (table_.collective.empty()) {
            auto name = nccl::collective_from(draft_.options(), source_);
            if (!name) return tl::unexpected{name.error()};
            table_.collective = *std::move(name);
        }
        const auto text = [&](std::string_view title) {
            const auto i = position_of(titles, title);
            return i < words.size() ? std::string{words[i]} : std::string{};
        };
        const nccl::Line values{.bytes = *integer_of(words[0]),
                                .type = text("type"),
                                .operation = text("redop"),
                                .root = text("root"),
                                .where = where};
        const std::string_view time = table_.cpu_time ? "cputime" : "time";
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
        const nccl::Figures figures{.in_place = in_place,
                                    .microseconds = *time,
                                    .algorithm_bandwidth = *algorithm,
                                    .bus_bandwidth = *bus,
                                    .wrong = value("#wrong"),
                                    .fastest = value("i_min"),
                                    .slowest = value("i_max"),
                                    .p99 = value("i_p99")};
        if (has_wrong_)
            nccl::add(table_, line, figures, draft_);
        else
            unchecked_.emplace_back(line, figures);
    }

    std::string_view source_;
    Draft& draft_;
    nccl::Table table_;
    Words titles_;
    std::int64_t ranks_ = 0;
    bool has_wrong_ = true;
    bool begun_by_version_ = false;
    std::vector<std::pair<nccl::Line, nccl::Figures>> unchecked_;
};

} // namespace

Result<void> read_nccl_text(std::string_view text, std::string_view source, Draft& draft) {
    return Reader{source, draft}.read(text);
}

} // namespace assay::report
