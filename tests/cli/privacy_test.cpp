// SPDX-License-Identifier: Apache-2.0
//
// Results, journals, logs and reports travel: they name no host, no user and no folder unless asked to.

#include "program.hpp"

#include <sys/utsname.h>

namespace assay::cli_test {
namespace {

using namespace testing;
namespace fs = std::filesystem;

/// Everything a run leaves below the folder.
std::vector<fs::path> files_below(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator{folder})
        if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
}

std::string host_name() {
    utsname names{};
    return ::uname(&names) == 0 ? std::string{names.nodename} : std::string{};
}

/// Each value has a word that occurs nowhere else.
struct Planted {
    std::string user = "planteduser";
    std::string mark = "planted"; ///< in every secret
    std::vector<std::string> environment;
    fs::path out;
    fs::path folder;
};

Planted plant(const Folder& folder) {
    Planted planted{.out = folder.path() / "planted-out" / "results",
                    .folder = folder.path() / "planted-cwd" / "here"};
    const auto home = folder.path() / "planted-home" / planted.user;
    fs::create_directories(planted.folder);
    fs::create_directories(home);
    planted.environment = {"USER=" + planted.user,
                           "LOGNAME=" + planted.user,
                           "HOME=" + home.string(),
                           "PWD=" + planted.folder.string(),
                           "UCX_LOG_FILE=" + home.string() + "/ucx.log",
                           "UCX_TLS=rc,sm",
                           "NCCL_ALGO=Ring",
                           "NCCL_TOPO_FILE=/opt/planted-site/topology.xml",
                           "NCCL_HOSTID=" + host_name() + "-of-" + planted.user,
                           "OMPI_MCA_orte_tmpdir_base=/scratch/planted-job/1",
                           "OMPI_MCA_plm_rsh_args=-i " + home.string() + "/.ssh/key -l " +
                               planted.user,
                           "CUDA_CACHE_PATH=" + home.string() + "/.nv",
                           "LD_PRELOAD=/srv/planted-tools/absent.so",
                           "OMP_TOOL_LIBRARIES=/srv/planted-tools/a.so:/srv/planted-tools/b.so",
                           "OPENBLAS_VERBOSE=" + planted.user};
    return planted;
}

TEST(Privacy, WhatARunLeavesNamesNoHostUserOrFolder) {
    const Folder folder;
    const auto planted = plant(folder);
    const auto outcome =
        run(brief_run(planted.out), {.environment = planted.environment, .folder = planted.folder});
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    const auto result = files_named(planted.out, "run.json").at(0);
    // LD_PRELOAD is of the worker's shell too: the loader complains into its log.
    std::vector<std::vector<std::string>> reports{
        {"report", result, "--html", folder.path() / "r.html"},
        {"report", result, "--md", folder.path() / "r.md"},
        {"report", result, "--json"},
        {"report", result},
        {"export", "--to", "csv", result}};
    auto files = files_below(planted.out);
    for (const auto& words : reports) {
        const auto report = run(words);
        EXPECT_EQ(report.code, 0) << report.error;
        EXPECT_THAT(report.output, Not(HasSubstr(planted.mark))) << words[0] << ' ' << words[2];
    }
    files.push_back(folder.path() / "r.html");
    files.push_back(folder.path() / "r.md");
    EXPECT_GE(files.size(), 5U); // result, journal, a report, a log
    const auto host = host_name();
    for (const auto& file : files) {
        EXPECT_THAT(test::content_of(file), Not(HasSubstr(planted.mark))) << file;
        if (host.size() > 3 && host != "localhost") {
            EXPECT_THAT(test::content_of(file), Not(HasSubstr(host))) << file;
        }
    }
    const auto settings = json::read_file(result).value()["cases"][0]["settings"];
    EXPECT_EQ(settings["environment.NCCL_ALGO"], "Ring");
    EXPECT_EQ(settings["environment.UCX_TLS"], "rc,sm");
    EXPECT_THAT(settings["environment.LD_PRELOAD"].get<std::string>(), HasSubstr("<path:"));
    EXPECT_THAT(settings["environment.NCCL_TOPO_FILE"].get<std::string>(), HasSubstr("<path:"));
    EXPECT_THAT(settings["environment.OMPI_MCA_plm_rsh_args"].get<std::string>(),
                AllOf(HasSubstr("-i <path:"), HasSubstr("-l <user>")));
}

TEST(Privacy, IsGivenUpByName) {
    const Folder folder;
    const auto planted = plant(folder);
    const auto outcome =
        run(brief_run(planted.out, {"--hostname", "--keep-environment", "NCCL_TOPO_FILE"}),
            {.environment = planted.environment, .folder = planted.folder});
    ASSERT_EQ(outcome.code, 0) << outcome.error;
    const auto document = json::read_file(files_named(planted.out, "run.json").at(0)).value();
    EXPECT_EQ(document["machine"]["hostname"], host_name());
    const auto settings = document["cases"][0]["settings"];
    EXPECT_EQ(settings["environment.NCCL_TOPO_FILE"], "/opt/planted-site/topology.xml");
    EXPECT_EQ(settings["environment.NCCL_HOSTID"], host_name() + "-of-" + planted.user);
    EXPECT_THAT(settings["environment.CUDA_CACHE_PATH"].get<std::string>(), HasSubstr("<path:"));
}

TEST(Privacy, ANodeIsNamedByOptionAndByTheSchedulerWithHostname) {
    const auto measured = [](const std::vector<std::string>& options,
                             const std::vector<std::string>& environment) {
        const Folder folder;
        auto planted = plant(folder);
        planted.environment.insert(planted.environment.end(), environment.begin(),
                                   environment.end());
        const auto outcome = run(brief_run(planted.out, options),
                                 {.environment = planted.environment, .folder = planted.folder});
        EXPECT_EQ(outcome.code, 0) << outcome.error;
        const auto record = json::read_file(files_named(planted.out, "run.json").at(0)).value();
        return record["machine"].value("identity", json::Value::object()).value("node", "");
    };
    EXPECT_EQ(measured({"--node", "gpu-07"}, {"SLURMD_NODENAME=n8"}), "gpu-07");
    EXPECT_EQ(measured({}, {"SLURMD_NODENAME=n8"}), "");
    EXPECT_EQ(measured({"--hostname"}, {"SLURMD_NODENAME=n8"}), "n8");
    EXPECT_EQ(measured({"--hostname"}, {"NODE_NAME=built-in"}), "");
    EXPECT_EQ(measured({"--hostname"}, {"KUBERNETES_SERVICE_HOST=10.0.0.1", "NODE_NAME=n9"}), "n9");
}

TEST(Privacy, ANameOfANodeHasNoBlanks) {
    refuses({"run", "latency.timer", "--node", "n 1"},
            {"--node: invalid name 'n 1' (expected 1 to 253"});
}

} // namespace
} // namespace assay::cli_test
