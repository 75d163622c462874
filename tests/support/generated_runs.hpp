// SPDX-License-Identifier: Apache-2.0
//
// Results of a fleet that never was, for tests and benchmarks of whatever reads many runs: files that
// `assay verify` finds consistent, with differences whose truth is known. The same seed gives the same
// runs, each by itself.
//
// The model. A replica's time per call is
//
//   time = template / (type x machine x steps) x run x replica
//
//  - template: reports/samples/zen4-2cores-quick.json, a real run, which gives cases, work and settings
//  - type: the instance type's speed, times its own for each family of benchmarks (log-normal, 15%)
//  - machine: of each machine, by family; log-normal, `between_machines` (1.5%)
//  - steps: what was planted
//  - run: log-normal, half of the family's spread between processes
//  - replica: log-normal, the family's spread between processes as measured on the template's machine:
//    matrix products and peaks 0.5%, streams and stencils 3%, molecular dynamics 3%, transforms 7%,
//    small all-reduces 10%, others 2%; one replica in 100 comes from a tail, up to 15% slower
//  - batches: 1% about the replica's mean, one in fifty 10% slower; rounded to nanoseconds over the calls
//
// Some cases end otherwise, at random: `unstable` (5 in 1000), `incorrect` (1), `skipped` (1), one
// replica missing and so interrupted (2).

#pragma once

#include "record/model.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::test {

/// From this moment on, on every machine of the type.
struct PlantedStep {
    std::string instance;  ///< "c7a.large"; empty: every type
    std::string benchmark; ///< "memory." means the family, "" every case
    std::string library;   ///< empty: any
    double seconds = 0;    ///< since 1970
    double ratio = 1;      ///< times as good: 0.95 is 5% worse
    /// What is recorded of it: "kernel", "os", "cpu_model", "system", "virtualization", "huge_pages",
    /// "version" (of assay) and "software.NAME". A new cpu_model makes other machine ids too, as it does
    /// in reality. Nothing: unexplained.
    record::NamedList recorded;
    double share = 1;                   ///< of the type's machines, by chance: a wave of firmware
    std::optional<std::size_t> machine; ///< this one alone: a bad node
};

struct InstanceType {
    std::string provider;
    std::string instance;
    std::string cpu_model;
    int cores;
    double speed; ///< of the template's
};

struct GeneratorOptions {
    std::uint64_t seed = 1;
    std::vector<InstanceType> types; ///< empty: five of usual_types()
    std::size_t machines = 4;        ///< of each type, the same all the time
    std::size_t quarters = 8;        ///< from 2024-01-01 on
    std::size_t runs = 4;            ///< of each machine in each quarter
    int replicas = 3;
    std::size_t values = 20; ///< batch values kept of each replica
    std::vector<std::string>
        benchmarks;                  ///< of the template's; "gemm." means the family; empty: all
    double between_machines = 0.015; ///< standard deviation of logarithms
    double noise = 1;                ///< times the usual spread of runs and replicas; 0: none
    bool mishaps = true;             ///< unstable, incorrect, skipped, interrupted cases
    double interrupted = 0;          ///< share of the runs that end after some of their cases
    double days = 91;                ///< from the start of a quarter, in which its runs are
    std::string node;                ///< runs have a tag `node`: this and the number of the machine
    std::vector<PlantedStep> steps;
};

std::vector<InstanceType> usual_types();
/// For `usual_types()`: two with a kernel, one with a library, one with another processor, one without
/// anything recorded, and a kernel that changes nothing.
std::vector<PlantedStep> usual_steps();
/// Seconds since 1970 at which a quarter begins, counted from 0 at 2024-01-01; 91 days each.
double quarter_start(double quarter);

class Generator {
public:
    explicit Generator(GeneratorOptions options);

    /// Types x machines x quarters x runs, in the order of time for each machine, machines in turn.
    std::size_t size() const;
    record::Run run(std::size_t number) const;
    /// Path in the harness's layout: quick/aws/c7a.large/<machine>/<run>/run.json.
    static std::filesystem::path path(const record::Run& run);
    /// Times as good as the template, without noise of runs and replicas.
    double level(const InstanceType& type, std::size_t machine, const record::Case& c,
                 double seconds) const;

    /// The machine of its type, and how often all machines had run before.
    std::size_t machine_of(std::size_t number) const;
    std::size_t turn_of(std::size_t number) const;
    const GeneratorOptions& options() const { return options_; }
    const record::Run& pattern() const { return pattern_; }

private:
    record::Case one_case(const record::Case& pattern, std::uint64_t seed, double level) const;
    record::Replica replica(const record::Case& pattern, int index, std::uint64_t seed,
                            double slower) const;

    GeneratorOptions options_;
    record::Run pattern_; ///< with the cases that are wanted
};

/// Writes all of them below the folder, on `threads` threads; what they are is in `options`.
void write_runs(const GeneratorOptions& options, const std::filesystem::path& folder,
                unsigned threads = 1,
                const std::function<bool(std::size_t machine, std::size_t turn)>& wanted = {});

} // namespace assay::test
