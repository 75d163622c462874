// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "launch/launcher.hpp"
#include "launch/team.hpp"
#include "process/program.hpp"
#include "process/start.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace assay::harness {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int> shares(const std::vector<Host>& hosts, const record::Value& ranks) {
    record::Machine machine;
    machine.usable_cores = 4;
    machine.sockets = 2;
    std::vector<int> counts;
    const auto shared = share_out(hosts, false, ranks, machine);
    for (const auto& host : shared.value()) counts.push_back(host.ranks);
    return counts;
}

TEST(Hosts, ShareRanksOut) {
    const std::vector<Host> hosts{{"h1", 2}, {"h2", 0}, {"h3", 1}};
    EXPECT_THAT(shares(hosts, std::string{"all"}), ElementsAre(2, 4, 1))
        << "h2 is like this machine";
    EXPECT_THAT(shares(hosts, std::string{"per_socket"}), ElementsAre(2, 2, 1));
    EXPECT_THAT(shares(hosts, std::string{"per_node"}), ElementsAre(1, 1, 1));
    EXPECT_THAT(shares(hosts, std::int64_t{5}), ElementsAre(2, 2, 1));
    EXPECT_THAT(shares(hosts, std::int64_t{6}), ElementsAre(2, 3, 1));
    EXPECT_THAT(shares(hosts, std::int64_t{2}), ElementsAre(1, 1));
    const auto none = share_out(hosts, false, std::int64_t{8}, {.usable_cores = 4});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message, "needs 8 ranks, the 3 hosts take 7");
    EXPECT_EQ(none.error().fault, Fault::environment);
}

TEST(Hosts, KnowTheRanksOnThem) {
    const std::vector<HostRanks> hosts{{"h1", "node0", 2}, {"h2", "node1", 1}};
    EXPECT_EQ(rank_words(hosts, 1), "rank 1 on node0");
    EXPECT_EQ(rank_words(hosts, 2), "rank 2 on node1");
    EXPECT_EQ(rank_words(hosts, 3), "rank 3");
    const auto place = place_of({2, 3}, 4);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->host, 1U);
    EXPECT_EQ(place->local_rank, 2);
}

TEST(Hosts, AreCheckedBeforeAnythingRuns) {
    EXPECT_TRUE(check_hosts({{"127.0.0.1", 1}}));
    const auto twice = check_hosts({{"127.0.0.1", 1}, {"127.0.0.01", 1}, {"localhost", 1}});
    EXPECT_FALSE(twice);
    const auto job = settle({.hosts = {{"127.0.0.1", 1}}});
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(job->launcher, "mpirun");
}

TEST(Slurm, CountsAreRepeated) {
    EXPECT_THAT(repeated_counts("2(x3),4"), ElementsAre(2, 2, 2, 4));
    EXPECT_THAT(repeated_counts("16"), ElementsAre(16));
    for (const char* wrong : {"", "2(x", "2(x3", "2(y3)", "0", "2,", "2(x0)", "9(x99999999)"})
        EXPECT_THAT(repeated_counts(wrong), IsEmpty()) << wrong;
}

TEST(Launchers, GoToHosts) {
    const harness::made::TemporaryFolder folder;
    LaunchRequest request{.program = "/opt/assay",
                          .placement = {.launcher = "mpirun",
                                        .ranks = 3,
                                        .hosts = {{"h1", "node0", 2}, {"h2", "node1", 1}},
                                        .variables = {{"UCX_TLS", std::string{"ib,self"}}}},
                          .address = "tcp:10.0.0.1:99",
                          .token = "0123456789",
                          .scratch = folder.path()};
    const auto program = folder.write("mpirun", "");
    std::filesystem::copy_file(program, folder.path() / "srun");
    for (const char* name : {"mpirun", "srun"})
        std::filesystem::permissions(folder.path() / name, std::filesystem::perms::owner_all);
    request.inherited = {"PATH=" + folder.path().string(), "OMPI_MCA_btl=tcp,self"};
    auto command = launch_command(request);
    ASSERT_TRUE(command) << command.error().message;
    EXPECT_THAT(command->arguments, AllOf(Contains("h1:2,h2:1"), Contains("UCX_TLS"),
                                          Contains("ASSAY_HOST_RANKS"), Contains("/opt/assay")));
    EXPECT_THAT(command->environment, Contains("ASSAY_HOST_RANKS=2,1"));
    EXPECT_THAT(command->arguments, ::testing::Not(Contains("isolated")));

    request.placement.launcher = "srun";
    command = launch_command(request);
    ASSERT_TRUE(command) << command.error().message;
    EXPECT_THAT(command->arguments, AllOf(Contains("--ntasks=3"), Contains("--nodes=2"),
                                          Contains("--distribution=arbitrary")));
    const char* file = find_variable(command->environment, "SLURM_HOSTFILE");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(read_whole(file, 1000).value(), "h1\nh1\nh2\n");
}

} // namespace
} // namespace assay::harness
