// SPDX-License-Identifier: Apache-2.0
//
// Rows about limits that people write: what lint says of each slip, whether check reads it, how far values are from it.

#include "base/utc.hpp"
#include "cli/program.hpp"
#include "json/json.hpp"
#include "situation.hpp"
#include "verdict.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace assay::decisions {
namespace {

using cli_test::Folder;
using namespace ::testing;

const std::filesystem::path h200 = real("h200-acceptance");
const std::filesystem::path host = std::filesystem::path{ASSAY_SAMPLES} / "zen4-2cores-quick.json";

/// A limit that is right for the H200, with these keys instead of its own; null removes one.
json::Value limit(const json::Value& changes = json::Value::object()) {
    json::Value one{
        {"id", "triad"},
        {"kind", "contract"},
        {"source", "offer 7"},
        {"machine", {{"device", "NVIDIA H200"}}},
        {"case", {{"benchmark", "memory.stream"}, {"place", "cuda"}, {"kernel", "triad"}}},
        {"metric", "bandwidth"},
        {"unit", "B/s"},
        {"at_least", 3.7e12}};
    one.merge_patch(changes);
    return one;
}
json::Value file_of(const std::vector<json::Value>& limits,
                    const json::Value& more = json::Value::object()) {
    json::Value file{{"schema", "assay.limits/1"}, {"name", "ours"}, {"limits", limits}};
    file.merge_patch(more);
    return file;
}

std::vector<std::string> codes_of(const Answer& answer) {
    std::vector<std::string> codes;
    for (const auto& one : answer.json.at("findings")) codes.push_back(one.at("code"));
    return codes;
}

/// Written by hand, and asked about.
class Written {
public:
    explicit Written(const json::Value& file) : path_{folder_.write("ours.json", file.dump())} {}

    Answer lint(const std::filesystem::path& runs = {}, const Words& more = {"--json"}) const {
        Words words{"limits", "lint", path_};
        if (!runs.empty()) words.insert(words.end(), {"--runs", runs.string()});
        words.insert(words.end(), more.begin(), more.end());
        return ask(words);
    }
    std::vector<std::string> codes(const std::filesystem::path& runs = {}) const {
        return codes_of(lint(runs));
    }
    Answer check(const std::filesystem::path& run = h200) const {
        return ask({"check", run.string(), "--limits", path_, "--json"});
    }
    Answer show(const std::filesystem::path& run = h200, const Words& more = {"--json"}) const {
        Words words{"limits", "show", path_, run.string()};
        words.insert(words.end(), more.begin(), more.end());
        return ask(words);
    }

private:
    Folder folder_;
    std::string path_;
};

struct Slip {
    const char* name;
    json::Value changes;
    std::vector<std::string> codes; ///< of lint, beside the run
    int check;                      ///< exit code
    const char* words;              ///< in what lint says
};

TEST(WrittenLimits, EverySlipIsFound) {
    const json::Value of_latency{{"metric", "latency"},
                                 {"at_least", nullptr},
                                 {"case", {{"benchmark", "memory.latency"}, {"kernel", nullptr}}}};
    auto microseconds = of_latency;
    microseconds.update({{"unit", "us"}, {"at_most", 0.4}});
    const std::vector<Slip> slips{
        {"right", json::Value::object(), {}, 0, ""},
        {"GB/s", {{"unit", "GB/s"}, {"at_least", 3700}}, {"unit_converted"}, 0, "e+12 B/s"},
        {"GiB/s", {{"unit", "GiB/s"}, {"at_least", 3445}}, {"unit_converted"}, 0, "e+12 B/s"},
        {"Tbit/s", {{"unit", "Tbit/s"}, {"at_least", 29.6}}, {"unit_converted"}, 0, "e+12 B/s"},
        {"us", microseconds, {"unit_converted"}, 0, "4e-07 s"},
        {"another dimension", {{"unit", "TFLOP/s"}}, {"unreadable"}, 2, "expected B/s"},
        {"no unit at all",
         {{"unit", "fast"}, {"metric", nullptr}},
         {"unreadable"},
         2,
         "unknown unit"},
        {"metric", {{"metric", "bandwith"}}, {"unreadable"}, 2, "bandwidth"},
        {"key of the limit", {{"atleast", 3}}, {"unreadable"}, 2, "at_least"},
        {"key of the machine",
         {{"machine", {{"devise", "NVIDIA H200"}}}},
         {"unreadable"},
         2,
         "device"},
        {"benchmark",
         {{"case", {{"benchmark", "memory.steam"}}}},
         {"matches_nothing"},
         3,
         "memory.stream"},
        {"parameter", {{"case", {{"kernal", "triad"}}}}, {"unknown_parameter"}, 3, "kernel"},
        {"value", {{"case", {{"kernel", "traid"}}}}, {"unknown_value"}, 3, "triad"},
        {"a size with a unit",
         {{"case", {{"footprint", "1GiB"}}}},
         {"unknown_value"},
         3,
         "1073741824"},
        {"unit of another metric",
         {{"metric", nullptr}, {"unit", "FLOP/s"}},
         {"unit_differs"},
         3,
         "B/s"},
        {"size that nobody measured",
         {{"case", {{"benchmark", "gemm.square"}, {"kernel", nullptr}, {"size", 4097}}},
          {"metric", "flop_rate"},
          {"unit", "FLOP/s"},
          {"at_least", 5e14}},
         {"matches_nothing"},
         3,
         "8192"},
        {"another machine",
         {{"machine", {{"device", "NVIDIA H100 80GB HBM3"}}}, {"at_least", 2.5e12}},
         {"matches_nothing"},
         3,
         "none of the machines"},
    };
    for (const auto& slip : slips) {
        SCOPED_TRACE(slip.name);
        const Written written{file_of({limit(slip.changes)})};
        const auto found = written.lint(h200);
        EXPECT_THAT(codes_of(found), ElementsAreArray(slip.codes));
        EXPECT_THAT(found.text, HasSubstr(slip.words));
        EXPECT_EQ(found.code == 2, slip.check == 2);
        const auto checked = written.check();
        EXPECT_EQ(checked.code, slip.check) << checked.error;
        if (slip.check == 2) EXPECT_THAT(checked.error, HasSubstr("ours.json"));
    }
}

TEST(WrittenLimits, ForOtherMachinesAreSaid) {
    const auto of_h100 = limit({{"id", "other"}, {"machine", {{"device", "NVIDIA H100*"}}}});
    EXPECT_THAT(Written{file_of({limit(), of_h100})}.check().json.at("text").dump(),
                HasSubstr("1 limit is for other machines: other."));
    EXPECT_THAT(Written{file_of({limit()})}.check().json.at("text").dump(),
                Not(HasSubstr("other machines")));
}

TEST(WrittenLimits, WaiversNeedAMachineAndAnEnd) {
    const json::Value waiver{{"limit", "triad"},
                             {"owner", "ops"},
                             {"reason", "spare ordered"},
                             {"machine", "n17"},
                             {"expires", "2099-01-01"}};
    const auto with = [&](const json::Value& changes) {
        auto one = waiver;
        one["expires"] = utc_of(seconds_now() + 30 * 86400.0).substr(0, 10);
        one.merge_patch(changes);
        return Written{file_of({limit()}, {{"waivers", {one}}})};
    };
    EXPECT_THAT(with(json::Value::object()).codes(), IsEmpty());
    EXPECT_THAT(with({{"expires", "2099-01-01"}}).codes(), ElementsAre("waiver_long"));
    EXPECT_THAT(with({{"expires", "2020-01-01"}}).codes(), ElementsAre("waiver_expired"));
    EXPECT_THAT(with({{"expires", nullptr}}).codes(), ElementsAre("unreadable"));
    EXPECT_THAT(with({{"expires", nullptr}}).check().error, HasSubstr("expires"));
    EXPECT_EQ(with({{"expires", "2099-01-01"}}).check().code, 2);
    for (const auto* needed : {"machine", "owner", "reason"}) {
        EXPECT_THAT(with({{needed, nullptr}}).codes(), ElementsAre("unreadable"));
        EXPECT_THAT(with({{needed, nullptr}}).check().error, HasSubstr(needed));
    }
    EXPECT_THAT(with({{"limit", "triads"}}).codes(), ElementsAre("unknown_limit"));
    EXPECT_EQ(with({{"limit", "triads"}}).check().code, 2);
    const auto cause = with({{"limit", nullptr}, {"cause", "below_limits"}});
    EXPECT_THAT(cause.codes(), ElementsAre("unreadable"));
    EXPECT_THAT(cause.check().error, HasSubstr("below_limit"));
}

/// Limits of a host are not compared with what a device can do, nor the reverse.
TEST(WrittenLimits, APeakIsOfTheChipThatTheLimitIsFor) {
    const auto codes = [](const json::Value& machine, const json::Value& cases, double at_least,
                          const char* unit, const std::filesystem::path& runs = {}) {
        return Written{file_of({json::Value{{"id", "a"},
                                            {"kind", "contract"},
                                            {"source", "s"},
                                            {"machine", machine},
                                            {"case", cases},
                                            {"unit", unit},
                                            {"at_least", at_least}}})}
            .codes(runs);
    };
    const json::Value stream{{"benchmark", "memory.stream"}};
    const json::Value on_host{{"benchmark", "memory.stream"}, {"place", "host"}};
    const json::Value openblas{{"benchmark", "gemm.square"}, {"library", "openblas"}};
    const json::Value any = json::Value::object();
    // Three GB/s is little for a GPU, and right for a small host.
    EXPECT_THAT(codes(any, stream, 3e9, "B/s"), IsEmpty());
    EXPECT_THAT(codes(any, on_host, 3e10, "B/s"), IsEmpty());
    EXPECT_THAT(codes(any, openblas, 5e12, "FLOP/s"), IsEmpty());
    EXPECT_THAT(codes({{"device", "NVIDIA H200"}}, on_host, 3e11, "B/s"), IsEmpty())
        << "the node's processors";
    EXPECT_THAT(codes({{"device", "NVIDIA H200"}, {"cpu", "AMD EPYC 9R14*"}}, on_host, 3e11, "B/s"),
                IsEmpty());
    EXPECT_THAT(codes({{"device", "NVIDIA H200"}, {"cpu", "AMD EPYC 9R14*"}}, on_host, 3e12, "B/s"),
                ElementsAre("above_peak"));
    // Without a chip: that of the runs.
    EXPECT_THAT(codes(any, {{"benchmark", "memory.stream"}, {"place", "cuda"}}, 3.7e9, "B/s", h200),
                ElementsAre("unit_slip"));
    EXPECT_THAT(codes(any, on_host, 3e10, "B/s", host), IsEmpty());
}

TEST(WrittenLimits, AreShownWithTheDistanceOfEachValue) {
    const Written written{file_of(
        {limit(), limit({{"id", "too-much"}, {"at_least", 4.6e12}}),
         limit({{"id", "in-gigabytes"}, {"unit", "GB/s"}, {"at_least", 4200}}),
         limit({{"id", "absent"}, {"case", {{"kernel", "add"}}}}),
         limit({{"id", "other"}, {"machine", {{"device", "NVIDIA H100*"}}}, {"at_least", 3e12}})})};
    const auto shown = written.show();
    ASSERT_EQ(shown.code, 0) << shown.error;
    std::vector<std::string> ids;
    for (const auto& one : shown.json.at("limits")) ids.push_back(one.at("id"));
    EXPECT_THAT(ids, ElementsAre("triad", "too-much", "in-gigabytes", "absent"));
    const auto& checks = shown.json.at("limits").at(0).at("checks");
    ASSERT_EQ(checks.size(), 1U);
    EXPECT_NEAR(checks.at(0).at("margin").get<double>(), 4.37 / 3.7 - 1, 0.01);
    const auto text = written.show(h200, {}).text;
    EXPECT_THAT(text, HasSubstr("4 of 5 limits apply to this machine; not applicable: 1."));
    const auto at = [&](const char* word) { return text.find(word); };
    EXPECT_LT(at("-4.9%"), at("+4.1%"));
    EXPECT_LT(at("+4.1%"), at("+18%"));
    EXPECT_LT(at("+18%"), at("assay run acceptance --check --only memory.stream"));
    EXPECT_THAT(written.show(h200, {"--lang", "zh"}).text, HasSubstr("+18%"));
}

} // namespace
} // namespace assay::decisions
