// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "launch/environment.hpp"
#include "machine/cpu.hpp"
#include "process/channel.hpp"
#include "process/log.hpp"
#include "process/process.hpp"
#include "process/program.hpp"
#include "process/scratch.hpp"
#include "process/signals.hpp"
#include "process/start.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace assay;
using namespace assay::harness;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Signals, OfATerminalThatIsGoneEndsARunAsTheOthersDo) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        const Signals signals;
        ::raise(number);
        EXPECT_EQ(signals.caught(), number);
    }
}

TEST(Signals, ATimeLimitIsOne) {
    const Signals signals{0.001};
    pollfd watched{.fd = signals.descriptor(), .events = POLLIN, .revents = 0};
    while (signals.caught() == 0) ::poll(&watched, 1, 10'000); // EINTR, as for any signal
    EXPECT_EQ(signals.caught(), SIGALRM);
    EXPECT_EQ(::poll(&watched, 1, 0), 1);
    ::raise(SIGALRM); // not the second signal that ends this process
    EXPECT_EQ(signals.caught(), SIGALRM);
}

TEST(Signals, ThatWereIgnoredRemainSo) {
    const auto before = ::signal(SIGHUP, SIG_IGN); // nohup
    {
        const Signals signals;
        ::raise(SIGHUP);
        EXPECT_EQ(signals.caught(), 0);
    }
    EXPECT_EQ(::signal(SIGHUP, before), SIG_IGN);
}

class ProcessTest : public testing::Test {
protected:
    ProcessTest() : log_{testing::TempDir() + "process-" + random_token(4)} {}
    ProcessTest(const ProcessTest&) = delete;
    ProcessTest& operator=(const ProcessTest&) = delete;
    ~ProcessTest() override { ::unlink(log_.c_str()); }

    Command shell(const std::string& script) const {
        Command command{.arguments = {"/bin/sh", "-c", script},
                        .environment = own_environment(),
                        .log = log_,
                        .mark = mark_};
        command.environment.push_back(mark_);
        return command;
    }
    std::string printed() const {
        std::ifstream file{log_};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

    std::string log_;
    std::string mark_ = "ASSAY_PROCESS_TEST=" + random_token();
};

TEST_F(ProcessTest, SaysHowItEnded) {
    auto by_itself = Process::start(shell("exit 7"));
    ASSERT_TRUE(by_itself) << by_itself.error().message;
    ASSERT_TRUE(by_itself->wait(5s));
    EXPECT_EQ(by_itself->poll()->code, 7);
    EXPECT_EQ(by_itself->poll()->signal, 0);
    auto by_signal = Process::start(shell("kill -SEGV $$"));
    ASSERT_TRUE(by_signal);
    ASSERT_TRUE(by_signal->wait(5s));
    EXPECT_EQ(by_signal->poll()->signal, SIGSEGV);
    EXPECT_EQ(signal_words(SIGSEGV), "SIGSEGV (Segmentation fault)");
}

TEST_F(ProcessTest, WhatItPrintsIsInTheLog) {
    auto process = Process::start(shell("echo out; echo err >&2; read x || echo no input"));
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->wait(5s));
    EXPECT_EQ(printed(), "out\nerr\nno input\n");
}

TEST_F(ProcessTest, AProgramThatIsNotThereIsAnErrorNotAnEnding) {
    auto command = shell("");
    command.arguments[0] = "/no/such/program";
    const auto process = Process::start(command);
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().fault, Fault::environment);
    EXPECT_THAT(process.error().message, HasSubstr("/no/such/program"));
}

TEST_F(ProcessTest, InheritsNoDescriptors) {
    const int leaky = ::open("/dev/null", O_RDONLY); // without close-on-exec
    ASSERT_GE(leaky, 0);
    auto process = Process::start(shell("ls /proc/self/fd | wc -l"));
    ::close(leaky);
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->wait(5s));
    EXPECT_EQ(std::stoi(printed()), 4) << "0, 1, 2 and the folder that ls reads";
}

TEST_F(ProcessTest, InheritsTheConnectionItIsGiven) {
    auto pair = connection_pair();
    ASSERT_TRUE(pair) << pair.error().message;
    auto& [ours, theirs] = *pair;
    auto command = shell("read line <&3; echo \"$line, too\" >&3; ls /proc/self/fd | wc -l");
    command.connection = theirs.get();
    auto process = Process::start(command);
    theirs.close();
    ASSERT_TRUE(process);
    ASSERT_TRUE(ours.send("here"));
    std::vector<std::string> heard;
    ASSERT_TRUE(ours.receive(heard).value_or(false));
    EXPECT_THAT(heard, testing::ElementsAre("here, too"));
    EXPECT_FALSE(ours.receive(heard).value_or(true)) << "nobody else has the other end";
    ASSERT_TRUE(process->wait(5s));
    EXPECT_EQ(std::stoi(printed()), 5);
}

TEST_F(ProcessTest, IsASessionOfItsOwnWithItsCpus) {
    cpu_set_t allowed;
    ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int cpu = 0;
    while (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed) == 0) ++cpu;
    auto command = shell("grep Cpus_allowed_list /proc/self/status; echo session; "
                         "cut -d' ' -f6 /proc/$$/stat; echo $$");
    command.cpus = {cpu};
    auto process = Process::start(command);
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->wait(5s));
    EXPECT_THAT(printed(), HasSubstr("Cpus_allowed_list:\t" + std::to_string(cpu) + "\n"));
    const auto pid = std::to_string(process->pid());
    EXPECT_THAT(printed(), HasSubstr("session\n" + pid + '\n' + pid + '\n'));
}

TEST_F(ProcessTest, KillTakesDescendantsThatLeftTheSession) {
    auto process = Process::start(shell("setsid sleep 100 & setsid setsid sleep 100 & "
                                        "echo ready; sleep 100"));
    ASSERT_TRUE(process);
    std::size_t most = 0; // they fork to leave
    for (int tries = 0; tries < 500 && most < 4; ++tries) {
        ::usleep(10'000);
        most = processes_of(-1, mark_).size();
    }
    EXPECT_GE(most, 4U);
    process->kill();
    EXPECT_THAT(processes_of(process->pid(), mark_), IsEmpty());
    EXPECT_EQ(process->poll()->signal, SIGKILL);
}

TEST_F(ProcessTest, KillAfterTheEndTakesTheStragglersOnly) {
    auto process = Process::start(shell("setsid sleep 100 & exit 0"));
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->wait(5s));
    process->kill();
    EXPECT_THAT(processes_of(-1, mark_), IsEmpty());
    EXPECT_EQ(process->poll()->code, 0);
}

TEST_F(ProcessTest, AKeptOneEndsAsItsProgramDoes) {
    const auto started = [&](const std::string& script) {
        auto command = shell(script);
        command.kept = true;
        return Process::start(command);
    };
    auto by_itself = started("exit 7");
    ASSERT_TRUE(by_itself && by_itself->wait(5s));
    EXPECT_EQ(by_itself->poll()->code, 7);
    auto by_signal = started("kill -SEGV $$");
    ASSERT_TRUE(by_signal && by_signal->wait(5s));
    EXPECT_EQ(by_signal->poll()->signal, SIGSEGV);
    auto absent = shell("");
    absent.kept = true;
    absent.arguments[0] = "/no/such/program";
    const auto refused = Process::start(absent);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("/no/such/program"));
    auto endless = started("setsid sleep 100 & sleep 100 & wait");
    ASSERT_TRUE(endless);
    const auto is_sleep = [](const std::string& name) { return name.starts_with("sleep ("); };
    const auto both_sleep = [&] { // setsid has become sleep as well
        const auto names = endless->children();
        return names.size() == 2 && std::ranges::all_of(names, is_sleep);
    };
    for (int tries = 0; tries < 500 && !both_sleep(); ++tries) ::usleep(10'000);
    EXPECT_TRUE(both_sleep());
    EXPECT_THAT(endless->kill(), IsEmpty()) << "nothing is left";
    EXPECT_THAT(processes_of(-1, mark_), IsEmpty());
}

/// Where there is a control group of version 2 that may be written.
class ControlGroupTest : public ProcessTest {
protected:
    void SetUp() override {
        if (own_.empty() || ::access((own_ / "cgroup.procs").c_str(), W_OK) != 0) GTEST_SKIP();
    }
    std::vector<std::filesystem::path> groups_of(const std::string& identity) const {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::directory_iterator{own_})
            if (entry.path().filename().string().starts_with("assay-" + identity))
                found.push_back(entry.path());
        return found;
    }
    std::filesystem::path own_ = assay::machine::own_group(assay::machine::Files{});
};

TEST_F(ControlGroupTest, AKeptOneIsInsideAsLongAsItLives) {
    auto command = shell("cat /proc/self/cgroup; sleep 100");
    command.kept = true;
    command.groups = own_;
    auto process = Process::start(command);
    ASSERT_TRUE(process);
    const auto groups = groups_of(own_identity());
    ASSERT_EQ(groups.size(), 1U);
    for (int tries = 0; tries < 500 && printed().empty(); ++tries) ::usleep(10'000);
    EXPECT_THAT(printed(), HasSubstr(groups[0].filename().string()));
    EXPECT_THAT(process->kill(), IsEmpty());
    {
        const auto gone = std::move(*process);
    }
    EXPECT_THAT(groups_of(own_identity()), IsEmpty());
}

/// Where the kernel gives the controller to groups below: `echo +pids >cgroup.subtree_control` in the root.
TEST_F(ControlGroupTest, ProcessesAreLimited) {
    auto command = shell("for i in 1 2 3 4 5 6 7 8 9; do sleep 100 & done; echo all");
    command.kept = true;
    command.groups = own_;
    command.limits = {.processes = 5};
    auto process = Process::start(command);
    ASSERT_TRUE(process);
    const auto groups = groups_of(own_identity());
    ASSERT_EQ(groups.size(), 1U);
    if (!std::filesystem::exists(groups[0] / "pids.max"))
        GTEST_SKIP() << "groups have no controller of processes here";
    ASSERT_TRUE(process->wait(5s));
    EXPECT_NE(process->poll()->code, 0);
    EXPECT_THAT(printed(), AllOf(HasSubstr("fork"), Not(HasSubstr("all"))));
}

/// As under `systemd-run --scope -p Delegate=yes`: a process that is alone in its group moves into one below and
/// limits those beside it.
TEST_F(ControlGroupTest, ADelegatedGroupPassesItsControllersOn) {
    const auto delegated = own_ / ("delegated-" + random_token(4));
    ASSERT_TRUE(std::filesystem::create_directory(delegated));
    std::string controllers;
    std::getline(std::ifstream{delegated / "cgroup.controllers"}, controllers);
    const bool may_limit = controllers.find("pids") != std::string::npos;
    const pid_t child = may_limit ? ::fork() : -1;
    if (child == 0) {
        std::ofstream{delegated / "cgroup.procs"} << "0";
        const auto group =
            ControlGroup::make(group_to_use(delegated), {.processes = 5, .bytes = 1 << 26});
        std::string processes;
        std::string bytes;
        for (const auto& entry : std::filesystem::directory_iterator{delegated}) {
            std::getline(std::ifstream{entry.path() / "pids.max"}, processes);
            std::getline(std::ifstream{entry.path() / "memory.max"}, bytes);
            if (processes == "5") break;
        }
        ::_exit(group && processes == "5" && (bytes.empty() || bytes == "67108864") ? 0 : 1);
    }
    int status = 0;
    if (child > 0) ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{delegated, error})
        if (entry.is_directory()) ::rmdir(entry.path().c_str());
    EXPECT_TRUE(std::filesystem::remove(delegated));
    if (!may_limit) GTEST_SKIP() << "groups have no controller of processes here";
}

TEST_F(ControlGroupTest, IsMadeInTheGroupOfThisProcessOnly) {
    const auto others = own_ / ("others-" + random_token(4));
    ASSERT_TRUE(std::filesystem::create_directory(others));
    EXPECT_FALSE(ControlGroup::make(others, {}));
    EXPECT_TRUE(ControlGroup::make(own_, {}));
    std::filesystem::remove(others);
}

TEST_F(ControlGroupTest, ThatOfARunThatIsGoneIsEnded) {
    const auto identity = own_identity();
    const auto dead = identity.substr(0, identity.rfind('-')) + "-1";
    const auto left = own_ / ("assay-" + dead + ".1");
    ASSERT_TRUE(std::filesystem::create_directory(left));
    auto process = Process::start(
        shell("echo $$ > " + left.string() + "/cgroup.procs; echo inside; exec sleep 100"));
    ASSERT_TRUE(process);
    for (int tries = 0; tries < 500 && printed().empty(); ++tries) ::usleep(10'000);
    EXPECT_THAT(end_left_groups(own_),
                testing::Contains(HasSubstr(std::to_string(process->pid()))));
    ASSERT_TRUE(process->wait(5s));
    EXPECT_EQ(process->poll()->signal, SIGKILL);
    EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(ProcessTest, WhatARunThatIsGoneLeftBehindIsFoundByItsEnvironment) {
    const auto identity = own_identity();
    auto command = shell("echo there; exec sleep 100");
    command.environment.push_back(run_entry(identity));
    auto ours = Process::start(command);
    command.environment.back() = run_entry(identity.substr(0, identity.rfind('-')) + "-1");
    auto left = Process::start(command);
    ASSERT_TRUE(ours && left);
    for (int tries = 0; tries < 500 && printed() != "there\nthere\n"; ++tries) ::usleep(10'000);
    EXPECT_THAT(end_leftovers(), testing::Contains(HasSubstr(std::to_string(left->pid()))));
    ASSERT_TRUE(left->wait(5s));
    EXPECT_EQ(left->poll()->signal, SIGKILL);
    EXPECT_FALSE(ours->poll()) << "its run lives";
}

TEST(Identity, IsOfOneProcess) {
    const auto own = own_identity();
    EXPECT_EQ(living(own), ::getpid());
    EXPECT_FALSE(is_of_the_dead(own));
    const auto born = own.rfind('-');
    EXPECT_TRUE(is_of_the_dead(own.substr(0, born) + "-1")) << "another one had the number";
    EXPECT_TRUE(is_of_the_dead(own.substr(0, own.rfind('-', born - 1)) + "-2147483647-1"));
    // From another machine, boot or container: nothing is known.
    EXPECT_FALSE(living("x" + own));
    EXPECT_FALSE(is_of_the_dead("x" + own));
    EXPECT_FALSE(is_of_the_dead(""));
}

TEST_F(ProcessTest, TheDestructorKills) {
    {
        auto process = Process::start(shell("sleep 100"));
        ASSERT_TRUE(process);
    }
    EXPECT_THAT(processes_of(-1, mark_), IsEmpty());
}

TEST(Log, KeepsHeadAndTailOfWhatIsTooLong) {
    const auto log = std::filesystem::path{testing::TempDir()} / ("log-" + random_token(4));
    constexpr std::size_t end = std::size_t{8} << 20U; // bytes kept at either end
    std::ofstream{log} << std::string(2 * end, 'x');
    limit_log(log);
    shorten_log(log);
    EXPECT_EQ(std::filesystem::file_size(log), 2 * end) << "just fits";
    std::ofstream{log} << "begin" << std::string(3 * end, 'x') << "end";
    limit_log(log); // while it is written to: the size stays, the disk is given back
    EXPECT_EQ(std::filesystem::file_size(log), 3 * end + 8);
    shorten_log(log);
    const auto text = read_whole(log, 3 * end);
    ASSERT_TRUE(text);
    EXPECT_TRUE(text->starts_with("begin") && text->ends_with("end"));
    EXPECT_THAT(*text, HasSubstr("[8388616 bytes left out]"));
    EXPECT_LT(text->size(), 2 * end + 100);
    std::filesystem::remove(log);
}

TEST(Scratch, IsThereHoweverManyMakeOneAtOnce) {
    const auto base = std::filesystem::path{testing::TempDir()} / random_token(4);
    std::filesystem::create_directories(base);
    std::atomic<int> lost = 0;
    const auto make = [&] {
        for (int i = 0; i < 200; ++i) {
            const auto scratch = Scratch::create(base);
            if (!scratch || !std::filesystem::exists(scratch->folder())) ++lost;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(make);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(lost, 0);
    EXPECT_TRUE(std::filesystem::is_empty(base));
    std::filesystem::remove(base);
}

} // namespace
