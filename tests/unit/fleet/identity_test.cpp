// SPDX-License-Identifier: Apache-2.0
//
// Runs of real devices, in containers that recorded one id for all.

#include "fleet/fleet.hpp"
#include "fleet_maker.hpp"
#include "json/json.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"
#include "record/same_machine.hpp"
#include "store/collection.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

namespace fs = std::filesystem;
using testing::SizeIs;

const fs::path real{ASSAY_REAL_RUNS};
const std::string h100 = (real / "h100-acceptance-interrupted.json").string();
const std::string h100_again = (real / "h100-shared-device.json").string();
const std::string h200 = (real / "h200-acceptance.json").string();
const std::string h100_of_yesterday = (fs::path{ASSAY_SAMPLES} / "h100-80gb-quick.json").string();
constexpr const char* recorded = "921623bb792934c7";

Collection all(const std::vector<std::string>& inputs) {
    auto collection = collect(inputs);
    EXPECT_TRUE(collection) << collection.error().message;
    return std::move(*collection);
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

TEST(FleetIdentity, CountsThreeNodes) {
    const auto fleet = make_fleet(all({h100, h100_again, h200, h100_of_yesterday}), {});
    ASSERT_TRUE(fleet) << fleet.error().message;
    EXPECT_THAT(fleet->nodes, SizeIs(3));
}

TEST(FleetIdentity, TheOldIdStaysWhereItNamesOneMachine) {
    const auto has_old = [](const Collection& collection) {
        return std::ranges::any_of(collection.machines, [](const record::Machine& machine) {
            return record::is_id_of(machine, recorded);
        });
    };
    EXPECT_TRUE(has_old(all({h100, h100_again})));
    EXPECT_FALSE(has_old(all({h100, h200})));
}

TEST(FleetIdentity, NamesAreLabelsAndOneRecordMayBeOfTwoNodes) {
    const harness::made::TemporaryFolder folder;
    auto run = record::read_run(h200);
    ASSERT_TRUE(run) << run.error().message;
    const auto write = [&](const std::string& id, const std::string& campaign,
                           const std::string& device) {
        run->id = id;
        static_cast<std::string&>(run->campaign) = campaign;
        run->machine.identity.node = "gpu-07";
        run->machine.devices.front().uuid = device;
        return folder.write(id + ".json", json::to_text(record::to_json(*run))).string();
    };
    const std::vector<std::string> files{
        write("1", "2026Q4", "GPU-1"), write("2", "2026Q4", "GPU-2"), write("3", "other", "GPU-2")};
    const auto found = ids(files);
    EXPECT_EQ(found[0], found[1]); // the card was replaced
    EXPECT_EQ(found[1], found[2]); // the same card
    const auto fleet = make_fleet(all({files[0]}), {});
    ASSERT_TRUE(fleet) << fleet.error().message;
    EXPECT_EQ(fleet->nodes.at(0).name, "gpu-07");
    EXPECT_EQ(fleet->nodes.at(0).source, NameSource::node);
    const auto others = ids({files[0], write("4", "other", "GPU-3")});
    EXPECT_NE(others[0], others[1]); // another cluster's node of this name
}

} // namespace
} // namespace assay::report
