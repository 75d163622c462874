// SPDX-License-Identifier: Apache-2.0
//
// Every module of this build, opened the way the program opens them, and a fake of what the program
// offers them. A module that does not load stays in the list with its reason, so that it fails a
// test instead of being forgotten.

#pragma once

#include "support/fake_program.hpp"
#include "support/variable.hpp"

#include <assay/module.h>

#include <array>
#include <cstdint>
#include <list>
#include <ostream>
#include <string>
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
struct FakeProgram : test::FakeProgram {
    FakeProgram();
};

/// One value for every parameter, in their order.
using Case = std::vector<assay_value>;
std::string describe(const assay_benchmark& benchmark, const Case& values);
/// Why the case does not fit; empty where it does.
std::string misfit(const assay_benchmark& benchmark, const FakeProgram& program,
                   const Case& values);

/// Room for a text that a module writes.
class Text {
public:
    assay_text* get() { return &text_; }
    std::string str() const { return buffer_.data(); }

private:
    std::array<char, 512> buffer_{};
    assay_text text_{buffer_.data(), buffer_.size()};
};

/// The environment variables that these values stand for.
std::vector<assay_variable> variables_of(const assay_benchmark& benchmark, const Case& values);

/// Says the environment what the values of a case stand for, as the program does it for a worker.
class Told {
public:
    Told(const assay_benchmark& benchmark, const Case& values);

private:
    std::list<test::Variable> set_;
};

/// tiny: what fits where the usual ones do not, such as the memory that a block of a device shares, and
/// transforms of powers of two alone.
enum class Sizes : std::uint8_t { usual, tiny };

/// Every combination of names and booleans, with small numbers: sizes that take milliseconds. The
/// combinations come in the same order whatever the sizes.
std::vector<Case> small_cases(const assay_benchmark& benchmark, std::int64_t threads = 2,
                              Sizes sizes = Sizes::usual);

/// The fewest of these cases with every value of every parameter: every kernel, not every combination.
std::vector<Case> fewest(const std::vector<Case>& cases);

} // namespace assay::contract
