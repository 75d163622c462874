// SPDX-License-Identifier: Apache-2.0
//
// A described benchmark as the harness uses it, with scripts for programs.

#include "external/file_system.hpp"
#include "tool.hpp"

#include <gmock/gmock.h>

namespace assay::external {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(Tool, IsRunCheckedAndReported) {
    auto& tool = prepare(good);
    EXPECT_FALSE(tool.verify().passed) << "accepts that nothing ran";
    EXPECT_GT(tool.run(), 0);
    EXPECT_TRUE(tool.verify().passed) << tool.verify().detail;
    EXPECT_THAT(tool.verify().method, HasSubstr("an error"));
    Metrics to{&program_.services};
    tool.metrics(to);
    EXPECT_EQ(program_.metrics.at("bandwidth"), 5e6);
    EXPECT_THAT(program_.texts.at("command"), HasSubstr("--size=7"));

    tool.spoil();
    EXPECT_FALSE(tool.verify().passed);
    EXPECT_EQ(tool.verify().detail, "an error: \"1\" is not 0");
    tool.run();
    EXPECT_TRUE(tool.verify().passed);
    tool.poison();
    EXPECT_FALSE(tool.verify().passed);
    EXPECT_EQ(tool.verify().error <= tool.verify().bound, tool.verify().passed);
}

TEST_F(Tool, FailuresHaveAReasonAndNeverAValue) {
    EXPECT_THAT(problem("exit 2"), HasSubstr("ended with status 2"));
    EXPECT_THAT(problem("true"), HasSubstr("stdout is empty"));
    EXPECT_THAT(problem("echo hello"), HasSubstr("nothing in stdout is a line like"));
    EXPECT_THAT(problem("echo 'rate: 5 MB/s'; echo 'rate: 6 MB/s'"), HasSubstr("2 places"));
    EXPECT_THAT(problem("echo 'rate: 5,2 MB/s'"), HasSubstr("expected a finite number"));
    EXPECT_THAT(problem("echo 'rate: inf MB/s'"), HasSubstr("a finite number"));
    EXPECT_THAT(problem("echo 'rate: nan MB/s'"), HasSubstr("a finite number"));
    EXPECT_THAT(problem("echo 'rate: 0 MB/s'"), HasSubstr("bandwidth is zero"));
    EXPECT_THAT(problem("echo 'rate: -1 MB/s'"), HasSubstr("below zero"));
    json_["time_limit"] = 0.2;
    EXPECT_THAT(problem("sleep 100"), HasSubstr("did not end within 0.2 s"));
}

TEST_F(Tool, AFailureMayStandInTheOutputAlone) {
    json_["failure"] = {{"match", "error - (.*)"}};
    EXPECT_THAT(problem("echo 'rate: 5 MB/s'; echo 'error - the server is busy'"),
                HasSubstr(" failed: the server is busy"));
    EXPECT_EQ(problem(good), "");
}

TEST_F(Tool, AWrongRunIsIncorrect) {
    auto& tool = prepare("echo 'rate: 5 MB/s'; echo 'errors: 3'");
    tool.run();
    EXPECT_EQ(tool.verify().detail, "an error: \"3\" is not 0");
}

/// A check that was cut short says nothing of the result, unless something else is wrong too.
TEST_F(Tool, AnUnfinishedCheckIsNoWrongResult) {
    json_["checks"].push_back({{"notices", "a block that was not read"},
                               {"match", "read: (\\d+) blocks"},
                               {"equals", 9},
                               {"completes", true}});
    EXPECT_THAT(problem("echo 'rate: 5 MB/s'; echo 'errors: 0'; echo 'read: 4 blocks'"),
                AllOf(HasSubstr("did not finish"), HasSubstr("not read")));
    EXPECT_EQ(problem("echo 'rate: 5 MB/s'; echo 'errors: 0'; echo 'read: 9 blocks'"), "");
    auto& tool = prepare("echo 'rate: 5 MB/s'; echo 'errors: 2'; echo 'read: 4 blocks'");
    tool.run();
    EXPECT_FALSE(tool.verify().passed);
    EXPECT_THAT(tool.verify().detail, HasSubstr("an error"));
}

/// Messages in front of a JSON document do not damage it; where a check fails they name the cause.
TEST_F(Tool, HearsWordsInFrontOfJson) {
    json_["metrics"][0] = {{"metric", "bandwidth"}, {"at", "/rate"}, {"unit", "MB/s"}};
    json_["checks"] = {{{"notices", "an error"}, {"at", "/error"}, {"equals", 0}}};
    EXPECT_EQ(
        problem("echo 'disk: slow clock'; echo '[info] go'; echo '{\"rate\": 5, \"error\": 0}'"),
        "");
    auto& tool = prepare("echo 'disk: cannot read block 7'; echo '{\"rate\": 5, \"error\": 3}'");
    tool.run();
    EXPECT_EQ(tool.verify().detail, "an error: \"3\" is not 0 (disk: cannot read block 7)");
}

/// Whatever the checks read, and wherever the line stands.
TEST_F(Tool, IsIncorrectWhereItSaysSo) {
    for (const auto& [line, is_wrong] :
         {std::pair{"echo 'block 7: data mismatch'", true},
          {"echo 'verification of the result failed' >&2", true},
          {"printf 'done 50%%\\rresult is WRONG\\n' >&2", true},
          {"echo '0 errors, no data mismatch'", false},
          {"echo 'cannot open the results of yesterday: no such file' >&2", false}}) {
        auto& tool = prepare(std::string{good} + "; " + line);
        tool.run();
        EXPECT_EQ(tool.verify().passed, !is_wrong) << line << tool.verify().detail;
    }
    json_["ignore"] = {"block \\d+: data mismatch"};
    auto& excused = prepare(std::string{good} + "; echo 'block 7: data mismatch'");
    excused.run();
    EXPECT_TRUE(excused.verify().passed);
    json_["metrics"][0] = {{"metric", "bandwidth"}, {"at", "/rate"}, {"unit", "MB/s"}};
    json_["checks"] = {{{"notices", "an error"}, {"at", "/error"}, {"equals", 0}}};
    auto& tool = prepare("echo 'checksum error'; "
                         "echo '{\"rate\": 5, \"error\": 0, \"note\": \"data mismatch\"}'");
    tool.run();
    EXPECT_EQ(tool.verify().detail, "it says checksum error");
    auto& other = prepare("echo '{\"rate\": 5, \"error\": 0, \"note\": \"data mismatch\"}'");
    other.run();
    EXPECT_TRUE(other.verify().passed) << "JSON is read by its members";
}

TEST_F(Tool, ThatIsMissingIsNamedWithItsPackage) {
    json_["program"]["name"] = "no-such-program-anywhere";
    EXPECT_THAT(fit(),
                testing::MatchesRegex("not applicable: no-such-program-anywhere is not installed. "
                                      "Run: assay describe [a-z._]+ --install"));
    json_["program"]["name"] = "true";
    EXPECT_EQ(fit(), "");
    json_["needs"] = "/nonexistent";
    EXPECT_EQ(fit(), "not applicable: needs /nonexistent");
    json_.erase("needs");
    json_["scratch_in"] = "where";
    json_["space"] = "{size}000000000000000";
    EXPECT_THAT(fit(), HasSubstr("needs 7e+15 bytes"));
}

TEST_F(Tool, ThatIsTooOldDoesNotFit) {
    json_["id"] = "test.old";
    json_["program"]["name"] = script(folder_.path(), "echo v1.9");
    json_["program"]["version"] = {{"command", {"{tool}"}}, {"match", "v(.*)"}, {"least", "1.10"}};
    EXPECT_THAT(fit(), HasSubstr("1.10, here is 1.9"));
}

constexpr auto mounts = R"(22 1 0:21 / / rw,relatime - ext4 /dev/root rw
30 22 0:30 / /proc rw shared:5 master:1 - proc proc rw
31 22 0:31 / /data rw - autofs systemd-1 rw
32 31 0:32 / /data rw - nfs4 server:/export rw,vers=4.2
33 22 0:33 / /mnt/two\040words rw - fuse.sshfs host: rw
34 22 0:34
)";

TEST(FileSystem, IsThatOfTheInnermostMount) {
    EXPECT_EQ(file_system_in(mounts, "/data"), "nfs4") << "the later mount hides the other";
    EXPECT_EQ(file_system_in(mounts, "/data/x/y"), "nfs4");
    EXPECT_EQ(file_system_in(mounts, "/database"), "ext4");
    EXPECT_EQ(file_system_in(mounts, "/mnt/two words/x"), "fuse.sshfs");
    EXPECT_EQ(file_system_in("", "/data"), "");
    EXPECT_EQ(file_system_of("/proc/self"), "proc");
}

TEST_F(Tool, RecordsTheFileSystemOfItsFolder) {
    prepare(good);
    EXPECT_EQ(program_.texts.at("file_system"), file_system_of(folder_.path()));
    EXPECT_NE(program_.texts.at("file_system"), "");
}

TEST_F(Tool, ThatGoesPastThePageCacheNeedsAFileSystemThatLetsIt) {
    EXPECT_FALSE(has_direct_io("/proc/self/mountinfo"));
    EXPECT_THAT(why_no_direct_io("/proc"), HasSubstr("cannot make a folder in /proc"));
    json_["scratch_in"] = "where";
    json_["direct_io"] = {"mode", "slow"};
    EXPECT_EQ(fit(), "");
    json_["direct_io"] = {"mode", "fast"};
    const auto why = why_no_direct_io(folder_.path());
    EXPECT_EQ(fit(), why.empty() ? "" : "not applicable: " + why);
}

TEST_F(Tool, ReadsTheFilesOfThisRunAlone) {
    json_["metrics"][0]["in"] = "result.txt";
    json_["checks"][0]["in"] = "result.txt";
    auto& tool = prepare("test -e ran && exit 0; touch ran; { echo 'rate: 5 MB/s'; echo 'errors: "
                         "0'; } > result.txt");
    tool.run();
    EXPECT_TRUE(tool.verify().passed);
    EXPECT_THROW(tool.run(), Problem) << "took the result of the run before";
    EXPECT_THAT(problem("ln -s /etc/passwd result.txt"), HasSubstr("wrote no result.txt"));
    EXPECT_THAT(problem("mkfifo result.txt"), HasSubstr("is not a file"));
    EXPECT_THAT(problem("head -c 17000000 /dev/zero > result.txt"),
                HasSubstr("longer than 16 MiB"));
}

TEST_F(Tool, HasItsInputsPreparedAndInspected) {
    json_["inputs"] = {{{"name", "in.txt"}, {"lines", {"n = @size@", "m = {kept}"}}}};
    json_["prepare"] = Json::array({Json::array({"cp", "in.txt", "copy.txt"})});
    json_["inspect"] = Json::array({Json::array({"cat", "copy.txt"})});
    json_["checks"][0] = {{"notices", "another input"},
                          {"in", "inspect"},
                          {"match", "n = (.*)"},
                          {"equals", "{size}"}};
    json_["environment"] = {{"MODE", "{mode}"}};
    auto& tool = prepare("test \"$MODE\" = fast && " + std::string{good});
    tool.run();
    EXPECT_TRUE(tool.verify().passed) << tool.verify().detail;
    json_["prepare"] = Json::array({Json::array({"false"})});
    EXPECT_THROW(prepare(), Problem);
}

TEST_F(Tool, LeavesNoScratchFolder) {
    prepare(good).run();
    case_.reset();
    std::size_t left = 0;
    for (const auto& entry : std::filesystem::directory_iterator{folder_.path()})
        left += entry.path().filename().string().starts_with("assay-") ? 1 : 0;
    EXPECT_EQ(left, 0U);
}

TEST_F(Tool, OptionalMetricsMayBeAbsent) {
    json_["metrics"].push_back(
        {{"metric", "iops"}, {"match", "iops: (.*)"}, {"unit", "1/s"}, {"optional", true}});
    auto& tool = prepare(good);
    tool.run();
    Metrics to{&program_.services};
    tool.metrics(to);
    EXPECT_FALSE(program_.metrics.contains("iops"));
    prepare(std::string{good} + "; echo 'iops: 12'").run();
    case_->metrics(to);
    EXPECT_EQ(program_.metrics.at("iops"), 12);
}

} // namespace
} // namespace assay::external
