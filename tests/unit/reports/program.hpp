// SPDX-License-Identifier: Apache-2.0
//
// The program assay-report, in a folder with one result.

#pragma once

#include "record/convert.hpp"
#include "support/sample_run.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>

namespace assay::report {

namespace fs = std::filesystem;

struct Ended {
    int code = -1;
    std::string output; ///< stdout and stderr
};

class ProgramTest : public testing::Test {
protected:
    void SetUp() override { put("results/one", test::sample_run()); }

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
    static void expect(const Ended& ended, int code, const std::vector<std::string>& parts) {
        EXPECT_EQ(ended.code, code) << ended.output;
        for (const auto& part : parts) EXPECT_THAT(ended.output, testing::HasSubstr(part));
    }
    static std::string content(const fs::path& path) { return test::content_of(path); }
    fs::path write(const std::string& name, const std::string& text) const {
        return temporary_.write(name, text);
    }
    /// The run.json of a folder.
    fs::path put(const std::string& folder, const record::Run& run) const {
        fs::create_directories(folder_ / folder);
        EXPECT_TRUE(record::write_run(folder_ / folder / "run.json", run).has_value());
        return folder_ / folder / "run.json";
    }
    void replace(const std::string& from, const std::string& to) const {
        std::string text = content(run_);
        const auto at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        write("results/one/run.json", text);
    }

    made::TemporaryFolder temporary_;
    const fs::path& folder_ = temporary_.path();
    const fs::path run_ = folder_ / "results/one/run.json";
};

} // namespace assay::report
