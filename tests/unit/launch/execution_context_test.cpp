// SPDX-License-Identifier: Apache-2.0
#include "launch/environment.hpp"
#include "launch/execution_context.hpp"
#include "launch/launcher.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace assay::harness {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;
using harness::made::TemporaryFolder;

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
    const auto around = context_of({.via = " numactl  --membind=0 $X "}, path);
    ASSERT_TRUE(around) << around.error().message;
    EXPECT_THAT(around->prefix,
                ElementsAre((folder.path() / "numactl").string(), "--membind=0", "$X"));
    const auto command = launch_command({.program = "/p", .context = *around});
    ASSERT_TRUE(command);
    EXPECT_THAT(command->arguments, ElementsAre((folder.path() / "numactl").string(), "--membind=0",
                                                "$X", "/p", "worker"));
    const auto none = context_of({.label = "new", .via = "nmactl"}, path);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().fault, Fault::environment);
    EXPECT_THAT(none.error().message, HasSubstr("variant new: there is no program nmactl"));
}

} // namespace
} // namespace assay::harness
