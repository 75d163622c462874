// SPDX-License-Identifier: Apache-2.0

#include "loaded.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

namespace assay::contract {
namespace {

std::string last_error() {
    const char* text = ::dlerror();
    return text == nullptr ? "unknown error" : text;
}

const assay_module_v1* open_module(const std::filesystem::path& path, std::string& problem) {
    // Never closed: the threads of an OpenMP runtime outlive everything.
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        problem = last_error();
        return nullptr;
    }
    const auto function = reinterpret_cast<assay_module_function>(::dlsym(handle, "assay_module"));
    if (function == nullptr) {
        problem = last_error();
        return nullptr;
    }
    return function();
}

/// Where this program was built; in the package, where it lies. Modules for the device that is the CPU lie elsewhere.
std::filesystem::path module_folder() {
    const char* const named = std::getenv("ASSAY_CONTRACT_FOLDER");
    if (named != nullptr) return named;
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto beside = program.parent_path().parent_path();
    return beside.filename() == "assay" ? beside : std::filesystem::path{ASSAY_MODULE_DIR};
}

std::vector<Loaded> load_all() {
    std::vector<std::filesystem::path> paths;
    std::error_code ignored; // an absent folder is an empty list, and the test for that says so
    // For who tries one benchmark at a time: loading cuBLASLt alone takes seconds under a sanitizer.
    const char* const only = std::getenv("ASSAY_CONTRACT_MODULE");
    for (const auto& entry : std::filesystem::directory_iterator{module_folder(), ignored})
        if (entry.path().extension() == ".so" && (only == nullptr || entry.path().stem() == only))
            paths.push_back(entry.path());
    std::ranges::sort(paths);

    // Threads that wait should sleep: tests share the machine, and times do not matter here.
    ::setenv("OMP_WAIT_POLICY", "passive", 0);
    std::vector<Loaded> found;
    for (const auto& path : paths) {
        const std::string name = path.stem().string();
        std::string problem;
        const assay_module_v1* module = open_module(path, problem);
        if (module == nullptr || module->benchmark_count == 0) {
            found.push_back({.name = name, .problem = problem.empty() ? "is empty" : problem});
            continue;
        }
        for (std::size_t i = 0; i < module->benchmark_count; ++i) {
            std::string test = name + "_" + module->benchmarks[i]->id;
            std::ranges::replace(test, '.', '_');
            found.push_back({.name = test, .module = module, .benchmark = module->benchmarks[i]});
        }
    }
    return found;
}

/// Instruction sets as /proc/cpuinfo lists them: `flags` on x86, `Features` on Arm.
std::string instruction_sets() {
    std::ifstream file{"/proc/cpuinfo"};
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("flags") || line.starts_with("Features"))
            return line.substr(line.find(':') + 2);
    return {};
}

assay_value number(std::int64_t value) { return {ASSAY_INTEGER, 0, value, 0, nullptr}; }

/// Large enough that there is something to split over two threads, small enough for milliseconds.
std::int64_t small_integer(const assay_parameter& parameter, std::int64_t threads, Sizes sizes,
                           std::int64_t trial_bytes) {
    const std::string_view name{parameter.name};
    std::int64_t wanted = 64;
    if (name == "threads" || name == "ranks")
        wanted = threads;
    else if (std::string_view{parameter.unit} == "B")
        wanted = sizes == Sizes::tiny ? 16 << 10U : trial_bytes != 0 ? trial_bytes : 4 << 20U;
    else if (name == "points")
        wanted = sizes == Sizes::tiny ? 16 : 20; // of a cube, whose plans are measured by trial
    else if (name == "batch")
        wanted = 3;
    else if (name == "heads")
        wanted = 24; // which groups of 1 and of 12 divide
    else if (name == "patch")
        wanted = 32; // voxels of an edge
    else if (name == "size")
        wanted = 128; // of a matrix: scales of blocks are for multiples of it
    return std::clamp(wanted, parameter.integer_low, parameter.integer_high);
}

/// The values of one parameter that the contract is tried with.
std::vector<assay_value> choices(const assay_parameter& parameter, std::int64_t threads,
                                 Sizes sizes, std::int64_t trial_bytes) {
    switch (parameter.kind) {
    case ASSAY_INTEGER:
        // One is another kernel than several, and twelve are not a multiple of what a kernel takes at once.
        if (std::string_view{parameter.name} == "group") return {number(1), number(12)};
        return {number(small_integer(parameter, threads, sizes, trial_bytes))};
    case ASSAY_BOOLEAN:
        return {{ASSAY_BOOLEAN, 0, 0, 0, nullptr}, {ASSAY_BOOLEAN, 0, 1, 0, nullptr}};
    case ASSAY_NAME: {
        std::vector<assay_value> names;
        // The first model is a small one; the others fill a device, and differ in shape alone.
        const bool one = std::string_view{parameter.name} == "model";
        for (std::size_t i = 0; i < (one ? 1 : parameter.name_count); ++i)
            names.push_back({ASSAY_NAME, 0, 0, 0, parameter.names[i]});
        return names;
    }
    default:
        return {parameter.defaults[0]};
    }
}

std::string text_of(const assay_value& value) {
    switch (value.kind) {
    case ASSAY_INTEGER:
    case ASSAY_BOOLEAN:
        return std::to_string(value.integer);
    case ASSAY_REAL:
        return std::to_string(value.real);
    default:
        return value.text;
    }
}

} // namespace

const std::vector<Loaded>& every_benchmark() {
    static const std::vector<Loaded> all = load_all();
    return all;
}

FakeProgram::FakeProgram() {
    facts = {{"cores", 2},
             {"threads", 2},
             {"cache.last_level", 1 << 20U},
             {"cache.l1d", 32 << 10U},
             {"cache.l2", 512 << 10U},
             {"memory.total", 1 << 30U},
             {"memory.available", 1 << 29U},
             {"numa.nodes", 2}};
    text_facts = {{"isa", instruction_sets()}, {"cpu.model", "a fake"}};
}

std::string describe(const assay_benchmark& benchmark, const Case& values) {
    std::string text = benchmark.id;
    for (std::size_t i = 0; i < values.size(); ++i)
        text += std::string{" "} + benchmark.parameters[i].name + "=" + text_of(values[i]);
    return text;
}

std::string misfit(const assay_benchmark& benchmark, const FakeProgram& program,
                   const Case& values) {
    Text why;
    const auto answer = benchmark.fit(&program.services, values.data(), why.get());
    EXPECT_TRUE(answer == 0 || answer == 1) << answer;
    EXPECT_EQ(answer == 0, why.str().empty()) << describe(benchmark, values) << ": " << why.str();
    return why.str();
}

std::vector<assay_variable> variables_of(const assay_benchmark& benchmark, const Case& values) {
    std::vector<assay_variable> found;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const assay_parameter& parameter = benchmark.parameters[i];
        std::copy_if(parameter.variables, parameter.variables + parameter.variable_count,
                     std::back_inserter(found), [&](const assay_variable& variable) {
                         return text_of(values[i]) == variable.value;
                     });
    }
    return found;
}

Told::Told(const assay_benchmark& benchmark, const Case& values) {
    for (const assay_variable& variable : variables_of(benchmark, values))
        set_.emplace_back(variable.name, variable.setting);
}

std::vector<Case> small_cases(const assay_benchmark& benchmark, std::int64_t threads, Sizes sizes) {
    const bool is_older = benchmark.struct_size < sizeof(assay_benchmark);
    const std::int64_t trial_bytes = is_older ? 0 : benchmark.trial_bytes;
    std::vector<Case> cases{{}};
    for (std::size_t i = 0; i < benchmark.parameter_count; ++i) {
        std::vector<Case> longer;
        for (const Case& shorter : cases)
            for (const assay_value& value :
                 choices(benchmark.parameters[i], threads, sizes, trial_bytes)) {
                longer.push_back(shorter);
                longer.back().push_back(value);
            }
        cases = std::move(longer);
    }
    return cases;
}

std::vector<Case> fewest(const std::vector<Case>& cases) {
    std::set<std::pair<std::size_t, std::string>> seen;
    std::vector<Case> kept;
    // From the last: the first of `layer` is all layers, which is tried once so, not with each precision.
    for (const Case& values : cases | std::views::reverse) {
        bool is_new = false;
        for (std::size_t i = 0; i < values.size(); ++i)
            is_new = seen.emplace(i, text_of(values[i])).second || is_new;
        if (is_new) kept.push_back(values);
    }
    return kept;
}

} // namespace assay::contract
