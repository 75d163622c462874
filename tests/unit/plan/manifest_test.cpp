// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "json/json.hpp"
#include "plan/manifest.hpp"
#include "plan/parameter.hpp"
#include "plan/suite.hpp"
#include "support/catalogue_maker.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"

#include <fnmatch.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace assay;
using namespace assay::plan;
using namespace testing;
using made::TemporaryFolder;

Manifest sample() {
    auto benchmark = made::benchmark(
        "memory.copy", "bandwidth",
        {made::threads(),
         made::choice("kernel", {"a", "b"}, {std::string{"b"}}),
         {.name = "share",
          .kind = ParameterKind::real,
          .help = "a share",
          .real_low = 0,
          .real_high = 1,
          .defaults = {0.25, 1.0}},
         {.name = "cold", .kind = ParameterKind::boolean, .help = "a flag", .defaults = {true}},
         {.name = "path",
          .kind = ParameterKind::text,
          .help = "a file",
          .defaults = {std::string{}}}});
    benchmark.parameters[1].variables = {{"a", "LIBRARY_KERNEL", "plain"}};
    benchmark.safe_calls = std::numeric_limits<std::uint64_t>::max();
    benchmark.bound = BoundBy::memory;
    auto manifest = made::manifest("host", {benchmark});
    manifest.tunings = {{"OPENBLAS_CORETYPE", "Zen", "avx2 fma"}};
    return manifest;
}

TEST(Manifest, ReadsBackAsItWasWritten) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "host.json";
    const auto manifest = sample();
    ASSERT_TRUE(check_manifest(manifest)) << check_manifest(manifest).error().message;
    ASSERT_TRUE(write_manifest(manifest, path));
    const auto back = valid(read_manifest(path));
    EXPECT_EQ(back->library, folder.path() / "host.so") << "beside the manifest, wherever that is";
    EXPECT_EQ(back->tunings.at(0).requires_isa, "avx2 fma");
    const auto& benchmark = back->benchmarks.at(0);
    EXPECT_EQ(benchmark.safe_calls, manifest.benchmarks[0].safe_calls);
    EXPECT_EQ(benchmark.bound, BoundBy::memory);
    ASSERT_EQ(benchmark.parameters.size(), 5U);
    EXPECT_EQ(benchmark.parameters[1].variables.at(0).setting, "plain");
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(benchmark.parameters[i].defaults, manifest.benchmarks[0].parameters[i].defaults);
}

struct Damage {
    const char* expected;
    std::function<void(Manifest&)> apply;
};
/// A change of its benchmark, or of a parameter of it.
auto of_benchmark(void (*change)(Benchmark&)) {
    return [=](Manifest& m) { change(m.benchmarks[0]); };
}
auto of_parameter(std::size_t index, void (*change)(Parameter&)) {
    return [=](Manifest& m) { change(m.benchmarks[0].parameters[index]); };
}

TEST(Manifest, WhatTheProgramRelyOnIsChecked) {
    const std::vector<Damage> damages{
        {"module name", [](Manifest& m) { m.module = "Host!"; }},
        {"its metric \"speed\" is an unknown",
         of_benchmark([](auto& b) { b.metrics = "speed=s"; })},
        {"has the unit s, not \"ms\"",
         of_benchmark([](auto& b) { b.metrics = "time=s latency=ms"; })},
        {"invalid package name", of_benchmark([](auto& b) { b.packages = "fio --force-yes"; })},
        {"no benchmark", [](Manifest& m) { m.benchmarks.clear(); }},
        {"build id", [](Manifest& m) { m.build_id.clear(); }},
        {"its bound matrix_units does not fit its headline",
         of_benchmark([](auto& b) { b.bound = BoundBy::matrix_units; })},
        {"<family>.<name>", of_benchmark([](auto& b) { b.id = "memory"; })},
        {"<family>.<name>", of_benchmark([](auto& b) { b.id = "memory.copy.fast"; })},
        {"<family>.<name>", of_benchmark([](auto& b) { b.id = "../etc"; })},
        {"twice", [](Manifest& m) { m.benchmarks.push_back(m.benchmarks[0]); }},
        {"unknown metric", of_benchmark([](auto& b) { b.headline = "speed"; })},
        {"question is empty", of_benchmark([](auto& b) { b.question.clear(); })},
        {"control characters", of_benchmark([](auto& b) { b.method = "\x1b[2J"; })},
        {"twice", of_benchmark([](auto& b) { b.parameters[1].name = b.parameters[0].name; })},
        {"no default", of_parameter(0, [](auto& p) { p.defaults.clear(); })},
        {"out of range", of_parameter(0, [](auto& p) { p.defaults = {std::int64_t{0}}; })},
        {"out of range", of_parameter(2, [](auto& p) { p.defaults = {std::nan("")}; })},
        {"out of range", of_parameter(3, [](auto& p) { p.defaults = {1.0}; })},
        {"upper end", of_parameter(0, [](auto& p) { p.integer_low = 5000; })},
        {"ranks", of_benchmark([](auto& b) { b.team = true; })},
        {"may not set LD_PRELOAD",
         of_parameter(1, [](auto& p) { p.variables[0].name = "LD_PRELOAD"; })},
        {"did you mean \"flop_rate\"?); `assay list --metrics`",
         of_benchmark([](auto& b) { b.headline = "flop_rte"; })},
        {"expected ID or ID:PARAMETER=VALUE",
         of_benchmark([](auto& b) { b.ceiling = "peak.fma:precision"; })},
        {"expected ID or ID:PARAMETER=VALUE",
         of_benchmark([](auto& b) { b.ceiling = "peak.fma:=fp32"; })},
        {"as in keys", of_benchmark([](auto& b) { b.items = "a b"; })},
        {"invalid name", of_parameter(1, [](auto& p) { p.variables[0].name = "A=B"; })},
        {"not one of its values", of_parameter(1, [](auto& p) { p.variables[0].value = "c"; })},
    };
    for (const auto& damage : damages) {
        auto manifest = sample();
        damage.apply(manifest);
        EXPECT_THAT(check_manifest(manifest), Fails(HasSubstr(damage.expected))) << damage.expected;
    }
}

TEST(Manifest, EveryTruncationAndEveryMissingKeyIsAnError) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "host.json";
    ASSERT_TRUE(write_manifest(sample(), path));
    const auto text = *read_whole(path, 1U << 20U);
    for (std::size_t length = 0; length + 1 < text.size(); length += 7)
        EXPECT_FALSE(read_manifest(folder.write("cut.json", text.substr(0, length)))) << length;
    const auto whole = *json::parse(text, "host.json");
    // Those of a module that needs one, and those that manifests from before there were any lack.
    const std::set<std::string> optional{"path_variable", "bound",   "items",   "reproducible",
                                         "long_calls",    "metrics", "packages"};
    for (const char* place : {"", "/benchmarks/0"})
        for (const auto& item : whole[json::Value::json_pointer{place}].items()) {
            if (optional.contains(item.key())) continue;
            auto less = whole;
            less[json::Value::json_pointer{place}].erase(item.key());
            EXPECT_FALSE(read_manifest(folder.write("less.json", json::to_text(less))))
                << item.key();
        }
}

TEST(Manifest, SendsNobodyToALibraryElsewhere) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "host.json";
    ASSERT_TRUE(write_manifest(sample(), path));
    auto value = *json::read_file(path);
    for (const char* library : {"../evil.so", "/tmp/evil.so", "", "x/"}) {
        value["library"] = library;
        EXPECT_FALSE(read_manifest(folder.write("host.json", json::to_text(value)))) << library;
    }
}

// --- parameters --------------------------------------------------------------------------------------

Parameter of(ParameterKind kind) {
    return {.name = "p",
            .kind = kind,
            .integer_low = std::numeric_limits<std::int64_t>::min(),
            .integer_high = std::numeric_limits<std::int64_t>::max(),
            .real_low = 0,
            .real_high = 1,
            .names = {"one", "all"}};
}

TEST(Parameter, IntegersRoundTripToTheirEnds) {
    const auto p = of(ParameterKind::integer);
    for (const std::int64_t number : {p.integer_low, p.integer_low + 1, std::int64_t{-1},
                                      std::int64_t{0}, p.integer_high - 1, p.integer_high}) {
        EXPECT_EQ(parse_value(p, std::to_string(number)), record::Value{number});
        EXPECT_EQ(value_from_json(p, json::Value(number)), record::Value{number});
    }
    EXPECT_EQ(parse_value(p, "all"), record::Value{std::string{"all"}});
    EXPECT_FALSE(parse_value(p, "some"));
    EXPECT_FALSE(value_from_json(p, json::Value(0.5)));
    EXPECT_FALSE(value_from_json(p, json::Value(true)));
    EXPECT_FALSE(value_from_json(p, json::Value(std::numeric_limits<std::uint64_t>::max())));
}

TEST(Parameter, AnUnknownSuffixIsToldWhichThereAre) {
    const auto p = of(ParameterKind::integer);
    EXPECT_EQ(parse_value(p, "64Ki"), record::Value{std::int64_t{65536}});
    EXPECT_EQ(value_from_json(p, json::Value("1e6")), record::Value{std::int64_t{1'000'000}});
    for (const char* text : {"64Kx", "64K", "1.5Mi"}) {
        EXPECT_THAT(parse_value(p, text), Fails(::testing::AllOf(::testing::HasSubstr(text),
                                                                 ::testing::HasSubstr("Ki, Mi"))))
            << text;
    }
    EXPECT_FALSE(parse_value(of(ParameterKind::real), "1Ki"));
}

TEST(Parameter, RealsAreFiniteAndInRange) {
    const auto p = of(ParameterKind::real);
    EXPECT_EQ(parse_value(p, "0.25"), record::Value{0.25});
    EXPECT_EQ(value_from_json(p, json::Value(1)), record::Value{1.0})
        << "a whole number is one too";
    for (const char* text : {"nan", "inf", "1.01", "-0.1", "", "1e-400x", "0,5"})
        EXPECT_FALSE(parse_value(p, text)) << text;
}

TEST(Parameter, WordsAreTakenAsTheyAre) {
    EXPECT_EQ(parse_value(of(ParameterKind::boolean), "true"), record::Value{true});
    EXPECT_FALSE(parse_value(of(ParameterKind::boolean), "1"));
    EXPECT_EQ(parse_value(of(ParameterKind::name), "one"), record::Value{std::string{"one"}});
    EXPECT_FALSE(parse_value(of(ParameterKind::name), "On"));
    EXPECT_EQ(parse_value(of(ParameterKind::text), "x=y z"), record::Value{std::string{"x=y z"}});
    EXPECT_FALSE(parse_value(of(ParameterKind::text), std::string(5000, 'x')));
    EXPECT_FALSE(parse_value(of(ParameterKind::text), std::string("a\0b", 3)));
}

// --- suites ------------------------------------------------------------------------------------------

const std::filesystem::path suites{ASSAY_SOURCE_SUITES};

json::Value schema() {
    auto value = json::read_file(suites / "schema.json");
    EXPECT_TRUE(value);
    return value ? *value : json::Value{};
}

TEST(Suite, ShippedOnesAreReadAndFollowTheirSchema) {
    for (const char* name : {"acceptance", "cores", "external", "fabric", "quarterly",
                             "quarterly-2", "quick", "soak", "standard", "sustained"}) {
        const auto path = suites / (std::string{name} + ".json");
        const auto suite = valid(plan::read_suite(path));
        EXPECT_EQ(suite->name, name);
        const auto value = valid(json::read_file(path));
        const auto checked = json::check_schema(*value, schema(), path.string());
        EXPECT_TRUE(checked) << checked.error().message;
    }
}

/// Every benchmark on hosts and devices has a pair of entries that can be equal in each parameter of both.
TEST(Suite, QuarterlyTwoMeasuresCommonSizesOnHostsAndDevices) {
    const auto suite = valid(json::read_file(suites / "quarterly-2.json"));
    std::map<std::string, std::pair<json::Value, json::Value>> entries; // of hosts, of devices
    const std::set<std::string> hosts{"host", "openblas", "onednn", "fftw"};
    const std::set<std::string> devices{"cuda", "cublaslt", "cudnn", "cufft"};
    for (const auto& entry : suite->at("cases")) {
        const auto& library = entry["library"];
        const auto name = (library.is_array() ? library[0] : library).get_ref<const std::string&>();
        auto& [on_hosts, on_devices] = entries[entry["benchmark"].get<std::string>()];
        if (hosts.contains(name)) on_hosts.push_back(entry["parameters"]);
        if (devices.contains(name)) on_devices.push_back(entry["parameters"]);
    }
    const auto list = [](const json::Value& value) {
        if (value.is_array()) return value;
        const auto text = value.is_string() ? value.get<std::string>() : std::string{};
        const auto dots = text.find(".."); // a range has both of its ends
        if (dots == text.npos) return json::Value::array({value});
        return json::Value::array({text.substr(0, dots), text.substr(dots + 2)});
    };
    const auto meet = [&](const json::Value& a, const json::Value& b) {
        return std::ranges::all_of(a.items(), [&](const auto& item) {
            const auto own = list(item.value());
            const auto other = list(b.value(item.key(), item.value()));
            return std::ranges::any_of(own, [&](const auto& value) {
                return std::ranges::find(other, value) != other.end();
            });
        });
    };
    int pairs = 0;
    for (const auto& [id, sides] : entries) {
        const auto& [on_hosts, on_devices] = sides;
        if (on_hosts.empty() || on_devices.empty()) continue;
        ++pairs;
        EXPECT_TRUE(std::ranges::any_of(on_hosts, [&](const auto& a) {
            return std::ranges::any_of(on_devices, [&](const auto& b) { return meet(a, b); });
        })) << id;
    }
    EXPECT_GE(pairs, 15);
}

/// Do the parameters of a suite's case admit what a limit selects? Lists hold alternatives.
bool is_for(const json::Value& limit, const json::Value& entry) {
    const auto& own = entry.value("parameters", json::Value::object());
    for (const auto& [key, pattern] : limit.items()) {
        if (key == "place") continue;
        if (key == "together" && !entry.contains(key)) return false;
        const auto& found = entry.contains(key) ? entry[key] : own.value(key, json::Value{});
        if (found.is_null()) continue; // all of its defaults
        const auto words = [](const json::Value& value) {
            return value.is_string() ? value.get<std::string>() : value.dump();
        };
        const auto list = found.is_array() ? found : json::Value::array({found});
        std::istringstream alternatives{words(pattern)};
        bool any = false;
        for (std::string one; std::getline(alternatives, one, '|');)
            for (const auto& value : list) {
                auto text = words(value) == "1GiB" ? "1073741824" : words(value);
                if (key == "together") text += ":2"; // of a machine with two
                any = any || fnmatch(one.c_str(), text.c_str(), 0) == 0;
            }
        if (!any) return false;
    }
    return true;
}

TEST(Suite, AcceptanceMeasuresWhatTheLimitsOfSpecAskFor) {
    const auto suite = json::read_file(suites / "acceptance.json").value();
    const auto limits = json::read_file(suites / "../limits/spec.json").value();
    std::set<std::string> without;
    const auto name_of = [](const json::Value& entry) {
        const auto& library = entry["library"];
        return entry["benchmark"].get<std::string>() + " " +
               (library.is_array() ? library[0] : library).get<std::string>();
    };
    for (const auto& entry : suite["cases"]) without.insert(name_of(entry));
    for (const auto& limit : limits["limits"]) {
        bool any = false;
        for (const auto& entry : suite["cases"]) {
            if (!is_for(limit["case"], entry)) continue;
            any = true;
            without.erase(name_of(entry));
        }
        // Between hosts, and as older runs named it.
        EXPECT_TRUE(any || limit["id"] == "network-write" || limit["id"] == "together-compute-each")
            << limit["id"];
    }
    // No data sheet bounds it, and no source says what all hosts reach.
    EXPECT_EQ(without, std::set<std::string>{"latency.context_switch host"});
}

std::string whole(const std::string& more, const std::string& entry = R"("benchmark":"a.b")") {
    return R"({"schema":"assay.suite/1","name":"x","description":"y","cases":[{)" + entry + "}]" +
           more + "}";
}
/// A case with these keys.
std::string with_case(const std::string& more) { return whole("", R"("benchmark":"a.b",)" + more); }

TEST(Suite, WhatIsWrongIsRefusedByReaderAndSchema) {
    const std::string begin = R"({"schema":"assay.suite/1","name":"x","description":"y")";
    const struct {
        std::string text;
        const char* says;
    } mistakes[] = {
        {"[]", "object"},
        {R"({"schema":"assay.run/1"})", "assay.suite/1"},
        {begin + "}", "cases"},
        {begin + R"(,"cases":[]})", "cases"},
        {begin + R"(,"cases":[7]})", "cases[0]"},
        {whole("", ""), "benchmark"},
        {whole(R"(,"protcol":{})"), "protocol"},
        {whole(R"(,"protocol":{"target":0})"), "protocol.target"},
        {whole(R"(,"protocol":{"min_second":1})"), "min_seconds"},
        {whole(R"(,"replicas":0)"), "replicas"},
        {whole(R"(,"most_seconds":0)"), "most_seconds"},
        {whole(R"(,"most_seconds":"1m")"), "most_seconds"},
        {whole(R"(,"stages":1)"), "stages"},
        {whole(R"(,"stages":true)", R"("benchmark":"a.b","stress":"yes")"), "stress"},
        {with_case(R"("parameters":{"n":[]})"), "parameters.n"},
        {with_case(R"("parameters":{"n":null})"), "parameters.n"},
        {with_case(R"("parameters":{"n":[[1]]})"), "parameters.n"},
        {with_case(R"("needs":["gpu"])"), "needs"},
        {with_case(R"("library":[])"), "library"},
        {with_case(R"("library":["cuda",""])"), "library"},
        {with_case(R"("together":"cpus:2")"), "parts of the CPUs"},
        {with_case(R"("together":1)"), "parts of the CPUs"},
        {with_case(R"("together":[2])"), "together"},
        {with_case(R"("paramters":{})"), "parameters"},
    };
    const TemporaryFolder folder;
    for (const auto& [text, says] : mistakes) {
        const auto path = folder.write("suite.json", text);
        const auto suite = plan::read_suite(path);
        EXPECT_THAT(suite, Fails(Fault::usage, AllOf(HasSubstr("suite.json"), HasSubstr(says))))
            << text;
        EXPECT_FALSE(json::check_schema(json::read_file(path).value(), schema(), "suite.json"));
    }
}

TEST(Suite, BudgetsThatContradictEachOtherAreRefused) {
    const auto error_of = [](const std::string& protocol) {
        return plan::parse_suite(whole(R"(,"protocol":)" + protocol), "s").error().message;
    };
    EXPECT_THAT(error_of(R"({"min_seconds":5,"budget_seconds":2})"), HasSubstr("budget_seconds"));
    EXPECT_THAT(error_of(R"({"limit_seconds":5})"), HasSubstr("limit_seconds"));
}

TEST(Suite, OnlyOneWithStagesHasCasesOfStress) {
    const std::string stress = R"("benchmark":"a.b","stress":true)";
    const auto suite = valid(plan::parse_suite(whole(R"(,"stages":true)", stress), "x"));
    EXPECT_TRUE(suite->has_stages);
    EXPECT_TRUE(suite->cases[0].is_stress);
    const auto wrong = plan::parse_suite(whole("", stress), "x.json");
    EXPECT_THAT(wrong.error().message, HasSubstr("\"stages\": true"));
}

TEST(Suite, FrozenOnesAreAsTheyWereFrozen) {
    const auto frozen = valid(plan::read_frozen(suites / "frozen.json"));
    for (const auto& [name, digest] : *frozen) {
        const auto suite = valid(plan::read_suite(suites / (name + ".json")));
        EXPECT_EQ(suite->digest, digest) << "a changed suite needs a new name: " << name;
    }
}

TEST(Suite, ItsDigestIsOfItsContent) {
    const auto digest = [](const std::string& text) {
        const auto suite = plan::parse_suite(text, "s");
        return suite ? suite->digest : suite.error().message;
    };
    const auto text = whole(R"(,"replicas":2)");
    EXPECT_EQ(digest(text).size(), 64U);
    EXPECT_EQ(digest(text), digest(" " + text + "\n"));
    EXPECT_NE(digest(text), digest(whole(R"(,"replicas":3)")));
    const plan::FrozenSuites frozen{{"x", digest(text)}, {"z", "other"}};
    EXPECT_TRUE(plan::parse_suite(text, "s", frozen)->is_frozen);
    EXPECT_THAT(plan::parse_suite(whole(R"(,"replicas":3)"), "s", frozen),
                Fails(Fault::usage, AllOf(HasSubstr("\"x\""), HasSubstr("new name"))));
}

TEST(Suite, EveryTruncationIsAnErrorAndNoneACrash) {
    const TemporaryFolder folder;
    const std::string text = whole(R"(,"protocol":{"target":0.03},"replicas":2)");
    for (std::size_t length = 0; length < text.size(); ++length)
        EXPECT_FALSE(plan::read_suite(folder.write("s.json", text.substr(0, length)))) << length;
    EXPECT_TRUE(plan::read_suite(folder.write("s.json", text)));
}

TEST(Suite, IsAtMostAMebibyte) {
    const TemporaryFolder folder;
    constexpr std::size_t most = std::size_t{1} << 20U;
    auto text = whole("");
    text.resize(most, ' ');
    EXPECT_TRUE(plan::read_suite(folder.write("s.json", text)));
    const auto refused = plan::read_suite(folder.write("s.json", text + ' '));
    EXPECT_THAT(refused, Fails(AllOf(HasSubstr("s.json"), HasSubstr("larger than"))));
}

TEST(Suite, IsFoundByPathOrNotAtAll) {
    EXPECT_EQ(plan::find_suite("./x"), "./x");
    EXPECT_EQ(plan::find_suite("x.json"), "x.json");
    EXPECT_EQ(plan::find_suite("gemm.square"), "");
}

} // namespace
