// SPDX-License-Identifier: Apache-2.0
#include "json/json.hpp"
#include "random_run.hpp"
#include "record/convert.hpp"
#include "record/layout.hpp"
#include "record/reader.hpp"
#include "support/results.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <string>

namespace assay::record {
namespace {

using namespace testing;

std::string sample_text() {
    static const std::string text = to_text(test::sample_run());
    return text;
}

std::string error_of(std::string_view text, const record::ReadOptions& options = {}) {
    const auto run = parse_run(text, "run.json", options);
    return run ? "no error" : run.error().message;
}

/// The sample with one change, as text.
std::string changed(const std::function<void(json::Value&)>& change) {
    json::Value document = to_json(test::sample_run());
    change(document);
    return json::to_text(document);
}

TEST(RoundTrip, WhatIsWrittenIsReadByBothReaders) {
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        const record::Run run = test::RandomRun{seed}.run();
        const std::string text = to_text(run);
        const auto fast = parse_run(text, "run.json", {.as_stored = true});
        ASSERT_TRUE(fast) << fast.error().message << '\n' << text;
        EXPECT_EQ(to_json(*fast), to_json(run));
        EXPECT_EQ(to_text(*fast), text);

        for (const record::Case& c : run.cases) {
            const auto parsed = valid(json::parse(json::to_line(record::to_json(c)), "line"));
            EXPECT_EQ(record::to_json(*valid(json::read<record::Case>(*parsed, "line"))),
                      record::to_json(c));
        }
        const auto machine =
            valid(json::read<record::Machine>(record::to_json(run.machine), "machine"));
        EXPECT_EQ(record::to_json(*machine), record::to_json(run.machine));
    }
}

TEST(Reader, MakesEveryTextPlainUnlessAskedNotTo) {
    const std::string hostile = "a\x1b[31mb\nc\u202ed";
    record::Case c{.benchmark = hostile};
    c.settings = {{hostile, hostile}};
    record::Run run{.id = hostile, .cases = {c}};
    run.machine.cpu_model = hostile;
    const auto text = to_text(run);
    const auto read = valid(parse_run(text, "run.json"));
    for (const auto& shown :
         {read->id, read->machine.cpu_model, read->cases[0].benchmark,
          read->cases[0].settings[0].name, std::get<std::string>(read->cases[0].settings[0].value)})
        EXPECT_EQ(shown, "ab cd");
    EXPECT_EQ(to_text(*parse_run(text, "run.json", {.as_stored = true})), text);
}

TEST(RoundTrip, NumbersThatAreNotFiniteAreAbsent) {
    record::Case c{.benchmark = "a"};
    c.settings = {{"x", std::nan("")}, {"y", 1.0}};
    c.ceiling.value = std::numeric_limits<double>::infinity();
    const auto read = valid(parse_run(to_text({.cases = {c}}), "run.json"));
    EXPECT_EQ(read->cases[0].settings, (record::NamedList{{"y", 1.0}}));
    EXPECT_EQ(read->cases[0].ceiling.value, std::nullopt);
}

TEST(RoundTrip, ThroughAFile) {
    const made::TemporaryFolder folder;
    const auto file = folder.path() / "run.json";
    ASSERT_TRUE(write_run(file, test::sample_run()));
    EXPECT_EQ(to_text(*valid(read_run(file))), sample_text());
    EXPECT_FALSE(write_run("/nowhere/at/all/run.json", test::sample_run()));
}

TEST(Reader, CanLeaveOutTheValues) {
    const auto read = valid(parse_run(sample_text(), "run.json", {.values = false}));
    record::Run expected = test::sample_run();
    for (record::Case& c : expected.cases)
        for (record::Replica& replica : c.replicas) replica.values.clear();
    EXPECT_EQ(to_json(*read), to_json(expected));
}

TEST(Reader, NamesBothSchemasWhenTheFileIsNewer) {
    const auto newer = changed([](json::Value& d) {
        d["schema"] = "assay.run/3";
        d["run"] = 7; // a newer schema may look like anything
    });
    EXPECT_THAT(error_of(newer), AllOf(StartsWith("run.json: schema: "), HasSubstr("assay.run/3"),
                                       HasSubstr("assay.run/2"), HasSubstr("newer")));
    EXPECT_EQ(error_of(changed([](json::Value& d) { d["schema"] = "assay.run/1"; })), "no error");
    for (const json::Value& other :
         {json::Value{"assay.run/0"}, json::Value{"assay.suite/1"}, json::Value{1}})
        EXPECT_THAT(error_of(changed([&](json::Value& d) { d["schema"] = other; })),
                    HasSubstr("expected \"assay.run/2\""));
    EXPECT_THAT(error_of(changed([](json::Value& d) { d.erase("schema"); })),
                HasSubstr("not a result of assay"));
}

TEST(Reader, SaysFileKeyAndWhatWouldBeRight) {
    const struct {
        const char* place;
        json::Value value;
        const char* says;
    } cases[] = {
        {"/cases/2/benchmark", 7, "cases[2].benchmark: got 7, expected a string"},
        {"/cases/0/metrics/1/value", "x",
         "cases[0].metrics[1].value: got \"x\", expected a number"},
        {"/cases/0/status", "fine",
         "cases[0].status: got \"fine\", expected the status of a case (ok, unstable, ...)"},
        {"/cases/0/replicas/1/values/3", nullptr,
         "cases[0].replicas[1].values[3]: got null, expected a number"},
        {"/machine/cores", 3e10,
         "machine.cores: got 30000000000.0, expected an integer from -2147483648 to 2147483647"},
        {"/cases/0/replicas/0/calls", -1,
         "cases[0].replicas[0].calls: got -1, expected an integer that is not negative"},
        {"/cases/0/parameters/size", json::Value::array({1}),
         "cases[0].parameters.size: got an array, expected a string, a 64-bit integer, a number or "
         "a boolean"},
        {"/cases/0/place/slice", 1,
         "cases[0].place: unknown key \"slice\" (known: kind, uuid, index)"},
        {"/cases", 1, "cases: got 1, expected an array"},
    };
    for (const auto& [place, value, says] : cases)
        EXPECT_EQ(
            error_of(changed([&](json::Value& d) { d[json::Value::json_pointer{place}] = value; })),
            std::string{"run.json: "} + says);
    EXPECT_EQ(error_of(changed([](json::Value& d) { d["cases"][1].erase("library"); })),
              "run.json: cases[1]: `library` is missing");
    EXPECT_EQ(error_of(changed([](json::Value& d) { d.erase("machine"); })),
              "run.json: `machine` is missing");
}

TEST(Reader, IgnoresNewKeysButNotWhereTheyIdentifyASeries) {
    EXPECT_EQ(error_of(changed([](json::Value& d) {
                  d["cases"][0]["energy"] = {{"joules", {1, 2.5, nullptr, "x", true}}};
                  d["machine"]["rack"] = nullptr;
                  d["run"]["note"] = "x";
              })),
              "no error");
    EXPECT_THAT(error_of(changed([](json::Value& d) { d["extra"] = 1; })),
                HasSubstr("unknown key \"extra\""));
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
    const auto at = text.find(what);
    EXPECT_NE(at, text.npos) << what;
    return text.replace(at, what.size(), with);
}

TEST(Reader, RefusesDuplicateKeys) {
    const struct {
        const char* before;
        const char* added;
        const char* says;
    } cases[] = {
        {"\"suite\":", R"("id":"x",)", "run: the key \"id\" occurs twice"},
        {"\"machine\":", R"("schema":"assay.run/2",)", "the key \"schema\" occurs twice"},
        {"\"precision\":", R"("size":1,)", "cases[0].parameters: the key \"size\" occurs twice"},
        {"\"suite\":", R"("\u0069d":"x",)", "the key \"id\" occurs twice"}, // the same key
    };
    for (const auto& [before, added, says] : cases)
        EXPECT_THAT(error_of(replaced(sample_text(), before, std::string{added} + before)),
                    HasSubstr(says));
}

TEST(Reader, RefusesNumbersThatAreNone) {
    for (const char* number : {"NaN", "Infinity", "-inf", "1e999", "-1e999", "0x10", "1.", ".5",
                               "01", "1e", "+1", "nan", "\"1\"", "1 2", "--1", "1.5.2"})
        EXPECT_NE(error_of(replaced(sample_text(), "\"setup_seconds\": 0.125",
                                    std::string{"\"setup_seconds\": "} + number)),
                  "no error")
            << number;
}

TEST(Reader, RefusesInvalidUtf8) {
    for (const char* bytes : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\\ud800"})
        EXPECT_NE(error_of(replaced(sample_text(), "AuthenticAMD", bytes)), "no error");
}

TEST(Reader, EveryPrefixIsAnError) {
    record::Run small = test::sample_run();
    small.cases.resize(1);
    small.cases[0].replicas.resize(1);
    small.cases[0].replicas[0].values.resize(3);
    std::string text = to_text(small);
    while (text.back() == '\n') text.pop_back();
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string message = error_of(text.substr(0, i));
        ASSERT_THAT(message, StartsWith("run.json: ")) << i;
    }
    EXPECT_EQ(error_of(text), "no error");
    EXPECT_THAT(error_of(text + "{}"), HasSubstr("follows the end"));
    EXPECT_NE(error_of(text + "]"), "no error");
}

TEST(Reader, SurvivesDepth) {
    const std::string deep(100'000, '[');
    EXPECT_NE(error_of(deep), "no error");
    EXPECT_NE(error_of(deep + std::string(100'000, ']')), "no error");
    EXPECT_NE(error_of("{\"schema\":\"assay.run/1\",\"cases\":" + deep), "no error");
    const std::string closed = deep + std::string(100'000, ']');
    EXPECT_THAT(
        error_of(replaced(sample_text(), "\"suite\":", "\"new\":" + closed + ",\"suite\":")),
        HasSubstr("nested deeper"));
    std::string objects;
    for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
    EXPECT_NE(error_of(objects), "no error");
    EXPECT_NE(error_of(objects + "1" + std::string(100'000, '}')), "no error");
}

TEST(Reader, RefusesWhatIsNoResult) {
    for (const char* text :
         {"", " ", "\n", "null", "7", "\"x\"", "[]", "{}", "[{}]", R"({"schema":})", "\xef\xbb\xbf",
          R"({"schema":"assay.run/1"})", "true", "{]"})
        EXPECT_THAT(error_of(text), StartsWith("run.json: ")) << text;
    EXPECT_THAT(error_of(std::string("{\0}", 3)), StartsWith("run.json: "));
}

TEST(Reader, SkipsAByteOrderMark) {
    const made::TemporaryFolder folder;
    const auto text = "\xEF\xBB\xBF" + sample_text();
    EXPECT_TRUE(parse_run(text, "run.json"));
    EXPECT_TRUE(read_run(folder.write("run.json", text)));
}

TEST(Reader, RefusesHugeFilesAtOnce) {
    const made::TemporaryFolder folder;
    const auto file = folder.write("run.json", "{");
    std::filesystem::resize_file(file, (std::uintmax_t{1} << 30U) + 1); // sparse
    EXPECT_THAT(read_run(file),
                Fails(AllOf(HasSubstr(file.string()), HasSubstr("larger than 1073741824 bytes"))));
    EXPECT_THAT(error_of(sample_text(), {.bytes = 100}), HasSubstr("larger than 100 bytes"));
}

TEST(Reader, RefusesWhatIsNoFile) {
    for (const char* path : {"/", "/dev/null", "/nowhere/run.json"})
        EXPECT_FALSE(read_run(path)) << path;
}

TEST(Reader, MessagesAreShortAndPrintable) {
    const std::string message = error_of(changed(
        [](json::Value& d) { d["cases"][0]["status"] = "\x1b[31m" + std::string(100'000, 'x'); }));
    EXPECT_LT(message.size(), 300U);
    EXPECT_EQ(message.find('\x1b'), message.npos);
}

template <class T>
struct Inside {
    using Type = T;
};
template <class T>
struct Inside<std::optional<T>> : Inside<T> {};
template <class T>
struct Inside<std::vector<T>> : Inside<T> {};

/// Every key of each_field is in the schema and the other way round, and is required in both or neither; so are those
/// of the records that it holds, but for soaks and gates, which the schema describes with fewer words.
template <class T>
void expect_same_keys(json::Value definition, const json::Value& definitions) {
    if (definition.contains("items")) definition = json::Value(definition["items"]);
    if (definition.contains("$ref")) {
        const auto target = definition["$ref"].get<std::string>();
        definition = json::Value(definitions.at(target.substr(target.rfind('/') + 1)));
    }
    T record{};
    std::vector<std::string> keys;
    std::vector<std::string> required;
    each_field(
        [&](const char* key, auto& member) {
            keys.emplace_back(key);
            using Member = std::decay_t<decltype(member)>;
            if constexpr (!json::may_be_missing<Member> && !json::is_lenient<T>)
                required.emplace_back(key);
            using Inner = typename Inside<Member>::Type;
            SCOPED_TRACE(key);
            if constexpr (json::Record<Inner> &&
                          !OneOf<Inner, record::Soak, record::SoakVisit, record::Gates>)
                expect_same_keys<Inner>(definition["properties"][key], definitions);
        },
        record);
    std::vector<std::string> described;
    for (const auto& item : definition["properties"].items()) {
        described.push_back(item.key());
        const bool says = item.value().contains("description") || item.value().contains("$ref");
        EXPECT_TRUE(says) << item.key();
    }
    EXPECT_EQ(described, keys);
    EXPECT_EQ(definition.value("required", std::vector<std::string>{}), required);
    EXPECT_EQ(definition.contains("additionalProperties"), json::is_closed<T>);
}

TEST(Schema, DescribesExactlyTheKeysThatAreWritten) {
    const auto schema = valid(json::read_file(ASSAY_SCHEMA_FILE));
    const json::Value& definitions = (*schema)["definitions"];
    expect_same_keys<record::Run>(definitions["run"], definitions);
    expect_same_keys<record::Machine>(definitions["machine"], definitions);
    expect_same_keys<record::Case>(definitions["case"], definitions);
    expect_same_keys<record::Digests>(definitions["digests"], definitions);
}

TEST(Schema, ListsEveryCodeOfAReason) {
    const auto schema = valid(json::read_file(ASSAY_SCHEMA_FILE));
    const json::Value& definition = (*schema)["definitions"]["reason_code"];
    const auto description = definition["description"].get<std::string>();
    std::size_t count = 0;
    for (const auto& code : definition["enum"]) {
        const auto name = code.get<std::string>();
        const auto expected = static_cast<record::ReasonCode>(++count); // `none` is not written
        EXPECT_EQ(name, to_string(expected));
        EXPECT_NE(description.find(name + ": "), description.npos) << name;
    }
    EXPECT_EQ(to_string(static_cast<record::ReasonCode>(count + 1)), "?");
}

TEST(Convert, MessagesOfWorkersAreReadWithTheirPlace) {
    json::Value replica = record::to_json(test::sample_replica(0, 1e-3, 1));
    replica["telemetry"]["disturbances"] = {1};
    const auto read = json::read<record::Replica>(replica, "message of a worker");
    EXPECT_THAT(read,
                Fails("message of a worker: telemetry.disturbances[0]: got 1, expected a string"));
    EXPECT_FALSE(json::read<record::Replica>(json::Value(7), "x"));
    for (const char* extra : {"{\"a\":[]}", "{\"a\":9223372036854775808}"}) {
        json::Value bad = record::to_json(test::sample_replica(0, 1e-3, 1));
        bad["extra"] = json::parse(extra, "x").value();
        EXPECT_FALSE(json::read<record::Replica>(bad, "x")) << extra;
    }
    EXPECT_FALSE(json::read<record::Place>(
        json::parse(R"({"kind":"host","uuid":"","index":0,"x":1})", "x").value(), "x"));
}

} // namespace
} // namespace assay::record
