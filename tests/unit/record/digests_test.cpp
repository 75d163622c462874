// SPDX-License-Identifier: Apache-2.0
//
// Damage to a result is seen, whichever bit it is, and formatting is no damage.

#include "decide/check.hpp"
#include "json/canonical.hpp"
#include "record/convert.hpp"
#include "support/sample_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

json::Value parsed(std::string_view text) { return json::parse(text, "text").value(); }

std::vector<std::string> found_in(std::string_view text) {
    const auto checked = verify_text(text, "run.json");
    if (!checked) return {checked.error().message};
    std::vector<std::string> out;
    for (const auto& finding : checked->findings) out.push_back(finding.path + ": " + finding.text);
    return out;
}

/// What is found after one change to the sample.
std::vector<std::string> found(const std::function<void(json::Value&)>& change) {
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
    const auto digests = digests_of(document);
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
    EXPECT_THAT(found([](json::Value& d) { d["machine"]["kernel"] = "6.2"; }),
                ElementsAre(HasSubstr("machine: does not have its digest")));
    EXPECT_THAT(found([](json::Value& d) { d["run"]["later"] = "a key that no reader knows"; }),
                ElementsAre(HasSubstr("run: does not have its digest")));
    EXPECT_THAT(found([](json::Value& d) { d["cases"][1]["reason"] = "another"; }),
                ElementsAre(testing::AllOf(HasSubstr("cases[1]: does not have its digest"),
                                           HasSubstr(identity(test::sample_run().cases[1])))));
    EXPECT_THAT(found([](json::Value& d) { d["digests"]["run"] = d["digests"]["machine"]; }),
                ElementsAre(HasSubstr("run: does not"), HasSubstr("digests.root: does not")));
    EXPECT_THAT(found([](json::Value& d) { std::swap(d["cases"][0], d["cases"][1]); }),
                ElementsAre(HasSubstr("cases[0]: does not"), HasSubstr("cases[1]: does not")));
}

TEST(Digests, AreInEveryFileOfVersion2AndInNoneOfVersion1) {
    EXPECT_THAT(found([](json::Value& d) { d.erase("digests"); }),
                ElementsAre(HasSubstr("digests: is missing, expected in a file of assay.run/2")));
    EXPECT_THAT(found([](json::Value& d) { d["digests"].erase("machine"); }), Not(IsEmpty()));
    EXPECT_THAT(found([](json::Value& d) { d["digests"]["algorithm"] = "none"; }),
                ElementsAre(HasSubstr("digests.algorithm")));
    EXPECT_THAT(found([](json::Value& d) {
                    d["digests"]["cases"].erase(0);
                    d["cases"].erase(0);
                    d["cases"].erase(0);
                }),
                Not(IsEmpty()));
    auto old = to_json(test::sample_run());
    old.erase("digests");
    old["schema"] = first_schema_name;
    const auto checked = verify_text(json::to_line(old), "run.json");
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_THAT(checked->findings, IsEmpty());
    EXPECT_FALSE(checked->has_digests);
}

/// What reading thousands of files looks at says the same as what `verify` does.
TEST(Digests, AreComparedWithTheTextWithoutParsingIt) {
    const auto run = test::sample_run();
    const auto text = to_text(run);
    EXPECT_EQ(stale_section(text), std::nullopt);
    const nlohmann::json sorted = to_json(run);
    EXPECT_EQ(stale_section(sorted.dump(7)), std::nullopt);
    EXPECT_EQ(stale_section(json::to_line(to_json(run))), std::nullopt);

    const auto after = [&](const std::function<void(json::Value&)>& change) {
        auto document = to_json(run);
        change(document);
        return stale_section(json::to_line(document)).value_or("");
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
                  d["schema"] = first_schema_name;
              }),
              "");
    // A digest is hidden with what it covers, and only then.
    const auto hidden = std::string{hidden_prefix} + std::string(64, 'a');
    EXPECT_EQ(after([&](json::Value& d) { d["digests"]["machine"] = hidden; }), "machine");
    EXPECT_EQ(after([&](json::Value& d) {
                  d["digests"]["machine"] = d["digests"]["root"] = hidden;
                  d["machine"]["hostname"] = hidden;
              }),
              "");
    for (const char* damaged : {"", "{", "[]", R"({"run")", R"({"run":})", R"({"run":1 2})",
                                R"({"run":{"a":1,}})", R"({"run":"\)", R"({"cases":[1,)"})
        EXPECT_TRUE(stale_section(damaged)) << damaged;
    EXPECT_TRUE(stale_section("{\"run\":" + std::string(100'000, '[')));
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
        const auto digests = json::to_line(json::encode(digests_of(parsed(without + "}"))));
        EXPECT_EQ(stale_section(without + R"(,"digests":)" + digests + "}"), std::nullopt)
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
        EXPECT_EQ(check_digests(*document, *read).empty(), !changed) << "bit " << bit;
        EXPECT_EQ(stale_section(flipped).has_value(), changed) << "bit " << bit;
    }
    EXPECT_GT(readable, 150);
    EXPECT_LT(the_same, readable / 20);
}

} // namespace
} // namespace assay::record
