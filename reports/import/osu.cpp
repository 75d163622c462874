// SPDX-License-Identifier: Apache-2.0
//
// What the OSU micro-benchmarks print, versions 3 to 7: a title, a line of columns, a line for each size.
// Latencies in us, bandwidths in MB/s of 1e6 bytes. The number of ranks is not in it (--parameter ranks=4).

#include "import/draft.hpp"
#include "import/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::imports {
namespace {

using Words = std::vector<std::string_view>;

enum class Column : std::uint8_t {
    size,
    mean,
    least,
    most,
    iterations,
    p99,
    bandwidth,
    messages,
    validation,
    other
};

/// Letters and digits of a title: versions differ in blanks and capitals.
Column column_of(std::string_view title) {
    static constexpr std::array<std::pair<std::string_view, Column>, 17> known{{
        {"size", Column::size},
        {"latency_us", Column::mean},
        {"avg_latency_us", Column::mean},
        {"overall_us", Column::mean},
        {"min_latency_us", Column::least},
        {"max_latency_us", Column::most},
        {"iterations", Column::iterations},
        {"p99_tail_lat_us", Column::p99},
        {"bandwidth_mb_s", Column::bandwidth},
        {"bi_bandwidth_mb_s", Column::bandwidth},
        {"avg_bandwidth_mb_s", Column::bandwidth},
        {"mb_s", Column::bandwidth},
        {"messages_s", Column::messages},
        {"message_rate", Column::messages},
        {"validation", Column::validation},
        {"avg_lat_us", Column::mean},
        {"avg_us", Column::mean},
    }};
    const auto word = word_of(title);
    for (const auto& [name, column] : known)
        if (name == word) return column;
    return Column::other;
}

constexpr double micro = 1e-6;
constexpr double mega = 1e6; // of OSU's MB/s

class Reader {
public:
    explicit Reader(Draft& draft) : draft_{draft} {}

    void read(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            const auto line = lines.content();
            if (line.starts_with('#'))
                comment(trimmed(line.substr(1)), lines.where());
            else
                row(line, lines.where());
        }
    }

private:
    void comment(std::string_view line, const std::string& where) {
        if (line.starts_with("OSU ")) return title(line, where);
        if (line.starts_with("Datatype:")) {
            // Bytes are what everybody measures, and what versions before 7 do not say.
            auto type = trimmed(line.substr(line.find(':') + 1));
            if (type.ends_with('.')) type.remove_suffix(1);
            set("type", type == "MPI_CHAR" ? std::string_view{} : type);
        } else if (line.starts_with("Send Buffer on") || line.starts_with("Rank 0 Memory on")) {
            buffers(line);
        } else if (line.starts_with("Window creation:")) {
            set("window", trimmed(line.substr(line.find(':') + 1)));
        } else if (line.starts_with("Synchronization:")) {
            set("synchronization", trimmed(line.substr(line.find(':') + 1)));
        } else if (line.starts_with("Number of ")) { // "Number of Sender threads: 2"
            pairs(fmt::format("[{}]", line.substr(10)));
        } else if (line.starts_with('[')) {
            pairs(line);
        } else if (std::ranges::any_of(columns_of(line), [](const auto column) {
                       return column_of(column) != Column::other;
                   })) {
            columns(line);
        }
    }

    /// Of all following lines; empty: not said.
    void set(const std::string& name, std::string_view value) {
        std::erase_if(parameters_, [&](const auto& parameter) { return parameter.name == name; });
        if (!value.empty()) parameters_.push_back({name, std::string{value}});
    }

    /// "Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)": a build for devices also measures hosts.
    void buffers(std::string_view line) {
        const auto parts = split(line, " and ");
        const auto kind_of = [](std::string_view part) {
            const auto on = part.find(" on ");
            const auto words = words_of(on == std::string_view::npos ? part : part.substr(on + 4));
            if (words.empty()) return std::string{};
            return word_of(words[0] == "MANAGED" ? words.back() : words[0]); // "(MD)", "(MH)"
        };
        const auto first = kind_of(parts.front());
        const auto second = kind_of(parts.back());
        if (first == "host" && second == "host") place_ = "host";
        if (first == second && (first == "host" || first == "device")) return;
        set("buffers", fmt::format("{}_{}", first, second));
    }

    /// Where the buffers are of a build for `device`: "CUDA".
    static std::string place_of(std::string_view device) {
        if (device == "CUDA") return "cuda";
        return device == "ROCM" ? "hip" : word_of(device);
    }

    /// "OSU MPI-CUDA Bi-Directional Bandwidth Test v7.1"
    void title(std::string_view line, const std::string& where) {
        Words words = words_of(line);
        name_.clear();
        columns_.clear();
        titles_.clear();
        parameters_.clear();
        place_ = "host";
        draft_.begin_process(where);
        if (words.size() < 3) return;
        if (words.back().starts_with('v') && words.back().size() > 1) {
            draft_.set_tool_version(words.back());
            words.pop_back();
        }
        if (words.back() == "Test") words.pop_back();
        const std::string_view interface = words.size() > 1 ? words[1] : std::string_view{};
        const auto dash = interface.find_first_of("-_");
        static constexpr std::array interfaces{"MPI",   "OpenSHMEM", "UPC",  "UPC++",
                                               "UPCXX", "NCCL",      "RCCL", "OMB"};
        std::size_t first = 1;
        library_ = "mpi";
        if (std::ranges::find(interfaces, interface.substr(0, dash)) != interfaces.end()) {
            // "MPI_Put" names the call as well as the interface.
            library_ = word_of(interface.substr(0, dash));
            if (dash == std::string_view::npos || interface[dash] == '-') first = 2;
            if (dash != std::string_view::npos && interface[dash] == '-')
                place_ = place_of(interface.substr(dash + 1));
            if (first < words.size() && words[first] == "MANAGED") { // "MPI-CUDA MANAGED"
                ++first;
                set("buffers", "managed");
            }
        }
        for (std::size_t i = first; i < words.size(); ++i) {
            name_ += words[i];
            name_ += ' ';
        }
        name_ = word_of(name_);
    }

    /// "[ pairs: 2 ] [ window size: 64 ]"
    void pairs(std::string_view line) {
        for (const auto part : split(line, "[")) {
            const auto colon = part.find(':');
            const auto end = part.find(']');
            if (colon == std::string_view::npos || end == std::string_view::npos || end < colon)
                continue;
            if (const auto value = integer_of(trimmed(part.substr(colon + 1, end - colon - 1)))) {
                const auto name = word_of(part.substr(0, colon));
                set(name, "");
                parameters_.push_back({name, *value});
            }
        }
    }

    void columns(std::string_view line) {
        titles_ = columns_of(line);
        columns_.clear();
        for (const auto column : titles_) {
            columns_.push_back(column_of(column));
            if (columns_.back() == Column::other)
                draft_.note(fmt::format("column {}: there is no metric for it, left out", column));
        }
    }

    /// A title with single blanks only ("# Size Latency (us)") cannot be taken apart by them.
    void row(std::string_view line, const std::string& where) {
        const auto words = words_of(line);
        if (name_.empty() || columns_.empty())
            return draft_.skip(where, line, "it stands before any line of columns", true);
        if (words.size() != columns_.size())
            return draft_.skip(
                where, line,
                fmt::format("{} values under {} columns", words.size(), columns_.size()));
        Reading reading{.name = name_,
                        .place = place_,
                        .library = library_,
                        .parameters = parameters_,
                        .where = where};
        for (std::size_t i = 0; i < words.size(); ++i)
            if (!cell(columns_[i], words[i], reading))
                return draft_.skip(
                    where, line, fmt::format("{}: {} is no positive number", titles_[i], words[i]));
        if (reading.headline.empty())
            return draft_.skip(where, line, "it has neither a latency nor a bandwidth");
        draft_.add(std::move(reading));
    }

    static bool cell(Column column, std::string_view word, Reading& reading) {
        if (column == Column::other) return true;
        if (column == Column::validation) {
            const bool passed = word == "Pass";
            if (word == "-" || word == "N/A") return true;
            reading.verification =
                record::Verification{.passed = passed,
                                     .method = "OSU micro-benchmarks' own validation",
                                     .detail = passed ? "" : "it says " + std::string{word}};
            return true;
        }
        const auto value = number_of(word);
        if (!value || !(*value >= 0)) return false;
        switch (column) {
        case Column::size:
            reading.parameters.insert(reading.parameters.begin(),
                                      {"bytes", static_cast<std::int64_t>(std::min(*value, 9e15))});
            return true;
        case Column::mean:
            // Latency is what OSU calls it, of a message one way as of a whole collective.
            if (reading.headline.empty()) reading.headline = "latency";
            reading.seconds = *value * micro;
            reading.work = {{"steps", 1.0}};
            return *value > 0;
        case Column::least:
            reading.extra.push_back({"fastest_latency", *value * micro});
            return true;
        case Column::most:
            reading.extra.push_back({"slowest_latency", *value * micro});
            return true;
        case Column::iterations:
            if (*value >= 1 && *value < 1e15) reading.calls = static_cast<std::uint64_t>(*value);
            return true;
        case Column::p99:
            reading.p99 = *value * micro;
            return true;
        case Column::bandwidth:
            reading.headline = "bandwidth";
            reading.extra.push_back({"bandwidth", *value * mega});
            return *value > 0;
        case Column::messages:
            reading.extra.push_back({"item_rate", *value});
            return true;
        case Column::validation:
        case Column::other:
            break;
        }
        return true;
    }

    Draft& draft_;
    std::string name_;
    std::string library_;
    std::string place_ = "host";
    record::NamedList parameters_;
    std::vector<Column> columns_;
    Words titles_;
};

} // namespace

Result<void> read_osu(std::string_view text, std::string_view /*source*/, Draft& draft) {
    Reader{draft}.read(text);
    return {};
}

} // namespace assay::imports
