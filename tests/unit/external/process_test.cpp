// SPDX-License-Identifier: Apache-2.0
//
// Programs that fail, hang, fork, and write too much leave nothing behind.

#include "external/process.hpp"
#include "external/program.hpp"
#include "external/scratch.hpp"
#include "external/tool_case.hpp"
#include "made.hpp"
#include "support/temporary_folder.hpp"
#include "support/variable.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <thread>

namespace assay::external {

using made::TemporaryFolder;
namespace {

using testing::HasSubstr;

class Process : public testing::Test {
protected:
    Command command(const std::string& lines, double limit = 20) const {
        const auto file = script(folder_.path(), lines);
        return {.program = file,
                .arguments = {file},
                .environment = {},
                .folder = folder_.path(),
                .limit = limit};
    }
    std::string problem(const std::string& lines, double limit = 20) const {
        try {
            static_cast<void>(run_well(command(lines, limit)));
        } catch (const Problem& problem) {
            return problem.what();
        }
        return {};
    }
    std::string text(const std::string& name) const {
        std::ifstream stream{folder_.path() / name};
        return {std::istreambuf_iterator<char>{stream}, {}};
    }
    /// The process whose number a script wrote is gone.
    bool is_gone(const std::string& name) const {
        const int pid = std::atoi(text(name).c_str());
        return pid > 0 && ::kill(pid, 0) != 0;
    }
    TemporaryFolder folder_;
};

TEST_F(Process, GivesWhatItWrote) {
    const auto outcome = run_well(command("echo out; echo err >&2; pwd"));
    EXPECT_EQ(outcome.output, "out\n" + folder_.path().string() + "\n");
    EXPECT_EQ(outcome.errors, "err\n");
    EXPECT_GT(outcome.seconds, 0);
}

TEST_F(Process, HasALocaleAndNoThreadsOfOurs) {
    const test::Variable threads{"OMP_NUM_THREADS", "7"};
    const test::Variable locale{"LC_NUMERIC", "de_DE.UTF-8"};
    auto asked = command("echo \"$LC_ALL/$LC_NUMERIC/$OMP_NUM_THREADS/$MINE\"");
    asked.environment["MINE"] = "yes";
    EXPECT_EQ(run_well(asked).output, "C///yes\n");
}

TEST_F(Process, SaysHowItFailed) {
    EXPECT_EQ(problem("echo 'no space left' >&2; exit 3"),
              "tool ended with status 3: no space left");
    EXPECT_EQ(problem("exit 3"), "tool ended with status 3; it printed nothing");
    EXPECT_EQ(problem("kill -9 $$"), "tool was ended by signal 9; it printed nothing");
    EXPECT_THAT(problem("printf 'a\\033[31mb' >&2; exit 1"), HasSubstr("a [31mb"));
    auto missing = command("");
    missing.program = "/nonexistent";
    EXPECT_THROW(run(missing), Problem);
}

TEST_F(Process, ThatHangsIsKilledWithWhatItStarted) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(problem("sleep 100 & echo $! > child; sleep 100", 0.3),
              "tool did not end within 0.3 s and was killed");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{20});
    EXPECT_TRUE(is_gone("child"));
}

TEST_F(Process, LeavesNoDaemonBehind) {
    // In a session of its own, and with our pipe.
    EXPECT_EQ(problem("setsid sleep 100 & echo $! > child; sleep 0.1; echo done"), "");
    EXPECT_TRUE(is_gone("child"));
}

TEST_F(Process, ThatWritesWithoutEndIsKilled) {
    EXPECT_THAT(problem("exec yes"), HasSubstr("more than 16 MiB"));
    EXPECT_THAT(problem("exec yes >&2"), HasSubstr("more than 16 MiB"));
}

TEST_F(Process, EndsWithItsParent) {
    const auto child = ::fork();
    if (child == 0) {
        try {
            run(command("echo $$ > child; exec sleep 100"));
        } catch (...) { // NOLINT(bugprone-empty-catch): killed by the test
        }
        ::_exit(0);
    }
    while (text("child").empty()) std::this_thread::sleep_for(std::chrono::milliseconds{5});
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (int i = 0; i < 1000 && !is_gone("child"); ++i) {
        ::waitpid(-1, nullptr, WNOHANG); // it may have become ours
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    EXPECT_TRUE(is_gone("child"));
}

TEST_F(Process, ACompanionIsReadyBeforeItIsUsed) {
    const int port = free_port();
    const auto is_ready = [port] { return is_listening_here(port); };
    {
        const Companion server{
            command("echo $$ > child; sleep 0.1; exec python3 -c 'import socket, time; "
                    "s = socket.create_server((\"127.0.0.1\", " +
                    std::to_string(port) + ")); time.sleep(100)'"),
            folder_.path() / "log", is_ready};
        EXPECT_FALSE(is_gone("child"));
    }
    EXPECT_TRUE(is_gone("child"));
    const auto failing = [&](const std::string& lines, double limit) {
        try {
            const Companion server{command(lines, limit), folder_.path() / "log", is_ready};
        } catch (const Problem& problem) {
            return std::string{problem.what()};
        }
        return std::string{};
    };
    EXPECT_EQ(failing("echo 'address in use'; exit 1", 20), "tool was not ready: address in use");
    EXPECT_EQ(failing("sleep 100", 0.1), "tool was not ready: it printed nothing");
}

TEST_F(Process, ScratchOfAKilledProcessIsRemovedByTheNext) {
    const auto base = folder_.path() / "base";
    std::filesystem::create_directory(base);
    const auto child = ::fork();
    if (child == 0) {
        const Scratch lost{base};
        std::ofstream{lost.folder() / "data"} << "left";
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    const auto count = [&] {
        return std::distance(std::filesystem::directory_iterator{base},
                             std::filesystem::directory_iterator{});
    };
    ASSERT_EQ(count(), 1);
    {
        const Scratch first{base};
        const Scratch second{base}; // and does not take that of a living one
        EXPECT_EQ(count(), 2);
        EXPECT_TRUE(std::filesystem::exists(first.folder()));
    }
    EXPECT_EQ(count(), 0);
    EXPECT_THROW(Scratch{base / "missing"}, Problem);
}

TEST(Program, IsFoundInPathAndAsked) {
    EXPECT_TRUE(find_program("true").ends_with("/true"));
    EXPECT_EQ(find_program("no-such-program-anywhere"), "");
    EXPECT_EQ(find_program("./true"), "");
    EXPECT_EQ(find_program("/etc/passwd"), ""); // not executable
}

TEST(Version, IsComparedByItsNumbers) {
    EXPECT_TRUE(is_below("3.9", "3.33"));
    EXPECT_FALSE(is_below("3.33", "3.9"));
    EXPECT_FALSE(is_below("3.33", "3.33"));
    EXPECT_TRUE(is_below("3", "3.1"));
    EXPECT_FALSE(is_below("2022.5-Debian", "2022"));
}

TEST_F(Process, AnUnknownVersionIsAnError) {
    auto json = made_json();
    json["program"]["version"] = {{"command", {"{tool}", "--version"}},
                                  {"match", "tool ([0-9.]+)"}};
    json["id"] = "test.unknown_version";
    EXPECT_THROW(version_of(made(json), script(folder_.path(), "echo something else")), Problem);
    json["id"] = "test.known_version";
    EXPECT_EQ(version_of(made(json), script(folder_.path(), "echo tool 1.2 >&2")), "1.2");
}

TEST(Devices, AreNotTouchedUnlessAllowed) {
    std::string device;
    for (const auto& entry : std::filesystem::directory_iterator{"/dev"})
        if (entry.is_block_file() && ::access(entry.path().c_str(), R_OK) == 0)
            device = entry.path().string();
    EXPECT_EQ(why_not_touched({"--filename=/dev/null", "/etc/passwd", "/tmp"}), "");
    if (device.empty()) GTEST_SKIP() << "no block device here";
    EXPECT_THAT(why_not_touched({device}), HasSubstr("--allow-device " + device));
    EXPECT_THAT(why_not_touched({"--filename=" + device}), HasSubstr("--allow-device"));
    EXPECT_THAT(why_not_touched({"--filename=/tmp/x:" + device}), HasSubstr("--allow-device"));
    const TemporaryFolder folder;
    std::filesystem::create_symlink(device, folder.path() / "link");
    EXPECT_THAT(why_not_touched({(folder.path() / "link").string()}), HasSubstr("--allow-device"));
    const test::Variable allowed{"ASSAY_ALLOW_DEVICE", "/dev/null:" + device};
    EXPECT_THAT(why_not_touched({device}), testing::Not(HasSubstr("--allow-device")));
}

} // namespace
} // namespace assay::external
