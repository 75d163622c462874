// SPDX-License-Identifier: Apache-2.0

#include "support/generated_runs.hpp"

#include "base/hash.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"
#include "record/summary.hpp"
#include "stats/interval.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <ctime>
#include <fstream>
#include <numbers>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace assay::test {
namespace {

using record::Status;

constexpr double day = 86400;        // seconds
constexpr double begin = 1704067200; // 2024-01-01, seconds since 1970

/// Numbers that are the same everywhere: the engine is fixed by the standard, its distributions are not.
class Random {
public:
    explicit Random(std::uint64_t seed) : engine_{seed} {}
    /// 0 to 1.
    double uniform() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }
    /// Box and Muller.
    double normal() {
        const double radius = std::sqrt(-2 * std::log1p(-uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }
    /// About 1, with this standard deviation of logarithms.
    double factor(double deviation) { return std::exp(deviation * normal()); }

private:
    std::mt19937_64 engine_;
};

template <class... Parts>
std::uint64_t seed_of(std::uint64_t seed, const Parts&... parts) {
    Hash hash;
    hash.add(std::to_string(seed));
    (hash.add(fmt::format("/{}", parts)), ...);
    return hash.value();
}

std::string family_of(const std::string& benchmark) {
    return benchmark.substr(0, benchmark.find('.'));
}

bool is_covered(std::string_view pattern, const std::string& benchmark) {
    return pattern.empty() ||
           (pattern.ends_with('.') ? benchmark.starts_with(pattern) : benchmark == pattern);
}

/// Between processes, as a standard deviation of logarithms.
double spread_of(const record::Case& c) {
    const std::string family = family_of(c.benchmark);
    if (family == "gemm" || family == "peak") return 0.005;
    if (family == "memory" || family == "stencil" || family == "md") return 0.03;
    if (family == "fft") return 0.07;
    if (c.benchmark == "collective.allreduce") {
        const auto* bytes = record::find(c.parameters, "bytes");
        constexpr std::int64_t small = 4096; // bytes: below, latency is all there is
        const auto* number = bytes == nullptr ? nullptr : std::get_if<std::int64_t>(bytes);
        return number != nullptr && *number < small ? 0.1 : 0.03;
    }
    return 0.02;
}

std::string time_text(double seconds) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

/// Puts down what a step leaves in the record.
void note(record::Run& run, const record::Named& fact) {
    const std::string text = record::to_string(fact.value);
    record::Machine& machine = run.machine;
    const std::pair<std::string_view, std::string*> fields[] = {
        {"kernel", &machine.kernel},
        {"os", &machine.os},
        {"cpu_model", &machine.cpu_model},
        {"system", &machine.system},
        {"virtualization", &machine.virtualization},
        {"huge_pages", &machine.huge_pages},
        {"version", &run.version},
    };
    for (const auto& [name, field] : fields)
        if (fact.name == name) {
            *field = text;
            return;
        }
    constexpr std::string_view software = "software.";
    if (!fact.name.starts_with(software)) throw std::invalid_argument{"no such fact: " + fact.name};
    const std::string name = fact.name.substr(software.size());
    const auto known = std::ranges::find(machine.software, name, &record::Named::name);
    if (known == machine.software.end())
        machine.software.push_back({name, text});
    else
        known->value = text;
}

bool applies(const PlantedStep& step, const InstanceType& type, std::size_t machine,
             double seconds) {
    return seconds >= step.seconds && (step.instance.empty() || step.instance == type.instance) &&
           (!step.machine || *step.machine == machine) &&
           (step.share >= 1 ||
            Random{seed_of(0, "wave", step.seconds, type.instance, machine)}.uniform() <
                step.share);
}

/// Ends a case otherwise than well, now and then.
void mishap(record::Case& c, Random& random) {
    const double roll = random.uniform();
    if (roll < 0.005 && !c.replicas.empty()) {
        c.replicas.back().status = Status::unstable;
        c.replicas.back().reason = "drift: the second half was 4% slower";
        c.replicas.back().telemetry.disturbances = {"other processes used 12% of the CPU time"};
    } else if (roll < 0.006) {
        c.verification = record::Verification{.passed = false,
                                              .method = "compared with a plain loop",
                                              .bound = 1e-12,
                                              .error = 0.5,
                                              .detail = "element 17 is off"};
    } else if (roll < 0.007) {
        c.replicas.clear();
        c.verification.reset();
        c.status = Status::skipped;
        c.reason = "does not apply to this machine";
    } else if (roll < 0.009) {
        c.replicas.pop_back();
    }
}

} // namespace

std::vector<InstanceType> usual_types() {
    return {{"aws", "c7a.large", "AMD EPYC 9R14", 2, 1.0},
            {"aws", "c7i.xlarge", "Intel(R) Xeon(R) Platinum 8488C", 4, 1.7},
            {"aws", "c8g.2xlarge", "Neoverse-V2", 8, 3.1},
            {"gcp", "c3d-standard-4", "AMD EPYC 9B14", 4, 1.8},
            {"azure", "Standard_F4ams_v6", "AMD EPYC 9004", 4, 1.9}};
}

std::vector<PlantedStep> usual_steps() {
    const auto text = [](const char* value) { return record::Value{std::string{value}}; };
    return {
        {"c7a.large", "memory.", "", quarter_start(2.4), 0.93, {{"kernel", text("6.6.30")}}},
        {"c7a.large", "collective.", "", quarter_start(2.4), 0.8, {{"kernel", text("6.6.30")}}},
        {"c7i.xlarge",
         "gemm.square",
         "openblas",
         quarter_start(3.6),
         1.09,
         {{"software.openblas.version", text("0.3.26")}}},
        {"c3d-standard-4", "", "", quarter_start(5), 1.15, {{"cpu_model", text("AMD EPYC 9B45")}}},
        {"Standard_F4ams_v6", "stencil.", "", quarter_start(4.3), 0.9, {}},
        {"c8g.2xlarge", "", "", quarter_start(4.7), 1, {{"kernel", text("6.6.30")}}},
    };
}

double quarter_start(double quarter) { return begin + quarter * 91 * day; }

Generator::Generator(GeneratorOptions options) : options_{std::move(options)} {
    if (options_.types.empty()) options_.types = usual_types();
    auto pattern = record::read_run(ASSAY_SAMPLE_RUN);
    if (!pattern) throw std::runtime_error{pattern.error().message};
    pattern_ = *std::move(pattern);
    std::erase_if(pattern_.cases, [&](const record::Case& c) {
        const bool is_wanted = options_.benchmarks.empty() ||
                               std::ranges::any_of(options_.benchmarks, [&](const auto& name) {
                                   return is_covered(name, c.benchmark);
                               });
        return !is_wanted || c.metrics.empty() || c.replicas.empty();
    });
}

std::size_t Generator::size() const {
    return options_.types.size() * options_.machines * options_.quarters * options_.runs;
}

double Generator::level(const InstanceType& type, std::size_t machine, const record::Case& c,
                        double seconds) const {
    constexpr double between_types = 0.15;
    const std::string family = family_of(c.benchmark);
    double level = type.speed;
    level *= Random{seed_of(options_.seed, type.instance, family)}.factor(between_types);
    level *= Random{seed_of(options_.seed, type.instance, family, machine)}.factor(
        options_.between_machines);
    for (const auto& step : options_.steps)
        if (applies(step, type, machine, seconds) && is_covered(step.benchmark, c.benchmark) &&
            (step.library.empty() || step.library == c.library))
            level *= step.ratio;
    return level;
}

record::Run Generator::run(std::size_t number) const {
    const std::size_t turn = turn_of(number);
    const std::size_t machine = machine_of(number);
    const InstanceType& type = options_.types[number % options_.types.size()];
    const std::uint64_t seed = seed_of(options_.seed, type.instance, machine, turn);
    Random random{seed};
    const double within =
        0.05 + 0.9 * random.uniform(); // of its place among the runs of the quarter
    const auto runs = static_cast<double>(options_.runs);
    const double quarter =
        options_.days == 91
            ? (static_cast<double>(turn) + within) / runs
            : static_cast<double>(
                  turn / options_.runs) + // NOLINT(bugprone-integer-division): whole quarters

                  (static_cast<double>(turn % options_.runs) + within) / runs * options_.days / 91;
    const double started = std::floor(quarter_start(quarter));

    record::Run run = pattern_;
    run.cases.clear();
    run.started = time_text(started);
    run.ended = time_text(started + 44); // seconds, as the template took
    run.machine.provider = type.provider;
    run.machine.instance = type.instance;
    run.machine.cpu_model = type.cpu_model;
    run.machine.cores = run.machine.usable_cores = type.cores;
    run.machine.threads = run.machine.usable_threads = type.cores;
    run.machine.kernel = "6.1.90";
    run.machine.core_clock_hz = 3.7e9 * random.factor(0.001);
    for (const auto& step : options_.steps)
        if (applies(step, type, machine, started))
            for (const auto& fact : step.recorded) note(run, fact);
    run.machine.id = fmt::format(
        "{:016x}", seed_of(options_.seed, type.instance, machine, run.machine.cpu_model));
    run.id = fmt::format("{:%Y%m%dT%H%M%SZ}-{:04x}", fmt::gmtime(static_cast<std::time_t>(started)),
                         seed & 0xFFFFU);
    for (std::size_t i = 0; i < pattern_.cases.size(); ++i) {
        const record::Case& c = pattern_.cases[i];
        run.cases.push_back(one_case(c, seed_of(seed, i), level(type, machine, c, started)));
        for (auto& replica : run.cases.back().replicas) replica.started = run.started;
    }
    if (!options_.node.empty())
        run.tags.push_back({"node", fmt::format("{}{:05}", options_.node,
                                                machine * options_.types.size() +
                                                    number % options_.types.size())});
    if (random.uniform() < options_.interrupted) {
        run.status = "interrupted";
        run.cases.resize(1 + static_cast<std::size_t>(random.uniform() *
                                                      static_cast<double>(run.cases.size() - 1)));
    }
    return run;
}

std::size_t Generator::turn_of(std::size_t number) const {
    return number / (options_.types.size() * options_.machines); // all machines once a turn
}
std::size_t Generator::machine_of(std::size_t number) const {
    return number % (options_.types.size() * options_.machines) / options_.types.size();
}

record::Case Generator::one_case(const record::Case& pattern, std::uint64_t seed,
                                 double level) const {
    Random random{seed};
    record::Case c = pattern;
    c.warnings.clear();
    c.replicas.clear();
    const double spread = spread_of(pattern) * options_.noise;
    const double of_run = random.factor(spread / 2) / level;
    for (int i = 0; i < options_.replicas; ++i) {
        double slower = of_run * random.factor(spread);
        if (random.uniform() < 0.01 && options_.noise > 0) slower *= 1 + 0.15 * random.uniform();
        c.replicas.push_back(replica(pattern, i, seed, slower));
    }
    if (options_.mishaps) mishap(c, random);
    if (c.ceiling.value) *c.ceiling.value *= level;
    record::conclude(c, options_.replicas);
    return c;
}

record::Replica Generator::replica(const record::Case& pattern, int index, std::uint64_t seed,
                                   double slower) const {
    Random random{seed_of(seed, "replica", index)};
    const auto& from = pattern.replicas[static_cast<std::size_t>(index) % pattern.replicas.size()];
    // All replicas start from the first one's time: what sets them apart is the model's.
    const double seconds = pattern.replicas.front().seconds.value_or(1e-3) * slower;
    const double calls = static_cast<double>(from.calls.value_or(1));
    record::Replica made = from;
    made.index = index;
    made.status = Status::ok;
    made.reason.clear();
    made.values.clear();
    for (std::size_t i = 0; i < options_.values; ++i) {
        const double tail = random.uniform() < 0.02 ? 1.1 : 1.0;
        const double value = seconds * random.factor(0.01) * tail;
        made.values.push_back(std::max(1.0, std::round(value * calls * 1e9)) / (calls * 1e9));
    }
    const auto interval = stats::batch_means_interval(made.values);
    made.seconds = interval.mean;
    made.low.reset();
    made.high.reset();
    if (std::isfinite(interval.low)) {
        made.low = interval.low;
        made.high = interval.high;
    }
    made.batches = std::max<std::uint64_t>(options_.values, from.batches.value_or(0));
    if (made.p99) made.p99 = interval.mean * 1.1;
    for (auto& figure : made.extra)
        if (auto* value = std::get_if<double>(&figure.value)) *value *= slower;
    made.telemetry.disturbances.clear();
    return made;
}

std::filesystem::path Generator::path(const record::Run& run) {
    return std::filesystem::path{run.suite} / run.machine.provider / run.machine.instance /
           run.machine.id / run.id / "run.json";
}

void write_runs(const GeneratorOptions& options, const std::filesystem::path& folder,
                unsigned threads,
                const std::function<bool(std::size_t machine, std::size_t turn)>& wanted) {
    const Generator generator{options};
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    const auto work = [&] {
        for (std::size_t i = next++; i < generator.size(); i = next++) {
            if (wanted && !wanted(generator.machine_of(i), generator.turn_of(i))) continue;
            const record::Run run = generator.run(i);
            const auto path = folder / Generator::path(run);
            std::error_code ignored;
            std::filesystem::create_directories(path.parent_path(), ignored);
            // Not write_atomically: that waits for the disk, ten thousand times.
            std::ofstream out{path, std::ios::binary};
            out << record::to_text(run);
            if (!out.flush()) failed = true;
        }
    };
    {
        std::vector<std::jthread> others;
        for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
        work();
    }
    if (failed) throw std::runtime_error{folder.string() + ": cannot write the runs"};
}

} // namespace assay::test
