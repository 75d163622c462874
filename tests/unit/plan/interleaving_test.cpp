// SPDX-License-Identifier: Apache-2.0

#include "plan/groups.hpp"
#include "plan/hosts.hpp"
#include "plan/interleaving.hpp"
#include "plan/manifest.hpp"
#include "plan/planner.hpp"
#include "support/catalogue_maker.hpp"
#include "support/results.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace assay;
using namespace assay::plan;
using namespace testing;
using made::catalogue;

Result<Interleaving> made(const Catalogue& all, const PlanRequest& request,
                          const std::vector<std::string>& variants) {
    return interleave(all, request, *parse_variants(variants));
}

TEST(Interleaving, VariantsShareThePlanAndItsDigest) {
    const auto all = catalogue();
    const auto turns = valid(made(all, {.what = {"gemm"}}, {"a:", "b: X=1", "c: Y=2"}));
    ASSERT_EQ(turns->runs.size(), 3U);
    for (const auto& [plan, variant, pairing] : turns->runs) {
        EXPECT_EQ(plan.cases.size(), 8U);
        EXPECT_EQ(plan.replicas, usual_pairs);
        EXPECT_TRUE(plan.fresh_workers);
        EXPECT_EQ(plan.digest, turns->runs[0].plan.digest);
        ASSERT_TRUE(pairing);
        EXPECT_EQ(pairing->setting, variant.label);
        EXPECT_EQ(pairing->changes, changes_of(variant));
        EXPECT_EQ(pairing->order, "ABCCBA");
    }
    EXPECT_DOUBLE_EQ(turns->expected_seconds, 3 * turns->runs[0].plan.expected_seconds);
    const auto alone = make_plan(all, {.what = {"gemm"}, .replicas = usual_pairs});
    EXPECT_EQ(alone->digest, turns->runs[0].plan.digest) << "they measure the same things";
    EXPECT_GT(turns->runs[0].plan.expected_seconds, alone->expected_seconds)
        << "more workers start";
}

TEST(Interleaving, ABudgetIsForAllVariantsTogether) {
    const auto all = catalogue();
    const auto turns = valid(
        made(all, {.what = {"gemm"}, .budget_seconds = 120, .replicas = 4}, {"a:", "b: X=1"}));
    EXPECT_LE(turns->expected_seconds, 120);
    EXPECT_GT(turns->expected_seconds, 30);
}

TEST(Interleaving, EqualVariantsAreAllowedAndSaid) {
    const auto all = catalogue();
    const auto turns = valid(made(all, {.what = {"gemm"}}, {"a: X=1", "b: X=1"}));
    EXPECT_THAT(turns->notes, Contains(HasSubstr("a and b are the same")));
}

TEST(Interleaving, LibrariesArePairedByQuestion) {
    const auto all = catalogue();
    const auto turns =
        valid(made(all, {.what = {"*"}}, {"a: library=openblas", "b: library=onednn"}));
    const auto& a = turns->runs[0].plan.cases;
    const auto& b = turns->runs[1].plan.cases;
    // fp64 and fp32 of one, fp32 and bf16 of the other, with one and all threads.
    ASSERT_EQ(a.size(), 6U);
    ASSERT_EQ(b.size(), 6U);
    std::size_t measured = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].module->module, "openblas");
        EXPECT_EQ(b[i].module->module, "onednn");
        EXPECT_EQ(a[i].parameters, b[i].parameters);
        EXPECT_EQ(a[i].skip_reason, b[i].skip_reason);
        measured += a[i].skip_reason.empty() ? 1 : 0;
        const auto* precision = record::find(a[i].parameters, "precision");
        if (record::to_string(*precision) == "fp64") {
            EXPECT_THAT(a[i].skip_reason, HasSubstr("onednn does not measure this"));
        }
    }
    EXPECT_EQ(measured, 2U);
    EXPECT_THAT(turns->notes, Contains(HasSubstr("6 cases left out")));
}

TEST(Interleaving, ALibraryThatIsNotThereIsAUsageError) {
    const auto all = catalogue();
    EXPECT_THAT(made(all, {.what = {"*"}}, {"a: library=openbls", "b: library=onednn"}),
                Fails(Fault::usage, HasSubstr("\"openblas\"")));
    const auto none = made(all, {.what = {"memory"}}, {"a: library=openblas", "b: library=onednn"});
    EXPECT_THAT(none, Fails(HasSubstr("no selected case")));
}

// --- variants ----------------------------------------------------------------------------------------

// Variants that take turns: how they are written, and in which order they come.

// --- how they are written -------------------------------------------------------------------------

TEST(Variants, AreALabelAndWhatChanges) {
    const auto plain = valid(parse_variant("old:"));
    EXPECT_EQ(plain->label, "old");
    EXPECT_THAT(changes_of(*plain), IsEmpty());
    const auto full = valid(
        parse_variant(" new one : OMP_WAIT_POLICY=active , UCX_TLS=\"rc,sm\",library=openblas, "
                      "via=\"numactl --interleave=all\",MALLOC_ARENA_MAX="));
    EXPECT_EQ(full->label, "new one");
    EXPECT_THAT(changes_of(*full),
                ElementsAre(record::Named{"environment.OMP_WAIT_POLICY", std::string{"active"}},
                            record::Named{"environment.UCX_TLS", std::string{"rc,sm"}},
                            record::Named{"environment.MALLOC_ARENA_MAX", std::string{}},
                            record::Named{"library", std::string{"openblas"}},
                            record::Named{"via", std::string{"numactl --interleave=all"}}));
}

TEST(Variants, WhatCannotBeMeantIsNamed) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"old", "missing colon"},
        {":", "label"},
        {" : A=1", "label"},
        {std::string(65, 'x').append(":"), "label"},
        {"a=b:", "label"},
        {"a/b:", "label"},
        {"a: X", "expected KEY=VALUE"},
        {"a: =1", "expected KEY=VALUE"},
        {"a: UCX_TLS=rc,sm", "quote a value"},
        {"a: X=1,", "expected KEY=VALUE"},
        {"a: X=\"1", "missing closing"},
        {"a: X=1,X=2", "twice"},
        {"a: via=x,via=y", "twice"},
        {"a: libary=x", "\"library\""},
        {"a: governor=performance", "was removed"},
        {"a: image=/img", "assay compare"},
        {"a: library= ", "needs a value"},
        {"a: OMP_NUM_THREADS=2", "parameter"},
        {"a: ASSAY_TOKEN=2", "by assay itself"},
        {"a: X=1\n", "control characters"},
    };
    for (const auto& [text, part] : wrong) {
        EXPECT_THAT(parse_variant(text), Fails(Fault::usage, HasSubstr(part))) << text;
    }
}

TEST(Variants, AreSeveralWithLabelsOfTheirOwnAndAllOrNoneWithALibrary) {
    EXPECT_TRUE(parse_variants({"a:", "b:"})) << "the same twice is a test of the test";
    EXPECT_FALSE(parse_variants({}));
    EXPECT_FALSE(parse_variants({"a:"}));
    EXPECT_FALSE(parse_variants({"a:", "a: X=1"}));
    EXPECT_FALSE(parse_variants({"a:", "b: library=openblas"}));
    EXPECT_TRUE(parse_variants({"a: library=onednn", "b: library=openblas"}));
    std::vector<std::string> many;
    for (int i = 0; i < 27; ++i) many.push_back(std::to_string(i) + ":");
    EXPECT_FALSE(parse_variants(many));
}

TEST(Turns, GoThereAndBack) {
    std::string order;
    for (int pair = 0; pair < 4; ++pair)
        for (const auto index : order_of_turns(pair, 2)) order += index == 0 ? 'A' : 'B';
    EXPECT_EQ(order, "ABBAABBA");
    EXPECT_EQ(order_word(2), "ABBA");
    EXPECT_EQ(order_word(3), "ABCCBA");
}

// --- groups and hosts --------------------------------------------------------------------------------

std::string problem(const std::string& text) {
    const auto groups = parse_groups(text, "groups");
    return groups ? "" : groups.error().message;
}

TEST(Groups, AreReadFromLinesOfHosts) {
    const auto groups = valid(parse_groups("# leaf switches\nh1,h2 switch=leaf1\trail=0\r\n\n"
                                           "h3 switch=leaf2 # alone\nh1 rack=b7",
                                           "groups"));
    ASSERT_EQ(groups->size(), 3U);
    EXPECT_EQ((*groups)[0].host, "h1");
    EXPECT_THAT((*groups)[0].groups,
                ElementsAre(Group{"switch", "leaf1"}, Group{"rail", "0"}, Group{"rack", "b7"}));
    EXPECT_THAT((*groups)[2].groups, ElementsAre(Group{"switch", "leaf2"}));
    EXPECT_EQ(group_line("switch:leaf1=h1,h2").value(), "h1,h2 switch=leaf1");
}

TEST(Groups, WhatIsWrongIsSaidWithItsLine) {
    EXPECT_THAT(problem(""), HasSubstr("groups has no groups"));
    EXPECT_THAT(problem("h1"), HasSubstr("groups:1: h1 has no group"));
    EXPECT_THAT(problem("h1 switch"), HasSubstr("invalid \"switch\" (expected KIND=NAME"));
    EXPECT_THAT(problem("h1 Switch=a"), HasSubstr("expected KIND=NAME"));
    EXPECT_THAT(problem("h1 switch=-"), HasSubstr("expected KIND=NAME"));
    EXPECT_THAT(problem("h1 switch=a\nh2,h1 switch=b"),
                HasSubstr("groups:2: h1 is in two groups of kind switch: a and b"));
    EXPECT_THAT(problem("-x switch=a"), HasSubstr("groups:1: "));
    EXPECT_THAT(problem("h1 a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1"), HasSubstr("more than 8 kinds"));
    EXPECT_FALSE(group_line("switch=leaf1"));
    EXPECT_FALSE(group_line("switch:leaf1"));
}

TEST(Groups, NeighboursStandNextToEachOther) {
    const std::vector<Host> hosts{{"h1", 1}, {"h2", 1}, {"h3", 1}, {"h4", 1}, {"h5", 1}};
    const auto groups =
        valid(parse_groups("h2,h5 switch=a\nh1,h4 switch=b\nh1,h2 rack=r1\nh9 switch=c", "groups"));
    const auto sorted = valid(in_groups(hosts, *groups));
    std::vector<std::string> names;
    std::vector<std::vector<Group>> of_hosts;
    for (const auto& host : *sorted) {
        names.push_back(host.name);
        of_hosts.push_back(host.groups);
    }
    EXPECT_THAT(names, ElementsAre("h5", "h2", "h4", "h1", "h3"));
    EXPECT_THAT(kinds_of(of_hosts), ElementsAre("rack", "switch"));
    EXPECT_EQ(words_of_kind(of_hosts, "switch"), "a a b b -");
    EXPECT_EQ(words_of_kind(of_hosts, "rack"), "- r1 - r1 -");
    EXPECT_EQ(in_groups(hosts, {}).value(), hosts) << "without groups nothing moves";
    const auto others = parse_groups("n1 switch=a", "groups");
    EXPECT_THAT(in_groups(hosts, *others).error().message, HasSubstr("none of the 5 hosts"));
}

TEST(FabricCost, IsSaidForAThousandHostsBeforeTheyWait) {
    Benchmark benchmark{.id = "collective.fabric"};
    PlannedCase planned{
        .benchmark = &benchmark,
        .parameters = {{"ranks", std::string{"per_node"}}, {"random", std::int64_t{8}}}};
    Job job;
    EXPECT_EQ(fabric_cost(planned, job), "");
    for (int i = 0; i < 1000; ++i) job.hosts.push_back({.name = "n" + std::to_string(i)});
    EXPECT_THAT(fabric_cost(planned, job),
                AllOf(HasSubstr("18 rounds of 500 pairs"), HasSubstr("9000 of 499500 pairs (1.8%)"),
                      HasSubstr("up to 320")));
    job.hosts.resize(6);
    EXPECT_THAT(fabric_cost(planned, job),
                AllOf(HasSubstr("5 rounds of 3 pairs"), HasSubstr("15 of 15 pairs (100%)")));
    planned.parameters.pop_back();
    EXPECT_EQ(fabric_cost(planned, job), "") << "no rounds of random partners";
}

// --- hosts -------------------------------------------------------------------------------------------

// The hosts of a team, as people write them.

TEST(Hosts, AreReadFromTheCommandLine) {
    const auto hosts = valid(parse_hosts("h1:2,h2.example.org,10.0.0.3:64"));
    EXPECT_THAT(*hosts,
                ElementsAre(Host{"h1", 2}, Host{"h2.example.org", 0}, Host{"10.0.0.3", 64}));
    for (const char* wrong :
         {"", "h1,", "-x:1", "h1:0", "h1:x", "h1:9999", "h1:2,h1:2", "a b", "h1:2:3", "$(reboot)"})
        EXPECT_FALSE(parse_hosts(wrong)) << wrong;
}

std::string named(std::string_view text) {
    const auto hosts = parse_hosts(text);
    if (!hosts) return hosts.error().message;
    std::string names;
    for (const auto& host : *hosts)
        names += (names.empty() ? "" : " ") + host.name +
                 (host.slots == 0 ? "" : ":" + std::to_string(host.slots));
    return names;
}

TEST(Hosts, HaveRangesAsInSlurm) {
    EXPECT_EQ(named("node[08-11]"), "node08 node09 node10 node11");
    EXPECT_EQ(named("node[1-3,7]:2,gpu5"), "node1:2 node2:2 node3:2 node7:2 gpu5");
    EXPECT_EQ(named("r[1-2]n[01,3].example.org"),
              "r1n01.example.org r1n3.example.org r2n01.example.org r2n3.example.org");
    EXPECT_EQ(named("n[98-101]"), "n98 n99 n100 n101");
    EXPECT_EQ(parse_hosts("n[0-9][0-99]")->size(), 1000U);
    for (const char* wrong :
         {"node[01-40", "node01-40]", "node]1[", "node[[1]]", "node[]", "node[1-]", "node[-3]",
          "node[1,]", "node[3-1]", "node[a-c]", "node[1-2-3]", "node[+1-2]", "node[1]:0",
          "node[1-2],node2", "[1-2]]", "n[0-65536]", "n[0-999][0-999]", "n[0-99999999999]"})
        EXPECT_FALSE(parse_hosts(wrong)) << wrong;
    EXPECT_THAT(named("node[3-1]"), AllOf(HasSubstr("3-1"), HasSubstr("node[01-40]")));
    EXPECT_THAT(named("node[1-3"), HasSubstr("missing bracket"));
    // 65,536 names of 100,000 characters would be 6 GB.
    const std::string many(100'000, '0');
    for (const auto& wrong : {many + "[0-65535]", "n[" + many + "1-65535]", "n[0-65535]" + many})
        EXPECT_THAT(named(wrong), HasSubstr("longer than 255 characters"));
}

TEST(Hosts, AFileIsReadAsOpenMpiTakesIt) {
    const auto hosts = valid(parse_hostfile("# a rack\n h1 slots=2 # fast\r\n\nh2:3\nh3", "rack"));
    EXPECT_THAT(*hosts, ElementsAre(Host{"h1", 2}, Host{"h2", 3}, Host{"h3", 0}));
    const auto problem = [](const char* text) {
        return parse_hostfile(text, "rack").error().message;
    };
    EXPECT_EQ(problem("h1 slots=1\n\nh1"), "rack:3: h1 is given twice, first in line 1");
    EXPECT_EQ(problem("h1 slots=no"),
              "rack:1: invalid \"slots=no\" after h1 (expected slots=N, N from 1 to 4096)");
    EXPECT_THAT(problem("h1 slots=1 slots=2"), HasSubstr("rack:1: invalid \"slots=2\""));
    EXPECT_THAT(problem("h1\n\x1b[2J"), AllOf(HasSubstr("rack:2:"), HasSubstr("invalid host")));
    EXPECT_EQ(problem("# nobody\n"), "rack has no hosts");
}

} // namespace
