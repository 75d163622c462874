// SPDX-License-Identifier: Apache-2.0
//
// Every module of this build, opened the way the program opens them, and a fake of what the program
// offers them. A module that does not load stays in the list with its reason, so that it fails a
// test instead of being forgotten.

#pragma once

#include <assay/module.h>

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace assay::contract {

struct Loaded {
    std::string name;    // module.family_benchmark, as a test's name
    std::string problem; // why there is no benchmark
    const assay_module_v1* module = nullptr;
    const assay_benchmark* benchmark = nullptr;
};
const std::vector<Loaded>& every_benchmark();
inline void PrintTo(const Loaded& loaded, std::ostream* out) { *out << loaded.name; }

/// The program's side: a small machine with the instruction sets of this one, and ears.
class FakeProgram {
public:
    FakeProgram();
    FakeProgram(const FakeProgram&) = delete;
    FakeProgram& operator=(const FakeProgram&) = delete;
    ~FakeProgram() = default;

    const assay_services* services() const { return &services_; }
    const std::map<std::string, double>& numbers() const { return numbers_; }
    const std::map<std::string, std::string>& texts() const { return texts_; }
    const std::map<std::string, double>& metrics() const { return metrics_; }

    struct Table {
        std::string metric;
        std::vector<std::string> labels; // titles and labels of rows and columns
        std::vector<double> values;
    };
    const std::vector<Table>& tables() const { return tables_; }

    std::map<std::string, double> facts;
    std::map<std::string, std::string> text_facts;

private:
    static FakeProgram& self(void* context) { return *static_cast<FakeProgram*>(context); }

    std::map<std::string, double> numbers_;
    std::map<std::string, std::string> texts_;
    std::map<std::string, double> metrics_;
    std::vector<Table> tables_;
    assay_services services_{};
};

/// One value for every parameter, in their order.
using Case = std::vector<assay_value>;
std::string describe(const assay_benchmark& benchmark, const Case& values);

/// The environment variables that these values stand for.
std::vector<assay_variable> variables_of(const assay_benchmark& benchmark, const Case& values);

/// Says the environment what the values of a case stand for, as the program does it for a worker.
class Told {
public:
    Told(const assay_benchmark& benchmark, const Case& values);
    Told(const Told&) = delete;
    Told(Told&&) = delete;
    Told& operator=(const Told&) = delete;
    Told& operator=(Told&&) = delete;
    ~Told();

private:
    std::vector<std::pair<const char*, std::string>> before_;
};

/// tiny: what fits where the usual ones do not, such as the memory that a block of a device shares, and
/// transforms of powers of two alone.
enum class Sizes : std::uint8_t { usual, tiny };

/// Every combination of names and booleans, with small numbers: sizes that take milliseconds. The
/// combinations come in the same order whatever the sizes.
std::vector<Case> small_cases(const assay_benchmark& benchmark, std::int64_t threads = 2,
                              Sizes sizes = Sizes::usual);

/// Of these, so few that every value of every parameter is still there: every kernel, not every combination.
std::vector<Case> fewest(const std::vector<Case>& cases);

} // namespace assay::contract
