// SPDX-License-Identifier: Apache-2.0
//
// The default text of STREAM (5.9, 5.10) and of BabelStream (2 to 6): facts in lines of their own, then a table. Bandwidths
// are those of the shortest time; the mean leaves out the first time. STREAM says behind the table whether its
// results were right, BabelStream only if they were wrong.

#include "import/draft.hpp"
#include "import/kernels.hpp"
#include "import/lines.hpp"

#include <algorithm>

namespace assay::imports {
namespace {

using Words = std::vector<std::string_view>;

bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

class Reader {
public:
    Reader(bool is_stream, Draft& draft) : is_stream_{is_stream}, draft_{draft} {}

    void read(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            const auto line = lines.content();
            const Words words = words_of(line);
            if (line.starts_with("STREAM version") || line == "BabelStream")
                begin(lines.where());
            else if (words[0] == "Function")
                titles(line, words, lines.where());
            else if (has_titles_ && kernels::arrays_of(name_in(words)))
                row(line, words, lines.where());
            else
                fact(line, words);
            if (line.starts_with("STREAM version") && words.size() > 3)
                draft_.set_tool_version(words[3]); // "$Revision: 5.10 $"
        }
        flush();
    }

private:
    static std::string_view name_in(const Words& words) {
        return words[0].substr(0, words[0].find(':'));
    }

    void begin(std::string where) {
        flush();
        has_titles_ = false;
        place_ = is_stream_ ? "host" : "unknown";
        elements_ = bytes_each_ = times_ = threads_ = 0;
        validation_.reset();
        draft_.begin_process(std::move(where));
        begun_ = true;
    }

    void titles(std::string_view line, const Words& words, const std::string& where) {
        if (!begun_ || has_titles_) begin(where);
        begun_ = false;
        const auto unit = is_stream_ ? 1e6 : kernels::unit_of(words.size() > 1 ? words[1] : "");
        has_titles_ = unit.has_value();
        if (!unit)
            return draft_.skip(where, line, "its unit is not known: expected MB/s, GiB/s, ...");
        unit_ = *unit;
    }

    /// Positive, and small enough to be counted with.
    static std::int64_t count_of(std::string_view word) {
        const auto value = integer_of(word.substr(0, word.find_first_not_of("0123456789")));
        constexpr std::int64_t most = std::int64_t{1} << 50U;
        return value && *value > 0 && *value <= most ? *value : 0;
    }
    static std::string_view word_behind(const Words& words, std::string_view key) {
        const auto found = std::ranges::find(words, key);
        return found == words.end() || found + 1 == words.end() ? std::string_view{} : *(found + 1);
    }
    static std::string_view word_before(const Words& words, std::string_view key) {
        const auto found = std::ranges::find(words, key);
        return found == words.end() || found == words.begin() ? std::string_view{} : *(found - 1);
    }

    void fact(std::string_view line, const Words& words) {
        if (line.starts_with("Number of elements:")) {
            elements_ = count_of(words.back());
        } else if (is_stream_ && line.starts_with("Array size =")) {
            elements_ = count_of(word_behind(words, "="));
        } else if (line.starts_with("Precision:")) {
            bytes_each_ = words.back() == "double" ? 8 : words.back() == "float" ? 4 : 0;
        } else if (line.starts_with("This system uses")) {
            bytes_each_ = count_of(word_before(words, "bytes"));
        } else if (words[0] == "Running" || line.starts_with("Each kernel will be executed") ||
                   line.starts_with("Each test is run")) {
            const auto key = std::ranges::find_if(
                words, [](const auto word) { return word.starts_with("times"); });
            if (key != words.end() && key != words.begin()) times_ = count_of(*(key - 1));
        } else if (line.starts_with("Number of Threads")) {
            threads_ = count_of(words.back()); // requested, then counted
        } else if (line.starts_with("Version:")) {
            draft_.set_tool_version(words.back());
        } else if (line.starts_with("Implementation:")) {
            const auto name = trimmed(line.substr(line.find(':') + 1));
            place_ = name == "CUDA" ? "cuda" : name == "HIP" ? "hip" : "unknown";
            draft_.add_software("babelstream.implementation", name);
        } else if (const auto device = line.find(" device ");
                   line.starts_with("Using ") && device != std::string_view::npos) {
            draft_.add_software("device", trimmed(line.substr(device + 8)));
        } else if (line.starts_with("Solution Validates")) {
            validate(true, line);
        } else if (holds(line, "ailed Validation") || holds(line, "FAILED validation") ||
                   holds(line, "alidation failed")) {
            validate(false, line);
        }
    }

    void validate(bool passed, std::string_view line) {
        if (validation_ && !validation_->passed) return;
        validation_ = record::Verification{
            .passed = passed,
            .method = is_stream_
                          ? "STREAM compared its arrays with the values they should have"
                          : "BabelStream compared its arrays with the values they should have",
            .detail = passed ? "" : "it says " + std::string{line.substr(0, 120)}};
    }

    void row(std::string_view line, const Words& words, const std::string& where) {
        // STREAM: rate, mean, shortest, longest; BabelStream: rate, shortest, longest, mean.
        std::vector<double> values;
        for (std::size_t i = 1; i < words.size(); ++i)
            if (const auto value = number_of(words[i]); value && *value >= 0)
                values.push_back(*value);
        if (words.size() != 5 || values.size() != 4 || !(values[0] > 0))
            return draft_.skip(where, line, "expected a name, a bandwidth and three times");
        const auto point = words[2].find('.');
        const auto digits =
            point == std::string_view::npos ? 0 : static_cast<double>(words[2].size() - point - 1);
        kernels::Kernel kernel{.reading = {.name = word_of(name_in(words)), .where = where},
                               .best = values[0] * unit_,
                               .mean = values[is_stream_ ? 1 : 3],
                               .least = values[is_stream_ ? 2 : 1],
                               .most = values[is_stream_ ? 3 : 2],
                               .half_digit = std::pow(10, -digits) / 2};
        rows_.emplace_back(std::move(kernel), std::string{line});
    }

    void flush() {
        for (auto& [kernel, line] : rows_) {
            auto& reading = kernel.reading;
            reading.place = place_;
            if (elements_ > 0) reading.parameters.push_back({"elements", elements_});
            if (bytes_each_ > 0)
                reading.parameters.push_back({"precision", kernels::precision_of(bytes_each_)});
            if (threads_ > 0) reading.parameters.push_back({"threads", threads_});
            if (times_ > 0) reading.settings = {{"num_times", times_}};
            if (times_ > 1) reading.calls = static_cast<std::uint64_t>(times_ - 1);
            reading.verification = validation_;
            std::string name = reading.name;
            name.front() = static_cast<char>(name.front() - 'a' + 'A');
            kernel.bytes = static_cast<double>(elements_) * static_cast<double>(bytes_each_) *
                           kernels::arrays_of(name).value_or(0);
            kernels::add(std::move(kernel), line, draft_);
        }
        rows_.clear();
    }

    bool is_stream_;
    Draft& draft_;
    bool begun_ = false; ///< its name was read, and no titles yet
    bool has_titles_ = false;
    double unit_ = 1e6; ///< B/s
    std::string place_ = "host";
    std::int64_t elements_ = 0; ///< 0: not said
    std::int64_t bytes_each_ = 0;
    std::int64_t times_ = 0;
    std::int64_t threads_ = 0;
    std::optional<record::Verification> validation_;
    std::vector<std::pair<kernels::Kernel, std::string>> rows_;
};

} // namespace

Result<void> read_stream(std::string_view text, std::string_view /*source*/, Draft& draft) {
    Reader{true, draft}.read(text);
    return {};
}

Result<void> read_babelstream_text(std::string_view text, std::string_view /*source*/,
                                   Draft& draft) {
    Reader{false, draft}.read(text);
    return {};
}

} // namespace assay::imports
