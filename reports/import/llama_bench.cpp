// SPDX-License-Identifier: Apache-2.0
//
// llama-bench of llama.cpp: -o json and jsonl (with each repetition), csv, and the table that it prints by default. Rates are
// tokens per second of processing a prompt (pp), of generating (tg), or of both one after the other.

#include "import/draft.hpp"
#include "import/figures.hpp"
#include "import/lines.hpp"
#include "import/values.hpp"
#include "json/json.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace assay::imports {
namespace {

using json::Value;

constexpr std::size_t largest = std::size_t{16} << 20U; // bytes; a test has 2 kB
constexpr double nano = 1e-9;

/// Titles of the table, and the keys of the other formats.
constexpr std::array<std::pair<std::string_view, const char*>, 10> titles{
    {{"model", "model_type"},
     {"backend", "backends"},
     {"threads", "n_threads"},
     {"ngl", "n_gpu_layers"},
     {"fa", "flash_attn"},
     {"sm", "split_mode"},
     {"nkvo", "no_kv_offload"},
     {"embd", "embeddings"},
     {"ncmoe", "n_cpu_moe"},
     {"t/s", "avg_ts"}}};

/// "CUDA", "ROCm,RPC"
std::string place_of(std::string_view backends) {
    const auto first = word_of(backends.substr(0, backends.find(',')));
    if (first.empty()) return "unknown";
    if (first == "cpu" || first == "blas") return "host";
    return first == "rocm" ? "hip" : first;
}

/// Values between commas, in quotes or not; "" inside of quotes is a quote.
std::vector<std::string> values_of(std::string_view line) {
    std::vector<std::string> values(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
            values.back() += line[++i];
        else if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            values.emplace_back();
        else
            values.back() += line[i];
    }
    return values;
}

class Reader {
public:
    explicit Reader(Draft& draft) : draft_{draft} {}

    void read_json(const std::vector<Value>& results) {
        for (std::size_t i = 0; i < results.size() && !draft_.is_full(); ++i) {
            samples_.clear();
            if (const Value* list = find(results[i], "samples_ns");
                list != nullptr && list->is_array())
                for (const auto& sample : *list)
                    samples_.push_back(sample.is_number() ? sample.get<double>() * nano : 0);
            result(fields_of(results[i]), json::show(results[i]), fmt::format("result {}", i + 1));
        }
    }

    void read_csv(std::string_view text) {
        std::vector<std::string> columns;
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            const auto line = lines.content();
            if (line.starts_with("build_commit,")) {
                columns = values_of(line);
                draft_.begin_process(lines.where());
            } else {
                row(columns, values_of(line), line, lines.where());
            }
        }
    }

    void read_table(std::string_view text) {
        std::vector<std::string> columns;
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            const auto line = lines.content();
            if (line.starts_with("build: ")) {
                version(words_of(line).at(1), words_of(line).back());
            } else if (line.starts_with('|') && line.ends_with('|') && line.size() > 1) {
                std::vector<std::string> cells;
                for (const auto cell : split(line.substr(1, line.size() - 2), "|"))
                    cells.emplace_back(trimmed(cell));
                if (cells.front() == "model") {
                    columns = cells;
                    draft_.begin_process(lines.where());
                } else if (line.find_first_not_of("|-: ") != std::string_view::npos) {
                    row(columns, cells, line, lines.where());
                }
            }
        }
    }

private:
    void row(const std::vector<std::string>& columns, const std::vector<std::string>& cells,
             std::string_view line, const std::string& where) {
        if (columns.empty())
            return draft_.skip(where, line, "it stands before any line of titles", true);
        if (columns.size() != cells.size())
            return draft_.skip(
                where, line,
                fmt::format("{} values under {} titles", cells.size(), columns.size()));
        Fields fields;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto title = std::ranges::find(titles, columns[i],
                                                 &std::pair<std::string_view, const char*>::first);
            fields.emplace(title == titles.end() ? columns[i] : title->second, cells[i]);
        }
        if (const auto test = text_of(fields, "test"); !test.empty()) test_of(test, fields);
        result(fields, line, where);
    }

    /// "pp 512", "tg128 @ d512", "pp512+tg128"
    static void test_of(std::string_view test, Fields& fields) {
        std::string text{test};
        std::erase(text, ' ');
        const auto at = text.find("@d");
        if (at != std::string::npos) fields["n_depth"] = text.substr(at + 2);
        for (const auto part : split(std::string_view{text}.substr(0, at), "+")) {
            if (part.starts_with("pp")) fields["n_prompt"] = part.substr(2);
            if (part.starts_with("tg")) fields["n_gen"] = part.substr(2);
        }
        // "2368.80 ± 93.24"
        auto& rate = fields["avg_ts"];
        rate = rate.substr(0, rate.find(' '));
    }

    void version(std::string_view commit, std::string_view number) {
        while (number.starts_with('(')) number.remove_prefix(1);
        while (number.ends_with(')')) number.remove_suffix(1);
        if (!commit.empty()) draft_.set_tool_version(fmt::format("{} ({})", number, commit));
    }

    void facts(const Fields& fields) {
        version(text_of(fields, "build_commit"), text_of(fields, "build_number"));
        if (const auto time = text_of(fields, "test_time");
            !time.empty() && draft_.run().started.empty())
            draft_.set_started(time);
        draft_.add_software("device", text_of(fields, "gpu_info"));
        auto& cpu = draft_.machine().cpu_model;
        if (cpu.empty()) cpu = text_of(fields, "cpu_info");
    }

    void result(const Fields& fields, std::string_view text, const std::string& where) {
        const auto count = [&](std::string_view name) {
            constexpr std::int64_t most = std::int64_t{1} << 40U; // tokens
            const auto value = integer_of(text_of(fields, name)).value_or(0);
            return value > 0 && value <= most ? value : 0;
        };
        const auto rate = printed_of(text_of(fields, "avg_ts"));
        const auto prompt = count("n_prompt");
        const auto generated = count("n_gen");
        if (!rate || !(rate->value > 0))
            return draft_.skip(where, text, "it has no positive tokens per second");
        if (prompt + generated == 0)
            return draft_.skip(where, text, "it has neither tokens of a prompt nor generated ones");
        facts(fields);
        Reading reading{.name = generated == 0 ? "prompt"
                                : prompt == 0  ? "generation"
                                               : "prompt_and_generation",
                        .place = place_of(text_of(fields, "backends")),
                        .headline = "token_rate",
                        .where = where};
        parameters(fields, reading);
        times(fields, static_cast<double>(prompt + generated), rate->value, std::move(reading),
              text);
    }

    static void parameters(const Fields& fields, Reading& reading) {
        static constexpr std::array names{
            "model_type", "n_prompt",      "n_gen",      "n_depth",    "n_batch",
            "n_ubatch",   "type_k",        "type_v",     "n_threads",  "n_gpu_layers",
            "n_cpu_moe",  "no_kv_offload", "split_mode", "flash_attn", "embeddings"};
        for (const std::string_view name : names) {
            const auto value = text_of(fields, name);
            // Versions that do not know an option yet, and others that print its default, measure the same.
            const bool is_default =
                value == "0" || value == "false" || (name == "flash_attn" && value == "-1");
            if (value.empty() || (is_default && name != "n_gpu_layers")) continue;
            // With a device the threads are as many as the host has cores, and do nothing.
            auto& list = name == "n_threads" && reading.place != "host" ? reading.settings
                                                                        : reading.parameters;
            const std::string known{name == "model_type" ? "model" : name};
            if (const auto number = integer_of(value))
                list.push_back({known, *number});
            else
                list.push_back({known, std::string{value}});
        }
    }

    void times(const Fields& fields, double tokens, double rate, Reading reading,
               std::string_view text) {
        const auto mean = number_of(text_of(fields, "avg_ns"));
        if (!mean) {
            draft_.note("the table has means alone: -o json has each repetition");
            reading.extra = {{"token_rate", rate}};
            return draft_.add(std::move(reading));
        }
        // A mean of rates is not the rate of the mean time, but lies within what the repetitions spread.
        constexpr double tolerance = 0.01;
        const auto spread = number_of(text_of(fields, "stddev_ts")).value_or(0);
        const double follows = tokens / (*mean * nano);
        if (!(*mean > 0) || !(std::abs(follows - rate) <= tolerance * rate + std::abs(spread)))
            return draft_.skip(reading.where, text,
                               "its tokens per second do not follow from its tokens and its time");
        reading.work = {{"tokens", tokens}};
        reading.calls = 1;
        const bool each = !samples_.empty() &&
                          std::ranges::all_of(samples_, [](double seconds) { return seconds > 0; });
        if (!each) {
            samples_ = {*mean * nano};
            reading.calls.reset();
        }
        for (const double seconds : samples_) {
            reading.seconds = seconds;
            draft_.add(reading);
        }
        samples_.clear();
    }

    Draft& draft_;
    std::vector<double> samples_; ///< s, of the result that is read
};

} // namespace

Result<void> read_llama_bench_json(std::string_view text, std::string_view source, Draft& draft) {
    ASSAY_TRY(const auto results, documents_of(text, source, largest));
    Reader{draft}.read_json(results);
    return {};
}

Result<void> read_llama_bench_csv(std::string_view text, std::string_view /*source*/,
                                  Draft& draft) {
    Reader{draft}.read_csv(text);
    return {};
}

Result<void> read_llama_bench_table(std::string_view text, std::string_view /*source*/,
                                    Draft& draft) {
    Reader{draft}.read_table(text);
    return {};
}

} // namespace assay::imports
