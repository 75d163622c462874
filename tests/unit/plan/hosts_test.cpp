// SPDX-License-Identifier: Apache-2.0
//
// The hosts of a team: what people write, what it means, and how ranks and addresses follow from it.
#include "base/file.hpp"
#include "launch/launcher.hpp"
#include "launch/team.hpp"
#include "plan/hosts.hpp"
#include "process/address.hpp"
#include "process/channel.hpp"
#include "process/log.hpp"
#include "process/program.hpp"
#include "process/start.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace assay;
using namespace assay::harness;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Hosts, AreReadFromTheCommandLine) {
    const auto hosts = parse_hosts("h1:2,h2.example.org,10.0.0.3:64");
    ASSERT_TRUE(hosts) << hosts.error().message;
    EXPECT_THAT(*hosts,
                ElementsAre(Host{"h1", 2}, Host{"h2.example.org", 0}, Host{"10.0.0.3", 64}));
    for (const char* wrong :
         {"", "h1,", "-x:1", "h1:0", "h1:x", "h1:9999", "h1:2,h1:2", "a b", "h1:2:3", "$(reboot)"})
        EXPECT_FALSE(parse_hosts(wrong)) << wrong;
}

TEST(Hosts, AFileIsReadAsOpenMpiTakesIt) {
    const auto hosts = parse_hostfile("# a rack\n h1 slots=2 # fast\r\n\nh2:3\nh3", "rack");
    ASSERT_TRUE(hosts) << hosts.error().message;
    EXPECT_THAT(*hosts, ElementsAre(Host{"h1", 2}, Host{"h2", 3}, Host{"h3", 0}));
    const auto problem = [](const char* text) {
        return parse_hostfile(text, "rack").error().message;
    };
    EXPECT_EQ(problem("h1 slots=1\n\nh1"), "rack:3: h1 is there twice, first in line 1");
    EXPECT_EQ(problem("h1 slots=no"),
              "rack:1: \"slots=no\" after h1 should be slots=N, N from 1 to "
              "4096");
    EXPECT_THAT(problem("h1 slots=1 slots=2"), HasSubstr("rack:1: \"slots=2\""));
    EXPECT_THAT(problem("h1\n\x1b[2J"), AllOf(HasSubstr("rack:2:"), HasSubstr("is no host")));
    EXPECT_EQ(problem("# nobody\n"), "rack names no host");
}

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

TEST(Addresses, ReadBackAsTheyWereWritten) {
    for (const char* text : {"unix:@assay-0123", "tcp:127.0.0.1:4242", "tcp:[::1]:9"}) {
        const auto address = parse_address(text);
        ASSERT_TRUE(address) << text;
        EXPECT_EQ(to_text(*address), text);
    }
    for (const char* wrong : {"", "tcp:", "tcp:h1:1", "tcp:1.2.3.4", "tcp:1.2.3.4:65536",
                              "tcp:[::1:2", "tcp::1", "udp:1.2.3.4:5"})
        EXPECT_FALSE(parse_address(wrong)) << wrong;
}

TEST(Addresses, ToBeRefusedIsAnAnswer) { EXPECT_TRUE(does_answer("127.0.0.1")); }

TEST(Addresses, AWorkerElsewhereConnectsToWhatTheParentSays) {
    const auto own = own_address_towards("127.0.0.1");
    ASSERT_TRUE(own) << own.error().message;
    auto listener = Listener::open(*own);
    ASSERT_TRUE(listener) << listener.error().message;
    EXPECT_THAT(listener->address(), ::testing::StartsWith("tcp:127.0.0.1:"));
    auto worker = Connection::open(listener->address());
    ASSERT_TRUE(worker) << worker.error().message;
    auto parent = listener->accept();
    ASSERT_TRUE(parent);
    // A welcome with a whole machine in it is sent without waiting.
    const std::string welcome(std::size_t{100} << 10U, 'x');
    ASSERT_TRUE(parent->send_at_once(welcome));
    std::vector<std::string> heard;
    while (heard.empty()) ASSERT_TRUE(worker->receive(heard).value_or(false));
    EXPECT_EQ(heard[0], welcome);
}

TEST(Slurm, CountsAreRepeated) {
    EXPECT_THAT(repeated_counts("2(x3),4"), ElementsAre(2, 2, 2, 4));
    EXPECT_THAT(repeated_counts("16"), ElementsAre(16));
    for (const char* wrong : {"", "2(x", "2(x3", "2(y3)", "0", "2,", "2(x0)", "9(x99999999)"})
        EXPECT_THAT(repeated_counts(wrong), IsEmpty()) << wrong;
}

TEST(Launchers, GoToHosts) {
    const harness::testing::TemporaryFolder folder;
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

TEST(Complaints, AreSaidInOneSentence) {
    EXPECT_THAT(
        complaint_in_text("...\nAt least one pair of MPI processes are unable to reach each "
                          "other for\nMPI communications.\n"),
        HasSubstr("no common transport"));
    EXPECT_EQ(complaint_in_text("all is well"), "");
    EXPECT_EQ(complaint_in("/nowhere/log"), "");
}

} // namespace
