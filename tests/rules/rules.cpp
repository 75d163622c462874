// SPDX-License-Identifier: Apache-2.0
//
// Rules that a compiler cannot check: what may be called where, how a file begins. A rule that fails names the file,
// the line and what would be right.

#include "record/conditions.hpp"
#include "sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::rules {
namespace {

using testing::IsEmpty;

/// Code without its comment and string literals, so that prose may name what code may not call.
std::string code_of(const Line& line) {
    static const std::regex literals{R"re("([^"\\]|\\.)*")re"};
    const auto code = std::regex_replace(line.text, literals, "\"\"");
    return code.substr(0, code.find("//"));
}

/// Other programs' outputs are taken apart in one room.
TEST(Rules, BenchmarksIncludeTheCounterAndNothingElseOfOurs) {
    static const std::regex quoted{R"re(^\s*#\s*include\s+"([^"]+)")re"};
    std::vector<std::string> broken;
    for (const auto& line : source_lines({"benchmarks"})) {
        std::smatch match;
        if (!std::regex_search(line.text, match, quoted)) continue;
        // Files of the same question may include each other; other rooms are out of reach.
        const auto folder = (root / line.file).parent_path();
        if (!fs::exists(folder / match[1].str()) &&
            !fs::exists(root / "benchmarks" / match[1].str()) &&
            !(line.file.starts_with("benchmarks/external/") &&
              match[1].str().starts_with("extract/")))
            broken.push_back(at(line) + ": includes " + match[1].str() + ", use <assay/...>");
    }
    EXPECT_THAT(broken, IsEmpty());
}

struct Forbidden {
    std::regex pattern;
    std::set<std::string> except; ///< rooms or files
    std::string why;
};

TEST(Rules, ForbiddenCallsStayInTheirRooms) {
    const std::string prose =
        R"(\b(reason|message|warning|warnings|source|detail|note|problem|disturbances|what\(\)))";
    const std::array forbidden{
        Forbidden{std::regex{R"((^|[^\w:.>])(std::|::)?(exit|_exit|_Exit|quick_exit|abort)\s*\()"},
                  {"harness/cli", "reports/cli", "harness/worker/worker.cpp",
                   "harness/process/process.cpp"},
                  "only the programs end the process (and children that have a task of their own)"},
        Forbidden{
            std::regex{R"(std::(cout|cerr|clog)|\b(printf|fprintf|puts|fputs|putchar|perror)\s*\()"
                       R"(|\b(stdout|stderr)\b|fmt::print\b|write(_all)?\(STD(OUT|ERR)_FILENO)"},
            {"harness/base/console.cpp", "harness/worker/worker.cpp", "harness/worker/services.cpp",
             "harness/worker/case_worker.cpp"},
            "what people read is made safe: base/console prints (a worker into its log)"},
        Forbidden{
            std::regex{R"(<nlohmann/)"}, {"harness/json", "harness/record"}, "use json/json.hpp"},
        Forbidden{std::regex{R"(<valijson/)"}, {"harness/json"}, "use json::check_schema"},
        Forbidden{std::regex{R"(<simdjson)"}, {"harness/record"}, "use record/reader.hpp"},
        Forbidden{std::regex{R"(std::(system|popen)\b|\bpopen\s*\()"}, {}, "no shell"},
        Forbidden{std::regex{R"(\b(cudaMallocManaged)\b)"}, {}, "plain device memory only"},
        Forbidden{
            std::regex{R"(std::this_thread::sleep|\busleep\s*\()"},
            {"harness/process/process.cpp", "harness/process/listing.cpp",
             "harness/worker/case_worker.cpp", "harness/base/file.cpp"},
            "waiting is the parent's business (and a soak's, between its steps, and a lock's)"},
        Forbidden{std::regex{prose + R"(\.(find|rfind|contains|starts_with|ends_with)\s*\()" +
                             R"(|(contains|regex_search|regex_match)\s*\((\w+\.)*)" + prose + ','},
                  {},
                  "control flow reads codes and typed fields, not sentences"},
    };
    std::vector<std::string> broken;
    for (const auto& line : source_lines({"harness", "reports"})) {
        const auto code = code_of(line);
        for (const auto& rule : forbidden)
            if (std::regex_search(code, rule.pattern) &&
                !rule.except.contains(room_of(line.file)) && !rule.except.contains(line.file))
                broken.push_back(at(line) + ": " + line.text + " (" + rule.why + ")");
    }
    EXPECT_THAT(broken, IsEmpty());
}

/// A host of another kind compiles every file: what x86 alone has stands between `#if defined(__x86_64__)`, or
/// Highway's word for it, and `#endif`.
TEST(Rules, WhatX86AloneHasIsGuarded) {
    static const std::regex x86{
        R"(<(\w+intrin|cpuid)\.h>|\b_mm(256|512)?_|\b__m(128|256|512)|__builtin_ia32|\b__(get_)?cpuid|\b_?_?rdtscp?\b)"};
    static const std::regex directive{R"(^\s*#\s*(if|el|endif))"};
    static const std::regex guard{R"(__x86_64__|HWY_ARCH_X86)"};
    std::vector<std::string> broken;
    std::vector<bool> guarded; // by the conditions that a line is in
    std::string file;
    std::size_t seen = 0;
    for (const auto& line : source_lines({"harness", "benchmarks", "reports"})) {
        if (line.file != file) guarded.clear();
        file = line.file;
        std::smatch match;
        if (std::regex_search(line.text, match, directive)) {
            if (match[1] != "if" && !guarded.empty()) guarded.pop_back();
            if (match[1] != "endif") guarded.push_back(std::regex_search(line.text, guard));
        }
        if (!std::regex_search(code_of(line), x86)) continue;
        ++seen;
        if (std::ranges::find(guarded, true) == guarded.end())
            broken.push_back(at(line) + ": " + line.text + " (guard it by __x86_64__)");
    }
    EXPECT_THAT(broken, IsEmpty());
    EXPECT_GT(seen, 10U);
}

/// A benchmark declares its own bound and reports the path it took (Info, Context::tell).
TEST(Rules, TheHarnessNamesNoBenchmarkAndNoLibrary) {
    static const std::regex id{R"re("([a-z0-9_]+)\.([a-z0-9_]+)")re"};
    std::set<std::string> families;
    for (const auto& entry : fs::directory_iterator{root / "benchmarks"})
        if (entry.is_directory()) families.insert(entry.path().filename().string());
    std::set<std::string> ids;
    for (const auto& line : source_lines({"benchmarks"})) {
        std::smatch match;
        if (!std::regex_search(line.text, match, id)) continue;
        if (families.contains(match[1])) ids.insert(match[0]);
    }
    EXPECT_TRUE(ids.contains("\"gemm.square\"") && ids.contains("\"transfer.peer\""));
    static const std::regex of_library{
        R"re("(nccl|mpi|ucx|ofi|openblas|onednn|cublas|cufft|fftw)\.)re"};
    static const std::regex family{R"re("([a-z0-9_]+)\.")re"};
    std::vector<std::string> broken;
    for (const auto& line : source_lines({"harness"})) {
        if (line.file.starts_with("harness/include/")) continue;
        // Results do not record what their benchmarks told: these two tables say it of files that are read.
        if (line.file == "harness/record/noise.cpp" ||
            line.file == "harness/reference/sheet_bounds.cpp")
            continue;
        const auto code = line.text.substr(0, line.text.find("//"));
        const bool named = std::ranges::any_of(
            ids, [&](const auto& text) { return code.find(text) != std::string::npos; });
        std::smatch match;
        if (named || std::regex_search(code, of_library) ||
            (std::regex_search(code, match, family) && families.contains(match[1])))
            broken.push_back(at(line) + ": " + line.text);
    }
    EXPECT_THAT(broken, IsEmpty());
}

TEST(Rules, OneFilePerProgramIncludesTheOptionParserAndOneTheSchemaChecker) {
    std::map<std::string, std::set<std::string>> users;
    for (const auto& line : source_lines({"harness", "reports"})) {
        if (line.text.find("<CLI/") != std::string::npos)
            users["CLI11 in " + room_of(line.file)].insert(line.file);
        if (line.text.find("<valijson/") != std::string::npos) users["valijson"].insert(line.file);
    }
    for (const auto& [what, files] : users)
        EXPECT_EQ(files.size(), 1U) << what << " is slow to compile: one file only";
}

TEST(Rules, EverySourceFileBeginsWithItsLicence) {
    std::vector<std::string> broken;
    for (const auto folder : {"harness", "benchmarks", "reports", "tests"})
        for (const auto& file : files_below(folder)) {
            if (!is_source(file)) continue;
            const auto lines = lines_of(file);
            if (lines.empty() ||
                lines[0].text.find("SPDX-License-Identifier: Apache-2.0") == std::string::npos)
                broken.push_back(fs::relative(file, root).string());
        }
    EXPECT_THAT(broken, IsEmpty()) << "first line: // SPDX-License-Identifier: Apache-2.0";
}

TEST(Rules, SourceFilesStaySmall) {
    constexpr std::size_t most = 500; // lines: think at 300, split at 500
    std::vector<std::string> broken;
    for (const auto folder : {"harness", "benchmarks", "reports", "tests"})
        for (const auto& file : files_below(folder))
            if (is_source(file) && lines_of(file).size() > most)
                broken.push_back(fs::relative(file, root).string());
    EXPECT_THAT(broken, IsEmpty());
}

TEST(Rules, NothingIsLeftForLater) {
    static const std::regex later{R"(\b(TODO|FIXME|XXX|HACK)\b)"};
    std::vector<std::string> broken;
    for (const auto& line : source_lines({"harness", "benchmarks", "reports"}))
        if (std::regex_search(line.text, later)) broken.push_back(at(line));
    EXPECT_THAT(broken, IsEmpty());
}

TEST(Rules, EveryRoomHasAReadmeOfAtMostThirtyLinesThatBeginsWithItsQuestion) {
    std::vector<std::string> broken;
    std::vector<fs::path> rooms;
    for (const auto top : {"harness", "benchmarks", "reports", "configs", "tests", "scripts"})
        rooms.push_back(root / top);
    for (const auto top : {"harness", "benchmarks", "reports"})
        for (const auto& entry : fs::directory_iterator{root / top})
            if (entry.is_directory()) rooms.push_back(entry.path());
    for (const auto& room : rooms) {
        const auto lines = lines_of(room / "README.md");
        const auto name = fs::relative(room, root).string();
        if (lines.empty())
            broken.push_back(name + ": no README.md");
        else if (lines.size() > 30)
            broken.push_back(name + "/README.md: more than 30 lines");
        else if (lines[0].text.find('?') == std::string::npos)
            broken.push_back(name + "/README.md: the first line should be the room's question");
    }
    EXPECT_THAT(broken, IsEmpty());
}

TEST(Rules, EveryBuildOptionIsSwitchedOnInAPreset) {
    static const std::regex option{R"(^option\((ASSAY_[A-Z]+))"};
    std::string presets;
    for (const auto& line : lines_of(root / "CMakePresets.json")) presets += line.text;
    for (const auto& line : lines_of(root / "CMakeLists.txt")) {
        std::smatch match;
        // Tests are on everywhere; scripts/run switches them off.
        if (std::regex_search(line.text, match, option) && match[1] != "ASSAY_TESTS") {
            EXPECT_NE(presets.find(match[1].str()), std::string::npos)
                << match[1] << " is in no preset: code behind it rots";
        }
    }
}

TEST(Rules, SettingsThatKeepSeriesApartAreWrittenByBenchmarks) {
    std::string sources;
    for (const auto& line : source_lines({"benchmarks"})) sources += line.text + '\n';
    std::size_t checked = 0;
    for (const auto& condition : record::condition_table()) {
        if (condition.setting.empty()) continue;
        ++checked;
        EXPECT_NE(sources.find("setting(\"" + std::string{condition.setting} + '"'),
                  std::string::npos)
            << "no benchmark records " << condition.setting;
    }
    EXPECT_GT(checked, 0U);
}

TEST(Rules, TheRulesSeeTheTree) {
    // A rule that reads nothing passes for ever.
    EXPECT_GT(source_lines({"harness"}).size(), 1000U);
    EXPECT_FALSE(source_lines({"benchmarks"}).empty());
}

} // namespace
} // namespace assay::rules
