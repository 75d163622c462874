// SPDX-License-Identifier: Apache-2.0
//
// Faults of other hosts and of the ranks on them: reported in a sentence that names them, at once or at a time limit,
// and no process is left behind.

#include "cluster.hpp"
#include "support/variable.hpp"

#include <gmock/gmock.h>

#include <utility>

namespace assay::cluster_test {
namespace {

using record::Status;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(Cluster, ARankThatDiesIsNamedWithItsHost) {
    const auto c = trouble("segv", 30);
    EXPECT_EQ(c.status, Status::crashed);
    EXPECT_THAT(c.reason, AllOf(HasSubstr("rank 1 on h2"), HasSubstr("SIGSEGV")));
    EXPECT_EQ(survivors(), "");
}

TEST_F(Cluster, ARankThatHangsIsNamedWithItsHost) {
    const auto c = trouble("hang", 2);
    EXPECT_EQ(c.status, Status::timed_out);
    EXPECT_THAT(c.reason, HasSubstr("rank 1 on h2 sleeps"));
    EXPECT_EQ(survivors(), "") << "nobody could kill it from here";
}

TEST_F(Cluster, ARankThatNeverStartsIsNamedWithItsHost) {
    const test::Variable agent{"OMPI_MCA_plm_rsh_agent", "/bin/true"};
    const auto c = trouble("fine", 1);
    EXPECT_EQ(c.status, Status::timed_out);
    EXPECT_THAT(c.reason, AllOf(HasSubstr("never started"), HasSubstr("rank 1 on h2")));
}

/// Takes h2 off the network when its rank is there and works.
struct CutOff : trouble_test::Silent {
    void progress(const run::Progress& progress) override {
        const bool works = progress.phase != before_ && progress.phase == "running";
        before_ = progress.phase;
        if (works) set_switch("link h2 down");
    }

private:
    std::string before_;
};

TEST_F(Cluster, AHostThatIsCutOffIsNamed) {
    CutOff observer;
    const auto c = trouble("hang", 2, observer);
    set_switch("link h2 up");
    EXPECT_EQ(c.status, Status::timed_out);
    EXPECT_THAT(c.reason, HasSubstr("rank 1 on h2 does not answer"));
    EXPECT_EQ(survivors(), "") << "when the network is back, nobody is there any more";
}

TEST_F(Cluster, AnotherProgramOnAHostIsRefused) {
    on_host("h2", std::string{"mount --bind " ASSAY_PROGRAM " "} + TROUBLE_PROGRAM);
    const auto c = trouble("fine", 20);
    on_host("h2", std::string{"umount "} + TROUBLE_PROGRAM);
    EXPECT_EQ(c.status, Status::failed);
    EXPECT_THAT(c.reason, AllOf(HasSubstr("runs another build of assay"), HasSubstr("rank 0 on h1"),
                                HasSubstr("rank 1 on h2")));
}

TEST_F(Cluster, AnotherModuleOnAHostIsRefused) {
    const auto modules = std::filesystem::path{ASSAY_PROGRAM}.parent_path().parent_path();
    on_host("h2",
            "mount --bind " + (modules / "lib/assay/mpi.so").string() + " " + TROUBLE_TEAM_MODULE);
    const auto c = trouble("fine", 20);
    on_host("h2", std::string{"umount "} + TROUBLE_TEAM_MODULE);
    EXPECT_EQ(c.status, Status::failed);
    EXPECT_THAT(c.reason, AllOf(HasSubstr("rank 1 on h2: "), HasSubstr("has another build (")));
    EXPECT_EQ(survivors(), "");
}

/// Binds a changed copy of a file over it on h2, until it is destroyed.
class Changed {
public:
    Changed(std::string file, const std::string& filter) : file_{std::move(file)} {
        const auto copy = (cluster() / "changed").string();
        command(filter + " <" + file_ + " >" + copy);
        on_host("h2", "mount --bind " + copy + " " + file_);
    }
    Changed(const Changed&) = delete;
    Changed& operator=(const Changed&) = delete;
    ~Changed() { on_host("h2", "umount " + file_); }

private:
    std::string file_;
};

const std::vector<std::string> two_hosts{"collective.send_receive", "--hosts", "h1:1,h2:1", "--set",
                                         "*.bytes=1MiB"};

TEST_F(Cluster, AnotherMpiOnAHostIsRefused) {
    // The release that its source names, as long as before.
    const auto library = output_of("ldconfig -p | sed -n 's/.*libmpi[.]so[.]40 .*=> //p' | "
                                   "head -n 1 | xargs readlink --canonicalize");
    if (library.empty()) GTEST_SKIP() << "no libmpi.so.40";
    const Changed changed{library, "sed 's/v4[.]1[.]\\([0-9]\\)/v9.9.\\1/g'"};
    const auto c = measure_one(two_hosts);
    EXPECT_EQ(c.status, Status::failed);
    EXPECT_THAT(c.reason, AllOf(HasSubstr("rank 1 (node1) has Open MPI"), HasSubstr("v9.9."),
                                HasSubstr("install the same MPI on every host")));
}

TEST_F(Cluster, MemoryThatOneHostLacksIsSaid) {
    const Changed changed{"/proc/meminfo", "sed 's/^MemAvailable: .*/MemAvailable: 1024 kB/'"};
    const auto c = measure_one(two_hosts);
    EXPECT_FALSE(record::is_finished(c.status));
    EXPECT_THAT(c.reason, AllOf(HasSubstr("rank 1 on node1"), HasSubstr("of memory, 1 MiB are")));
}

TEST_F(Cluster, AHostWhoseNetworkIsDownIsNamed) {
    set_switch("link h2 down");
    const auto c = trouble("fine", 3);
    set_switch("link h2 up");
    EXPECT_EQ(c.status, Status::timed_out);
    EXPECT_THAT(c.reason, AllOf(HasSubstr("never started"), HasSubstr("rank 1 on h2"),
                                HasSubstr("h2 does not answer")));
    EXPECT_EQ(survivors(), "");
}

TEST_F(Cluster, AProgramThatAHostLacksIsSaid) {
    const auto programs = std::filesystem::path{TROUBLE_PROGRAM}.parent_path().string();
    on_host("h2", "mount -t tmpfs tmpfs " + programs);
    const auto c = trouble("fine", 20);
    on_host("h2", "umount " + programs);
    EXPECT_EQ(c.status, Status::not_started) << c.reason;
    EXPECT_THAT(c.reason, HasSubstr("assay must be installed at the same path on every host"));
}

TEST_F(Cluster, NoCommonTransportIsSaid) {
    const auto c =
        measure_one({"collective.send_receive", "--hosts", "h1:1,h2:1", "--set", "*.bytes=8"},
                    {"OMPI_MCA_btl=self"});
    EXPECT_FALSE(record::is_finished(c.status));
    EXPECT_THAT(c.reason, HasSubstr("no common transport"));
}

TEST_F(Cluster, HostsThatCannotBeAreRefusedBeforeAnythingRuns) {
    const auto refused = [&](const std::string& option, const std::string& value) {
        return cli_test::run(
            {"run", "collective.send_receive", option, value, "--out", folder_.path().string()});
    };
    auto outcome = refused("--hosts", "h1:1,h9:1");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr("unknown host h9"));
    EXPECT_EQ(refused("--hosts", "h1:1,h1:1").code, 2);
    outcome = refused("--hosts", "h1:1,10.77.0.1:1");
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr("are the same host (10.77.0.1); list it once"));
    const auto file = folder_.write("hosts", "h1 slots=1 # here\n\nh2 slots=many\n");
    outcome = refused("--hostfile", file.string());
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.error, HasSubstr(file.string() + ":3: \"slots=many\" after h2"));
    command("ip link set eth0 down");
    outcome = refused("--hosts", "h1:1,h2:1");
    command("ip link set eth0 up");
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.error, HasSubstr("no route to host h2 (10.77.0.2)"));
}

} // namespace
} // namespace assay::cluster_test
