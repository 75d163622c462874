// SPDX-License-Identifier: Apache-2.0
//
// llama-bench and vLLM as configs/external/ describes them, with scripts that take their options and write what their
// versions of 2025 and 2026 write.

#include "external/library.hpp"
#include "external/tool_case.hpp"
#include "made.hpp"
#include "support/fake_program.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace assay::external {
namespace {

using made::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

/// Every option becomes a variable: -ngl 99 is $ngl, --input-len 8 is $input_len.
constexpr auto options = R"(
while [ $# -gt 0 ]; do
  case "$1" in
    -*) name=$(printf %s "$1" | sed 's/^-*//; s/-/_/g'); eval "$name='$2'"; shift;;
  esac
  shift
done
)";

constexpr auto llama_bench = R"(
echo 'load_backend: loaded CUDA backend' >&2
cat <<END
[
  {
    "build_commit": "8cf427ff",
    "backends": "$BACKENDS",
    "model_filename": "$m",
    "model_type": "llama 8B F16",
    "n_threads": ${t:-8},
    "n_gpu_layers": $ngl,
    "n_prompt": $p,
    "n_gen": $n,
    "n_depth": $d,
    "avg_ns": 1076767880,
    "avg_ts": 118.881588,
    "stddev_ts": 1.041811,
    "samples_ts": [ 119.03, 120.178, 119.43, 118.307, 117.464 ]
  }
]
END
)";

constexpr auto vllm_throughput = R"(
echo 'INFO 01-31 12:34:56 [gpu_model_runner.py:1] Loading model'
echo 'Throughput: 2.50 requests/s, 5120.00 total tokens/s, 2560.00 output tokens/s'
echo 'Total num prompt tokens:  131072'
echo "{\"elapsed_time\": 51.2, \"num_requests\": $num_prompts, \"total_num_tokens\": 262144,
  \"requests_per_second\": 2.5, \"tokens_per_second\": 5120.0}" > "$output_json"
)";

constexpr auto vllm_latency = R"(
test "$output_len" = 1 || exit 3
echo 'Avg latency: 0.0441234567 seconds'
echo '{"avg_latency": 0.0441234567, "latencies": [0.044, 0.045],
  "percentiles": {"10": 0.043, "50": 0.044, "90": 0.045, "99": 0.0459}}' > "$output_json"
)";

class Models : public testing::Test {
protected:
    Models() { program_.facts["cores"] = 4; }

    /// The shipped description `id` with this script for its program, by default values but these.
    ToolCase& prepare(const std::string& id, const std::string& lines,
                      std::map<std::string, std::string> set = {}) {
        describe(id, script(folder_.path(), std::string{options} + lines), std::move(set));
        case_.emplace(description_, values_.data(), Context{&program_.services});
        return *case_;
    }
    void describe(const std::string& id, const std::string& program,
                  std::map<std::string, std::string> set) {
        for (std::size_t i = 0; i < shipped_count; ++i) {
            auto json = Json::parse(shipped[i].text);
            if (json["id"] != id) continue;
            json["program"]["name"] = program;
            description_ = made(json);
        }
        set.try_emplace("model", folder_.path().string());
        values_.clear();
        texts_.clear();
        texts_.reserve(description_.parameters.size());
        for (const auto& parameter : description_.parameters) {
            const auto* const number = std::get_if<std::int64_t>(&parameter.defaults.front());
            if (number != nullptr && !set.contains(parameter.name)) {
                values_.push_back({ASSAY_INTEGER, 0, *number, 0, nullptr});
                continue;
            }
            const auto found = set.find(parameter.name);
            texts_.push_back(found != set.end()
                                 ? found->second
                                 : std::get<std::string>(parameter.defaults.front()));
            values_.push_back({ASSAY_STRING, 0, 0, 0, texts_.back().c_str()});
        }
    }
    std::map<std::string, double> measured(ToolCase& tool) {
        tool.run();
        EXPECT_TRUE(tool.verify().passed) << tool.verify().detail;
        Metrics to{&program_.services};
        tool.metrics(to);
        tool.spoil();
        EXPECT_FALSE(tool.verify().passed);
        return program_.metrics;
    }
    std::string wrong(ToolCase& tool) {
        tool.run();
        return tool.verify().detail;
    }
    std::string fit() {
        return std::string{fits(description_, values_.data(), Machine{&program_.services}).why()};
    }

    TemporaryFolder folder_;
    test::FakeProgram program_;
    Description description_;
    std::vector<std::string> texts_;
    std::vector<assay_value> values_;
    std::optional<ToolCase> case_;
};

TEST_F(Models, LlamaBenchCountsTokensOfAPhase) {
    const std::string lines = std::string{"BACKENDS=CUDA"} + llama_bench;
    for (const auto* phase : {"prefill", "decode"})
        EXPECT_DOUBLE_EQ(
            measured(prepare("llama_bench.device", lines, {{"phase", phase}})).at("item_rate"),
            118.881588);
    EXPECT_EQ(description_.items, "tokens");
    EXPECT_THAT(program_.texts.at("command"), HasSubstr("-p 0 -n 512 -d 0 -ngl 99"));
    EXPECT_THAT(description_.caveats, HasSubstr("does not verify"));
    measured(prepare("llama_bench.host", lines));
    EXPECT_THAT(program_.texts.at("command"), HasSubstr("-ngl 0 -t 4"));
}

TEST_F(Models, LlamaBenchThatDidSomethingElseIsWrong) {
    EXPECT_THAT(wrong(prepare("llama_bench.device", std::string{"BACKENDS=BLAS"} + llama_bench)),
                HasSubstr("a build without CUDA"));
    EXPECT_THAT(wrong(prepare("llama_bench.device",
                              std::string{"ngl=0; BACKENDS=BLAS,CUDA"} + llama_bench)),
                HasSubstr("layers on the host"));
    EXPECT_THAT(wrong(prepare("llama_bench.host", std::string{"p=7; BACKENDS=CPU"} + llama_bench)),
                HasSubstr("another prompt"));
}

TEST_F(Models, VllmCountsOutputTokens) {
    const auto found = measured(prepare("vllm.throughput", vllm_throughput));
    EXPECT_EQ(found.at("item_rate"), 2560);
    EXPECT_EQ(found.at("total_token_rate"), 5120);
    EXPECT_EQ(found.at("request_rate"), 2.5);
    EXPECT_THAT(wrong(prepare("vllm.throughput", std::string{"num_prompts=1"} + vllm_throughput)),
                HasSubstr("another number of prompts"));
}

TEST_F(Models, VllmTimesTheFirstToken) {
    const auto found = measured(prepare("vllm.latency", vllm_latency));
    EXPECT_DOUBLE_EQ(found.at("first_token_time"), 0.0441234567);
    EXPECT_EQ(found.at("first_token_time_p99"), 0.0459);
}

TEST_F(Models, ThatAreMissingAreNamedInALine) {
    describe("vllm.latency", "no-such-program-anywhere", {});
    EXPECT_EQ(fit(), "not applicable: no-such-program-anywhere is not installed. "
                     "See https://docs.vllm.ai");
    describe("vllm.latency", "true", {{"model", ""}});
    EXPECT_EQ(fit(), "not applicable: needs the path of a model");
    describe("vllm.latency", "true", {{"model", "/nonexistent"}});
    EXPECT_EQ(fit(), "not applicable: needs /nonexistent");
}

} // namespace
} // namespace assay::external
