// SPDX-License-Identifier: Apache-2.0
//
// gpu-check with pretended programs in place of the driver's tools, assay, the contract tests and PyTorch: whatever
// they do, and whenever it is killed, what was done is in the archive.

#include "base/file.hpp"
#include "json/json.hpp"
#include "process/process.hpp"
#include "process/start.hpp"
#include "record/convert.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

// Each program notes what it got done in $DONE before it ends. $TRICK selects another behaviour.
constexpr auto pretended_assay = R"(#!/bin/bash
if [ "$1" = doctor ]; then
    [ "$TRICK" = hang ] && exec sleep 100
    [ "$TRICK" = no_room ] && { rm -f "$OUT/gpu-check.tar"; mkdir -p "$OUT/gpu-check.tar/full"; }
    echo '{}'
    exit
fi
if [ "$1" = compare ]; then
    [ "$TRICK" = false_verdict ] && outcome=worse
    [ "$TRICK" = unresolved ] && detectable=0.05
    echo "a warning" >&2
    echo '{"tables": [{"rows": [{"identity": "gemm.square[cublaslt]", "benchmark": "gemm.square", "cells": [{},' \
        '{"contrast": {"outcome": "'${outcome-same}'", "detectable": '${detectable-0.01}'}}]}]}]}'
    exit
fi
if [ "$1" = check ]; then
    [ "$TRICK" = unnamed ] && cause=unstable
    [ "$TRICK" = accused ] && verdict=FAIL
    echo '{"verdict": "'${verdict-INCONCLUSIVE}'", "nodes": [{"checks": [{"cause": "'${cause-device_shared}'"}]}]}'
    exit 3
fi
[ "$4" = gemm.square.load=sustained ] && { echo $$ >"$BESIDE"; exec sleep 100; }
all="$*"
while [ $# -gt 0 ]; do [ "$1" = --out ] && out=$2; shift; done
mkdir -p "$out/run"
echo '{"half": "done"}' >"$out/run/journal.ndjson"
sleep "$SECONDS_EACH"
cp "$SAMPLE" "$out/run/run.json"
case $all in
*acceptance*--only*) echo "INCONCLUSIVE: another process used cuda:0"; exit 3 ;;
*acceptance*)
    [ "$TRICK" = not_good ] && { echo "FAIL: cuda:0 FAIL"; exit 1; }
    echo "PASS: cuda:0 PASS" ;;
esac
)";
constexpr auto pretended_contract = R"sh(#!/bin/bash
name=${1#--gtest_filter=?/}
name=${name%%:*}
test="Modules/Contract.ComputesAndIsChecked/$name (1 ms)"
[ "$TRICK" = crash ] && { echo "[ RUN      ] $test"; kill -SEGV $$; }
if [ "$TRICK" = another_cuda ]; then
    echo "[ RUN      ] Modules/Contract.IntroducesItself/$ASSAY_CONTRACT_MODULE"
    echo "libcudart.so.99: cannot open shared object file"
    echo "[  FAILED  ] Modules/Contract.IntroducesItself/$ASSAY_CONTRACT_MODULE (0 ms)"
    exit 1
fi
echo "[ RUN      ] $test"
sleep "$SECONDS_EACH"
echo "[       OK ] $test"
echo "$name" >>"$DONE"
)sh";
constexpr auto pretended_python = R"sh(#!/bin/bash
[ "$2" = --facts ] && { echo '{"torch": "2.11.0"}'; exit; }
[ "$TRICK" = no_torch ] && { echo '{"problem": "there is no torch in this python3"}'; exit 1; }
echo "a warning" >&2
echo '{"torch": "2.11.0"}'
while read -r request; do
    case $request in
    *fp8*) echo '{"problem": "this chip has no fp8"}' ;;
    attention*) echo '{"seconds": 0.001, "back_to_back": 0.0008}' ;;
    *) echo '{"seconds": 0.001}' ;;
    esac
done <"$2"
)sh";
constexpr auto pretended_driver = R"sh(#!/bin/bash
[ "$TRICK" = hang ] && exec sleep 100
case $1 in
--query-gpu*) echo "NVIDIA H200, 580.159.03" ;;
--query-compute*) [ "$TRICK" = in_use ] && echo "4711, python3, 70000 MiB" ;;
esac
exit 0
)sh";
constexpr auto pretended_tool = "#!/bin/bash\necho a version\n";
constexpr auto manifest = R"({"benchmarks": [
    {"id": "peak.tensor", "place": "cuda"}, {"id": "memory.stream", "place": "cuda"},
    {"id": "peak.fma", "place": "cuda"}, {"id": "stencil.heat3d", "place": "cuda"},
    {"id": "of.hosts", "place": "host"}]})";

struct Ended {
    int code = -1;
    std::string output;
};

class GpuCheck : public testing::Test {
protected:
    GpuCheck() {
        for (const auto* below : {"bin", "tools", "lib/assay/tests", "temporary"})
            fs::create_directories(folder_ / below);
        program("bin/assay", pretended_assay);
        program("lib/assay/tests/module_contract", pretended_contract);
        program("tools/python3", pretended_python);
        program("tools/nvidia-smi", pretended_driver);
        for (const auto* name : {"tools/ldd", "tools/nvcc", "tools/compute-sanitizer", "tools/ncu"})
            program(name, pretended_tool);
        std::ofstream{folder_ / "lib/assay/cuda.json"} << manifest;
        fs::copy_file(GPU_CHECK, folder_ / "lib/assay/tests/gpu_check");
        auto run = test::sample_run();
        run.cases.resize(1); // which is ok
        run.cases[0].metrics.push_back({.name = "time_back_to_back", .unit = "s", .value = 0.0009});
        std::ofstream{folder_ / "sample.json"} << json::to_text(record::to_json(run));
    }
    void program(const std::string& name, const char* text) const {
        std::ofstream{folder_ / name} << text;
        fs::permissions(folder_ / name, fs::perms::owner_all);
    }
    std::string text_of(const std::string& name) const {
        return read_whole(folder_ / name, std::size_t{16} << 20U).value_or("");
    }

    process::Process start(std::vector<std::string> arguments, const std::string& log) const {
        arguments.insert(arguments.begin(), (folder_ / "lib/assay/tests/gpu_check").string());
        if (std::ranges::find(arguments, "--out") == arguments.end())
            arguments.insert(arguments.end(), {"--out", (folder_ / "out").string()});
        const auto at = [&](const char* name) { return (folder_ / name).string(); };
        std::vector<std::string> environment{"PATH=" + at("tools") + ":/usr/bin:/bin",
                                             "TMPDIR=" + at("temporary"),
                                             "DONE=" + at("done"),
                                             "SAMPLE=" + at("sample.json"),
                                             "OUT=" + at("out"),
                                             "BESIDE=" + at("beside"),
                                             "TRICK=" + trick_,
                                             "SECONDS_EACH=" + seconds_each_};
        auto process = process::Process::start({.arguments = arguments,
                                                .environment = environment,
                                                .cpus = {},
                                                .log = folder_ / log,
                                                .mark = {}});
        if (!process) throw std::runtime_error{process.error().message};
        return std::move(*process);
    }
    Ended check(std::vector<std::string> arguments) const {
        auto process = start(std::move(arguments), "log");
        const auto ending = process.wait(60s);
        return {.code = ending ? ending->code : -1, .output = text_of("log")};
    }

    /// A file of the archive, as tar reads it.
    std::string archived(const std::string& name) const {
        fs::remove(folder_ / "extracted");
        auto tar = process::Process::start(
            {.arguments = {"/bin/tar", "-xOf", (folder_ / "out/gpu-check.tar").string(), name},
             .environment = {},
             .cpus = {},
             .log = folder_ / "extracted",
             .mark = {}});
        if (!tar) throw std::runtime_error{tar.error().message};
        const auto ending = tar->wait(10s);
        EXPECT_TRUE(ending && ending->code == 0) << text_of("extracted");
        return text_of("extracted");
    }
    json::Value report() const {
        const auto parsed = json::parse(archived("gpu-check.json"), "gpu-check.json");
        if (!parsed) throw std::runtime_error{parsed.error().message};
        return *parsed;
    }
    static std::vector<std::string> rows(const json::Value& report, std::string_view part,
                                         std::string_view outcome) {
        std::vector<std::string> names;
        for (const auto& row : report.at("rows"))
            if (row.at("part") == part && row.at("outcome") == outcome)
                names.push_back(row.at("name").get<std::string>());
        return names;
    }
    static std::string words(const json::Value& report, const std::string& name) {
        for (const auto& row : report.at("rows"))
            if (row.at("name") == name) return row.at("words").get<std::string>();
        return "no row " + name;
    }
    std::vector<std::string> done() const {
        std::istringstream lines{text_of("done")};
        std::vector<std::string> names;
        for (std::string line; std::getline(lines, line);) names.push_back(line);
        return names;
    }

    made::TemporaryFolder made_;
    const fs::path& folder_ = made_.path();
    std::string trick_;
    std::string seconds_each_ = "0";
};

TEST_F(GpuCheck, BringsEverythingHome) {
    const auto ended = check({"--budget", "1m", "--pairs", "2", "--at-once", "1"});
    EXPECT_EQ(ended.code, 1) << "PyTorch cannot do fp8: " << ended.output;
    const auto all = report();
    EXPECT_EQ(all.at("state"), "done");
    EXPECT_EQ(rows(all, "contract", "passed").size(), 4U);
    EXPECT_EQ(done().front(), "cuda_memory_stream") << "proves the clock";
    EXPECT_EQ(rows(all, "quick", "passed").size(), 2U) << "the run and its case";
    EXPECT_EQ(rows(all, "turns", "passed").size(), 19U + 2U) << "two of them have two times";
    EXPECT_THAT(words(all, "gemm bf16 8192"), HasSubstr("2 pairs"));
    EXPECT_EQ(words(all, "gemm fp8_e4m3 8192"), "PyTorch: this chip has no fp8");
    EXPECT_EQ(words(all, "driver"), "NVIDIA H200, 580.159.03");
    EXPECT_EQ(archived("quick-quick/run.json"), text_of("sample.json"));
    EXPECT_THAT(archived("status.md"), HasSubstr("| memory.stream[cuda] | contract passed"));
    EXPECT_THAT(archived("logs/torch_turns.txt"), HasSubstr("a warning"));
    EXPECT_TRUE(fs::is_empty(folder_ / "temporary")) << "it cleans up";
}

TEST_F(GpuCheck, KilledAtAnyMomentLeavesWhatWasDone) {
    seconds_each_ = "0.02";
    test::Dice dice{20260131};
    for (int i = 0; i < 12; ++i) {
        fs::remove_all(folder_ / "out");
        fs::remove(folder_ / "done");
        auto process = start({"--pairs", "2", "--at-once", "1"}, "log");
        const auto moment = std::chrono::milliseconds{50 + static_cast<int>(900 * dice.roll())};
        process.wait(moment);
        const int signal = i % 3 == 2 ? SIGTERM : SIGKILL;
        ::kill(process.pid(), signal);
        const auto ending = process.wait(20s);
        ASSERT_TRUE(ending) << "it does not end";
        if (!fs::exists(folder_ / "out/gpu-check.tar")) { // killed before it had begun
            EXPECT_TRUE(done().empty());
            continue;
        }
        const auto all = report();
        const auto passed = rows(all, "contract", "passed").size();
        // One may have ended and not been asked yet.
        EXPECT_GE(passed + 1, done().size()) << moment.count() << " ms, " << text_of("log");
        if (ending->signal == 0 && ending->code == 5) {
            EXPECT_THAT(all.at("state").get<std::string>(), HasSubstr("SIGTERM"));
        }
    }
}

TEST_F(GpuCheck, AStepThatIsGoingOnIsThereAsFarAsItGot) {
    seconds_each_ = "30";
    fs::remove(folder_ / "lib/assay/cuda.json"); // no contracts
    auto process = start({}, "log");
    const auto has_begun = [&] {
        std::error_code error;
        for (const auto& entry : fs::recursive_directory_iterator{folder_ / "temporary", error})
            if (entry.path().filename() == "journal.ndjson") return true;
        return false;
    };
    while (!has_begun()) ASSERT_FALSE(process.wait(20ms)) << text_of("log");
    ::kill(process.pid(), SIGTERM);
    const auto ending = process.wait(10s);
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->code, 5);
    EXPECT_EQ(rows(report(), "quick", "cut_off").size(), 1U);
    EXPECT_THAT(archived("quick-quick/journal.ndjson"), HasSubstr("half"));
}

TEST_F(GpuCheck, ADriverThatHangsCostsItsOwnRows) {
    trick_ = "hang";
    const auto ended = check({"--budget", "4s", "--pairs", "1"});
    EXPECT_EQ(ended.code, 1) << ended.output;
    const auto all = report();
    EXPECT_THAT(words(all, "driver"), HasSubstr("cut off after"));
    EXPECT_EQ(rows(all, "contract", "passed").size(), 4U);
    EXPECT_EQ(rows(all, "quick", "passed").size(), 2U);
    EXPECT_LT(all.at("seconds").get<double>(), 4.5);
}

TEST_F(GpuCheck, WhatAShortBudgetHasNoTimeForIsNamed) {
    seconds_each_ = "0.7";
    const auto ended = check({"--budget", "2s"});
    EXPECT_NE(ended.code, 0) << ended.output;
    const auto all = report();
    EXPECT_GE(all.at("rows").size(), 9U + 4U + 1U + 5U + 2U);
    EXPECT_FALSE(rows(all, "facts", "passed").empty());
    bool is_whole = true;
    for (const auto& row : all.at("rows")) {
        if (row.at("outcome") == "passed") continue;
        is_whole = false;
        EXPECT_NE(row.at("words"), "") << row.at("name");
    }
    EXPECT_FALSE(is_whole) << "2 s were enough for 6 times 0.7 s";
}

TEST_F(GpuCheck, WhatIsNotThereIsMissingAndTheRestIsDone) {
    trick_ = "no_torch";
    fs::remove(folder_ / "tools/ncu");
    const auto ended = check({"--budget", "1m"});
    EXPECT_EQ(ended.code, 0) << ended.output;
    const auto all = report();
    EXPECT_EQ(rows(all, "turns", "missing").size(), 20U);
    EXPECT_EQ(words(all, "fft 256"), "there is no torch in this python3");
    EXPECT_EQ(words(all, "ncu"), "there is no ncu here");
    EXPECT_EQ(rows(all, "contract", "passed").size(), 4U);
}

struct Trick {
    const char* name;
    const char* row;
    const char* said;
};

class Tricked : public GpuCheck, public testing::WithParamInterface<Trick> {};

TEST_P(Tricked, IsSaidInItsRowAndCostsNoOther) {
    const auto& [name, row, said] = GetParam();
    trick_ = name;
    EXPECT_EQ(check({"--budget", "1m", "--pairs", "1"}).code, 1) << "PyTorch cannot do fp8 either";
    const auto all = report();
    EXPECT_THAT(words(all, row), HasSubstr(said));
    EXPECT_EQ(rows(all, "quick", "passed").size(), 2U);
    EXPECT_EQ(rows(all, "contract", "missing").size(), trick_ == "another_cuda" ? 4U : 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Tricked,
                         testing::Values(Trick{"another_cuda", "memory.stream[cuda]",
                                               "libcudart.so.99"},
                                         Trick{"in_use", "other processes", "4711, python3"},
                                         Trick{"crash", "peak.fma[cuda]", "SIGSEGV"}),
                         [](const auto& of) { return std::string{of.param.name}; });

TEST_F(GpuCheck, DecidesAboutHealthyDevice) {
    const auto ended = check({"--part", "decide"});
    EXPECT_EQ(ended.code, 0) << ended.output;
    const auto all = report();
    for (const auto* name : {"acceptance 1", "acceptance 2"})
        EXPECT_EQ(words(all, name), "PASS: cuda:0 PASS");
    EXPECT_EQ(words(all, "compared"), "1 cases, none faster or slower");
    EXPECT_THAT(words(all, "acceptance beside another process"), HasSubstr("another process"));
    EXPECT_THAT(words(all, "its verdict"), HasSubstr("is named"));
    // They become rows of tests/decisions.
    for (const auto* name : {"acceptance-acceptance_1", "acceptance-acceptance_2", "quick-quick_1",
                             "quick-quick_2", "shared-acceptance_beside_another_process"})
        EXPECT_EQ(archived(std::string{name} + "/run.json"), text_of("sample.json")) << name;
    const auto other = std::stoi(text_of("beside"));
    EXPECT_NE(::kill(other, 0), 0) << "the other process goes on";
}

struct Wrong {
    const char* trick;
    const char* row;
    const char* said;
};
class Undecided : public GpuCheck, public testing::WithParamInterface<Wrong> {};

TEST_P(Undecided, FailsInItsRow) {
    const auto& [trick, row, said] = GetParam();
    trick_ = trick;
    EXPECT_EQ(check({"--part", "decide"}).code, 1);
    EXPECT_THAT(words(report(), row), HasSubstr(said));
}

INSTANTIATE_TEST_SUITE_P(
    All, Undecided,
    testing::Values(Wrong{"not_good", "acceptance 1", "FAIL: cuda:0 FAIL"},
                    Wrong{"false_verdict", "compared", "gemm.square[cublaslt]: worse"},
                    Wrong{"unresolved", "compared", "not resolved below 2%"},
                    Wrong{"unnamed", "its verdict", "is not named"},
                    Wrong{"accused", "its verdict", "FAIL by another process"}),
    [](const auto& of) { return std::string{of.param.trick}; });

TEST_F(GpuCheck, SaysWhatAcceptanceLeftNoTimeFor) {
    seconds_each_ = "2.1"; // the second is ended by the budget, however fast the first begins
    const auto ended = check({"--part", "decide", "--budget", "4s"});
    EXPECT_EQ(ended.code, 3) << ended.output;
    const auto all = report();
    EXPECT_THAT(words(all, "compared"), HasSubstr("it needs quick"));
    EXPECT_EQ(words(all, "its verdict"), "it needs acceptance beside another process");
}

TEST_F(GpuCheck, WithoutRoomForTheArchiveTheTableIsPrinted) {
    trick_ = "no_room";
    const auto ended = check({"--budget", "1m", "--pairs", "1"});
    EXPECT_EQ(ended.code, 4);
    EXPECT_THAT(ended.output, HasSubstr("cannot write"));
    EXPECT_THAT(ended.output, HasSubstr("memory.stream[cuda]"));
}

TEST_F(GpuCheck, WrongUseIsSaid) {
    EXPECT_EQ(check({"--budget", "soon"}).code, 2);
    EXPECT_EQ(check({"--part", "everything"}).code, 2);
    fs::create_directories(folder_ / "out");
    std::ofstream{folder_ / "out/gpu-check.tar"} << "earlier";
    const auto ended = check({});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.output, HasSubstr("is there already"));
    EXPECT_EQ(text_of("out/gpu-check.tar"), "earlier");
}

} // namespace
} // namespace assay::gpu
