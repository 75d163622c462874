// SPDX-License-Identifier: Apache-2.0
//
// A described benchmark as the harness uses it, with scripts for programs.

#pragma once

#include "external/tool_case.hpp"
#include "made.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace assay::external {

using harness::made::TemporaryFolder;

/// What a program tells a benchmark and is told by it.
struct Services {
    Services() {
        table.struct_size = sizeof table;
        table.abi = ASSAY_MODULE_ABI;
        table.context = this;
        table.fact = [](void*, const char* name) {
            return std::string_view{name} == "cores" ? 4.0
                                                     : std::numeric_limits<double>::quiet_NaN();
        };
        table.fact_text = [](void*, const char*) -> const char* { return nullptr; };
        table.setting_number = [](void* self, const char* name, double value) {
            static_cast<Services*>(self)->numbers[name] = value;
        };
        table.setting_text = [](void* self, const char* name, const char* value) {
            static_cast<Services*>(self)->texts[name] = value;
        };
        table.metric = [](void* self, const char* name, double value) {
            static_cast<Services*>(self)->metrics[name] = value;
        };
        table.log = [](void*, std::int32_t, const char*) {};
    }
    std::map<std::string, double> numbers;
    std::map<std::string, std::string> texts;
    std::map<std::string, double> metrics;
    assay_services table{};
};

class Tool : public testing::Test {
protected:
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
        case_.emplace(description_, values(), Context{&services_.table});
        return *case_;
    }
    const assay_value* values() {
        base_ = folder_.path().string();
        values_ = {{{ASSAY_NAME, 0, 0, 0, "fast"}, size_, {ASSAY_STRING, 0, 0, 0, base_.c_str()}}};
        return values_.data();
    }
    std::string fit() {
        description_ = made(json_);
        const auto decision = fits(description_, values(), Machine{&services_.table});
        return decision ? "" : decision.why();
    }
    /// Of a run of these lines; empty where it went well.
    std::string problem(const std::string& lines) try {
        prepare(lines).run();
        return {};
    } catch (const Problem& problem) {
        return problem.what();
    }

    TemporaryFolder folder_;
    Services services_;
    Json json_ = made_json();
    Description description_;
    std::string base_;
    assay_value size_{ASSAY_INTEGER, 0, 7, 0, nullptr};
    std::array<assay_value, 3> values_{};
    std::optional<ToolCase> case_;
};

} // namespace assay::external
