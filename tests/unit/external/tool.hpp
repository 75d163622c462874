// SPDX-License-Identifier: Apache-2.0
//
// A described benchmark as the harness uses it, with scripts for programs.

#pragma once

#include "external/tool_case.hpp"
#include "made.hpp"
#include "support/fake_program.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <optional>
#include <string>

namespace assay::external {

using made::TemporaryFolder;

class Tool : public testing::Test {
protected:
    Tool() { program_.facts["cores"] = 4; }

    static constexpr auto good = "echo 'rate: 5 MB/s'; echo 'errors: 0'";

    /// Prepared with a program of these lines.
    ToolCase& prepare(const std::string& lines) {
        json_["program"]["name"] = script(folder_.path(), lines);
        return prepare();
    }
    ToolCase& prepare() {
        json_["scratch_in"] = "where";
        description_ = made(json_);
        case_.reset();
        case_.emplace(description_, values(), Context{&program_.services});
        return *case_;
    }
    const assay_value* values() {
        base_ = folder_.path().string();
        values_ = {{{ASSAY_NAME, 0, 0, 0, "fast"}, size_, {ASSAY_STRING, 0, 0, 0, base_.c_str()}}};
        return values_.data();
    }
    std::string fit() {
        description_ = made(json_);
        const auto decision = fits(description_, values(), Machine{&program_.services});
        return decision ? "" : decision.why();
    }
    /// Problem of a run of these lines; empty if it went well.
    std::string problem(const std::string& lines) try {
        prepare(lines).run();
        return {};
    } catch (const Problem& problem) {
        return problem.what();
    }

    TemporaryFolder folder_;
    test::FakeProgram program_;
    Json json_ = made_json();
    Description description_;
    std::string base_;
    assay_value size_{ASSAY_INTEGER, 0, 7, 0, nullptr};
    std::array<assay_value, 3> values_{};
    std::optional<ToolCase> case_;
};

} // namespace assay::external
