// SPDX-License-Identifier: Apache-2.0
//
// The contract between the harness and a benchmark: everything a benchmark may use, and no more.
// A benchmark is a type whose object is the prepared state: the constructor sets up, run() alone is
// timed, the destructor tears down.

#pragma once

#include "assay/axes.hpp"
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

/// What bounds a headline by the data sheets; the meaning of each is in assay/module.h.
enum class Bound : std::uint32_t {
    none = ASSAY_BOUND_NONE,
    vector_units = ASSAY_BOUND_VECTOR_UNITS,
    matrix_units = ASSAY_BOUND_MATRIX_UNITS,
    memory = ASSAY_BOUND_MEMORY,
    host_link = ASSAY_BOUND_HOST_LINK,
    device_links = ASSAY_BOUND_DEVICE_LINKS,
    network = ASSAY_BOUND_NETWORK,
};

/// Who the benchmark is and how to read its number. This text is the documentation: `assay describe`
/// prints it, the result file stores it and the report shows it, so it cannot drift from the code.
struct Info {
    const char* id; ///< <family>.<name>, its address on the command line, in suites and results
    std::uint32_t version = 1; ///< raised when its numbers stop being comparable with older ones
    const char* question;      ///< what the reader wants to know, as a question
    const char* method;        ///< what is run, on which data, and how it is checked
    const char* caveats;       ///< what the number does not say
    const char* headline; ///< the metric a reader wants first: "bandwidth", "flop_rate", "time"
    /// Ids of the benchmarks that measure its limit, blank-separated; "" for none. The best one with
    /// the same unit and the same values of shared parameters counts: "peak.fma peak.dot".
    const char* ceiling = "";
    const char* place = "host";
    /// What tests give parameters in bytes, where a few MiB would take them long: kernels for devices are executed
    /// on one core of the host.
    std::int64_t trial_bytes = 0;
    Bound bound = Bound::none; ///< what it depends on in a case, Context::tell says
};

enum class Links : std::uint32_t {
    unknown = ASSAY_LINKS_UNKNOWN,
    host = ASSAY_LINKS_HOST,
    nvlink = ASSAY_LINKS_NVLINK,
    peer = ASSAY_LINKS_PEER,
    other = ASSAY_LINKS_OTHER,
};

/// What the program acts on, typed. Fields that are left out say nothing; the meaning of each is in assay/module.h.
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
    // Initialised, or designated initialisers that leave them out are warned of.
    std::string switch_work{};
    std::string network_devices{};
};

/// What one call of run() moves and computes. The harness, and only the harness, makes rates of it.
/// Fields that do not apply stay 0. The meaning of each is in assay/module.h.
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

/// Can this machine run this case? "No" is an answer, not an error.
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

/// Did the timed code compute the right thing, how far off was it, and by which bound?
struct [[nodiscard]] Check {
    bool passed = false;
    double error = 0;   ///< the worst deviation found, on the scale of `bound`
    double bound = 0;   ///< the largest deviation that still passes
    std::string method; ///< how it was checked and where the bound comes from
    std::string detail; ///< what was wrong, when something was
};

/// What a constructor may use beside its parameters.
class Context {
public:
    explicit Context(const assay_services* services) : services_{services}, machine_{services} {}

    const Machine& machine() const { return machine_; }
    Team team() const { return Team{services_->team}; }

    /// What a parameter resolved to (bytes, threads, the kernel a library chose): recorded beside
    /// the result, no part of its identity.
    template <class Number>
        requires std::is_arithmetic_v<Number>
    void setting(const char* name, Number value) const {
        services_->setting_number(services_->context, name, static_cast<double>(value));
    }
    void setting(const char* name, const char* value) const {
        services_->setting_text(services_->context, name, value);
    }
    void setting(const char* name, const std::string& value) const { setting(name, value.c_str()); }

    /// May be called again, in the constructor and in verify(): what says nothing leaves what was told before.
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

    /// What the NVLinks of the first `devices` devices must carry in a call, by whatever algorithm: so many bytes at least,
    /// or at most, for each device, on average over them and in the busier direction. The program holds it against
    /// the driver's counters of the window, where there are any, and a case that they contradict is incorrect.
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

    /// What a chip does for long is not what it does when asked: batches last at least so long, so that it does
    /// not rest between them, and before the window it has worked for at least so long, because that is what
    /// its power controller and its cooling take.
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

/// A matrix beside the metrics: core to core, node to node. The report draws it as a heat map.
struct Table {
    const char* metric; ///< from the table of metrics, which fixes unit and direction
    const char* row_title;
    const char* column_title;
    std::vector<std::string> rows; ///< a label for each
    std::vector<std::string> columns;
    std::vector<double> values; ///< row by row; NaN where there is nothing
};

/// Takes figures that only the benchmark knows; names come from the table of metrics.
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

/// The contract. Optional members: `rewind()` restores inputs that run() changes, with
/// `static constexpr std::uint64_t safe_calls` saying how many calls one rewind allows (1 unless
/// declared); `metrics(Metrics&)` adds figures; `static constexpr bool single_call = true` forbids
/// batches of several calls; `static constexpr bool team = true` asks for several processes;
/// `static constexpr bool is_ceiling = true` marks a limit that others are held against; `static
/// constexpr bool all_devices = true` asks to be shown every device at once; `clock()` returns the clock
/// of another place than the host: an object with `double seconds(calls, run)`, which calls run() so
/// often and may throw, and with `static constexpr double resolution` in seconds.
template <class B>
concept Benchmark = requires(B b, const B finished, const typename B::Params& params,
                             const Machine& machine, Context& context) {
    { B::info } -> std::convertible_to<const Info&>;
    { B::fit(params, machine) } -> std::same_as<Fit>;
    requires std::constructible_from<B, const typename B::Params&, Context&>;
    requires noexcept(b.run()) || HasClock<B>;
    { finished.work() } -> std::same_as<Work>;
    { finished.verify() } -> std::same_as<Check>;
    b.poison(); // overwrites the whole output, so that what verify() accepts came from run()
    b.spoil();  // does the smallest damage that verify() promises to see
    requires HasAxes<B>;
};

template <class B>
concept Rewinds = requires(B b) { b.rewind(); };

template <class B>
concept ReportsMetrics =
    requires(const B finished, Metrics& metrics) { finished.metrics(metrics); };

} // namespace assay
