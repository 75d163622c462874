// SPDX-License-Identifier: Apache-2.0
//
// Programs over several hosts, with a script in the launcher's place: what it is told, and that it is always told to end.

#include "external/team.hpp"
#include "tool.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>
#include <iterator>

namespace assay::external {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Team, IsWhatTheHarnessSays) {
    const Team team{4, "h1:2,h2", "mpirun"};
    EXPECT_EQ(team.size(), 2U);
    EXPECT_EQ(team.slots(), 6) << "a host without a number has as many slots as this one cores";
    EXPECT_EQ(team.text(), "h1:2,h2:4");
    EXPECT_EQ(team.in_results().text(' '), "node0:2 node1:4");
    EXPECT_EQ(team.one_each(1, 1).text(), "h2:1");
    EXPECT_EQ(Team{4}.slots(), 4);
    EXPECT_EQ((Team{4, "", ""}.launcher()), "mpirun") << "no --hosts";
    EXPECT_TRUE(is_here("localhost"));
    EXPECT_FALSE(is_here("no-such-host.invalid"));
}

TEST(Team, IsStartedByItsLauncher) {
    const TemporaryFolder folder;
    const auto mpirun = Team{4, "h1:2,h2:2", "mpirun"}.launch(
        3, folder.path(), {{"OMP_NUM_THREADS", "1"}, {"OMPI_MCA_btl", "tcp,self"}});
    EXPECT_THAT(mpirun.arguments, ElementsAre("mpirun", "-np", "3", "--bind-to", "none", "--host",
                                              "h1:2,h2:2", "-x", "OMP_NUM_THREADS"));
    EXPECT_THAT((Team{4}.launch(2, folder.path(), {}).arguments), Contains("localhost:2"));
    const auto srun = Team{4, "h1:2,h2:2", "srun"}.launch(3, folder.path(), {});
    EXPECT_THAT(srun.arguments, Contains("--ntasks=3"));
    EXPECT_THAT(srun.arguments, Contains("--nodes=2"));
    std::ifstream file{srun.environment.at("SLURM_HOSTFILE")};
    EXPECT_EQ((std::string{std::istreambuf_iterator<char>{file}, {}}), "h1\nh1\nh2\n");
}

class ToolOfTeam : public Tool {
protected:
    void SetUp() override {
        launcher("");
        const char* const path = std::getenv("PATH"); // NOLINT
        path_ = path;
        ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1); // NOLINT
        hosts("localhost:2,h2:1");
        json_["parameters"][1]["choices"] = {"one", "all"};
        size_ = {ASSAY_NAME, 0, 0, 0, "all"};
    }
    void TearDown() override {
        case_.reset();
        ::setenv("PATH", path_.c_str(), 1);                                            // NOLINT
        for (const char* name : {hosts_variable, launcher_variable}) ::unsetenv(name); // NOLINT
    }
    static void hosts(const char* list) {
        ::setenv(hosts_variable, list, 1);        // NOLINT
        ::setenv(launcher_variable, "mpirun", 1); // NOLINT
    }
    /// Starts the program here; first it does this.
    void launcher(const std::string& first) {
        const auto in = [&](const char* name) { return (folder_.path() / name).string(); };
        script(folder_.path(),
               first + "\nwhile true; do case $1 in\n--host) echo $2 >> " + in("hosts") +
                   "; shift 2;;\n-np|--bind-to|-x) shift 2;;\n*) break;;\nesac; done\n"
                   "trap 'echo told >> " +
                   in("ends") + "; kill $child; exit 1' TERM\n\"$@\" & child=$!\necho $child > " +
                   in("child") + "\nwait $child",
               "mpirun");
    }
    void program_of_team() {
        json_["team"] = "size";
        json_["command"] = {"{launch}", "{tool}", "--size={size}"};
    }
    void pair(const std::string& server) {
        json_["partner"] = {{"command", {"python3", "-c", server}}};
        json_["command"] = {"{tool}", "{other}", "{port}"};
    }
    std::string text(const char* name) const {
        std::ifstream stream{folder_.path() / name};
        return {std::istreambuf_iterator<char>{stream}, {}};
    }
    bool child_is_gone() const { return ::kill(std::atoi(text("child").c_str()), 0) != 0; }
    std::string problem_of_team(const std::string& lines = good) {
        const auto said = problem(lines);
        case_.reset();
        return said;
    }

private:
    std::string path_;
};

TEST_F(ToolOfTeam, RunsOverItsHosts) {
    program_of_team();
    auto& tool = prepare("test $1 = --size=3 && " + std::string{good});
    EXPECT_EQ(text("hosts"), "localhost:1,h2:1\n") << "first each host is asked";
    tool.run();
    EXPECT_TRUE(tool.verify().passed) << tool.verify().detail;
    EXPECT_EQ(text("hosts"), "localhost:1,h2:1\nlocalhost:2,h2:1\n");
    EXPECT_EQ(program_.texts.at("job.hosts"), "node0:2 node1:1");
    EXPECT_EQ(program_.numbers.at("ranks"), 3);
    EXPECT_EQ(program_.numbers.at("machines"), 2);
    EXPECT_THAT(program_.texts.at("command"), HasSubstr("--host node0:2,node1:1"));
    EXPECT_THAT(program_.texts.at("command"), Not(HasSubstr("h2")));
}

TEST_F(ToolOfTeam, NeedsHostsThatCanServeIt) {
    program_of_team();
    EXPECT_EQ(fit(), "");
    size_ = {ASSAY_INTEGER, 0, 7, 0, nullptr};
    EXPECT_EQ(fit(), "needs 7 slots, but the hosts have 3");
    hosts("no-such-host.invalid:9,localhost");
    EXPECT_EQ(fit(), "needs this host as the first of --hosts");
    ::unsetenv(hosts_variable);    // NOLINT
    ::unsetenv(launcher_variable); // NOLINT
    size_ = {ASSAY_INTEGER, 0, 7, 0, nullptr};
    EXPECT_EQ(fit(), "") << "here alone";
    json_.erase("team");
    pair("");
    EXPECT_EQ(fit(), "not applicable: needs a second host (--hosts)");
}

TEST_F(ToolOfTeam, FailsWithTheFirstWordsOfItsLauncher) {
    program_of_team();
    launcher("echo 'ssh: connect to host h2 port 22: No route to host'; echo -----; exit 255");
    EXPECT_EQ(problem_of_team(), "the hosts of the team cannot be used: mpirun ended with status "
                                 "255: ssh: connect to host h2 port 22: No route to host");
}

TEST_F(ToolOfTeam, ThatHangsIsToldToEnd) {
    program_of_team();
    json_["time_limit"] = 0.3;
    EXPECT_THAT(problem_of_team("sleep 100"), HasSubstr("mpirun did not end within 0.3 s"));
    EXPECT_EQ(text("ends"), "told\n");
    EXPECT_TRUE(child_is_gone());
}

TEST_F(ToolOfTeam, HasAServerOnItsSecondHost) {
    pair("import socket, time; s = socket.create_server((\"127.0.0.1\", {port})); time.sleep(100)");
    auto& tool = prepare("test $1 = h2 && " + std::string{good});
    EXPECT_THAT(text("hosts"), HasSubstr("localhost:1,h2:1\nh2:1\n"));
    tool.run();
    EXPECT_TRUE(tool.verify().passed);
    case_.reset();
    EXPECT_EQ(text("ends"), "told\n") << "the server ends with the case";
}

TEST_F(ToolOfTeam, ThatHasNoServerSaysWhy) {
    pair("raise SystemExit('address in use')");
    EXPECT_EQ(problem_of_team(), "mpirun was not ready: address in use");
}

TEST(Description, OfATeamNamesItsProcesses) {
    auto json = made_json();
    json["command"] = {"{launch}", "{tool}"};
    EXPECT_THAT(problem_of(json), HasSubstr("team: expected the parameter"));
    json["team"] = "size";
    EXPECT_THAT(problem_of(json), HasSubstr("invalid parameter size"));
    json["parameters"][1]["choices"] = {"all"};
    EXPECT_EQ(made(json).team, "size");
    json["command"] = {"{tool}"};
    EXPECT_THAT(problem_of(json), HasSubstr("team: expected the parameter"));
}

} // namespace
} // namespace assay::external
