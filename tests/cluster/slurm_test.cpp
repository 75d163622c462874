// SPDX-License-Identifier: Apache-2.0
//
// Teams as steps of a Slurm job: with_hosts 3 with_slurm 3 cluster_test --gtest_filter=Slurm.*

#include "cluster.hpp"
#include "record/reader.hpp"
#include "support/variable.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace assay::cluster_test {
namespace {

using testing::HasSubstr;

class Slurm : public Cluster {
protected:
    void SetUp() override {
        if (std::getenv("SLURM_CONF") == nullptr) GTEST_SKIP() << "no Slurm here";
    }
    /// Sends the recipe to two nodes and waits; gives its exit code.
    int send(const std::string& arguments) {
        const auto sent = fmt::format(
            "ASSAY={} ASSAY_OUT={} timeout 100 sbatch --wait --quiet --nodes=2 --output={} {} {} "
            "--replicas 1 --quiet",
            ASSAY_PROGRAM, folder_.path().string(), log().string(), ASSAY_SLURM_RECIPE, arguments);
        const int status = std::system(sent.c_str()); // NOLINT: our own words
        return WEXITSTATUS(status);
    }
    std::filesystem::path log() const { return folder_.path() / "log"; }
    std::string said() const {
        std::ifstream file{log()};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    record::Case only_case() const {
        for (const auto& file : cli_test::files_named(folder_.path(), "run.json")) {
            const auto run = record::read_run(file);
            if (run && run->cases.size() == 1) return run->cases[0];
        }
        ADD_FAILURE() << "no run with one case; the job said: " << said();
        return {};
    }
};

TEST_F(Slurm, TheRecipeMeasuresOnTheNodesOfItsJob) {
    EXPECT_EQ(send("collective.send_receive --budget 2s --set '*.bytes=64KiB' "
                   "--set '*.ranks=per_node'"),
              0)
        << said();
    const auto c = only_case();
    EXPECT_TRUE(has_values(c)) << c.reason;
    EXPECT_EQ(record::text(c.settings, "job.launcher"), "srun");
    EXPECT_EQ(record::text(c.settings, "job.hosts"), "node0:1 node1:1");
    EXPECT_EQ(record::text(c.settings, "machines"), "2");
}

TEST_F(Slurm, AProgramOfOthersIsAStepOfTheJob) {
    std::ofstream{folder_.path() / "names.json"} << R"json({
      "schema": "assay.external/1", "id": "test.names", "question": "How?", "method": "By it.", "caveats": "None.",
      "program": {"name": "uname", "packages": ["coreutils"], "licence": "GPL-3.0-or-later"},
      "parameters": [{"name": "processes", "help": "how many", "range": [1, 9], "choices": ["all"], "defaults": [2]}],
      "team": "processes", "command": ["{launch}", "{tool}", "-s"], "time_limit": 30,
      "metrics": [{"metric": "item_rate", "per_run": "1", "unit": "1/s"}],
      "checks": [{"notices": "another kernel", "match": "(.*)", "take": "last", "equals": "Linux"}]})json";
    const test::Variable path{"ASSAY_EXTERNAL_PATH", folder_.path().string()}; // sbatch hands it on
    EXPECT_EQ(send("test.names"), 0) << said();
    const auto c = only_case();
    EXPECT_TRUE(has_values(c)) << c.reason;
    EXPECT_THAT(record::text(c.settings, "command"), HasSubstr("srun --mpi=pmix"));
}

TEST_F(Slurm, AHostOutsideOfTheJobIsSaid) {
    EXPECT_NE(send("collective.send_receive --hosts h1:1,h3:1 --set '*.bytes=8'"), 0);
    EXPECT_THAT(said(), HasSubstr("h3 is not in this Slurm job (its hosts: h1, h2)"));
}

} // namespace
} // namespace assay::cluster_test
