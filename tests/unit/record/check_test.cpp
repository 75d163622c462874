// SPDX-License-Identifier: Apache-2.0

#include "base/utc.hpp"
#include "decide/check.hpp"
#include "decide/expectations.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "support/results.hpp"
#include "support/sample_run.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {
namespace {

using namespace testing;

std::vector<decide::Finding> verify(const json::Value& document) {
    const auto checked = decide::verify_text(json::to_text(document), "run.json");
    if (!checked) return {{"error", checked.error().message}};
    return checked->findings;
}

std::string first_of(const std::vector<decide::Finding>& findings) {
    return findings.empty() ? "nothing found" : findings[0].path + ": " + findings[0].text;
}

/// Problems after one change to the sample, apart from the change itself.
std::string found(const std::function<void(json::Value&)>& change) {
    json::Value document = to_json(test::sample_run());
    change(document);
    document["digests"] = json::encode(record::digests_of(document));
    return first_of(verify(document));
}

TEST(Verify, FindsNothingInAGoodResult) {
    EXPECT_EQ(first_of(verify(to_json(test::sample_run()))), "nothing found");
    EXPECT_THAT(decide::check_summaries({}), IsEmpty());
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

TEST(Verify, NoticesTimesThatCannotBeRight) {
    const auto clock = [](double step, const char* built) {
        return found([&](json::Value& document) {
            document["run"]["clock"] = json::encode(RunClock{.built = built,
                                                             .boot = "0123456789abcdef",
                                                             .up_seconds = 60,
                                                             .step_seconds = step});
        });
    };
    const auto started = to_json(test::sample_run())["run"]["started"].get<std::string>();
    EXPECT_EQ(clock(0, started.substr(0, 10).c_str()), "nothing found");
    EXPECT_EQ(clock(-59, ""), "nothing found");
    constexpr double days = 86400;
    EXPECT_THAT(clock(-40 * days, ""),
                StartsWith("run.clock.step_seconds: the wall clock was set back by 3456000 s"));
    EXPECT_THAT(clock(40 * days, ""), HasSubstr("set forward by 3456000 s"));
    EXPECT_THAT(clock(0, "2099-01-31"),
                AllOf(StartsWith("run.started: got " + started), HasSubstr("built (2099-01-31)")));

    auto run = test::sample_run();
    const double now = *seconds_of(run.started);
    EXPECT_THAT(decide::check_clock(run, now - 0.9 * days), IsEmpty());
    const auto later = decide::check_clock(run, now - 1.5 * days);
    ASSERT_THAT(later, SizeIs(1));
    EXPECT_EQ(later[0].code, "future");
    run.ended = utc_of(now + 40 * days);
    EXPECT_THAT(decide::check_clock(run, now),
                ElementsAre(AllOf(Field(&decide::Finding::path, "run.ended"),
                                  Field(&decide::Finding::code, "future"))));
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
        return place.ends_with("/seconds") || place.ends_with("/low") || place.ends_with("/high");
    return place.starts_with("/cases/" + index + "/telemetry/");
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
    for (record::Case& c : run.cases)
        for (record::Replica& replica : c.replicas) EXPECT_FALSE(replica.values.empty());
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
            if (number.get<double>() == 0) continue; // 1% of nothing changes nothing
            number = number.get<double>() * 1.01;
        }
        // The schema check is not what is tested here, and takes longer than all the rest.
        const auto parsed = parse_run(json::to_line(changed), "run.json");
        if (!parsed) continue;
        if (!is_summary(place, document)) continue;
        ++summaries;
        EXPECT_THAT(decide::check_summaries(*parsed), Not(IsEmpty())) << place;
    }
    EXPECT_GT(summaries, 500);
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
        for (record::Replica& replica : run.cases[0].replicas) {
            const double half = *replica.high - *replica.seconds;
            replica.low = *replica.seconds - factor * half;
            replica.high = *replica.seconds + factor * half;
        }
        conclude(run.cases[0], 3);
        return decide::check_summaries(run);
    };
    EXPECT_THAT(scaled(3), IsEmpty());
    EXPECT_THAT(first_of(scaled(0.9)), HasSubstr("is narrower than"));
}

TEST(Verify, NoticesWhatDoesNotFitTogether) {
    const auto figures = to_json(test::sample_run())["cases"][0]["metrics"];
    const auto a_case = to_json(test::sample_run())["cases"][0];
    const struct {
        const char* place;
        json::Value value;
        const char* says;
    } cases[] = {
        {"0/metrics/0/value", 1e12,
         "cases[0].metrics[0].value: got 1000000000000, the stored values give "},
        {"1/metrics/0/unit", "GB/s", "unit: got \"GB/s\", expected \"B/s\""},
        {"1/metrics/0/name", "speed", "expected bandwidth"},
        {"1/metrics/0/higher_is_better", false, "higher_is_better: expected true"},
        {"1/metrics/0/count", 7, "count: got 7, there are 120"},
        {"1/metrics/0/interval_scope", "within_process", "expected between_replicas"},
        {"1/metrics/0/low", nullptr, "low: got null, the stored values give"},
        {"4/metrics", figures,
         "cases[4].metrics: there are 2, but the case is incorrect: expected none"},
        {"4/status", "ok", "cases[4].status: got ok, the replicas give incorrect"},
        {"5/reason", "", "cases[5].reason: is empty"},
        {"-", a_case, "occurs twice"},
        {"0/replicas/1/index", 0, "not in order"},
        {"0/replicas/1/batches", 3, "fewer than the 40 values"},
        {"0/replicas/0/extra/speed", 1, "unknown metric \"speed\""},
        {"0/ceiling/kind", "none", "has a value but is of kind none"},
        {"2/telemetry/disturbances", json::Value::array(), "telemetry.disturbances"},
        // By the schema:
        {"0/replicas/0/setup_seconds", -1,
         "run.json: cases[0].replicas[0].setup_seconds: got -1, expected at least 0"},
    };
    for (const auto& [place, value, says] : cases)
        EXPECT_THAT(found([&](json::Value& d) {
                        d["cases"][json::Value::json_pointer{"/" + std::string{place}}] = value;
                    }),
                    HasSubstr(says))
            << place;
    EXPECT_NE(found([](json::Value& d) { d["cases"][0]["replicas"].erase(2); }), "nothing found");
}

TEST(Verify, WhatIsNoResultIsAnError) {
    EXPECT_FALSE(decide::verify_text("{}", "run.json"));
    EXPECT_FALSE(decide::verify_run("/nowhere/run.json"));
    EXPECT_FALSE(decide::verify_text(to_text(test::sample_run()), "run.json", {.bytes = 10}));
}

// --- digests -----------------------------------------------------------------------------------------

// A digest shows any changed bit of a result, and ignores formatting.

json::Value parsed(std::string_view text) { return json::parse(text, "text").value(); }

std::vector<std::string> found_in(std::string_view text) {
    const auto checked = decide::verify_text(text, "run.json");
    if (!checked) return {checked.error().message};
    std::vector<std::string> out;
    for (const auto& finding : checked->findings) out.push_back(finding.path + ": " + finding.text);
    return out;
}

/// Problems after one change to the sample.
std::vector<std::string> found_stale(const std::function<void(json::Value&)>& change) {
    auto document = to_json(test::sample_run());
    change(document);
    return found_in(json::to_line(document));
}

/// The expected ones are by Python 3, as the schema describes it.
TEST(Digests, AreThoseOfTheCanonicalForm) {
    const auto document = parsed(R"({"schema": "assay.run/2",
        "run": {"b": [1.0, 0.1, 1e-7, 2.5e300, 1e22, -0.0], "a": "é\n\"\\\u001f\u007f"},
        "machine": {"z": null, "y": true, "é": {}, "Z": []},
        "cases": [{"n": 9007199254740993},
                  {"n": 123456789012345680.5, "m": 1234567890123456.5, "l": 0.0001, "k": 0.00001}]})");
    EXPECT_EQ(json::to_canonical(document["cases"][1]),
              R"({"k":1e-05,"l":0.0001,"m":1234567890123456.5,"n":123456789012345680})");
    const auto digests = record::digests_of(document);
    EXPECT_EQ(digests.algorithm, "sha256");
    EXPECT_EQ(digests.run, "687eb079ec6b0c20b4e41c862ff069009145c17b0f4bb81c552873256a8eae88");
    EXPECT_EQ(digests.machine, "cef9ad6a3584b03fbd69dce170d5d6dfbbcc2ffe5ae9a200d79f4ba9b43d4264");
    EXPECT_THAT(digests.cases,
                ElementsAre("4ac8309cc76123ef6c5325ef925fc873e9b5856ec4f844ef1462f9303960378a",
                            "8d0293a3654e1adaf7edf1f8f350380a7d145e43787d529206be411ff5338680"));
    EXPECT_EQ(digests.root, "731fc56033565bcb7d8257b0c29780bf27baf1291d87843430833d24740bfac4");
}

/// Keys in another order, numbers written otherwise, blanks.
TEST(Digests, AreKeptByFormatting) {
    const nlohmann::json sorted = to_json(test::sample_run());
    EXPECT_THAT(found_in(sorted.dump(7)), IsEmpty());
    auto text = json::to_line(to_json(test::sample_run()));
    const std::string_view number = "\"setup_seconds\":0.125";
    const auto at = text.find(number);
    ASSERT_NE(at, text.npos);
    text.replace(at, number.size(), "\"setup_seconds\" : 12.50e-2");
    EXPECT_THAT(found_in(text), IsEmpty());
}

TEST(Digests, NameTheSectionThatWasChanged) {
    EXPECT_THAT(found_stale([](json::Value& d) { d["machine"]["kernel"] = "6.2"; }),
                ElementsAre(HasSubstr("machine: does not have its digest")));
    EXPECT_THAT(
        found_stale([](json::Value& d) { d["run"]["later"] = "a key that no reader knows"; }),
        ElementsAre(HasSubstr("run: does not have its digest")));
    EXPECT_THAT(found_stale([](json::Value& d) { d["cases"][1]["reason"] = "another"; }),
                ElementsAre(AllOf(HasSubstr("cases[1]: does not have its digest"),
                                  HasSubstr(identity(test::sample_run().cases[1])))));
    EXPECT_THAT(found_stale([](json::Value& d) { d["digests"]["run"] = d["digests"]["machine"]; }),
                ElementsAre(HasSubstr("run: does not"), HasSubstr("digests.root: does not")));
}

TEST(Digests, AreInEveryFileOfVersion2AndInNoneOfVersion1) {
    EXPECT_THAT(found_stale([](json::Value& d) { d.erase("digests"); }),
                ElementsAre(HasSubstr("digests: is missing, expected in a file of assay.run/2")));
    EXPECT_THAT(found_stale([](json::Value& d) { d["digests"].erase("machine"); }), Not(IsEmpty()));
    EXPECT_THAT(found_stale([](json::Value& d) { d["digests"]["algorithm"] = "none"; }),
                ElementsAre(HasSubstr("digests.algorithm")));
    auto old = to_json(test::sample_run());
    old.erase("digests");
    old["schema"] = record::first_schema_name;
    const auto checked = valid(decide::verify_text(json::to_line(old), "run.json"));
    EXPECT_THAT(checked->findings, IsEmpty());
    EXPECT_FALSE(checked->has_digests);
}

/// Reading thousands of files and `verify` say the same.
TEST(Digests, AreComparedWithTheTextWithoutParsingIt) {
    const auto run = test::sample_run();
    EXPECT_EQ(record::stale_section(to_text(run)), std::nullopt);
    const auto after = [&](const std::function<void(json::Value&)>& change) {
        auto document = to_json(run);
        change(document);
        return record::stale_section(json::to_line(document)).value_or("");
    };
    EXPECT_EQ(after([](json::Value& d) { d["run"]["later"] = 1; }), "run");
    EXPECT_EQ(after([](json::Value& d) { d["machine"]["kernel"] = "6.2"; }), "machine");
    EXPECT_EQ(after([](json::Value& d) { d["cases"][1]["version"] = 7; }), "cases[1]");
    EXPECT_EQ(after([](json::Value& d) { std::swap(d["cases"][0], d["cases"][1]); }), "cases[0]");
    EXPECT_EQ(after([](json::Value& d) { d["cases"].erase(0); }), "digests");
    EXPECT_EQ(after([](json::Value& d) { d["digests"]["algorithm"] = "none"; }), "digests");
    EXPECT_EQ(after([](json::Value& d) { d["digests"]["root"] = ""; }), "digests.root");
    EXPECT_EQ(after([](json::Value& d) { d.erase("digests"); }), "digests");
    EXPECT_EQ(after([](json::Value& d) {
                  d.erase("digests");
                  d["schema"] = record::first_schema_name;
              }),
              "");
    // A digest is hidden with what it covers, and only then.
    const auto hidden = std::string{record::hidden_prefix} + std::string(64, 'a');
    EXPECT_EQ(after([&](json::Value& d) { d["digests"]["machine"] = hidden; }), "machine");
    EXPECT_EQ(after([&](json::Value& d) {
                  d["digests"]["machine"] = d["digests"]["root"] = hidden;
                  d["machine"]["hostname"] = hidden;
              }),
              "");
    for (const char* damaged : {"", "{", "[]", R"({"run")", R"({"run":})", R"({"run":1 2})",
                                R"({"run":{"a":1,}})", R"({"run":"\)", R"({"cases":[1,)"})
        EXPECT_TRUE(record::stale_section(damaged)) << damaged;
    EXPECT_TRUE(record::stale_section("{\"run\":" + std::string(100'000, '[')));
}

/// Numbers, texts and keys in every way that JSON has for them.
TEST(Digests, OfTheTextAreThoseOfTheCanonicalForm) {
    for (
        const std::string_view machine :
        {R"({"b":[1.0,-0.0,-0,1e5,1E+2,0.10,2.5e300,12345678901234567890,1e-7,0.00001,123456789012345680.5]})",
         R"({"a":"\u0041\/\n\u001f\\\"é","\u00e9":1,"z":"\ud83d\ude00"})",
         R"({"b":{},"a":[],"ab":[{}],"a b":null})",
         R"({ "b" : [ true , false ] , "a" : { "d" : 1 , "c" : 0.30000000000000004 } })",
         R"({"x":0.00038026550000000003,"y":767962190769230.7,"w":1.2743133874350132e+15})"}) {
        const auto without =
            R"({"schema":"assay.run/2","run":{},"cases":[],"machine":)" + std::string{machine};
        const auto digests = json::to_line(json::encode(record::digests_of(parsed(without + "}"))));
        EXPECT_EQ(record::stale_section(without + R"(,"digests":)" + digests + "}"), std::nullopt)
            << machine;
    }
}

/// The summaries alone left more than half of such flips unseen: 246 of 435.
TEST(Digests, ShowEveryFlippedBitThatChangesAValue) {
    record::Run run = test::sample_run();
    run.cases.resize(1);
    run.cases[0].replicas.resize(1);
    run.cases[0].replicas[0].values.resize(5);
    const auto text = to_text(run);
    const auto original = parsed(text);
    int readable = 0;
    int the_same = 0;
    constexpr std::size_t stride = 61; // bits: no multiple of a byte's, so each position occurs
    for (std::size_t bit = 0; bit < 8 * text.size(); bit += stride) {
        auto flipped = text;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        const auto read = parse_run(flipped, "run.json");
        const auto document = json::parse(flipped, "run.json");
        if (!read || !document) continue;
        ++readable;
        const bool changed = *document != original;
        if (!changed) ++the_same;
        EXPECT_EQ(decide::check_digests(*document, *read).empty(), !changed) << "bit " << bit;
        EXPECT_EQ(record::stale_section(flipped).has_value(), changed) << "bit " << bit;
    }
    EXPECT_GT(readable, 150);
    EXPECT_LT(the_same, readable / 20);
}

// --- what is expected of a machine -------------------------------------------------------------------

TEST(Expectations, SayWhatWasFound) {
    record::Machine machine;
    machine.usable_cores = 2;
    machine.memory_bytes = std::int64_t{8} << 30;
    machine.memory_limit_bytes = std::int64_t{4} << 30;
    machine.pci.push_back({.kind = "accelerator"});
    EXPECT_TRUE(decide::check_expectations(machine, {"cores=2", "memory=4GiB", "gpu=1"}));
    EXPECT_THAT(decide::check_expectations(machine, {"cores=2", "gpu=8"}),
                Fails(Fault::environment, AllOf(HasSubstr("gpu=8"), HasSubstr("found gpu=1"))));
    // Nine are plugged in and eight answer, one of them divided into two.
    machine.pci.assign(9, {.kind = "accelerator"});
    for (const char* address : {"1", "2", "3", "3", "4", "5", "6", "7", "8"})
        machine.devices.push_back({.kind = "cuda", .pci_address = address});
    EXPECT_TRUE(decide::check_expectations(machine, {"gpu=8"}));
    EXPECT_FALSE(decide::check_expectations(machine, {"gpu=9"}));
    const auto memory = decide::check_expectations(machine, {"memory=8GiB"});
    EXPECT_THAT(memory, Fails(HasSubstr("4 GiB")));
    machine.memory_limit_bytes.reset();
    machine.memory_bytes = std::int64_t{1007} << 30; // of a machine with 1 TiB
    EXPECT_TRUE(decide::check_expectations(machine, {"memory=1TiB", "memory>=1000Gi", "cores>=1"}));
    EXPECT_FALSE(decide::check_expectations(machine, {"memory>=1TiB"}));
    EXPECT_FALSE(decide::check_expectations(machine, {"memory=1100GiB"}));
    EXPECT_FALSE(decide::check_expectations(machine, {"cores>=3"}));
    machine.platform.network = {{.name = "eth0", .address = "0000:01:00.0"},
                                {.name = "mlx5_0:1", .address = "0000:01:00.0"},
                                {.name = "eth1", .address = "0000:02:00.0"}};
    EXPECT_TRUE(decide::check_expectations(machine, {"nics=2"}));
    for (const char* text :
         {"memory=1Tx", "memory>=", "memory>1TiB", "memory=>1TiB", ">=2", "nics=2.5", "cors=2",
          "cores", "cores=", "cores=two", "cores=-1", "=2", ""}) {
        EXPECT_THAT(decide::check_expectations(machine, {text}), Fails(Fault::usage, testing::_))
            << text;
    }
}

TEST(Expectations, VersionsWordsAndNetworks) {
    record::Machine machine;
    machine.kernel = "6.1.0-18-amd64";
    machine.software = {{"nvidia.driver", std::string{"580.65.06"}}};
    machine.platform.iommu = "off";
    machine.devices = {{.kind = "cuda", .ecc = true}, {.kind = "cuda", .ecc = true}};
    // The interface for administration is slower, and one of the fast ones is not plugged in.
    machine.platform.network = {
        {.name = "eth0", .bytes_per_second = 125e6, .mtu = 1500, .state = "up"},
        {.name = "eth1", .bytes_per_second = 50e9, .mtu = 9000, .state = "up"},
        {.name = "eth2", .mtu = 1500, .state = "down"}};
    EXPECT_TRUE(decide::check_expectations(
        machine, {"driver>=580", "driver=580", "driver>=580.65.06", "driver>=79", "kernel>=5.15",
                  "iommu=off", "ecc=on", "mtu=9000", "mtu>=4200", "nic=3"}));
    for (const char* text : {"driver>=580.65.7", "driver>=581", "driver=58", "cuda>=12", "ecc=off",
                             "iommu=identity", "kernel=6.2", "mtu=1500", "governor=performance"}) {
        EXPECT_THAT(decide::check_expectations(machine, {text}),
                    Fails(Fault::environment, testing::_))
            << text;
    }
    for (const char* text : {"driver>=", "driver=new", "driver=580.", "driver>=580-1", "ecc>=on",
                             "ecc", "iommu=", "driver=99999999999999999999"}) {
        EXPECT_THAT(decide::check_expectations(machine, {text}), Fails(Fault::usage, testing::_))
            << text;
    }
    EXPECT_THAT(decide::check_expectations(machine, {"gpu_clock>=1980M"}).error().message,
                HasSubstr("gpu_clock=not known"));
    machine.platform.clock_limit_hz = 2.6e9;
    for (auto& device : machine.devices) {
        device.clock_max_hz = 1.98e9;
        device.power_limit_watts = 700;
    }
    EXPECT_TRUE(decide::check_expectations(
        machine, {"clock>=2600M", "gpu_clock>=1980M", "gpu_clock=1980M", "gpu_power=700"}));
    EXPECT_FALSE(decide::check_expectations(machine, {"clock>=2601M"}));
    machine.devices.front().power_limit_watts = 500; // one of two
    EXPECT_THAT(decide::check_expectations(machine, {"gpu_power=700"}).error().message,
                HasSubstr("gpu_power=500"));
    machine.devices.back().clock_max_hz = 1.2e9;
    EXPECT_THAT(decide::check_expectations(machine, {"gpu_clock>=1980M"}).error().message,
                HasSubstr("1.20 GHz"));
    machine.devices.back().ecc = false;
    EXPECT_THAT(decide::check_expectations(machine, {"ecc=on"}).error().message,
                HasSubstr("off, on"));
}

TEST(Expectations, TellTheSetUpFromParts) {
    for (const char* text : {"driver>=580", "ecc=on", "governor=performance", "mtu=9000",
                             "clock>=2600M", "gpu_clock=1980M", "gpu_power=700"})
        EXPECT_TRUE(decide::is_setup(text)) << text;
    for (const char* text :
         {"gpu=8", "cores>=64", "memory=1TiB", "channels=12", "nics=2", "other=1"})
        EXPECT_FALSE(decide::is_setup(text)) << text;
}

} // namespace
} // namespace assay::record
