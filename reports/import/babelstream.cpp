// SPDX-License-Identifier: Apache-2.0
//
// BabelStream's CSV (--csv). Bandwidths are the best of all times, in MB of 1e6 or MiB of 2^20 bytes
// as the title says; the mean leaves out the first time.

#include "import/draft.hpp"
#include "import/kernels.hpp"
#include "import/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::imports {
namespace {

using Words = std::vector<std::string_view>;

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
        if (titles_.empty())
            return draft_.skip(where, line, "it stands before any line of titles", true);
        const auto words = split(line, separator_);
        if (words.size() != titles_.size())
            return draft_.skip(
                where, line,
                fmt::format("{} values under {} titles", words.size(), titles_.size()));
        Reading reading{
            .name = word_of(value(words, "function")), .place = "unknown", .where = where};
        const auto arrays = kernels::arrays_of(trimmed(words[0]));
        const auto times = integer_of(value(words, "num_times"));
        const auto elements = integer_of(value(words, "n_elements"));
        const auto size = integer_of(value(words, "sizeof"));
        if (!arrays)
            return draft_.skip(where, line,
                               "its function is none of Copy, Mul, Add, Triad, Dot, Nstream");
        if (!times || !elements || !size || *times < 1 || *elements < 1 ||
            *elements > (1LL << 50) || *size < 1 || *size > 64)
            return draft_.skip(where, line, "num_times, n_elements and sizeof should be positive");
        reading.parameters = {{"elements", *elements}, {"precision", kernels::precision_of(*size)}};
        reading.settings = {{"num_times", *times}};
        const auto bytes = static_cast<double>(*elements * *size * *arrays);
        times_of(words, bytes, *times, std::move(reading), line);
    }

    void times_of(const Words& words, double bytes, std::int64_t count, Reading reading,
                  std::string_view line) {
        // With --triad-only the old versions print the time of all calls together.
        const auto together = number_of(value(words, "runtime"));
        // The first of them is not in the mean.
        reading.calls = static_cast<std::uint64_t>(together || count == 1 ? count : count - 1);
        kernels::Kernel kernel{
            .reading = std::move(reading),
            .bytes = bytes,
            .best = bandwidth(words),
            .mean = together ? *together / static_cast<double>(count)
                             : number_of(value(words, "avg_runtime")).value_or(0),
            .least = together ? std::nullopt : number_of(value(words, "min_runtime")),
            .most = number_of(value(words, "max_runtime"))};
        if (!kernel.best)
            return draft_.skip(kernel.reading.where, line, "it has no bandwidth in a known unit");
        kernels::add(std::move(kernel), line, draft_);
    }

    std::optional<double> bandwidth(const Words& words) const {
        for (std::size_t i = 0; i < titles_.size(); ++i)
            if (const auto unit = kernels::unit_of(titles_[i]))
                if (const auto printed = number_of(trimmed(words[i]))) return *printed * *unit;
        return std::nullopt;
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

} // namespace assay::imports
