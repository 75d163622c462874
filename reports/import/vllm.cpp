// SPDX-License-Identifier: Apache-2.0
//
// The result of vLLM's serving benchmark (`vllm bench serve`, once benchmark_serving.py): one JSON object, or one on each
// line with --append-result. Rates count completed requests; times are in milliseconds.

#include "import/draft.hpp"
#include "import/lines.hpp"
#include "import/values.hpp"
#include "json/json.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace assay::imports {
namespace {

using json::Value;

constexpr std::size_t largest = std::size_t{64} << 20U; // bytes; with every token's time
constexpr double milli = 1e-3;

struct Figure {
    const char* key;
    const char* metric;
    double unit;
};
constexpr std::array figures{
    Figure{"output_throughput", "token_rate", 1},
    Figure{"total_token_throughput", "total_token_rate", 1},
    Figure{"request_throughput", "request_rate", 1},
    Figure{"mean_ttft_ms", "first_token_time", milli},
    Figure{"median_ttft_ms", "first_token_time_p50", milli},
    Figure{"p99_ttft_ms", "first_token_time_p99", milli},
    Figure{"mean_tpot_ms", "token_time", milli},
    Figure{"median_tpot_ms", "token_time_p50", milli},
    Figure{"p99_tpot_ms", "token_time_p99", milli},
    Figure{"mean_itl_ms", "inter_token_time", milli},
    Figure{"median_itl_ms", "inter_token_time_p50", milli},
    Figure{"p99_itl_ms", "inter_token_time_p99", milli},
    Figure{"mean_e2el_ms", "latency", milli},
    Figure{"median_e2el_ms", "latency_p50", milli},
    Figure{"p90_e2el_ms", "latency_p90", milli},
    Figure{"p99_e2el_ms", "latency_p99", milli},
};

class Reader {
public:
    explicit Reader(Draft& draft) : draft_{draft} {}

    void result(const Value& object, const std::string& where) {
        const auto duration = number_at(object, "duration");
        const auto completed = number_at(object, "completed");
        if (!duration || !(*duration > 0) || !completed || !(*completed >= 0))
            return draft_.skip(where, json::show(object),
                               "duration and completed are no positive numbers");
        draft_.begin_process(where);
        started(text_at(object, "date"));
        Reading reading{
            .name = "serve", .place = "unknown", .headline = "token_rate", .where = where};
        parameters(object, reading);
        if (*completed == 0) {
            reading.status = record::Status::failed;
            reading.reason = "no request was completed";
            return draft_.add(std::move(reading));
        }
        for (const auto& [key, amount] :
             {std::pair{"request_throughput", *completed},
              std::pair{"output_throughput",
                        number_at(object, "total_output_tokens").value_or(0)}}) {
            constexpr double tolerance = 0.01; // the end of the last request, in old versions
            const auto rate = number_at(object, key);
            if (rate && amount > 0 &&
                !(std::abs(*rate - amount / *duration) <= tolerance * amount / *duration))
                return draft_.skip(
                    where, json::show(object),
                    fmt::format("{} does not follow from its amount and duration", key));
        }
        const double asked = number_at(object, "num_prompts").value_or(*completed);
        if (asked > *completed)
            draft_.note(fmt::format("{} of {} requests were completed: rates count these alone",
                                    *completed, asked));
        add_figures(object, reading);
        if (reading.extra.empty() || reading.extra.front().name != reading.headline)
            return draft_.skip(where, json::show(object),
                               "output_throughput is no positive number");
        draft_.add(std::move(reading));
    }

private:
    /// "20250424-115709", in local time
    void started(std::string date) {
        if (date.empty() || !draft_.run().started.empty()) return;
        std::ranges::replace(date, '-', 'T');
        draft_.set_started(date);
    }

    static void parameters(const Value& object, Reading& reading) {
        static constexpr std::array<std::pair<const char*, const char*>, 7> names{
            {{"model", "model_id"},
             {"backend", "backend"},
             {"prompts", "num_prompts"},
             {"request_rate", "request_rate"},
             {"concurrency", "max_concurrency"},
             {"burstiness", "burstiness"},
             {"input_tokens", "total_input_tokens"}}};
        for (const auto& [name, key] : names) {
            const auto value = printed_at(object, key);
            if (value.empty() || (name == std::string_view{"burstiness"} && value == "1.0"))
                continue;
            if (const auto number = integer_of(value))
                reading.parameters.push_back({name, *number});
            else
                reading.parameters.push_back({name, value});
        }
        for (const char* key : {"total_output_tokens", "duration"})
            if (const auto value = number_at(object, key))
                reading.settings.push_back({key, *value});
    }

    void add_figures(const Value& object, Reading& reading) {
        for (const auto& [key, metric, unit] : figures)
            if (const auto value = number_at(object, key); value && *value > 0)
                reading.extra.push_back({metric, *value * unit});
        std::set<std::string> others;
        constexpr std::size_t most = 50; // names; a note for each
        for (const auto& [key, value] : object.items())
            if (key.ends_with("_ms") && !key.starts_with("std_") && others.size() < most &&
                std::ranges::find_if(figures, [&](const Figure& figure) {
                    return key == figure.key;
                }) == figures.end())
                others.insert(key);
        for (const auto& key : others)
            draft_.note(
                fmt::format("{}: there is no metric for it, left out", json::show_text(key)));
    }

    Draft& draft_;
};

} // namespace

Result<void> read_vllm(std::string_view text, std::string_view source, Draft& draft) {
    ASSAY_TRY(const auto results, documents_of(text, source, largest));
    Reader reader{draft};
    for (std::size_t i = 0; i < results.size() && !draft.is_full(); ++i)
        reader.result(results[i], fmt::format("result {}", i + 1));
    return {};
}

} // namespace assay::imports
