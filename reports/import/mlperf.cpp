// SPDX-License-Identifier: Apache-2.0
//
// MLPerf: the summary of a run of inference (mlperf_log_summary.txt of LoadGen), which names no model, and the log of a
// training (result_*.txt, lines of :::MLLOG), whose result is the time from run_start to run_stop. A result that its own
// rules call invalid is incorrect.

#include "import/draft.hpp"
#include "import/lines.hpp"
#include "import/values.hpp"
#include "json/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace assay::imports {
namespace {

using json::Value;

constexpr double nano = 1e-9;
constexpr double milli = 1e-3;

struct Title {
    std::string_view name;
    const char* metric;
    double unit;
};
/// Of LoadGen's lines, as word_of() makes them.
constexpr std::array titles{
    Title{"samples_per_second", "sample_rate", 1},
    Title{"scheduled_samples_per_second", "sample_rate", 1},
    Title{"completed_samples_per_second", "sample_rate", 1},
    Title{"tokens_per_second", "token_rate", 1},
    Title{"completed_tokens_per_second", "token_rate", 1},
    Title{"mean_latency_ns", "latency", nano},
    Title{"min_latency_ns", "fastest_latency", nano},
    Title{"max_latency_ns", "slowest_latency", nano},
    Title{"50_00_percentile_latency_ns", "latency_p50", nano},
    Title{"90th_percentile_latency_ns", "latency_p90", nano},
    Title{"90_00_percentile_latency_ns", "latency_p90", nano},
    Title{"99th_percentile_latency_ns", "latency_p99", nano},
    Title{"99_00_percentile_latency_ns", "latency_p99", nano},
    Title{"99_90_percentile_latency_ns", "latency_p999", nano},
    Title{"mean_first_token_latency_ns", "first_token_time", nano},
    Title{"50_00_percentile_first_token_latency_ns", "first_token_time_p50", nano},
    Title{"99_00_percentile_first_token_latency_ns", "first_token_time_p99", nano},
    Title{"mean_time_to_output_token_ns", "token_time", nano},
    Title{"50_00_percentile_time_to_output_token_ns", "token_time_p50", nano},
    Title{"99_00_percentile_time_to_output_token_ns", "token_time_p99", nano},
};
const Title* title_of(std::string_view name) {
    for (const auto& title : titles)
        if (title.name == name) return &title;
    return nullptr;
}

class Inference {
public:
    explicit Inference(Draft& draft) : draft_{draft} {}

    void read(std::string_view text) {
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            const auto line = lines.content();
            const auto colon = line.find(':');
            if (line == "MLPerf Results Summary") {
                finish();
                draft_.begin_process(lines.where());
                reading_ = Reading{.place = "unknown", .where = lines.where()};
            } else if (reading_ && colon != std::string_view::npos) {
                fact(word_of(line.substr(0, colon)), trimmed(line.substr(colon + 1)), line);
            }
        }
        finish();
    }

private:
    void fact(const std::string& name, std::string_view value, std::string_view line) {
        static constexpr std::array settings{"samples_per_query", "target_qps",
                                             "target_latency_ns", "ttft_latency_ns",
                                             "tpot_latency_ns",   "min_duration_ms",
                                             "min_query_count",   "performance_sample_count"};
        if (name == "scenario") {
            reading_->name = word_of(value);
        } else if (name == "mode") {
            mode_ = value;
        } else if (name == "sut_name") {
            reading_->settings.push_back({"sut", std::string{value}});
        } else if (name == "result_is") {
            verdict_ = value;
        } else if (name.ends_with("_satisfied") && value == "NO") {
            if (failures_.empty()) failures_ = line;
        } else if (const auto* title = title_of(name); title != nullptr) {
            figure(*title, value);
        } else if (std::ranges::find(settings, name) != settings.end()) {
            if (const auto number = number_of(value);
                number && record::find(reading_->settings, name) == nullptr)
                reading_->settings.push_back({name, *number});
        }
    }

    /// The first of each metric counts: the result stands in front of further figures.
    void figure(const Title& title, std::string_view value) {
        const auto number = number_of(value);
        if (!number || !(*number > 0) || record::find(reading_->extra, title.metric) != nullptr)
            return;
        if (reading_->headline.empty()) reading_->headline = title.metric;
        reading_->extra.push_back({title.metric, *number * title.unit});
    }

    void finish() {
        if (!reading_) return;
        Reading reading = *std::exchange(reading_, std::nullopt);
        const auto verdict = std::exchange(verdict_, "");
        const auto mode = std::exchange(mode_, "");
        const auto failures = std::exchange(failures_, "");
        if (reading.name.empty() || reading.headline.empty())
            return draft_.skip(reading.where, "MLPerf Results Summary",
                               "it has no scenario or no result: it may be cut");
        if (!mode.empty() && mode != "PerformanceOnly")
            return draft_.skip(reading.where, mode, "a run in this mode has no performance");
        if (verdict != "VALID" && verdict != "INVALID")
            return draft_.skip(reading.where, "Result is", "it does not say VALID or INVALID");
        if (reading.name == "offline")
            std::erase_if(reading.extra, [](const record::Named& figure) {
                return figure.name.find("latency") != std::string::npos;
            }); // of queries that were all sent at the start
        if (record::find(draft_.options().parameters, "model") == nullptr)
            draft_.note("the summary names no model: --parameter model=... says it");
        reading.verification = record::Verification{
            .passed = verdict == "VALID",
            .method = "LoadGen's rules for a valid run",
            .detail = verdict == "VALID" ? "" : "it says INVALID: " + failures};
        draft_.add(std::move(reading));
    }

    Draft& draft_;
    std::optional<Reading> reading_;
    std::string verdict_;
    std::string mode_;
    std::string failures_;
};

class Training {
public:
    explicit Training(Draft& draft) : draft_{draft} {}

    void read(std::string_view text) {
        constexpr std::string_view mark = ":::MLLOG ";
        for (InputLines lines{text}; !draft_.is_full() && lines.next();) {
            const auto at = lines.content().find(mark);
            if (at == std::string_view::npos) continue;
            const auto content = lines.content().substr(at + mark.size());
            if (const auto entry = json::parse(content, "line"); entry && entry->is_object())
                event(*entry, lines.where());
            else
                draft_.skip(lines.where(), content, "expected a JSON object behind :::MLLOG");
        }
        finish("the log ends before run_stop");
    }

private:
    void event(const Value& entry, const std::string& where) {
        static constexpr std::array<std::pair<std::string_view, const char*>, 3> settings{
            {{"submission_org", "organization"},
             {"submission_platform", "platform"},
             {"submission_division", "division"}}};
        const auto key = text_at(entry, "key");
        const auto value = printed_at(entry, "value");
        const auto time = number_at(entry, "time_ms");
        if (key == "submission_benchmark") {
            name_ = word_of(value);
        } else if (key == "global_batch_size") {
            if (const auto size = integer_of(value)) batch_ = size;
        } else if (key == "eval_accuracy") {
            if (const auto accuracy = number_of(value)) accuracy_ = accuracy;
        } else if (key == "run_start" && time) {
            finish("another run_start follows, and no run_stop stands between");
            begin_ = time;
            where_ = where;
            draft_.begin_process(where);
            started(*time);
        } else if (key == "run_stop" && time) {
            stop(entry, *time, where);
        } else {
            for (const auto& [known, setting] : settings)
                if (key == known && !value.empty() && record::find(settings_, setting) == nullptr)
                    settings_.push_back({setting, value});
        }
    }

    void started(double milliseconds) {
        constexpr double last = 4e12; // 2096
        if (!(milliseconds > 0 && milliseconds < last)) return;
        if (draft_.run().started.empty())
            draft_.run().started = utc_of(static_cast<std::int64_t>(milliseconds * milli));
    }

    void stop(const Value& entry, double time, const std::string& where) {
        if (!begin_) return draft_.skip(where, "run_stop", "no run_start stands in front of it");
        const Value* metadata = find(entry, "metadata");
        const auto status = metadata == nullptr ? "" : text_at(*metadata, "status");
        if (!(time > *begin_)) return finish("run_stop is not later than run_start");
        if (status != "success")
            return finish(fmt::format("run_stop says {}: the target quality was not reached",
                                      status.empty() ? "nothing of success" : status));
        add(record::Status::ok, "", (time - *begin_) * milli);
    }

    void finish(const std::string& why) {
        if (begin_) add(record::Status::failed, why, std::nullopt);
    }

    void add(record::Status status, std::string why, std::optional<double> seconds) {
        Reading reading{.name = name_.empty() ? "training" : name_,
                        .place = "unknown",
                        .settings = settings_,
                        .headline = "time",
                        .seconds = seconds,
                        .calls = 1,
                        .status = status,
                        .reason = std::move(why),
                        .where = where_};
        if (batch_) reading.parameters = {{"global_batch_size", *batch_}};
        if (accuracy_) reading.settings.push_back({"eval_accuracy", *accuracy_});
        if (status == record::Status::ok)
            reading.verification = record::Verification{
                .passed = true, .method = "the target quality was reached, by run_stop"};
        begin_.reset();
        accuracy_.reset();
        draft_.add(std::move(reading));
    }

    Draft& draft_;
    std::string name_;
    std::string where_;
    std::optional<double> begin_; ///< ms
    std::optional<std::int64_t> batch_;
    std::optional<double> accuracy_;
    record::NamedList settings_;
};

} // namespace

Result<void> read_mlperf_inference(std::string_view text, std::string_view /*source*/,
                                   Draft& draft) {
    Inference{draft}.read(text);
    return {};
}

Result<void> read_mlperf_training(std::string_view text, std::string_view /*source*/,
                                  Draft& draft) {
    Training{draft}.read(text);
    return {};
}

} // namespace assay::imports
