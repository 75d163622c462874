// SPDX-License-Identifier: Apache-2.0
//
// What every benchmark promises (assay/benchmark.hpp), tried with every benchmark of every module.

#include "prepared.hpp"
#include "record/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::contract {
namespace {

bool is_snake_case(std::string_view text) {
    return !text.empty() &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == text.npos;
}

bool environment_has(const char* name, const char* setting) {
    const char* found = std::getenv(name);
    return found != nullptr && std::string_view{found} == setting;
}

/// ASSAY_CONTRACT_VARIABLES=each: the libraries read them for each case.
bool may_be_told(const assay_benchmark& benchmark, const Case& values) {
    return environment_has("ASSAY_CONTRACT_VARIABLES", "each") ||
           std::ranges::all_of(variables_of(benchmark, values), [](const assay_variable& one) {
               return environment_has(one.name, one.setting);
           });
}

/// A test that runs nothing has not passed.
constexpr auto long_words = "a call takes seconds: tests/external runs it";
constexpr auto nothing_fits = "nothing fits; see SaysWhatFits";

bool is_given(const char* text) { return text != nullptr && *text != '\0'; }

struct Refused {
    Case values;
    std::string reason; // with the usual sizes
};
struct Cases {
    std::vector<Case> fitting;
    std::vector<Refused> refused;
};

/// Cases that this machine can run: every combination of names and booleans, with the first sizes that fit: with
/// two threads, or with one in a build that has no more.
Cases cases_of(const assay_benchmark& benchmark, const FakeProgram& program) {
    Cases cases;
    for (const std::int64_t threads : {2, 1}) {
        const auto usual = small_cases(benchmark, threads);
        const auto tiny = small_cases(benchmark, threads, Sizes::tiny);
        cases.refused.clear();
        for (std::size_t i = 0; i < usual.size(); ++i) {
            const auto reason = misfit(benchmark, program, usual[i]);
            if (reason.empty())
                cases.fitting.push_back(usual[i]);
            else if (misfit(benchmark, program, tiny[i]).empty())
                cases.fitting.push_back(tiny[i]);
            else
                cases.refused.push_back({usual[i], reason});
        }
        if (!cases.fitting.empty()) break;
    }
    return cases;
}

class Contract : public testing::TestWithParam<Loaded> {
protected:
    void SetUp() override {
        ASSERT_NE(GetParam().benchmark, nullptr) << GetParam().name << ": " << GetParam().problem;
    }
    static const assay_benchmark& benchmark() { return *GetParam().benchmark; }
    /// Those that start programs, for seconds each: with other programs, tests/external holds them to the same.
    static bool is_long() {
        return benchmark().struct_size >= sizeof(assay_benchmark) &&
               (benchmark().flags & ASSAY_LONG_CALLS) != 0;
    }
    static bool needs_team() { return (benchmark().flags & ASSAY_TEAM) != 0; }

    static std::vector<Case> fitting_cases(const FakeProgram& program) {
        auto fitting = cases_of(benchmark(), program).fitting;
        // A library reads its variables once: these cases need a process that was started with them.
        std::erase_if(fitting, [](const Case& one) { return !may_be_told(benchmark(), one); });
        return few_are_wanted() ? fewest(fitting) : fitting;
    }
    static bool few_are_wanted() { return environment_has("ASSAY_CONTRACT_CASES", "few"); }
};

TEST_P(Contract, IntroducesItself) {
    const assay_module_v1& module = *GetParam().module;
    EXPECT_EQ(module.abi, ASSAY_MODULE_ABI);
    EXPECT_GE(module.struct_size, sizeof(assay_module_v1));
    EXPECT_TRUE(is_snake_case(module.name)) << module.name;
    EXPECT_NE(module.launcher, nullptr);

    const assay_benchmark& b = benchmark();
    EXPECT_GE(b.struct_size, sizeof(assay_benchmark));
    EXPECT_GE(b.version, 1U);
    const std::string_view id = b.id;
    const auto dot = id.find('.');
    ASSERT_NE(dot, id.npos) << id << " should be <family>.<name>";
    EXPECT_TRUE(is_snake_case(id.substr(0, dot)) && is_snake_case(id.substr(dot + 1))) << id;
    EXPECT_TRUE(is_given(b.place));
    EXPECT_TRUE(is_given(b.question) && std::string_view{b.question}.ends_with('?')) << b.question;
    EXPECT_TRUE(is_given(b.method));
    EXPECT_TRUE(is_given(b.caveats));
    ASSERT_NE(b.ceiling, nullptr);
    EXPECT_NE(record::find_metric(b.headline), nullptr) << b.headline << " is no metric";
    EXPECT_EQ(b.rewind != nullptr, (b.flags & ASSAY_REWINDS) != 0);
    EXPECT_EQ(b.safe_calls != 0, (b.flags & ASSAY_REWINDS) != 0);
    EXPECT_EQ(needs_team(), is_given(module.launcher));
}

TEST_P(Contract, OffersParametersThatMakeSense) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < benchmark().parameter_count; ++i) {
        const assay_parameter& p = benchmark().parameters[i];
        SCOPED_TRACE(p.name);
        EXPECT_TRUE(is_snake_case(p.name));
        EXPECT_TRUE(seen.insert(p.name).second) << "is there twice";
        EXPECT_TRUE(is_given(p.help));
        ASSERT_NE(p.unit, nullptr);
        ASSERT_GE(p.default_count, 1U);
        EXPECT_TRUE(p.kind != ASSAY_INTEGER || p.integer_low <= p.integer_high);
        EXPECT_TRUE(p.kind != ASSAY_REAL || p.real_low <= p.real_high);
        EXPECT_TRUE(p.kind != ASSAY_NAME || p.name_count > 0);
        for (std::size_t k = 0; k < p.default_count; ++k) {
            const assay_value& value = p.defaults[k];
            if (value.kind == ASSAY_INTEGER) {
                EXPECT_TRUE(p.integer_low <= value.integer && value.integer <= p.integer_high)
                    << value.integer;
            } else if (value.kind == ASSAY_NAME) {
                const std::set<std::string_view> names(p.names, p.names + p.name_count);
                EXPECT_TRUE(is_given(value.text) && names.contains(value.text));
            } else {
                EXPECT_EQ(value.kind, p.kind);
            }
        }
    }
}

TEST_P(Contract, SaysWhatFits) {
    FakeProgram program;
    const std::vector<Case> cases = small_cases(benchmark());
    ASSERT_FALSE(cases.empty());
    if (cases_of(benchmark(), program).fitting.empty()) {
        const auto why = misfit(benchmark(), program, cases.front());
        ASSERT_NE(why.find("not applicable"), std::string::npos)
            << "no small case fits this machine: " << why;
        GTEST_SKIP() << why; // a container that may not place memory on nodes
    }

    if (!needs_team()) return;
    for (Case values : cases) { // a team of one has nobody to talk to
        for (std::size_t i = 0; i < values.size(); ++i)
            if (std::string_view{benchmark().parameters[i].name} == "ranks") values[i].integer = 1;
        const auto why = misfit(benchmark(), program, values);
        EXPECT_NE(why.find("not applicable"), std::string::npos) << why;
    }
}

/// A kernel that no case here runs is a kernel without a check.
TEST_P(Contract, RunsEveryChoiceThatApplies) {
    const Cases cases = cases_of(benchmark(), FakeProgram{});
    for (const Refused& refused : cases.refused) {
        const auto is_run = [&](std::size_t i) {
            const assay_value& value = refused.values[i];
            return std::ranges::any_of(cases.fitting, [&](const Case& fitting) {
                return value.kind == ASSAY_NAME ? std::string_view{value.text} == fitting[i].text
                                                : value.integer == fitting[i].integer;
            });
        };
        for (std::size_t i = 0; i < refused.values.size(); ++i) {
            const auto kind = refused.values[i].kind;
            if ((kind != ASSAY_NAME && kind != ASSAY_BOOLEAN) || is_run(i)) continue;
            if (std::string_view{benchmark().parameters[i].name} == "isa") continue; // another's
            EXPECT_NE(refused.reason.find("not applicable"), std::string::npos)
                << describe(benchmark(), refused.values) << ": " << benchmark().parameters[i].name
                << " is never tried with this value: " << refused.reason;
        }
    }
}

TEST_P(Contract, RefusesWhatTheMachineHasNoMemoryFor) {
    if (is_long()) GTEST_SKIP() << "the program has its own memory";
    if (std::string_view{benchmark().place} != "host")
        GTEST_SKIP() << "a device has its own memory";
    FakeProgram program;
    program.facts["memory.available"] = 4096;
    for (const Case& values : small_cases(benchmark())) {
        bool has_size = false;
        for (std::size_t i = 0; i < values.size(); ++i)
            has_size = has_size || std::string_view{benchmark().parameters[i].unit} == "B";
        if (!has_size || needs_team()) continue;
        EXPECT_NE(misfit(benchmark(), program, values), "") << describe(benchmark(), values);
    }
}

TEST_P(Contract, ComputesAndIsChecked) {
    if (is_long()) GTEST_SKIP() << long_words;
    if (needs_team()) GTEST_SKIP() << "needs several processes";
    FakeProgram program;
    const std::vector<Case> cases = fitting_cases(program);
    if (cases.empty()) GTEST_SKIP() << nothing_fits;
    for (const Case& values : cases) {
        SCOPED_TRACE(describe(benchmark(), values));
        Prepared prepared{benchmark(), program, values};
        ASSERT_TRUE(prepared);

        prepared.run(1);
        EXPECT_TRUE(prepared.accepts()) << prepared.last_detail();

        prepared.poison();
        EXPECT_FALSE(prepared.accepts()) << "accepts a poisoned output";
        prepared.run(1);
        EXPECT_TRUE(prepared.accepts()) << "does not recover from poison";

        for (int i = 0; i < (few_are_wanted() ? 2 : 5); ++i) { // wherever the damage is
            prepared.spoil();
            EXPECT_FALSE(prepared.accepts()) << "does not notice spoil number " << i;
            prepared.run(1);
            ASSERT_TRUE(prepared.accepts()) << prepared.last_detail();
        }
    }
}

TEST_P(Contract, RunsMoreThanOnce) {
    if (is_long()) GTEST_SKIP() << long_words;
    if (needs_team()) GTEST_SKIP() << "needs several processes";
    FakeProgram program;
    const bool rewinds = (benchmark().flags & ASSAY_REWINDS) != 0;
    const bool single = (benchmark().flags & ASSAY_SINGLE_CALL) != 0;
    const bool may_repeat = !single && (!rewinds || benchmark().safe_calls > 1);
    const std::vector<Case> cases = fitting_cases(program);
    if (cases.empty()) GTEST_SKIP() << nothing_fits;
    for (const Case& values : cases) {
        SCOPED_TRACE(describe(benchmark(), values));
        Prepared prepared{benchmark(), program, values};
        ASSERT_TRUE(prepared);
        if (may_repeat) prepared.run(2);
        if (may_repeat && !rewinds) {
            EXPECT_TRUE(prepared.accepts()) << prepared.last_detail();
        }
        prepared.run(1); // after a rewind, as the verified call always is
        EXPECT_TRUE(prepared.accepts()) << prepared.last_detail();
    }
}

TEST_P(Contract, SaysHowMuchItDoes) {
    if (is_long()) GTEST_SKIP() << long_words;
    if (needs_team()) GTEST_SKIP() << "needs several processes";
    const std::vector<Case> cases = fitting_cases(FakeProgram{});
    if (cases.empty()) GTEST_SKIP() << nothing_fits;
    for (const Case& values : cases) {
        SCOPED_TRACE(describe(benchmark(), values));
        FakeProgram program;
        Prepared prepared{benchmark(), program, values};
        ASSERT_TRUE(prepared);
        assay_work w{};
        w.struct_size = sizeof w;
        Text error;
        ASSERT_EQ(benchmark().work(prepared.state(), &w, error.get()), 0) << error.str();

        const std::map<std::string_view, double> amounts{{"", 1.0}, // the headline is a time
                                                         {"flops", w.flops},
                                                         {"operations", w.operations},
                                                         {"bytes", w.bytes},
                                                         {"algorithm_bytes", w.algorithm_bytes},
                                                         {"bus_bytes", w.bus_bytes},
                                                         {"items", w.items},
                                                         {"cells", w.cells},
                                                         {"atom_steps", w.atom_steps},
                                                         {"pairs", w.pairs},
                                                         {"steps", w.steps}};
        for (const auto& [name, amount] : amounts)
            EXPECT_TRUE(std::isfinite(amount) && amount >= 0) << name << " " << amount;
        const auto* headline = record::find_metric(benchmark().headline);
        ASSERT_NE(headline, nullptr);
        // A family that counts FLOP may have a member that computes with integers.
        const bool has_integers = headline->work == "flops" && w.operations > 0;
        EXPECT_TRUE(amounts.at(headline->work) > 0 || has_integers) << "the headline would be 0";

        EXPECT_FALSE(program.numbers.empty() && program.texts.empty())
            << "what the parameters resolved to is not recorded";
        for (const auto& [name, value] : program.numbers)
            EXPECT_TRUE(is_snake_case(name) && std::isfinite(value)) << name << " " << value;
        for (const auto& [name, value] : program.texts)
            EXPECT_TRUE(is_snake_case(name) && !value.empty()) << name << " " << value;

        if (benchmark().metrics == nullptr) continue;
        prepared.run(1); // figures are of what ran
        ASSERT_EQ(benchmark().metrics(prepared.state(), &program.services, error.get()), 0);
        for (const auto& [name, value] : program.metrics)
            EXPECT_NE(record::find_metric(name), nullptr) << name << " is no metric";
        for (const auto& table : program.tables) {
            EXPECT_NE(record::find_metric(table.metric), nullptr) << table.metric;
            for (const auto& label : table.labels) EXPECT_FALSE(label.empty());
            // NaN is a cell without a value; one cell at least has one.
            EXPECT_TRUE(
                std::ranges::any_of(table.values, [](double v) { return std::isfinite(v); }));
            for (const double value : table.values) EXPECT_TRUE(std::isnan(value) || value > 0);
        }
    }
}

TEST_P(Contract, CanBePreparedAgain) {
    if (is_long()) GTEST_SKIP() << long_words;
    if (needs_team()) GTEST_SKIP() << "needs several processes";
    FakeProgram program;
    auto cases = fitting_cases(program); // less those whose variables a process has once
    std::erase_if(cases, [](const Case& one) { return !variables_of(benchmark(), one).empty(); });
    if (cases.empty()) GTEST_SKIP() << nothing_fits;
    for (int i = 0; i < 2; ++i) {
        Prepared first{benchmark(), program, cases.front()};
        Prepared second{benchmark(), program, cases.back()}; // two at once share nothing
        ASSERT_TRUE(first && second);
        first.run(1);
        second.run(1);
        EXPECT_TRUE(first.accepts()) << first.last_detail();
        EXPECT_TRUE(second.accepts()) << second.last_detail();
    }
}

INSTANTIATE_TEST_SUITE_P(Modules, Contract, testing::ValuesIn(every_benchmark()),
                         [](const testing::TestParamInfo<Loaded>& test) {
                             return test.param.name;
                         });

/// A host stands beside a device in one row (`compare --across`) only in one unit.
TEST(Modules, MeasureOneQuestionByOneMetric) {
    std::map<std::string, const char*> metrics;
    for (const auto& [name, problem, module, benchmark] : every_benchmark()) {
        if (benchmark == nullptr) continue;
        const auto known = metrics.try_emplace(benchmark->id, benchmark->headline).first;
        EXPECT_STREQ(known->second, benchmark->headline) << name;
    }
}

TEST(Modules, AreThere) {
    EXPECT_FALSE(every_benchmark().empty()) << "no module in " << ASSAY_MODULE_DIR;
}

} // namespace
} // namespace assay::contract
