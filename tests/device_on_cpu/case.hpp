// SPDX-License-Identifier: Apache-2.0
//
// One case of a benchmark through the C interface, in this process: what a worker does with it, step by step. Every
// function answers with what went wrong; "" is nothing.

#pragma once

#include "../support/fake_program.hpp"

#include <assay/module.h>

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay::device_on_cpu {

/// Benchmark of a module of the device on the CPU, by the module's path; stays loaded.
inline const assay_benchmark& benchmark_of(const std::string& module, const std::string& id) {
    void* const library = ::dlopen(module.c_str(), RTLD_NOW);
    if (library == nullptr)
        throw std::runtime_error{::dlerror()}; // NOLINT(concurrency-mt-unsafe): one thread
    const auto list = reinterpret_cast<assay_module_function>(::dlsym(library, "assay_module"))();
    for (std::size_t i = 0; i < list->benchmark_count; ++i)
        if (list->benchmarks[i]->id == id) return *list->benchmarks[i];
    throw std::runtime_error{module + " has no " + id};
}

using Given = std::map<std::string, std::string>;

class Case : public test::FakeProgram {
public:
    Case(const assay_benchmark& benchmark, Given given)
        : benchmark_{benchmark}, given_{std::move(given)} {
        for (std::size_t i = 0; i < benchmark.parameter_count; ++i)
            values_.push_back(value_of(benchmark.parameters[i], given_));
    }
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;
    ~Case() {
        if (state_ != nullptr) benchmark_.destroy(state_);
    }

    std::string misfit() {
        return benchmark_.fit(&services, values_.data(), error()) == 0 ? "" : words_.data();
    }
    std::string create() {
        return benchmark_.create(&services, values_.data(), &state_, error()) == 0 ? ""
                                                                                   : words_.data();
    }
    /// Rewinds, then times, like the engine.
    std::string sample(std::uint64_t calls) {
        double seconds = -1;
        const bool good =
            (benchmark_.rewind == nullptr || benchmark_.rewind(state_, error()) == 0) &&
            benchmark_.sample(state_, calls, &seconds, error()) == 0;
        return good ? seconds > 0 ? "" : "it took no time" : words_.data();
    }
    /// Empty, or what was wrong.
    std::string verdict() {
        std::array<char, 512> method{};
        std::array<char, 512> detail{};
        assay_check check{sizeof(assay_check),           0, 0, 0, {method.data(), method.size()},
                          {detail.data(), detail.size()}};
        if (benchmark_.verify(state_, &check, error()) != 0) return words_.data();
        if (check.passed != 0) return "";
        return detail[0] == '\0' ? "wrong" : detail.data();
    }
    std::string spoil() { return benchmark_.spoil(state_, error()) == 0 ? "" : words_.data(); }
    std::string poison() { return benchmark_.poison(state_, error()) == 0 ? "" : words_.data(); }
    double bus_bytes() {
        assay_work work{};
        work.struct_size = sizeof work;
        return benchmark_.work(state_, &work, error()) == 0 ? work.bus_bytes : -1;
    }

private:
    static assay_value value_of(const assay_parameter& parameter, const Given& given) {
        assay_value value = parameter.defaults[0];
        const auto found = given.find(parameter.name);
        if (found == given.end()) return value;
        if (parameter.kind == ASSAY_INTEGER)
            return {ASSAY_INTEGER, 0, std::stoll(found->second), 0, nullptr};
        if (parameter.kind == ASSAY_BOOLEAN)
            return {ASSAY_BOOLEAN, 0, found->second == "true" ? 1 : 0, 0, nullptr};
        value.text = found->second.c_str();
        return value;
    }
    assay_text* error() {
        words_ = {};
        return &error_;
    }

    const assay_benchmark& benchmark_;
    Given given_; // values point into it
    std::vector<assay_value> values_;
    void* state_ = nullptr;
    std::array<char, 512> words_{};
    assay_text error_{words_.data(), words_.size()};
};

} // namespace assay::device_on_cpu
