// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "launch/placement.hpp"
#include "machine/cpu.hpp"
#include "process/channel.hpp"
#include "process/preemption.hpp"
#include "process/process.hpp"
#include "process/scratch.hpp"
#include "process/start.hpp"
#include "support/fake_metadata.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
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
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace assay;
using namespace assay::process;
using namespace testing;
using assay::process::PreemptionWatch;
using assay::test::FakeMetadata;
using std::chrono::milliseconds;

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
    Command shell(const std::string& script) const {
        Command command{.arguments = {"/bin/sh", "-c", script},
                        .environment = own_environment(),
                        .log = log_,
                        .mark = mark_};
        command.environment.push_back(mark_);
        return command;
    }
    std::string printed() const { return read_whole(log_, 1U << 20U).value_or(""); }
    /// How a command ended that ends by itself.
    static Ending ended(const Command& command) {
        auto process = Process::start(command);
        EXPECT_TRUE(process) << process.error().message;
        EXPECT_TRUE(process->wait(5s));
        return process->poll().value_or(Ending{});
    }
    /// Soon.
    template <class Condition>
    static bool comes(const Condition& condition) {
        for (int tries = 0; tries < 500; ++tries) {
            if (condition()) return true; // processes that fork come and go
            ::usleep(10'000);
        }
        return false;
    }

    made::TemporaryFolder folder_;
    std::string log_ = folder_.path() / "log";
    std::string mark_ = "ASSAY_PROCESS_TEST=" + random_token();
};

TEST_F(ProcessTest, SaysHowItEnded) {
    for (const bool kept : {false, true}) {
        const auto by = [&](const std::string& script) {
            auto command = shell(script);
            command.kept = kept;
            return ended(command);
        };
        EXPECT_EQ(by("exit 7").code, 7);
        EXPECT_EQ(by("exit 7").signal, 0);
        EXPECT_EQ(by("kill -SEGV $$").signal, SIGSEGV);
    }
    EXPECT_EQ(signal_words(SIGSEGV), "SIGSEGV (Segmentation fault)");
}

TEST_F(ProcessTest, WhatItPrintsIsInTheLog) {
    ended(shell("echo out; echo err >&2; read x || echo no input"));
    EXPECT_EQ(printed(), "out\nerr\nno input\n");
}

TEST_F(ProcessTest, AProgramThatIsNotThereIsAnErrorNotAnEnding) {
    auto command = shell("");
    command.arguments[0] = "/no/such/program";
    for (const bool kept : {false, true}) {
        command.kept = kept;
        EXPECT_THAT(Process::start(command),
                    Fails(Fault::environment, HasSubstr("/no/such/program")));
    }
}

TEST_F(ProcessTest, InheritsNoDescriptors) {
    const int leaky = ::open("/dev/null", O_RDONLY); // without close-on-exec
    ASSERT_GE(leaky, 0);
    ended(shell("ls /proc/self/fd | wc -l"));
    ::close(leaky);
    EXPECT_EQ(std::stoi(printed()), 4) << "0, 1, 2 and the folder that ls reads";
}

TEST_F(ProcessTest, InheritsTheConnectionItIsGiven) {
    auto pair = valid(connection_pair());
    auto& [ours, theirs] = *pair;
    auto command = shell("read line <&3; echo \"$line, too\" >&3; ls /proc/self/fd | wc -l");
    command.connection = theirs.get();
    auto process = Process::start(command);
    theirs.close();
    ASSERT_TRUE(process);
    ASSERT_TRUE(ours.send("here"));
    std::vector<std::string> heard;
    ASSERT_TRUE(ours.receive(heard).value_or(false));
    EXPECT_THAT(heard, ElementsAre("here, too"));
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
    auto process = valid(Process::start(command));
    ASSERT_TRUE(process->wait(5s));
    EXPECT_THAT(printed(), HasSubstr("Cpus_allowed_list:\t" + std::to_string(cpu) + "\n"));
    const auto pid = std::to_string(process->pid());
    EXPECT_THAT(printed(), HasSubstr("session\n" + pid + '\n' + pid + '\n'));
}

TEST_F(ProcessTest, KillTakesDescendantsThatLeftTheSession) {
    auto process = valid(Process::start(shell("setsid sleep 100 & setsid setsid sleep 100 & "
                                              "echo ready; sleep 100")));
    EXPECT_TRUE(comes([&] { return processes_of(-1, mark_).size() >= 4; })) << "they fork to leave";
    process->kill();
    EXPECT_THAT(processes_of(process->pid(), mark_), IsEmpty());
    EXPECT_EQ(process->poll()->signal, SIGKILL);
}

TEST_F(ProcessTest, KillAfterTheEndTakesTheStragglersOnly) {
    auto process = valid(Process::start(shell("setsid sleep 100 & exit 0")));
    ASSERT_TRUE(process->wait(5s));
    process->kill();
    EXPECT_THAT(processes_of(-1, mark_), IsEmpty());
    EXPECT_EQ(process->poll()->code, 0);
}

TEST_F(ProcessTest, AKeptOneLeavesNothingWhenItIsKilled) {
    auto command = shell("setsid sleep 100 & sleep 100 & wait");
    command.kept = true;
    auto endless = valid(Process::start(command));
    const auto is_sleep = [](const std::string& name) { return name.starts_with("sleep ("); };
    EXPECT_TRUE(comes([&] { // setsid has become sleep as well
        const auto names = endless->children();
        return names.size() == 2 && std::ranges::all_of(names, is_sleep);
    }));
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
    auto process = valid(Process::start(command));
    const auto groups = groups_of(own_identity());
    ASSERT_EQ(groups.size(), 1U);
    EXPECT_TRUE(comes([&] { return !printed().empty(); }));
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
    auto process = valid(Process::start(command));
    const auto groups = groups_of(own_identity());
    ASSERT_EQ(groups.size(), 1U);
    if (!std::filesystem::exists(groups[0] / "pids.max"))
        GTEST_SKIP() << "groups have no controller of processes here";
    ASSERT_TRUE(process->wait(5s));
    EXPECT_NE(process->poll()->code, 0);
    EXPECT_THAT(printed(), AllOf(HasSubstr("fork"), Not(HasSubstr("all"))));
}

/// The same as under `systemd-run --scope -p Delegate=yes`: a process that is alone in its group moves into one
/// below and limits those beside it.
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
    auto process = valid(Process::start(
        shell("echo $$ > " + left.string() + "/cgroup.procs; echo inside; exec sleep 100")));
    EXPECT_TRUE(comes([&] { return !printed().empty(); }));
    EXPECT_THAT(end_left_groups(own_), Contains(HasSubstr(std::to_string(process->pid()))));
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
    EXPECT_TRUE(comes([&] { return printed() == "there\nthere\n"; }));
    EXPECT_THAT(end_leftovers(), Contains(HasSubstr(std::to_string(left->pid()))));
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
        auto process = valid(Process::start(shell("sleep 100")));
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
    const auto text = valid(read_whole(log, 3 * end));
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

// --- notices of a cloud ------------------------------------------------------------------------------

class Preemption : public testing::TestWithParam<const char*> {};

TEST_P(Preemption, ANoticeIsToldOnce) {
    const FakeMetadata service{3};
    std::promise<void> told; // a second one would throw
    const auto watch =
        PreemptionWatch::begin(service.url(GetParam()), [&] { told.set_value(); }, milliseconds{1});
    ASSERT_TRUE(watch) << watch.error().message;
    ASSERT_EQ(told.get_future().wait_for(std::chrono::seconds{30}), std::future_status::ready);
    EXPECT_EQ(service.asked(), 4);
}

TEST_P(Preemption, OneThatIsThereAlreadyIsToldAtOnce) {
    const FakeMetadata service{0};
    int told = 0;
    const auto watch = PreemptionWatch::begin(service.url(GetParam()), [&] { ++told; });
    ASSERT_TRUE(watch) << watch.error().message;
    EXPECT_EQ(told, 1);
}

INSTANTIATE_TEST_SUITE_P(Clouds, Preemption,
                         testing::Values("/latest/meta-data/spot/instance-action",
                                         "/computeMetadata/v1/instance/preempted",
                                         "/metadata/scheduledevents?api-version=2020-07-01",
                                         "/latest/meta-data/instance/spot/termination-time",
                                         "/latest/meta-data/spot/termination-time"));

/// `answer` to each question but that for a token.
bool is_preempted_by(const std::string& answer, const char* path,
                     const std::string& token = "secret") {
    const FakeMetadata service{[&](const std::string& request) {
        return request.starts_with("PUT") ? "HTTP/1.1 200 OK\r\n\r\n" + token : answer;
    }};
    bool told = false;
    const auto watch = PreemptionWatch::begin(service.url(path), [&] { told = true; });
    EXPECT_FALSE(watch) << "taken for a metadata service: " << path << " " << answer.substr(0, 80);
    return told;
}

TEST_P(Preemption, TakesNoOtherAnswerForANotice) {
    const std::string ok = "HTTP/1.1 200 OK\r\nMetadata-Flavor: Google\r\n";
    for (const auto& answer :
         {ok + "\r\n<html>2026-11-24 15:00:00 TRUE Preempt</html>", ok + "\r\n",
          ok + "\r\nTRUE FALSE", ok + "\r\n{}", ok + "\r\n[]",
          ok + "\r\n" + std::string(std::size_t{1} << 20U, '1'),
          ok + "\r\n{\"action\": \"none\", \"time\": \"2026-11-24T15:00:00Z\"}",
          ok + "\r\n{\"action\": \"terminate\"}",
          ok + "\r\n{\"Events\": [{\"EventType\": \"Preempt\"}]}", ok + "\r\n2026-11-24",
          ok + "\r\n2026-13-24T15:00:00Z", ok + "\r\n2026-13-24 15:00:00",
          ok + "Content-Length: 400\r\n\r\nTRUE",
          std::string{"HTTP/1.1 302 Found\r\nMetadata-Flavor: Google\r\n\r\nTRUE"},
          std::string{"HTTP/1.1 200 OK\r\n\r\nTRUE"}, std::string{"TRUE"}, std::string{}})
        EXPECT_FALSE(is_preempted_by(answer, GetParam())) << answer.substr(0, 80);
}

TEST(PreemptionTokens, HaveNoLinesOfTheirOwn) {
    const std::string gone = "HTTP/1.1 404 Not Found\r\n\r\n";
    for (const auto* path : {"/latest/meta-data/spot/instance-action",
                             "/latest/meta-data/instance/spot/termination-time"})
        for (const auto& token : {std::string{}, std::string{"a\r\nX-Forged: 1"},
                                  std::string{"<html>"}, std::string(5000, 'a')})
            is_preempted_by(gone, path, token);
}

TEST_P(Preemption, AServiceThatGoesSilentIsNamedUntilItAnswers) {
    const FakeMetadata real{1'000'000'000};
    std::atomic<bool> silent = false;
    const FakeMetadata service{[&](const std::string& request) {
        return silent ? std::string{} : real.answer_to(request);
    }};
    const auto watch = PreemptionWatch::begin(service.url(GetParam()), [] {}, milliseconds{1});
    ASSERT_TRUE(watch) << watch.error().message;
    EXPECT_EQ((*watch)->silent_since(), "");
    silent = true;
    while ((*watch)->silent_since().empty()) std::this_thread::yield();
    EXPECT_THAT((*watch)->silent_since(), MatchesRegex("20..-..-..T..:..:..Z"));
    silent = false;
    while (!(*watch)->silent_since().empty()) std::this_thread::yield();
}

TEST(PreemptionRefusals, SayWhatWouldBeRight) {
    for (const auto* wrong : {"", "aws", "https://169.254.169.254/", "http://", "http://localhost",
                              "http:///latest/meta-data/spot/instance-action"}) {
        EXPECT_THAT(PreemptionWatch::begin(wrong, [] {}),
                    Fails(Fault::usage, HasSubstr("expected ec2, gce, azure")))
            << wrong;
    }
}

TEST(PreemptionRefusals, AServiceThatDoesNotAnswerIsNotSilence) {
    EXPECT_THAT(
        PreemptionWatch::begin("http://127.0.0.1:1/latest/meta-data/spot/instance-action", [] {}),
        Fails(Fault::environment, HasSubstr("127.0.0.1:1 is not the metadata service")));
}

TEST(PreemptionRefusals, ANoticeActsAsASignalDoes) {
    process::Signals signals;
    EXPECT_EQ(signals.caught(), 0);
    signals.preempt();
    signals.preempt();
    EXPECT_EQ(signals.caught(), process::Signals::preempted);
}

} // namespace
