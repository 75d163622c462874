// SPDX-License-Identifier: Apache-2.0
//
// BabelStream's CSV (--csv). Bandwidths are the best of all times, in MB of 1e6 or MiB of 2^20 bytes as the
// title says; the mean leaves out the first time.

#include "import/draft.hpp"
#include "import/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace assay::report {
namespace {

using Words = std::vector<std::string_view>;

/// Arrays that a kernel reads or writes once for each element (BabelStream's "weight").
std::optional<int> arrays_of(std::string_view kernel) {
    static constexpr std::array<std::pair<std::string_view, int>, 6> weights{
        {{"Copy", 2}, {"Mul", 2}, {"Add", 3}, {"Triad", 3}, {"Dot", 2}, {"Nstream", 4}}};
    for (const auto& [name, arrays] : weights)
        if (name == kernel) return arrays;
    return std::nullopt;
}

/// Bytes per second in the unit of a title: "max_mbytes_per_sec", "max_MiB_per_sec".
std::optional<double> unit_of(std::string_view title) {
    static constexpr std::array<std::pair<std::string_view, double>, 10> units{{{"mbytes", 1e6},
                                                                                {"mibytes", 0x1p20},
                                                                                {"gbytes", 1e9},
                                                                                {"gibytes", 0x1p30},
                                                                                {"mb", 1e6},
                                                                                {"mib", 0x1p20},
                                                                                {"gb", 1e9},
                                                                                {"gib", 0x1p30},
                                                                                {"tb", 1e12},
                                                                                {"tib", 0x1p40}}};
    auto word = word_of(title);
    if (word.starts_with("max_")) word.erase(0, 4);
    constexpr std::string_view end = "_per_sec";
    if (!word.ends_with(end)) return std::nullopt;
    word.resize(word.size() - end.size());
    for (const auto& [name, bytes] : units)
        if (name == word) return bytes;
    return std::nullopt;
}

class Reader {
public:
    explicit Reader(Draft& draft) : draft_{draft} {}

    void read(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            const auto line = lines.content();
            const auto where = lines.where();
            if (line.starts_with("function"))
                titles(line, where);
            else if (line.starts_with("phase"))
                begin_phases(line);
            else
                row(line, where);
        }
    }

private:
    void titles(std::string_view line, const std::string& where) {
        titles_.clear();
        phases_ = false;
        const auto at = line.find("num_times");
        constexpr std::string_view first = "function";
        if (at == std::string_view::npos || at <= first.size())
            return draft_.skip(where, line, "expected function,num_times,n_elements,sizeof,...");
        separator_ = line.substr(first.size(), at - first.size());
        titles_ = split(line, separator_);
        draft_.begin_process();
    }
    void begin_phases(std::string_view line) {
        phases_ = true;
        titles_.clear();
        constexpr std::string_view first = "phase";
        const auto at = line.find("n_elements");
        if (at != std::string_view::npos && at > first.size())
            separator_ = line.substr(first.size(), at - first.size());
        draft_.note("the phases Init and Read are left out: they are timed once");
    }

    std::string_view value(const Words& words, std::string_view title) const {
        const auto found = std::ranges::find(titles_, title);
        const auto index = static_cast<std::size_t>(found - titles_.begin());
        return index < words.size() ? trimmed(words[index]) : std::string_view{};
    }

    void row(std::string_view line, const std::string& where) {
        if (phases_ && split(line, separator_).size() > 3) return; // said in the note
        if (titles_.empty()) return draft_.skip(where, line, "it stands before any line of titles");
        const auto words = split(line, separator_);
        if (words.size() != titles_.size())
            return draft_.skip(
                where, line,
                fmt::format("{} values under {} titles", words.size(), titles_.size()));
        Reading reading{
            .name = word_of(value(words, "function")), .place = "unknown", .where = where};
        const auto arrays = arrays_of(trimmed(words[0]));
        const auto times = integer_of(value(words, "num_times"));
        const auto elements = integer_of(value(words, "n_elements"));
        const auto size = integer_of(value(words, "sizeof"));
        if (!arrays)
            return draft_.skip(where, line,
                               "its function is none of Copy, Mul, Add, Triad, Dot, Nstream");
        if (!times || !elements || !size || *times < 1 || *elements < 1 ||
            *elements > (1LL << 50) || *size < 1 || *size > 64)
            return draft_.skip(where, line, "num_times, n_elements and sizeof should be positive");
        reading.parameters = {{"elements", *elements}, {"precision", precision(*size)}};
        reading.settings = {{"num_times", *times}};
        const double bytes = static_cast<double>(*elements * *size * *arrays);
        times_of(words, bytes, *times, std::move(reading), line);
    }

    static std::string precision(std::int64_t bytes) {
        return bytes == 8 ? "fp64" : bytes == 4 ? "fp32" : fmt::format("{} bytes", bytes);
    }

    void times_of(const Words& words, double bytes, std::int64_t count, Reading reading,
                  std::string_view line) {
        // With --triad-only the old versions print the time of all calls together.
        const auto together = number_of(value(words, "runtime"));
        auto mean = number_of(value(words, "avg_runtime"));
        const auto least = number_of(value(words, "min_runtime"));
        const auto most = number_of(value(words, "max_runtime"));
        if (!mean && together) mean = *together / static_cast<double>(count);
        if (!mean || !(*mean > 0))
            return draft_.skip(reading.where, line, "its time is no positive number of seconds");
        if (!follows(words, bytes, together ? *mean : least.value_or(*mean)))
            return draft_.skip(reading.where, line,
                               "its bandwidth does not follow from its elements and its time");
        reading.headline = "bandwidth";
        reading.work = {{"bytes", bytes}};
        reading.seconds = *mean;
        // The first of them is not in the mean.
        reading.calls = static_cast<std::uint64_t>(together || count == 1 ? count : count - 1);
        if (least && *least > 0) {
            reading.extra.push_back({"fastest_time", *least});
            reading.extra.push_back({"best_bandwidth", bytes / *least});
            draft_.note(
                "the bandwidth is that of the mean time; the one BabelStream prints is that of "
                "the shortest, kept as the highest bandwidth");
        }
        if (most && *most > 0) reading.extra.push_back({"slowest_time", *most});
        draft_.add(std::move(reading));
    }

    /// CSV has six significant digits.
    bool follows(const Words& words, double bytes, double seconds) const {
        for (std::size_t i = 0; i < titles_.size(); ++i) {
            const auto unit = unit_of(titles_[i]);
            if (!unit) continue;
            const auto printed = number_of(trimmed(words[i]));
            const double computed = bytes / seconds;
            constexpr double rounding = 0.01;
            return printed && std::abs(*printed * *unit - computed) <= rounding * computed;
        }
        return false;
    }

    Draft& draft_;
    Words titles_;
    std::string_view separator_ = ",";
    bool phases_ = false;
};

} // namespace

Result<void> read_babelstream(std::string_view text, std::string_view /*source*/, Draft& draft) {
    Reader{draft}.read(text);
    return {};
}

} // namespace assay::report
