// SPDX-License-Identifier: Apache-2.0
//
// Names of nodes, how far each of them is, and runs of real devices in containers that recorded one id for all.

#include "base/quantity.hpp"
#include "document/text.hpp"
#include "fleet/model.hpp"
#include "fleet_maker.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"
#include "record/same_machine.hpp"
#include "support/results.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace assay::fleet {
namespace {

namespace fs = std::filesystem;
using namespace testing;

TEST(FleetNames, ExpandsRangesAsSlurmWritesThem) {
    EXPECT_THAT(expand_nodes("n[08-11],gpu3").value(),
                ElementsAre("n08", "n09", "n10", "n11", "gpu3"));
    EXPECT_THAT(expand_nodes("r[1-2]n[1,3].hpc").value(),
                ElementsAre("r1n1.hpc", "r1n3.hpc", "r2n1.hpc", "r2n3.hpc"));
    EXPECT_THAT(expand_nodes("n[0001-10000]").value(), SizeIs(10000));
    EXPECT_EQ(expand_nodes("n[0001-10000]")->back(), "n10000");
    EXPECT_THAT(expand_nodes("n1 n1,n1").value(), ElementsAre("n1"));
}

TEST(FleetNames, FoldsNamesIntoTheRangesTheyCameFrom) {
    const auto folded = [](const char* text) { return fold_ranges(expand_nodes(text).value()); };
    EXPECT_THAT(folded("node[07-40]"), ElementsAre("node[07-40]"));
    EXPECT_THAT(folded("n[00003-00004,00007,00059]"), ElementsAre("n000[03-04,07,59]"));
    EXPECT_THAT(folded("n12,gpu3,n[08-10],a7.hpc,a8.hpc"),
                ElementsAre("n[08-10,12]", "gpu3", "a[7-8].hpc"));
    EXPECT_THAT(folded("n[8-11]"), ElementsAre("n[8-11]"));
    EXPECT_THAT(folded("n[1-2],n01"), ElementsAre("n[01,1-2]"));
    EXPECT_THAT(fold_ranges({"2744e7110dfa586f", "login", "n4000000000"}),
                ElementsAre("2744e7110dfa586f", "login", "n4000000000"));
    const auto all = expand_nodes("n[0007-1200],n[1-9],x").value();
    std::vector<std::string> again;
    for (const auto& one : fold_ranges(all)) {
        const auto names = expand_nodes(one).value();
        again.insert(again.end(), names.begin(), names.end());
    }
    EXPECT_THAT(again, UnorderedElementsAreArray(all));
}

TEST(FleetNames, AListOfNodesFitsALine) {
    EXPECT_EQ(document::list_of_nodes({"n1", "n2"}), "n1 and n2");
    EXPECT_EQ(document::list_of_nodes({"n1", "gpu1", "n2"}), "n[1-2] and gpu1");
    std::vector<std::string> odd;
    for (int i = 1; i < 400; i += 2) odd.push_back(fmt::format("node{:03}", i));
    const auto text = document::list_of_nodes(odd);
    EXPECT_LE(text.size(), 80U) << text;
    EXPECT_THAT(text, AllOf(StartsWith("node[001,003,"), EndsWith(" more")));
}

TEST(FleetNames, ReadsAFileWithCommentsAndLines) {
    EXPECT_THAT(parse_nodes("# rack 1\nn[1-2]  # two\r\n\nn7\n", "nodes.txt").value(),
                ElementsAre("n1", "n2", "n7"));
    EXPECT_THAT(parse_nodes("# nobody\n", "nodes.txt").error().message, HasSubstr("nodes.txt"));
}

TEST(FleetNames, RefusesWhatIsNoName) {
    for (const auto* text : {"n[5-1]", "n[a-b]", "n[1", "n[]", "n$1", "n[1-99999999]",
                             "n[1-99999999999999999999]", "a/b", "n]1"})
        EXPECT_FALSE(expand_nodes(text)) << text;
    EXPECT_THAT(expand_nodes("n[5-1]").error().message, HasSubstr("[01-40]"));
}

TEST(FleetNames, KnowsAHostWithAndWithoutItsDomain) {
    const NodeNames brief{{"n1", "n2"}};
    EXPECT_EQ(brief.of_host("n1.cluster.example"), "n1");
    EXPECT_EQ(brief.of_host("x1.cluster.example"), "x1.cluster.example");
    const NodeNames full{{"n1.east", "n2.east", "n2.west"}};
    EXPECT_EQ(full.of_host("n1"), "n1.east");
    EXPECT_EQ(full.of_host("n2"), "n2") << "it could be either";
}

TEST(FleetNames, FindsANodeInAPathByTheDeepestFolder) {
    const NodeNames names{{"n1", "n2"}};
    EXPECT_EQ(names.of_path("gathered/n1/quick/host/m-1/run.json"), "n1");
    EXPECT_EQ(names.of_path("n1/copy/n2/run.json"), "n2");
    EXPECT_EQ(names.of_path("other/run.json"), "");
    EXPECT_EQ(names.of_path("n1"), "") << "a file of that name is not a folder";
}

/// One replica after the other, ten seconds apart.
record::JournalContent journal(int steps, int cases, int replicas) {
    record::JournalContent content;
    content.header = record::JournalHeader{.suite = "quick", .replicas = replicas, .cases = cases};
    for (int i = 0; i < steps; ++i) {
        record::JournalStep step{.case_index = static_cast<std::uint64_t>(i % cases)};
        record::Replica replica;
        replica.index = i / cases;
        replica.started = fmt::format("2026-11-20T12:{:02}:{:02}Z", i / 6, i % 6 * 10);
        replica.status = record::Status::ok;
        step.result.replicas.push_back(replica);
        content.steps.push_back(std::move(step));
    }
    return content;
}

TEST(FleetProgress, CountsCasesAndSaysHowLongTheRestTakes) {
    const auto found = progress_of(journal(18, 10, 2), {}, 1000, 970);
    EXPECT_EQ(found.done, 8U);
    EXPECT_EQ(found.cases, 10U);
    EXPECT_EQ(found.measured, 18U);
    ASSERT_TRUE(found.left);
    EXPECT_NEAR(*found.left, 20, 1e-9);
    EXPECT_FALSE(found.stalled);
    EXPECT_EQ(found.silent, 30);
}

TEST(FleetProgress, AnOlderJournalIsCompletedByAFinishedRunOfItsPlan) {
    auto old = journal(5, 10, 1);
    old.header->cases.reset();
    EXPECT_FALSE(progress_of(old, {}, 10, 0).left);
    EXPECT_EQ(progress_of(old, 10, 10, 0).cases, 10U);
    EXPECT_NEAR(progress_of(old, 10, 10, 0).left.value(), 50, 1e-9);
}

TEST(FleetProgress, ACaseThatFailedIsDone) {
    auto failed = journal(3, 3, 2);
    failed.steps[1].result.replicas[0].status = record::Status::crashed;
    const auto found = progress_of(failed, {}, 0, 0);
    EXPECT_EQ(found.done, 1U);
    EXPECT_EQ(found.measured, 4U);
}

TEST(FleetProgress, AClockThatWasSetBackShowsInTheOrderOfTheLines) {
    auto back = journal(18, 10, 2);
    EXPECT_EQ(progress_of(back, {}, 0, 0).went_back, 0);
    std::swap(back.steps[7].result.replicas, back.steps[16].result.replicas);
    EXPECT_EQ(progress_of(back, {}, 0, 0).went_back, 90);
}

TEST(FleetProgress, LongSilenceIsNoRun) {
    EXPECT_TRUE(progress_of(journal(5, 10, 1), {}, 1000, 0).stalled);
    EXPECT_TRUE(progress_of({}, {}, 1000, 0).stalled) << "nothing was ever written";
}

const fs::path real{ASSAY_REAL_RUNS};
const std::string h100 = (real / "h100-acceptance-interrupted.json").string();
const std::string h100_again = (real / "h100-shared-device.json").string();
const std::string h200 = (real / "h200-acceptance.json").string();
const std::string h100_of_yesterday = (fs::path{ASSAY_SAMPLES} / "h100-80gb-quick.json").string();
constexpr const char* recorded = "921623bb792934c7";

store::Collection all(const std::vector<std::string>& inputs) {
    return must(store::collect(inputs));
}
std::vector<std::string> ids(const std::vector<std::string>& inputs) {
    const auto collection = all(inputs);
    std::vector<std::string> ids;
    for (const auto& run : collection.runs) ids.push_back(collection.machines[run.machine].id);
    return ids;
}

TEST(FleetIdentity, EveryCardIsAMachine) {
    const auto found = ids({h100, h100_again, h200, h100_of_yesterday});
    ASSERT_THAT(found, SizeIs(4));
    EXPECT_EQ(found[0], found[1]);
    EXPECT_THAT(std::set<std::string>(found.begin(), found.end()), SizeIs(3));
    auto backwards = ids({h100_of_yesterday, h200, h100_again, h100});
    std::ranges::reverse(backwards);
    EXPECT_EQ(backwards, found);
    EXPECT_EQ(ids({h200}).front(), found[2]); // whatever is beside it
}

TEST(FleetIdentity, TheOldIdStaysWhereItNamesOneMachine) {
    const auto has_old = [](const store::Collection& collection) {
        return std::ranges::any_of(collection.machines, [](const record::Machine& machine) {
            return record::is_id_of(machine, recorded);
        });
    };
    EXPECT_TRUE(has_old(all({h100, h100_again})));
    EXPECT_FALSE(has_old(all({h100, h200})));
}

TEST(FleetIdentity, NamesAreLabelsAndOneRecordMayBeOfTwoNodes) {
    const made::TemporaryFolder folder;
    auto run = must(record::read_run(h200));
    const auto write = [&](const std::string& id, const std::string& campaign,
                           const std::string& device) {
        run.id = id;
        static_cast<std::string&>(run.campaign) = campaign;
        run.machine.identity.node = "gpu-07";
        run.machine.devices.front().uuid = device;
        test::measure_again(run, id);
        return folder.write(id + ".json", json::to_text(record::to_json(run))).string();
    };
    const std::vector<std::string> files{
        write("1", "2026Q4", "GPU-1"), write("2", "2026Q4", "GPU-2"), write("3", "other", "GPU-2")};
    const auto found = ids(files);
    EXPECT_EQ(found[0], found[1]); // the card was replaced
    EXPECT_EQ(found[1], found[2]); // the same card
    const auto fleet = must(make_fleet(all({files[0]}), {}));
    EXPECT_EQ(fleet.nodes.at(0).name, "gpu-07");
    EXPECT_EQ(fleet.nodes.at(0).source, NameSource::node);
    const auto others = ids({files[0], write("4", "other", "GPU-3")});
    EXPECT_NE(others[0], others[1]); // another cluster's node of this name
}

} // namespace
} // namespace assay::fleet
