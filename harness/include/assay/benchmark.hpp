// SPDX-License-Identifier: Apache-2.0
//
// The interface between the harness and a benchmark: all that a benchmark may use.
// A benchmark is a class: the constructor prepares the state, run() is timed (nothing else is), the
// destructor releases the state.

#pragma once

#include "assay/axes.hpp"
#include "assay/digest.hpp"
#include "assay/machine.hpp"
#include "assay/module.h"
#include "assay/team.hpp"
#include "assay/text.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay {

/// The datasheet peak that bounds the primary metric; documented in assay/module.h.
enum class Bound : std::uint32_t {
    none = ASSAY_BOUND_NONE,
    vector_units = ASSAY_BOUND_VECTOR_UNITS,
    matrix_units = ASSAY_BOUND_MATRIX_UNITS,
    memory = ASSAY_BOUND_MEMORY,
    host_link = ASSAY_BOUND_HOST_LINK,
    device_links = ASSAY_BOUND_DEVICE_LINKS,
    network = ASSAY_BOUND_NETWORK,
};

/// How its values spread by their nature: assay_noise in assay/module.h.
enum class Noise : std::uint32_t {
    unknown = ASSAY_NOISE_UNKNOWN,
    arithmetic = ASSAY_NOISE_ARITHMETIC,
    memory = ASSAY_NOISE_MEMORY,
    workload = ASSAY_NOISE_WORKLOAD,
    fft = ASSAY_NOISE_FFT,
    messages = ASSAY_NOISE_MESSAGES,
    latency = ASSAY_NOISE_LATENCY,
};

/// Name and documentation of a benchmark. `assay describe` prints these texts, manifests and reports
/// show them: there is no other copy.
struct Info {
    const char* id; ///< <family>.<name>, as on the command line, in suites and in results
    std::uint32_t version = 1; ///< raised when values are no longer comparable with older ones
    const char* question;      ///< the question that it answers
    const char* method;        ///< algorithm, data, and how the result is verified
    const char* caveats;       ///< limits of the value's meaning
    const char* headline;      ///< name of the primary metric: "bandwidth", "flop_rate", "time"
    /// Ids of the benchmarks that measure its peak, blank-separated; "" for none. The best one with the
    /// same unit and equal values of shared parameters counts: "peak.fma peak.dot". A value may be named:
    /// "peak.fma:precision=fp32". A peak and a bandwidth make a roofline: the lower of both, by the case's work per byte.
    const char* ceiling = "";
    const char* place = "host";
    /// Size that tests use for parameters in bytes, where a few MiB would take too long: they execute device
    /// kernels on one core of the host.
    std::int64_t trial_bytes = 0;
    Bound bound = Bound::none; ///< its inputs are passed to Context::tell
    Noise noise = Noise::unknown;
    const char* items =
        ""; ///< what Work::items counts, in the plural: "keys" makes its rate "keys/s"
    /// Every call gives the same bits, with equal parameters and as many threads, in every process and on every
    /// device of one model. Needs outputs(); tests/contract holds it.
    bool reproducible = false;
};

enum class Links : std::uint32_t {
    unknown = ASSAY_LINKS_UNKNOWN,
    host = ASSAY_LINKS_HOST,
    nvlink = ASSAY_LINKS_NVLINK,
    peer = ASSAY_LINKS_PEER,
    other = ASSAY_LINKS_OTHER,
};

/// Facts about a case that the harness acts on. Omitted fields are unknown; documented in assay/module.h.
struct Evidence {
    Links links = Links::unknown;
    double footprint_bytes = 0;
    double cache_bytes = 0;
    int directions = 0;
    int machines = 0;
    int ranks = 0;
    int nvlink_devices = 0;
    double nvlink_least_bytes = 0;
    double nvlink_most_bytes = 0;
    double batch_seconds = 0;
    double load_seconds = 0;
    // Initialised, because compilers warn of designated initialisers that omit others.
    std::string switch_work{};
    std::string network_devices{};
};

/// Work of one call of run(), from which the harness computes rates. Fields that do not apply stay 0;
/// documented in assay/module.h.
struct Work {
    double flops = 0;
    double operations = 0;
    double bytes = 0;
    double algorithm_bytes = 0;
    double bus_bytes = 0;
    double items = 0;
    double cells = 0;
    double atom_steps = 0;
    double pairs = 0;
    double steps = 0;
};

/// Whether this machine can run a case. "No" is not an error.
class [[nodiscard]] Fit {
public:
    static Fit yes() { return Fit{{}}; }
    template <class... Pieces>
    static Fit no(const Pieces&... why) {
        return Fit{joined(why...)};
    }
    template <class... Pieces>
    static Fit needs(bool condition, const Pieces&... what) {
        return condition ? yes() : no("needs ", what...);
    }
    explicit operator bool() const { return why_.empty(); }
    const std::string& why() const { return why_; }

private:
    explicit Fit(std::string why) : why_{std::move(why)} {}
    std::string why_;
};

/// Result of a verification: error against bound.
struct [[nodiscard]] Check {
    bool passed = false;
    double error = 0;   ///< largest deviation found, on the scale of `bound`
    double bound = 0;   ///< largest deviation that passes
    std::string method; ///< how it was verified and where the bound comes from
    std::string detail; ///< what is wrong, on failure
};

/// Services for a constructor, beside its parameters.
class Context {
public:
    explicit Context(const assay_services* services) : services_{services}, machine_{services} {}

    const Machine& machine() const { return machine_; }
    Team team() const { return Team{services_->team}; }

    /// A resolved value (bytes, threads, the kernel a library chose): recorded with the result, not part
    /// of its identity.
    template <class Number>
        requires std::is_arithmetic_v<Number>
    void setting(const char* name, Number value) const {
        services_->setting_number(services_->context, name, static_cast<double>(value));
    }
    void setting(const char* name, const char* value) const {
        services_->setting_text(services_->context, name, value);
    }
    void setting(const char* name, const std::string& value) const { setting(name, value.c_str()); }

    /// May be called repeatedly, in the constructor and in verify(): unknown fields keep their earlier values.
    void tell(const Evidence& evidence) const {
        if (services_->struct_size < offsetof(assay_services, evidence) + sizeof(void*) ||
            services_->evidence == nullptr)
            return; // an older program
        assay_evidence plain{};
        plain.struct_size = sizeof plain;
        plain.links = static_cast<std::uint32_t>(evidence.links);
        plain.footprint_bytes = evidence.footprint_bytes;
        plain.cache_bytes = evidence.cache_bytes;
        plain.directions = static_cast<std::uint32_t>(evidence.directions);
        plain.machines = static_cast<std::uint32_t>(evidence.machines);
        plain.ranks = static_cast<std::uint32_t>(evidence.ranks);
        plain.nvlink_devices = static_cast<std::uint32_t>(evidence.nvlink_devices);
        plain.nvlink_least_bytes = evidence.nvlink_least_bytes;
        plain.nvlink_most_bytes = evidence.nvlink_most_bytes;
        plain.batch_seconds = evidence.batch_seconds;
        plain.load_seconds = evidence.load_seconds;
        plain.switch_work = evidence.switch_work.c_str();
        plain.network_devices = evidence.network_devices.c_str();
        services_->evidence(services_->context, &plain);
    }

    /// NVLink traffic of a call, whatever the algorithm: least or most bytes per device, averaged over the first
    /// `devices` devices, in the busier direction. The harness compares it with the driver's counters over the
    /// window, if any; a case that they contradict is incorrect.
    void nvlink_at_least(int devices, double bytes) const {
        tell({.nvlink_devices = devices, .nvlink_least_bytes = bytes});
        setting("nvlink.devices", devices);
        setting("nvlink.least_bytes", bytes);
    }
    void nvlink_at_most(int devices, double bytes) const {
        tell({.nvlink_devices = devices, .nvlink_most_bytes = bytes > 0 ? bytes : -1});
        setting("nvlink.devices", devices);
        setting("nvlink.most_bytes", bytes);
    }

    /// For sustained rates: minimum length of a batch, so that the chip does not idle in between, and minimum
    /// length of the load before the window, which power control and cooling need to settle.
    void sustained(double batch_seconds, double load_seconds) const {
        tell({.batch_seconds = batch_seconds, .load_seconds = load_seconds});
        setting("batch_at_least", batch_seconds);
        setting("load_at_least", load_seconds);
    }

    void note(const std::string& text) const {
        services_->log(services_->context, ASSAY_LOG_NOTE, text.c_str());
    }
    void warn(const std::string& text) const {
        services_->log(services_->context, ASSAY_LOG_WARNING, text.c_str());
    }

private:
    const assay_services* services_;
    Machine machine_;
};

/// A matrix of values: core to core, node to node. Reports draw it as a heat map.
struct Table {
    const char* metric; ///< name in the table of metrics, which has unit and direction
    const char* row_title;
    const char* column_title;
    std::vector<std::string> rows; ///< labels
    std::vector<std::string> columns;
    std::vector<double> values; ///< row-major; NaN if absent
};

/// Takes values that only the benchmark knows; names are those of the table of metrics.
class Metrics {
public:
    explicit Metrics(const assay_services* services) : services_{services} {}
    void add(const char* name, double value) const {
        services_->metric(services_->context, name, value);
    }
    void add(const Table& table) const {
        if (services_->struct_size < offsetof(assay_services, table) + sizeof(void*))
            return; // an older program
        const auto pointers_to = [](const std::vector<std::string>& texts) {
            std::vector<const char*> pointers;
            pointers.reserve(texts.size());
            for (const auto& text : texts) pointers.push_back(text.c_str());
            return pointers;
        };
        const auto rows = pointers_to(table.rows);
        const auto columns = pointers_to(table.columns);
        if (table.values.size() != rows.size() * columns.size())
            throw std::logic_error{"a table needs a value for every row and column"};
        const assay_table plain{
            sizeof(assay_table), 0,           table.metric,   table.row_title, table.column_title,
            rows.data(),         rows.size(), columns.data(), columns.size(),  table.values.data()};
        services_->table(services_->context, &plain);
    }

private:
    const assay_services* services_;
};

template <class B>
concept HasClock = requires(B b, void (*run)()) {
    { b.clock().seconds(std::uint64_t{1}, run) } -> std::convertible_to<double>;
};

/// The required members. Optional ones: `rewind()` restores inputs that run() changes, and
/// `static constexpr std::uint64_t safe_calls` is the number of calls that one rewind allows (default
/// 1); `metrics(Metrics&)` adds values; `static constexpr bool single_call = true` allows only one
/// call per batch; `static constexpr bool team = true` needs several processes;
/// `static constexpr bool is_ceiling = true` marks a peak that others are compared with; `static
/// constexpr bool all_devices = true` makes all devices visible to it; `clock()` returns the clock of a
/// device: an object with `double seconds(calls, run)`, which calls run() `calls` times and may throw,
/// and with `static constexpr double resolution` in seconds; `outputs()` returns what a call computes, {c_}, for
/// comparisons bit by bit.
template <class B>
concept Benchmark = requires(B b, const B finished, const typename B::Params& params,
                             const Machine& machine, Context& context) {
    { B::info } -> std::convertible_to<const Info&>;
    { B::fit(params, machine) } -> std::same_as<Fit>;
    requires std::constructible_from<B, const typename B::Params&, Context&>;
    requires noexcept(b.run()) || HasClock<B>;
    { finished.work() } -> std::same_as<Work>;
    { finished.verify() } -> std::same_as<Check>;
    b.poison(); // overwrites the whole output: what verify() accepts was computed by run()
    b.spoil();  // injects the smallest error that verify() must detect
    requires HasAxes<B>;
};

template <class B>
concept Rewinds = requires(B b) { b.rewind(); };

template <class B>
concept HasOutputs = requires(const B finished) {
    { finished.outputs() } -> std::same_as<Outputs>;
};

template <class B>
concept ReportsMetrics = requires(B finished, Metrics& metrics) { finished.metrics(metrics); };

} // namespace assay
