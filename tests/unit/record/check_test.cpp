// SPDX-License-Identifier: Apache-2.0
#include "decide/check.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "support/sample_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay::record {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<Finding> verify(const json::Value& document) {
    const auto checked = verify_text(json::to_text(document), "run.json");
    if (!checked) return {{"error", checked.error().message}};
    return checked->findings;
}

std::string first_of(const std::vector<Finding>& findings) {
    return findings.empty() ? "nothing found" : findings[0].path + ": " + findings[0].text;
}

/// What is found after one change to the sample, apart from the change itself.
std::string found(const std::function<void(json::Value&)>& change) {
    json::Value document = to_json(test::sample_run());
    change(document);
    document["digests"] = json::encode(digests_of(document));
    return first_of(verify(document));
}

TEST(Verify, FindsNothingInAGoodResult) {
    EXPECT_EQ(first_of(verify(to_json(test::sample_run()))), "nothing found");
    EXPECT_THAT(check_summaries({}), IsEmpty());
}

TEST(Verify, NoticesARunThatEndedBeforeItStarted) {
    const auto at = [](const char* started, const char* ended, const char* replica) {
        return found([&](json::Value& document) {
            document["run"]["started"] = started;
            document["run"]["ended"] = ended;
            for (auto& c : document["cases"])
                for (auto& one : c["replicas"]) one["started"] = started;
            document["cases"][0]["replicas"][1]["started"] = replica;
        });
    };
    const auto* const noon = "2026-01-31T12:00:00Z";
    const auto* const one = "2026-01-31T13:00:00Z";
    EXPECT_EQ(at(noon, noon, noon), "nothing found");
    EXPECT_EQ(at(noon, one, one), "nothing found");
    EXPECT_EQ(at(noon, one, "2026-01-31T11:59:00Z"), "nothing found"); // another host's clock
    EXPECT_EQ(at(one, noon, one), "run.ended: got 2026-01-31T12:00:00Z, before the run started at "
                                  "2026-01-31T13:00:00Z");
    EXPECT_EQ(at(noon, one, "2026-01-31T11:54:59Z"),
              "cases[0].replicas[1].started: got 2026-01-31T11:54:59Z, before the run started");
    EXPECT_EQ(at(noon, one, "2026-01-31T13:05:01Z"),
              "cases[0].replicas[1].started: got 2026-01-31T13:05:01Z, after the run ended");
    EXPECT_EQ(at("", one, "2025-01-31T12:00:00Z"), "nothing found"); // as imported
}

bool has_last_key(const std::string& place, std::initializer_list<const char*> keys) {
    const auto last = place.substr(place.rfind('/') + 1);
    return std::ranges::any_of(keys, [&](const char* key) { return last == key; });
}

/// Computed from other numbers of the document, or others from it: a change of it alone must show.
bool is_summary(const std::string& place, const json::Value& document) {
    const auto slash = place.find('/', 1);
    if (place.substr(0, slash) != "/cases") return false;
    const auto index = place.substr(slash + 1, place.find('/', slash + 1) - slash - 1);
    const auto status = document["cases"][std::stoul(index)]["status"].get<std::string>();
    const bool shown = status == "ok" || status == "unstable";
    const auto passes = [&](const std::string& key) {
        return place.find("/" + key + "/") != place.npos;
    };
    if (passes("metrics") || passes("values")) return true;
    if (passes("work") || passes("extra")) return shown;
    if (passes("replicas") && !passes("telemetry"))
        return has_last_key(place, {"seconds", "low", "high"});
    const auto telemetry = "/cases/" + index + "/telemetry/";
    return place.starts_with(telemetry);
}

void collect(const json::Value& value, const std::string& place, std::vector<std::string>& out) {
    if (value.is_number()) out.push_back(place);
    if (value.is_object())
        for (const auto& item : value.items()) collect(item.value(), place + "/" + item.key(), out);
    if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i)
            collect(value[i], place + "/" + std::to_string(i), out);
}

TEST(Verify, NoticesEverySummaryThatWasChangedByOnePercent) {
    record::Run run = test::sample_run();
    run.cases.resize(5); // the others have no figures
    for (Case& c : run.cases)
        for (Replica& replica : c.replicas) EXPECT_FALSE(replica.values.empty());
    const json::Value document = to_json(run);
    std::vector<std::string> places;
    collect(document, "", places);
    int summaries = 0;
    for (const std::string& place : places) {
        json::Value changed = document;
        json::Value& number = changed[json::Value::json_pointer{place}];
        if (number.is_number_integer()) {
            number = number.get<std::int64_t>() +
                     std::max<std::int64_t>(1, number.get<std::int64_t>() / 100);
        } else {
            if (number.get<double>() == 0) continue; // 1% of nothing is no change
            number = number.get<double>() * 1.01;
        }
        // The schema check is not what is tested here, and takes longer than all the rest.
        const auto parsed = parse_run(json::to_line(changed), "run.json");
        if (!parsed) continue;
        if (!is_summary(place, document)) continue;
        ++summaries;
        EXPECT_THAT(check_summaries(*parsed), Not(IsEmpty())) << place;
    }
    EXPECT_GT(summaries, 500);
}

TEST(Verify, SaysWhatTheStoredValuesGive) {
    const auto text = found([](json::Value& d) { d["cases"][0]["metrics"][0]["value"] = 1e12; });
    EXPECT_THAT(text,
                HasSubstr("cases[0].metrics[0].value: got 1000000000000, the stored values give "));
}

TEST(Verify, ToleratesTheLastDigits) {
    EXPECT_EQ(found([](json::Value& d) {
                  json::Value& value = d["cases"][0]["metrics"][0]["value"];
                  value = value.get<double>() * (1 + 1e-12);
              }),
              "nothing found");
}

TEST(Verify, AcceptsAnIntervalWidenedToTheClockButNoNarrowerOne) {
    const auto scaled = [](double factor) {
        record::Run run = test::sample_run();
        run.cases.resize(1);
        for (Replica& replica : run.cases[0].replicas) {
            const double half = *replica.high - *replica.seconds;
            replica.low = *replica.seconds - factor * half;
            replica.high = *replica.seconds + factor * half;
        }
        conclude(run.cases[0], 3);
        return check_summaries(run);
    };
    EXPECT_THAT(scaled(3), IsEmpty());
    EXPECT_THAT(first_of(scaled(0.9)), HasSubstr("is narrower than"));
}

TEST(Verify, NoticesFiguresOfAWrongResult) {
    EXPECT_THAT(
        found([](json::Value& d) { d["cases"][4]["metrics"] = d["cases"][0]["metrics"]; }),
        HasSubstr("cases[4].metrics: there are 2, but the case is incorrect: expected none"));
    EXPECT_THAT(found([](json::Value& d) {
                    d["cases"][4]["status"] = "ok";
                    d["cases"][4]["metrics"] = d["cases"][0]["metrics"];
                }),
                HasSubstr("cases[4].status: got ok, the replicas give incorrect"));
}

TEST(Verify, NoticesUnitsNamesDirectionsCountsScopes) {
    const auto metric = [](const char* key, json::Value value) {
        return found([&](json::Value& d) { d["cases"][1]["metrics"][0][key] = value; });
    };
    EXPECT_THAT(metric("unit", "GB/s"), HasSubstr("unit: got \"GB/s\", expected \"B/s\""));
    EXPECT_THAT(metric("name", "speed"), HasSubstr("expected bandwidth"));
    EXPECT_THAT(metric("higher_is_better", false), HasSubstr("higher_is_better: expected true"));
    EXPECT_THAT(metric("count", 7), HasSubstr("count: got 7, there are 120"));
    EXPECT_THAT(metric("interval_scope", "within_process"), HasSubstr("expected between_replicas"));
    EXPECT_THAT(metric("low", nullptr), HasSubstr("low: got null, the stored values give"));
}

TEST(Verify, NoticesWhatDoesNotFitTogether) {
    EXPECT_THAT(found([](json::Value& d) { d["cases"][5]["reason"] = ""; }),
                HasSubstr("cases[5].reason: is empty"));
    EXPECT_THAT(found([](json::Value& d) { d["cases"].push_back(d["cases"][0]); }),
                HasSubstr("occurs twice"));
    EXPECT_THAT(found([](json::Value& d) { d["cases"][0]["replicas"][1]["index"] = 0; }),
                HasSubstr("not in order"));
    EXPECT_THAT(found([](json::Value& d) { d["cases"][0]["replicas"][1]["batches"] = 3; }),
                HasSubstr("fewer than the 40 values"));
    EXPECT_THAT(found([](json::Value& d) { d["cases"][0]["replicas"].erase(2); }),
                Not(HasSubstr("nothing found")));
    EXPECT_THAT(found([](json::Value& d) { d["cases"][0]["replicas"][0]["extra"]["speed"] = 1; }),
                HasSubstr("unknown metric \"speed\""));
    EXPECT_THAT(found([](json::Value& d) { d["cases"][0]["ceiling"]["kind"] = "none"; }),
                HasSubstr("has a value but is of kind none"));
    EXPECT_THAT(found([](json::Value& d) {
                    d["cases"][2]["telemetry"]["disturbances"] = json::Value::array();
                }),
                HasSubstr("telemetry.disturbances"));
}

TEST(Verify, TheSchemaIsChecked) {
    EXPECT_THAT(
        found([](json::Value& d) { d["cases"][0]["replicas"][0]["setup_seconds"] = -1; }),
        HasSubstr("run.json: cases[0].replicas[0].setup_seconds: got -1, expected at least 0"));
    EXPECT_THAT(
        found([](json::Value& d) { d["run"]["status"] = "fine"; }),
        HasSubstr("run.json: run.status: got \"fine\", expected \"done\" or \"interrupted\""));
}

TEST(Verify, WhatIsNoResultIsAnError) {
    EXPECT_FALSE(verify_text("{}", "run.json"));
    EXPECT_FALSE(verify_run("/nowhere/run.json"));
    EXPECT_FALSE(verify_text(to_text(test::sample_run()), "run.json", {.bytes = 10}));
}

} // namespace
} // namespace assay::record
