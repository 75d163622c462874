// SPDX-License-Identifier: Apache-2.0
//
// nvbandwidth's JSON (`nvbandwidth -j`, from 0.5 on) and its default text (from 0.2 on). A test gives a matrix of texts,
// GB/s of 1e9 bytes or ns, as its description says. Tests in two directions append three matrices to one another
// (as text: print three): what each direction did and, last, the total.

#include "import/draft.hpp"
#include "import/lines.hpp"
#include "import/values.hpp"
#include "json/json.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::imports {
namespace {

using json::Value;

constexpr std::size_t largest = std::size_t{16} << 20U; // bytes; a file of 72 devices has 2 MB

/// "12040" is CUDA 12.4.
std::string cuda_version(const std::string& text) {
    const auto number = integer_of(text);
    if (!number || *number < 1000) return text;
    return fmt::format("{}.{}", *number / 1000, *number % 1000 / 10);
}

struct Scale {
    const char* metric;
    const char* unit;
    double factor; ///< to the SI base unit
};
std::optional<Scale> scale_of(const std::string& description, const std::string& name) {
    const auto says = [&](std::string_view part) {
        return description.find(part) != std::string::npos;
    };
    if (says("(GB/s)")) return Scale{"bandwidth", "B/s", 1e9};
    if (says("(ns)")) return Scale{"latency", "s", 1e-9};
    if (says("(us)")) return Scale{"latency", "s", 1e-6};
    if (says("BW") || name.find("memcpy") != std::string::npos)
        return Scale{"bandwidth", "B/s", 1e9};
    return std::nullopt;
}

/// "memcpy CE CPU(row) -> GPU(column)": what rows and columns are.
std::string axis_of(const std::string& description, std::string_view axis) {
    const auto at = description.find(axis);
    if (at == std::string::npos || at == 0) return std::string{axis.substr(1, axis.size() - 2)};
    const auto begin = description.rfind(' ', at);
    return description.substr(begin == std::string::npos ? 0 : begin + 1,
                              at - (begin == std::string::npos ? 0 : begin + 1));
}

/// The first row of the total in the matrices of JSON.
std::size_t total_in(const Value& rows, const std::string& description) {
    constexpr std::size_t directions = 3; // one way, the other way, total
    const bool total = description.find("Total") != std::string::npos;
    return total && rows.size() % directions == 0 ? rows.size() / directions * (directions - 1) : 0;
}

/// Nothing where a row is longer or shorter than the first.
std::optional<record::Table> matrix_of(const Value& rows, const Scale& scale,
                                       const std::string& description, std::size_t first) {
    record::Table table{.metric = scale.metric,
                        .unit = scale.unit,
                        .row_title = axis_of(description, "(row)"),
                        .column_title = axis_of(description, "(column)")};
    for (std::size_t r = first; r < rows.size(); ++r) {
        if (!rows[r].is_array()) return std::nullopt;
        if (r == first)
            for (std::size_t c = 0; c < rows[r].size(); ++c)
                table.columns.push_back(fmt::format("{}", c));
        if (rows[r].size() != table.columns.size()) return std::nullopt;
        table.rows.push_back(fmt::format("{}", r - first));
        for (const auto& cell : rows[r]) {
            const auto number = cell.is_string()   ? number_of(cell.get<std::string>())
                                : cell.is_number() ? std::optional{cell.get<double>()}
                                                   : std::nullopt;
            table.values.push_back(number && *number > 0 ? std::optional{*number * scale.factor}
                                                         : std::nullopt);
        }
    }
    return table;
}

void add_figures(const record::Table& table, Reading& reading, Draft& draft) {
    double sum = 0;
    double most = 0;
    double least = HUGE_VAL;
    std::size_t count = 0;
    for (const auto& value : table.values) {
        if (!value) continue;
        sum += *value;
        most = std::max(most, *value);
        least = std::min(least, *value);
        ++count;
    }
    if (count == 0)
        return draft.skip(reading.where, reading.name, "its matrix holds no positive number");
    reading.headline = table.metric;
    reading.extra = {{table.metric, sum / static_cast<double>(count)}};
    if (count > 1) {
        draft.note("the figure of a matrix is the mean of its cells; nvbandwidth's sum is that "
                   "times their number");
        if (table.metric == "bandwidth") {
            reading.extra.push_back({"best_bandwidth", most});
        } else {
            reading.extra.push_back({"fastest_latency", least});
            reading.extra.push_back({"slowest_latency", most});
        }
        reading.table = table;
    }
    draft.add(std::move(reading));
}

/// `separate`: the matrix holds the total alone.
void read_test(const Value& test, const std::string& where, bool separate, Draft& draft) {
    Reading reading{.name = word_of(printed_at(test, "name")), .place = "cuda", .where = where};
    if (reading.name.empty()) return draft.skip(where, json::show(test), "it has no name");
    for (const char* key : {"bufferSize", "testSamples", "useMean"})
        if (const auto value = printed_at(test, key); !value.empty())
            reading.settings.push_back({word_of(key), value});
    const auto status = printed_at(test, "status");
    if (status != "Passed") {
        reading.headline = "bandwidth";
        reading.status = status == "Waived" ? record::Status::skipped : record::Status::failed;
        const auto error = printed_at(test, "error");
        reading.reason = fmt::format("nvbandwidth says {}{}{}",
                                     status.empty() ? "nothing about its end" : status,
                                     error.empty() ? "" : ": ", error);
        return draft.add(std::move(reading));
    }
    const Value* rows = find(test, "bandwidth_matrix");
    if (rows == nullptr || !rows->is_array() || rows->empty())
        return draft.skip(where, reading.name, "`bandwidth_matrix` is missing or empty");
    const auto description = printed_at(test, "bandwidth_description");
    const auto scale = scale_of(description, reading.name);
    if (!scale)
        return draft.skip(where, description.empty() ? reading.name : description,
                          "the description names no unit: expected (GB/s) or (ns)");
    const auto table =
        matrix_of(*rows, *scale, description, separate ? 0 : total_in(*rows, description));
    if (!table) return draft.skip(where, reading.name, "rows of its matrix differ in length");
    add_figures(*table, reading, draft);
}

/// "0: NVIDIA H100 80GB HBM3 (00000000:04:00): (node7)": what it is and where.
void read_device(std::string_view text, Draft& draft) {
    if (const auto host = text.rfind("): ("); host != std::string_view::npos && text.back() == ')')
        draft.add_host(text.substr(host + 4, text.size() - host - 5));
    const auto colon = text.find(": ");
    if (colon == std::string_view::npos) return;
    const auto bracket = std::min(text.find(" (", colon), text.size()); // 0.2 has none
    draft.add_software("device", text.substr(colon + 2, bracket - colon - 2));
}

void read_devices(const Value& root, Draft& draft) {
    draft.add_host(printed_at(root, "Hostname"));
    for (const char* key : {"GPU Device list", "GPU Device info"}) {
        const Value* list = find(root, key);
        if (list == nullptr || !list->is_array()) continue;
        for (const auto& entry : *list)
            if (entry.is_string()) read_device(entry.get<std::string>(), draft);
    }
}

/// Makes of the text what the JSON would hold of each test.
class TextReader {
public:
    explicit TextReader(Draft& draft) : draft_{draft} {}

    void read(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();)
            line(lines.content(), lines.where());
        finish_test();
        if (waived_ > 0)
            draft_.note(
                fmt::format("tests that were waived: {}; the text does not say which", waived_));
    }

private:
    void line(std::string_view text, const std::string& where) {
        const auto words = words_of(text);
        const auto behind_colon =
            trimmed(text.substr(std::min(text.find(':'), text.size() - 1) + 1));
        if (text.starts_with("nvbandwidth Version:")) {
            finish_test();
            draft_.begin_process(where);
            draft_.set_tool_version(behind_colon);
        } else if (text.starts_with("CUDA Runtime Version:")) {
            draft_.add_software("cuda.runtime", cuda_version(std::string{behind_colon}));
        } else if (text.starts_with("Driver Version:")) {
            draft_.add_software("driver.version", behind_colon);
        } else if (const auto device = text.find("): device ");
                   text.starts_with("Process ") && device != std::string_view::npos) {
            // On several hosts: "Process 0 (node7): device 0: NVIDIA H100 (00000000:04:00)".
            const auto bracket = text.find('(');
            draft_.add_host(text.substr(bracket + 1, device - bracket - 1));
            read_device(text.substr(device + 3), draft_);
        } else if (text.starts_with("Device ")) {
            // From 0.8 on the host stands alone in the line before.
            if (words_of(before_).size() == 1) draft_.add_host(before_);
            read_device(text, draft_);
        } else if (words[0] == "Running" && words.size() == 2 && text.ends_with('.')) {
            finish_test();
            where_ = where;
            test_ = {{"name", words[1].substr(0, words[1].size() - 1)}, {"status", "Passed"}};
        } else if (text.starts_with("Waived:")) {
            if (test_.is_object() && !test_.contains("bandwidth_matrix"))
                test_["status"] = "Waived";
            else
                ++waived_;
        } else if (text.starts_with("Error:") && test_.is_object()) {
            test_["status"] = "Error";
            test_["error"] = behind_colon;
        } else if ((text.ends_with("(GB/s)") || text.ends_with("(ns)")) && test_.is_object()) {
            // Of three the last is the total.
            test_["bandwidth_description"] = text;
            test_["bandwidth_matrix"] = Value::array();
            columns_ = 0;
            sum_ = 0;
        } else if (words[0] == "SUM" && words.size() == 3) {
            check_sum(number_of(words[2]));
        } else if (test_.contains("bandwidth_matrix")) {
            matrix_line(words);
        }
        before_ = text;
    }

    void matrix_line(const std::vector<std::string_view>& words) {
        auto& rows = test_["bandwidth_matrix"];
        if (columns_ == 0) {
            columns_ = words.size();
            return;
        }
        if (words.size() == 3 && words[1].starts_with(printed_at(test_, "name")))
            return; // MIN, MAX, ...
        // A label, then the cells.
        Value row = Value::array();
        for (std::size_t i = 1; i < words.size(); ++i) {
            const auto number = number_of(words[i]);
            if (!number && words[i] != "N/A") complaint_ = "a cell of its matrix is no number";
            sum_ += number.value_or(0);
            row.push_back(words[i]);
        }
        if (words.size() != columns_ + 1)
            complaint_ = "a line of its matrix has not a value for each column";
        rows.push_back(std::move(row));
    }

    /// Cells have two decimals, their sum more: a matrix that was cut does not make it.
    void check_sum(std::optional<double> printed) {
        if (!test_.contains("bandwidth_matrix")) return;
        constexpr double rounding = 0.006; // of each cell
        const auto cells = static_cast<double>(test_["bandwidth_matrix"].size() * columns_ + 1);
        if (!printed || !(std::abs(*printed - sum_) <= rounding * cells))
            complaint_ =
                fmt::format("its cells make {:.2f}, which is not the SUM that is printed", sum_);
    }

    void finish_test() {
        if (!complaint_.empty())
            draft_.skip(where_, printed_at(test_, "name"), complaint_);
        else if (test_.is_object())
            read_test(test_, where_, true, draft_);
        test_ = nullptr;
        complaint_.clear();
    }

    Draft& draft_;
    Value test_; ///< null: none begun
    std::string where_;
    std::string complaint_;
    std::string_view before_; ///< the line before
    std::size_t columns_ = 0;
    double sum_ = 0;
    int waived_ = 0;
};

} // namespace

Result<void> read_nvbandwidth(std::string_view text, std::string_view source, Draft& draft) {
    ASSAY_TRY(const auto value, json::parse(text, source, {.bytes = largest}));
    const Value* root = find(value, "nvbandwidth");
    if (root == nullptr)
        return fail(
            fmt::format("{}: `nvbandwidth` is missing: this is no JSON of nvbandwidth", source));
    const Value* tests = find(*root, "testcases");
    if (tests == nullptr || !tests->is_array()) {
        const auto error = printed_at(*root, "error");
        return fail(fmt::format("{}: nvbandwidth.testcases is missing, expected an array{}{}",
                                source, error.empty() ? "" : "; nvbandwidth says ",
                                error.empty() ? "" : json::show_text(error)));
    }
    draft.set_tool_version(printed_at(*root, "version"));
    draft.add_software("cuda.runtime", cuda_version(printed_at(*root, "CUDA Runtime Version")));
    draft.add_software("driver.version", printed_at(*root, "Driver Version"));
    read_devices(*root, draft);
    if (const auto warning = printed_at(*root, "warning"); !warning.empty())
        draft.note("nvbandwidth warns: " + warning);
    for (std::size_t i = 0; i < tests->size() && !draft.is_full(); ++i)
        read_test((*tests)[i], json::join("testcases", i), false, draft);
    return {};
}

Result<void> read_nvbandwidth_text(std::string_view text, std::string_view /*source*/,
                                   Draft& draft) {
    TextReader{draft}.read(text);
    return {};
}

} // namespace assay::imports
