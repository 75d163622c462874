// SPDX-License-Identifier: Apache-2.0
//
// What people and programs see of a judgement.

#include "base/utc.hpp"
#include "exchange/data.hpp"
#include "exchange/plugin.hpp"
#include "judge/words.hpp"
#include "markup.hpp"
#include "support/document.hpp"
#include "support/made_judgement.hpp"
#include "support/schema.hpp"

#include <gmock/gmock.h>

#include <sstream>
#include <tuple>

namespace assay::judge {
namespace {

using test::made_fleet;
using test::made_judgement;
using namespace testing;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}
std::string terminal_of(const Judgement& judgement, std::size_t width = 80) {
    return write::to_terminal({{make_document(judgement)}}, {.width = width});
}

json::Value parsed(const Judgement& judgement) {
    return json::parse(exchange::to_json(judgement, 1), "verdict").value();
}

TEST(Verdicts, CausesActionsAndOutcomesHaveWordsInBothLanguages) {
    for (const auto language : {document::Language::en, document::Language::zh}) {
        const test::Speaking in{language};
        for (int i = 1; i <= static_cast<int>(last_cause); ++i) {
            EXPECT_NE(cause_in_words(static_cast<Cause>(i)), "") << i;
            EXPECT_NE(cause_sentence(static_cast<Cause>(i)), "") << i;
        }
        for (int i = 1; i <= static_cast<int>(Action::return_it); ++i)
            EXPECT_NE(action_in_words(static_cast<Action>(i)), "") << i;
        for (int i = 0; i <= static_cast<int>(Outcome::fail); ++i)
            EXPECT_NE(outcome_in_words(static_cast<Outcome>(i)), "") << i;
    }
}

TEST(Verdicts, BeginWithTheAnswerItsCauseAndTheCommandThatSettlesWhatIsOpen) {
    for (const std::size_t width : {50, 80, 120}) {
        const auto text = terminal_of(made_judgement(), width);
        std::size_t at = 0;
        for (const auto* line :
             {"FAIL: node m-7f3a (6 of 7 required checks ran)\n", "\n1 finding is waived",
              "\nNot checked: ", "\n  !! memory.stream, loop triad"}) {
            at = text.find(line, at);
            ASSERT_NE(at, std::string::npos) << line << width;
        }
    }
    const auto many = lines_of(terminal_of(made_fleet(40, 2), 120));
    EXPECT_EQ(many[0], "FAIL: 40 nodes: 38 PASS, 2 FAIL");
    EXPECT_THAT(many[1], StartsWith("Worst: m-0: memory.stream, loop triad"));
    EXPECT_EQ(many[2], "2 findings are waived.");
    EXPECT_EQ(many[3], "2 nodes lack required checks: m-0 and m-1");
}

/// The first screen of a terminal, before anybody asks for all rows.
std::string first_screen_of(const Judgement& judgement) {
    return write::to_terminal({{make_document(judgement)}}, {.width = 100}, 50);
}

TEST(Verdicts, AFailureSaysPartValueLimitMarginAndTheCommandOfItsRepair) {
    const auto text = first_screen_of(made_judgement());
    EXPECT_THAT(text, HasSubstr("!! memory.stream, loop triad"));
    EXPECT_THAT(text, HasSubstr("3.10 TB/s, limit 3.90 TB/s, margin -21%"));
    EXPECT_THAT(text, ContainsRegex("--only memory.stream --tag\\s+repair=reseat"));
    EXPECT_THAT(text, HasSubstr("more: --all-rows"));
    EXPECT_LE(lines_of(text).size(), 24U) << text;
}

TEST(Verdicts, BeginWithTheValuesOfTheSmallestMargins) {
    auto judgement = made_judgement();
    auto& node = judgement.nodes.at(0);
    auto check = node.checks.at(0);
    check.outcome = node.outcome = judgement.outcome = Outcome::pass;
    check.cause = Cause::none;
    node.checks.clear();
    for (const double value : {4.0e12, 4.4e12, 4.2e12, 5.0e12}) {
        check.value = value;
        node.checks.push_back(check);
    }
    node.required = node.ran = node.checks.size();
    judgement.collection.runs[1].ended = "2026-11-21T08:04:50Z";
    judgement.collection.runs[1].gates =
        record::Gates{.stages = {{.name = record::StageName::performance,
                                  .end = record::StageEnd::done,
                                  .seconds = 183}}};
    judgement.collection.runs[1].started_seconds =
        *seconds_of(judgement.collection.runs[1].started);
    const auto text = first_screen_of(judgement);
    EXPECT_THAT(text, StartsWith("PASS: node m-7f3a (4 checks, 4 min 50 s)\n"));
    EXPECT_THAT(text, AllOf(HasSubstr("+2.6%"), HasSubstr("+7.7%"), HasSubstr("+13%"),
                            Not(HasSubstr("+28%")), HasSubstr("1 more: --all-rows")));
    const auto page = write::to_html({{make_document(judgement)}}, {}).value();
    EXPECT_LT(page.find("+2.6%"), page.find("3 min 3 s")) << "values before stages";
    EXPECT_THAT(terminal_of(judgement), HasSubstr("+28%"));
}

TEST(Verdicts, TellHowLongItTakesToSettle) {
    auto judgement = made_judgement();
    auto& node = judgement.nodes.at(0);
    auto check = node.checks.at(0);
    check.outcome = node.outcome = judgement.outcome = Outcome::inconclusive;
    check.cause = Cause::too_few_replicas;
    check.action = Action::retest;
    check.repeats = 10;
    node.checks.assign(1, check);
    auto& collection = judgement.collection;
    collection.runs[1].ended = "2026-11-21T08:01:00Z";
    collection.runs[1].started_seconds = *seconds_of(collection.runs[1].started);
    for (const std::uint32_t series : {1U, 2U}) {
        decide::Observation seen{.run = 1, .series = series};
        for (int i = 0; i < 5; ++i) seen.replicas.push_back({.index = i, .value = 1});
        collection.observations.push_back(seen);
    }
    EXPECT_THAT(first_screen_of(judgement),
                HasSubstr("--only memory.stream --replicas 10 (about 1 min)\n"))
        << "ten replicas of six seconds";
    node.checks[0].cause = Cause::driver_silent;
    EXPECT_EQ(answer_of(judgement).worst,
              "Nothing failed: 1 INCONCLUSIVE (driver does not respond).");
}

TEST(Verdicts, NumberDevicesInRanges) {
    Node node;
    for (const int device : {0, 1, 2, 3, 4, 5})
        node.parts.push_back({.part = "cuda:" + std::to_string(device),
                              .outcome = device == 3 ? Outcome::fail : Outcome::pass,
                              .measured = true});
    EXPECT_EQ(parts_in_words(node), "cuda:0-2,4-5 PASS, cuda:3 FAIL");
}

TEST(Verdicts, FilesThatWereNotUsedAreNeverNothing) {
    auto judgement = made_fleet(2, 0);
    judgement.outcome = Outcome::inconclusive;
    judgement.collection.problems = {{.where = "a/run.json", .reason = "broken"}};
    EXPECT_EQ(answer_of(judgement).worst, "Worst: 1 file could not be used");
    judgement.nodes.clear();
    const auto answer = answer_of(judgement);
    EXPECT_EQ(answer.verdict, "INCONCLUSIVE: no node was judged");
    EXPECT_EQ(answer.worst, "Worst: 1 file could not be used");
    EXPECT_EQ(answer.missing, "No checks are required.");
}

TEST(Verdicts, SayOnceWhatSeveralChecksHaveInCommon) {
    auto judgement = made_judgement();
    auto& node = judgement.nodes.at(0);
    auto check = node.checks.at(0);
    check.outcome = node.outcome = judgement.outcome = Outcome::inconclusive;
    check.cause = Cause::too_few_replicas;
    check.action = Action::retest;
    check.repeats = 2;
    check.replicas = 1;
    check.detail.clear();
    node.checks.assign(2, check);
    const auto text = terminal_of(judgement, 200);
    EXPECT_THAT(text, ContainsRegex("2 of the checks above +INCONCLUSIVE"));
    const std::string why = "to decide. About 2 replicas are needed, 1 measured. Run: assay run ";
    ASSERT_THAT(text, HasSubstr(why));
    EXPECT_EQ(text.find(why), text.rfind(why));
    for (auto& one : node.checks) one.cause = Cause::not_measured;
    EXPECT_EQ(answer_of(judgement).worst, "Nothing failed: 2 not measured.");
}

TEST(Verdicts, WhatIsNotKnownIsEmpty) {
    auto judgement = made_judgement();
    EXPECT_THAT(terminal_of(judgement, 200), Not(HasSubstr("nan")));
    const auto json = parsed(judgement);
    for (const auto& check : json["nodes"][0]["checks"])
        if (check["cause"] == "not_measured") {
            EXPECT_TRUE(check["value"].is_null());
            EXPECT_TRUE(check["p_pass"].is_null());
        }
}

TEST(Verdicts, OfManyOnlyThoseThatDoNotPassAreShownInDetail) {
    const auto text = terminal_of(made_fleet(40, 2), 120);
    EXPECT_THAT(text, HasSubstr("FAIL: m-1"));
    EXPECT_THAT(text, Not(HasSubstr("PASS: m-5")));
    const auto json = parsed(made_fleet(3, 1));
    EXPECT_TRUE(json["nodes"][0].contains("checks"));
    EXPECT_FALSE(json["nodes"][1].contains("checks"));
    EXPECT_EQ(json["counts"]["PASS"], 2);
}

TEST(Verdicts, TextsOfAFleetAreMadeForWhatIsShown) {
    const auto fleet = made_fleet(2'000, 1'800);
    const auto document = make_document(fleet);
    EXPECT_LT(document.sections.size(), 20U);
    EXPECT_LT(lines_of(write::to_terminal({{document}}, {.width = 80}, 50)).size(), 1'000U);
}

TEST(Verdicts, InChineseNothingIsEnglish) {
    auto judgement = made_judgement();
    for (auto& limit : judgement.limits.limits) limit.source = limit.title = "";
    judgement.limits.waivers[0].reason = "ok";
    const test::Speaking chinese{document::Language::zh};
    EXPECT_THAT(test::latin_sentences(std::vector{make_document(judgement)}), IsEmpty());
    auto fleet = made_fleet(4, 2);
    fleet.limits = judgement.limits;
    EXPECT_THAT(test::latin_sentences(std::vector{make_document(fleet)}), IsEmpty());
}

TEST(Verdicts, EveryFormatShowsThem) {
    const std::vector documents{make_document(made_judgement())};
    const auto page = write::to_html(documents, {}).value();
    EXPECT_THAT(page, AllOf(HasSubstr("FAIL: node m-7f3a (6 of 7 required checks ran)"),
                            HasSubstr("limit 3.90 TB/s"), Not(HasSubstr("<board>"))));
    EXPECT_THAT(write::to_markdown(documents),
                AllOf(HasSubstr("Not checked"), HasSubstr("at least 3.90 TB/s")));
    EXPECT_TRUE(write::to_workbook(documents).has_value());
    EXPECT_EQ(lines_of(exchange::to_csv(made_judgement())).size(), 11U);
}

TEST(Verdicts, JsonObeysItsSchema) {
    for (const auto& judgement : {made_judgement(), made_fleet(3, 1), Judgement{}})
        EXPECT_EQ(test::broken(exchange::to_json(judgement, 1), "verdict"), "");
    auto odd = parsed(made_judgement());
    odd["nodes"][0]["ran"] = "six";
    EXPECT_NE(test::broken(json::to_text(odd), "verdict"), "");
}

TEST(Verdicts, JUnitHasASuiteForEachNodeAndATestForEachCheck) {
    const auto xml = exchange::to_junit(made_fleet(3, 1));
    const test::MarkupReader reader{xml};
    EXPECT_EQ(reader.problem(), "");
    const auto& found = reader.elements();
    const auto count = [&](std::string_view name) {
        return std::ranges::count(found, name, &test::Element::name);
    };
    EXPECT_EQ(count("testsuite"), 3);
    EXPECT_EQ(count("testcase"), 30);
    EXPECT_EQ(count("failure"), 2);
    EXPECT_EQ(count("error"), 4);
    const auto suite = std::ranges::find(found, "testsuite", &test::Element::name);
    EXPECT_EQ(suite->attributes.at("failures"), "2");
    EXPECT_EQ(suite->attributes.at("errors"), "4");
    const auto failure = std::ranges::find(found, "failure", &test::Element::name);
    EXPECT_EQ(failure->attributes.at("type"), "below_limit");
    EXPECT_EQ(failure->parent, "testcase");
}

TEST(Verdicts, JUnitSurvivesHostileNames) {
    auto judgement = made_judgement();
    judgement.collection.machines.front().hostname = "\x1b[31m<a href=\"x\">&\x01\xff";
    judgement.nodes.front().checks.front().detail = "]]>\"'&";
    judgement.limits.names = {"<x>\n\"y\""};
    EXPECT_EQ(test::markup_problem(exchange::to_junit(judgement)), "");
}

TEST(Verdicts, OpenMetricsHasEachSampleOnce) {
    const auto lines = lines_of(exchange::to_openmetrics(made_fleet(2, 1)));
    EXPECT_EQ(lines.back(), "# EOF");
    std::set<std::string> samples;
    for (const auto& line : lines) {
        if (line.starts_with("#")) continue;
        EXPECT_TRUE(samples.insert(line.substr(0, line.find("} "))).second) << line;
    }
    const auto text = exchange::to_openmetrics(made_judgement());
    EXPECT_THAT(text, HasSubstr("# UNIT assay_check_value_bytes_per_second bytes_per_second\n"));
    EXPECT_THAT(text, HasSubstr("cause=\"below_limit\",severity=\"critical\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("assay_node_status{node=\"m-7f3a\",machine=\"m-7f3a\"} 2\n"));
}

TEST(Verdicts, PluginsHaveTheirLinesAndCodes) {
    const auto bad = made_judgement();
    const auto first = lines_of(plugin_output(bad, exchange::ExitStyle::nagios)).front();
    EXPECT_THAT(first,
                StartsWith("ASSAY CRITICAL - FAIL: node m-7f3a (6 of 7 required checks ran)."));
    EXPECT_EQ(std::ranges::count(first, '|'), 1);
    EXPECT_THAT(first, HasSubstr("'stream-triad.cuda:1'=3.1e+12;;3.9e+12:"));
    const auto line = plugin_output(bad, exchange::ExitStyle::npd);
    EXPECT_THAT(line, StartsWith("[node_problem] below_limit: "));
    EXPECT_LE(line.size(), 81U);
    auto misused = bad;
    auto& checks = misused.nodes.front().checks;
    std::erase_if(checks, [](const Check& check) { return check.cause != Cause::device_shared; });
    misused.outcome = misused.nodes.front().outcome = Outcome::inconclusive;
    EXPECT_THAT(plugin_output(misused, exchange::ExitStyle::npd), StartsWith("[user_problem] "));
    EXPECT_THAT(plugin_output({.message = "no | file"}, exchange::ExitStyle::nagios),
                StartsWith("ASSAY UNKNOWN - no / file"));
    for (const auto& [outcome, assay, nagios, npd] : {std::tuple{Outcome::pass, 0, 0, 0},
                                                      {Outcome::warn, 0, 1, 0},
                                                      {Outcome::fail, 1, 2, 1},
                                                      {Outcome::inconclusive, 3, 3, 2},
                                                      {Outcome::error, 4, 3, 2},
                                                      {Outcome::skip, 3, 3, 2}}) {
        EXPECT_EQ(exit_code_of(outcome, exchange::ExitStyle::assay), assay);
        EXPECT_EQ(exit_code_of(outcome, exchange::ExitStyle::nagios), nagios);
        EXPECT_EQ(exit_code_of(outcome, exchange::ExitStyle::npd), npd);
    }
    const test::Speaking chinese{document::Language::zh};
    EXPECT_LE(plugin_output(bad, exchange::ExitStyle::npd).size(), 81U);
}

} // namespace
} // namespace assay::judge
