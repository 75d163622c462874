// SPDX-License-Identifier: Apache-2.0
//
// IOR's text (3.0 to 4.0) and JSON (-O summaryFormat=JSON). Each repetition has a line of its own; "Summary of all tests"
// says what was asked and the mean of their bandwidths. Bandwidths are in MiB/s of 2^20 bytes.

#include "import/draft.hpp"
#include "import/figures.hpp"
#include "import/lines.hpp"
#include "import/values.hpp"
#include "json/json.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace assay::imports {
namespace {

using json::Value;
using Words = std::vector<std::string_view>;

constexpr double mebi = 0x1p20;
constexpr std::size_t largest = std::size_t{16}
                                << 20U; // bytes; a test of 100 repetitions has 40 kB

/// Titles of the summary's columns, and the keys that JSON has for them.
constexpr std::array<std::pair<const char*, const char*>, 16> titles{{{"Operation", "operation"},
                                                                      {"Max(MiB)", "bwMaxMIB"},
                                                                      {"Min(MiB)", "bwMinMIB"},
                                                                      {"Mean(MiB)", "bwMeanMIB"},
                                                                      {"Mean(OPs)", "OPsMean"},
                                                                      {"Mean(s)", "MeanTime"},
                                                                      {"Test#", "TestID"},
                                                                      {"#Tasks", "numTasks"},
                                                                      {"tPN", "tasksPerNode"},
                                                                      {"reps", "repetitions"},
                                                                      {"fPP", "filePerProc"},
                                                                      {"segcnt", "segmentCount"},
                                                                      {"blksiz", "blockSize"},
                                                                      {"xsize", "transferSize"},
                                                                      {"aggs(MiB)", "xsizeMiB"},
                                                                      {"API", "API"}}};

/// Of one test and operation: "0 write".
struct Measured {
    std::vector<std::pair<Printed, Printed>> repetitions; ///< B/s, s
    std::string where;
    std::string text;
};

class Reader {
public:
    explicit Reader(Draft& draft) : draft_{draft} {}

    void read_text(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();)
            line(lines.content(), lines.where());
        finish();
    }

    void read_json(const Value& root, const Value& summary) {
        draft_.set_tool_version(printed_at(root, "Version"));
        set_started(text_at(root, "Began"));
        add_machine(text_at(root, "Machine"));
        if (const Value* tests = find(root, "tests"); tests != nullptr && tests->is_array())
            for (std::size_t i = 0; i < tests->size(); ++i)
                json_test((*tests)[i], json::join("tests", i));
        for (std::size_t i = 0; i < summary.size() && !draft_.is_full(); ++i) {
            const auto written = fields_of(summary[i]);
            Fields fields;
            for (const auto& [title, key] : titles)
                fields.emplace(title, std::string{text_of(written, key)});
            summarize(fields, json::show(summary[i]), json::join("summary", i));
        }
        finish();
    }

private:
    void set_started(std::string_view text) {
        if (!text.empty() && draft_.run().started.empty()) draft_.set_started(text);
    }
    /// "Linux node7"
    void add_machine(std::string_view text) {
        if (const auto words = words_of(text); words.size() > 1) draft_.add_host(words[1]);
    }

    void line(std::string_view text, const std::string& where) {
        const auto words = words_of(text);
        const auto colon = text.find(':');
        if (text.starts_with("IOR-") && colon != std::string_view::npos) {
            finish();
            draft_.begin_process(where);
            draft_.set_tool_version(text.substr(4, colon - 4));
        } else if (text.starts_with("Operation ") && words.size() > 1 && words[1] == "Max(MiB)") {
            columns_.assign(words.begin(), words.end());
            rows_.clear();
        } else if (text.starts_with("access ") && words.size() > 1 && words[1] == "bw(MiB/s)") {
            rows_.assign(words.begin(), words.end());
            columns_.clear();
        } else if (words[0] == "write" || words[0] == "read") {
            if (!columns_.empty())
                summary_line(words, text, where);
            else
                repetition(words, text, where);
        } else if (colon != std::string_view::npos) {
            fact(trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1)));
        }
    }

    void fact(std::string_view name, std::string_view value) {
        if (name == "Began")
            set_started(value);
        else if (name == "Finished")
            draft_.set_ended(value);
        else if (name == "Machine")
            add_machine(value);
        else if (name == "TestID")
            test_ = value;
        else if (name == "ordering in a file" || name == "type")
            options_[test_][std::string{name}] = value;
    }

    void repetition(const Words& words, std::string_view text, const std::string& where) {
        std::optional<Printed> rate;
        std::optional<Printed> seconds;
        for (std::size_t i = 0; i < rows_.size() && i < words.size(); ++i) {
            if (rows_[i] == "bw(MiB/s)") rate = printed_of(words[i], mebi);
            if (rows_[i] == "total(s)") seconds = printed_of(words[i]);
        }
        if (rows_.size() != words.size())
            return draft_.skip(
                where, text, fmt::format("{} values under {} titles", words.size(), rows_.size()));
        add_repetition(test_, words[0], rate, seconds, text, where);
    }

    void add_repetition(const std::string& test, std::string_view access,
                        const std::optional<Printed>& rate, const std::optional<Printed>& seconds,
                        std::string_view text, const std::string& where) {
        if (!rate || !(rate->value > 0) || !seconds || !(seconds->value >= 0))
            return draft_.skip(where, text, "its bandwidth or its time is no positive number");
        auto& measured = measured_[fmt::format("{} {}", test, access)];
        if (measured.repetitions.empty()) {
            measured.where = where;
            measured.text = text;
        }
        measured.repetitions.emplace_back(*rate, *seconds);
    }

    void summary_line(const Words& words, std::string_view text, const std::string& where) {
        if (words.size() != columns_.size())
            return draft_.skip(
                where, text,
                fmt::format("{} values under {} titles", words.size(), columns_.size()));
        Fields fields;
        for (std::size_t i = 0; i < words.size(); ++i)
            fields.emplace(columns_[i], std::string{words[i]});
        summarize(fields, text, where);
    }

    void json_test(const Value& test, const std::string& where) {
        const auto id = printed_at(test, "TestID");
        if (const Value* options = find(test, "Options"); options != nullptr)
            for (const char* name : {"ordering in a file", "type"})
                options_[id][name] = printed_at(*options, name);
        const Value* results = find(test, "Results");
        if (results == nullptr || !results->is_array()) return;
        for (const auto& list : *results) {
            if (!list.is_array()) continue;
            for (const auto& entry : list) {
                const auto access = text_at(entry, "access");
                if (access == "write" || access == "read")
                    add_repetition(id, access, printed_of(printed_at(entry, "bwMiB"), mebi),
                                   printed_of(printed_at(entry, "totalTime")), json::show(entry),
                                   where);
            }
        }
    }

    void summarize(const Fields& fields, std::string_view text, const std::string& where) {
        const auto access = text_of(fields, "Operation");
        const auto test = text_of(fields, "Test#");
        const auto mean = printed_of(text_of(fields, "Mean(MiB)"), mebi);
        if ((access != "write" && access != "read") || !mean || !(mean->value > 0))
            return draft_.skip(where, text, "expected write or read, and a bandwidth");
        Reading reading{.name = std::string{access}, .where = where};
        if (const auto api = text_of(fields, "API"); !api.empty())
            reading.parameters.push_back({"api", std::string{api}});
        static constexpr std::array<std::pair<const char*, const char*>, 6> counts{
            {{"tasks", "#Tasks"},
             {"tasks_per_node", "tPN"},
             {"file_per_process", "fPP"},
             {"segments", "segcnt"},
             {"block_bytes", "blksiz"},
             {"transfer_bytes", "xsize"}}};
        for (const auto& [name, title] : counts)
            if (const auto count = integer_of(text_of(fields, title)); count && *count >= 0)
                reading.parameters.push_back({name, *count});
        add_options(std::string{test}, reading);
        const auto repetitions = integer_of(text_of(fields, "reps"));
        if (repetitions) reading.settings = {{"repetitions", *repetitions}};
        const double bytes = bytes_of(fields);
        const auto found = measured_.find(fmt::format("{} {}", test, access));
        const auto add = [&](const Printed& rate, const std::optional<Printed>& seconds) {
            Reading each = reading;
            set_rate(each,
                     {.metric = "bandwidth",
                      .work = "bytes",
                      .amount = bytes,
                      .rate = rate,
                      .seconds = seconds},
                     draft_);
            add_extremes(fields, repetitions.value_or(1) > 1, each);
            draft_.add(std::move(each));
        };
        if (found != measured_.end() && bytes > 0) {
            for (const auto& [rate, seconds] : found->second.repetitions) add(rate, seconds);
        } else {
            // A mean of several bandwidths does not follow from the mean of their times.
            add(*mean, repetitions.value_or(1) > 1 ? std::nullopt
                                                   : printed_of(text_of(fields, "Mean(s)")));
        }
        if (found != measured_.end()) measured_.erase(found);
    }

    /// What differs from IOR's defaults.
    void add_options(const std::string& test, Reading& reading) const {
        const auto options = options_.find(test);
        if (options == options_.end()) return;
        if (text_of(options->second, "type") == "collective")
            reading.parameters.push_back({"collective", true});
        if (text_of(options->second, "ordering in a file") == "random")
            reading.parameters.push_back({"order", std::string{"random"}});
    }

    /// Of one repetition; 0 where a time limit cut it short, for then each did another amount.
    static double bytes_of(const Fields& fields) {
        double bytes = 1;
        for (const char* title : {"#Tasks", "segcnt", "blksiz"})
            bytes *= number_of(text_of(fields, title)).value_or(0);
        const auto moved = printed_of(text_of(fields, "aggs(MiB)"), mebi);
        constexpr double rounding = 1e-6;
        if (!moved || !(std::abs(moved->value - bytes) <= moved->half_digit + rounding * bytes))
            return 0;
        return std::isfinite(bytes) && bytes > 0 ? bytes : 0;
    }

    static void add_extremes(const Fields& fields, bool several, Reading& reading) {
        const auto keep = [&](const char* title, const char* metric, double unit) {
            if (const auto value = printed_of(text_of(fields, title), unit);
                value && value->value > 0)
                reading.extra.push_back({metric, value->value});
        };
        keep("Mean(OPs)", "file_operation_rate", 1);
        if (!several) return;
        keep("Max(MiB)", "best_bandwidth", mebi);
        keep("Min(MiB)", "worst_bandwidth", mebi);
    }

    void finish() {
        for (const auto& [key, measured] : measured_)
            draft_.skip(measured.where, measured.text,
                        "no line of \"Summary of all tests\" belongs to it: it may be cut");
        measured_.clear();
        options_.clear();
        columns_.clear();
        rows_.clear();
        test_ = std::string{"0"};
    }

    Draft& draft_;
    std::vector<std::string> columns_; ///< of the summary, if it has begun
    std::vector<std::string> rows_;    ///< of the repetitions
    std::string test_ = "0";
    std::map<std::string, Fields> options_; ///< by test
    std::map<std::string, Measured> measured_;
};

} // namespace

Result<void> read_ior(std::string_view text, std::string_view /*source*/, Draft& draft) {
    Reader{draft}.read_text(text);
    return {};
}

Result<void> read_ior_json(std::string_view text, std::string_view source, Draft& draft) {
    // IOR writes some keys of a summary twice.
    ASSAY_TRY(const auto value,
              json::parse(text, source, {.bytes = largest, .repeated_keys = true}));
    const auto summary = array_at(value, "summary", source, "IOR");
    if (!summary) return tl::unexpected{summary.error()};
    Reader{draft}.read_json(value, **summary);
    return {};
}

} // namespace assay::imports
