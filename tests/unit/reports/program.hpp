// SPDX-License-Identifier: Apache-2.0
//
// The program assay-report, in a folder with one result.

#pragma once

#include "record/convert.hpp"
#include "support/sample_run.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace assay::report {

namespace fs = std::filesystem;

struct Ended {
    int code = -1;
    std::string output; ///< stdout and stderr
};

class ProgramTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("assay-report-" + std::to_string(getpid()));
        fs::create_directories(folder_ / "results/one");
        run_ = folder_ / "results/one/run.json";
        ASSERT_TRUE(record::write_run(run_, test::sample_run()).has_value());
    }
    void TearDown() override { fs::remove_all(folder_); }

    Ended call(const std::string& arguments, const std::string& environment = "") const {
        const std::string command = "cd '" + folder_.string() + "' && " + environment +
                                    " " ASSAY_REPORT_PROGRAM " " + arguments + " 2>&1";
        Ended ended;
        FILE* pipe = popen(command.c_str(), "r");
        if (pipe == nullptr) return ended;
        std::array<char, 4096> part{};
        while (const auto size = std::fread(part.data(), 1, part.size(), pipe))
            ended.output.append(part.data(), size);
        const int status = pclose(pipe);
        ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
        return ended;
    }
    static std::string content(const fs::path& path) {
        std::ostringstream text;
        text << std::ifstream{path, std::ios::binary}.rdbuf();
        return text.str();
    }
    void replace(const std::string& from, const std::string& to) const {
        std::string text = content(run_);
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        std::ofstream{run_, std::ios::binary} << text;
    }

    fs::path folder_;
    fs::path run_;
};

} // namespace assay::report
