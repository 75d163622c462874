// SPDX-License-Identifier: Apache-2.0
#include "launch/environment.hpp"
#include "launch/execution_context.hpp"
#include "launch/governor.hpp"
#include "launch/launcher.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace assay::harness {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;
using testing::TemporaryFolder;

// --- what they put around a worker ----------------------------------------------------------------

TEST(SettingsOfTheEnvironment, BeatWhatPlacesThreadsAndWhatWasInherited) {
    const auto entries = worker_environment(
        {"HOME=/root", "OMP_WAIT_POLICY=passive", "X=1"}, {.threads = 2, .cpus = {0, 4}},
        {{"OMP_WAIT_POLICY", std::string{"active"}}, {"OMP_PLACES", std::string{"cores"}}});
    EXPECT_THAT(entries,
                ElementsAre("HOME=/root", "X=1", "OMP_NUM_THREADS=2", "OMP_DYNAMIC=false",
                            "OMP_PROC_BIND=true", "OMP_WAIT_POLICY=active", "OMP_PLACES=cores"));
}

/// An executable file that does nothing.
void make_program(const fs::path& path) {
    std::ofstream{path} << "#!/bin/sh\n";
    fs::permissions(path, fs::perms::owner_all);
}

TEST(ExecutionContext, ACommandIsFoundOnPathAndSplitWithoutAShell) {
    const TemporaryFolder folder;
    make_program(folder.path() / "numactl");
    const auto path = "/nowhere:" + folder.path().string();
    const auto around = context_of({.via = " numactl  --membind=0 $X "}, "/out", path);
    ASSERT_TRUE(around) << around.error().message;
    EXPECT_THAT(around->prefix,
                ElementsAre((folder.path() / "numactl").string(), "--membind=0", "$X"));
    EXPECT_EQ(around->inside("/a/b"), "/a/b");
    const auto command = launch_command({.program = "/p", .context = *around});
    ASSERT_TRUE(command);
    EXPECT_THAT(command->arguments, ElementsAre((folder.path() / "numactl").string(), "--membind=0",
                                                "$X", "/p", "worker"));
    const auto none = context_of({.label = "new", .via = "nmactl"}, "/out", path);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().fault, Fault::environment);
    EXPECT_THAT(none.error().message, HasSubstr("variant new: there is no program nmactl"));
}

TEST(ExecutionContext, AnImageIsEnteredWithTheToolForIt) {
    const TemporaryFolder folder;
    const auto tools = folder.path() / "tools";
    const auto image = folder.path() / "image";
    fs::create_directories(tools);
    fs::create_directories(image / "usr/lib");
    fs::create_directories(image / "proc");
    fs::create_directory_symlink("usr/lib", image / "lib");
    const auto setting = Variant{.label = "new", .image = image};
    const auto missing = context_of(setting, "/out", tools.string());
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().fault, Fault::environment);
    EXPECT_THAT(missing.error().message, HasSubstr("bubblewrap"));
    make_program(tools / "bwrap");
    const auto around = context_of(setting, "/out", tools.string());
    ASSERT_TRUE(around) << around.error().message;
    EXPECT_EQ(around->prefix.front(), (tools / "bwrap").string());
    EXPECT_THAT(around->prefix, Contains((image / "usr").string()));
    EXPECT_THAT(around->prefix, Contains("/lib"));
    EXPECT_THAT(around->prefix, Not(Contains((image / "proc").string())));
    EXPECT_EQ(around->inside("/a/b"), "/run/host/a/b");
    // The file of another tool.
    std::ofstream{folder.path() / "x.sif"} << "SIF";
    make_program(tools / "apptainer");
    const auto sif = context_of({.image = folder.path() / "x.sif"}, "/out", tools.string());
    ASSERT_TRUE(sif) << sif.error().message;
    EXPECT_THAT(sif->prefix, ElementsAre((tools / "apptainer").string(), "exec", "--bind",
                                         "/:/run/host", (folder.path() / "x.sif").string()));
    EXPECT_FALSE(context_of({.image = folder.path() / "y.sif"}, "/out", tools.string()));
    EXPECT_FALSE(context_of({.image = folder.path() / "y"}, "/out", tools.string()));
}

// --- the governor ---------------------------------------------------------------------------------

class Governor : public ::testing::Test {
protected:
    Governor() {
        for (const char* policy : {"policy0", "policy4"}) {
            fs::create_directories(folder_of(policy));
            std::ofstream{folder_of(policy) / "scaling_available_governors"}
                << "performance powersave\n";
        }
        write("policy0", "powersave");
        write("policy4", "performance");
    }
    fs::path folder_of(const std::string& policy) const {
        return folder_.path() / "sys/devices/system/cpu/cpufreq" / policy;
    }
    void write(const std::string& policy, const std::string& governor) const {
        std::ofstream{folder_of(policy) / "scaling_governor"} << governor << '\n';
    }
    std::string now(const std::string& policy) const {
        std::ifstream file{folder_of(policy) / "scaling_governor"};
        std::string governor;
        std::getline(file, governor);
        return governor;
    }
    machine::Files files() const { return machine::Files{folder_.path()}; }

    TemporaryFolder folder_;
};

TEST_F(Governor, IsSetAndSetBack) {
    {
        auto governors = Governors::take(files(), {"performance"});
        ASSERT_TRUE(governors) << governors.error().message;
        ASSERT_TRUE(governors->set("performance"));
        EXPECT_EQ(now("policy0"), "performance");
        ASSERT_TRUE(governors->set(""));
        EXPECT_EQ(now("policy0"), "powersave");
        EXPECT_EQ(now("policy4"), "performance");
        ASSERT_TRUE(governors->set("powersave"));
        EXPECT_EQ(now("policy4"), "powersave");
    }
    EXPECT_EQ(now("policy0"), "powersave");
    EXPECT_EQ(now("policy4"), "performance");
}

TEST_F(Governor, IsSetBackWhenTheProcessIsKilled) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        auto governors = Governors::take(files(), {"performance"});
        const bool set = governors && governors->set("performance");
        (void)!::write(pipe[1], &set, 1);
        while (true) ::pause();
    }
    bool set = false;
    ASSERT_EQ(::read(pipe[0], &set, 1), 1);
    EXPECT_TRUE(set);
    EXPECT_EQ(now("policy0"), "performance");
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    for (int tries = 0; tries < 1000 && now("policy0") != "powersave"; ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    EXPECT_EQ(now("policy0"), "powersave");
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST_F(Governor, WhatCannotBeSetIsSaidBeforeAnythingIs) {
    const auto unknown = Governors::take(files(), {"performence"});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().fault, Fault::environment);
    EXPECT_THAT(unknown.error().message, HasSubstr("\"performance\""));
    fs::remove(folder_of("policy4") / "scaling_governor");
    fs::create_directory(folder_of("policy4") / "scaling_governor"); // root may write any file
    const auto forbidden = Governors::take(files(), {"performance"});
    ASSERT_FALSE(forbidden);
    EXPECT_THAT(forbidden.error().message, HasSubstr("cannot set the governor"));
    const auto virtual_machine = Governors::take(machine::Files{"/nowhere"}, {"performance"});
    ASSERT_FALSE(virtual_machine);
    EXPECT_EQ(virtual_machine.error().fault, Fault::environment);
    EXPECT_THAT(virtual_machine.error().message, HasSubstr("no cpufreq"));
}

} // namespace
} // namespace assay::harness
