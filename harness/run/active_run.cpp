// SPDX-License-Identifier: Apache-2.0
#include "run/active_run.hpp"

#include "base/sha256.hpp"
#include "base/utc.hpp"
#include "base/version.hpp"
#include "json/json.hpp"
#include "launch/placement.hpp"
#include "machine/cpu.hpp"
#include "machine/inventory.hpp"
#include "machine/system.hpp"
#include "process/control_group.hpp"
#include "process/listing.hpp"
#include "process/scratch.hpp"
#include "process/start.hpp"
#include "record/convert.hpp"
#include "record/journal.hpp"
#include "record/noise.hpp"
#include "record/summary.hpp"
#include "run/ceilings.hpp"
#include "run/together.hpp"
#include "telemetry/window.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay::run {

namespace fs = std::filesystem;

namespace {

constexpr const char* probes_name = "probes.json";

/// On several CPUs of this machine?
bool is_parallel(const plan::PlannedCase& planned, const record::Machine& machine) {
    const auto any = [](int threads, const std::string&) {
        return std::vector<int>(static_cast<std::size_t>(threads));
    };
    const auto placement = launch::place(planned, machine, {}, any);
    return placement && placement->ranks * placement->threads > 1;
}

/// The scheduler's name is a host name: recorded only where these are.
std::string node_of(const RunOptions& options) {
    if (!options.node.empty() || !options.record_hostname) return options.node;
    const auto environment = process::own_environment();
    // Others set NODE_NAME, too.
    const bool in_pod = process::find_variable(environment, "KUBERNETES_SERVICE_HOST") != nullptr;
    for (const char* const variable : {"SLURMD_NODENAME", "K8S_NODE_NAME", "NODE_NAME"}) {
        const char* const name = process::find_variable(environment, variable);
        if (name != nullptr && machine::is_node_name(name) &&
            (in_pod || variable != std::string_view{"NODE_NAME"}))
            return name;
    }
    return {};
}

} // namespace

std::string end_leftovers() {
    auto ended =
        process::end_left_groups(process::group_to_use(machine::own_group(machine::Files{})));
    std::ranges::move(process::end_leftovers(), std::back_inserter(ended));
    return fmt::format("{}", fmt::join(ended, ", "));
}

Result<record::Machine> find_machine(const RunOptions& options) {
    auto machine = machine::inspect({.hostname = options.record_hostname,
                                     .node = node_of(options),
                                     .serials = options.serials,
                                     .results = options.out});
    // Without it every benchmark that needs an instruction set would not apply, and nobody would know why.
    const bool has_flags = machine.architecture == "x86_64" || machine.architecture == "aarch64";
    if (has_flags && machine.isa.empty())
        return fail("/proc/cpuinfo is not readable or lists no instruction set",
                    Fault::environment);
    if (!options.provider.empty()) machine.provider = options.provider;
    if (!options.region.empty()) machine.platform.region = options.region;
    if (!options.zone.empty()) machine.platform.zone = options.zone;
    if (!options.instance.empty()) machine.instance = options.instance;
    return machine;
}

fs::path worker_program(const RunOptions& options) {
    if (!options.program.empty()) return fs::absolute(options.program);
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error);
}

Result<launch::ExecutionContext> enter(const plan::Variant& variant, const RunOptions& options) {
    const auto environment = process::own_environment();
    const char* path = process::find_variable(environment, "PATH");
    auto context = launch::context_of(variant, path == nullptr ? "" : path);
    if (!context) return context;
    for (const auto& name : options.keep_environment) {
        const char* value = process::find_variable(environment, name);
        if (value == nullptr)
            return fail(fmt::format("--keep-environment {}: this variable is not set", name));
        if (record::find(context->variables, name) == nullptr) // a variant has the last word
            context->variables.push_back({name, std::string{value}});
    }
    if (const auto starts = try_out(*context, worker_program(options), environment); !starts)
        return fail(fmt::format("variant {}: {}", variant.label, starts.error().message),
                    starts.error().fault);
    return context;
}

void add_facts(record::NamedList& software, record::NamedList facts) {
    constexpr std::size_t most = 10'000; // a record is read again and again
    facts.resize(std::min(facts.size(), most - std::min(most, software.size())));
    std::ranges::move(facts, std::back_inserter(software));
}

ActiveRun::ActiveRun(const plan::PlannedRun& run, record::Machine machine, fs::path program,
                     launch::Watch watch, launch::ExecutionContext context,
                     const Redaction& redaction)
    : run_{run}, redaction_{redaction}, machine_{std::move(machine)},
      dispatcher_{std::move(program), machine_, std::move(watch), std::move(context)} {}

Result<void> ActiveRun::open(RunFolder folder, bool keep_samples) {
    folder_ = std::make_unique<RunFolder>(std::move(folder));
    keep_samples_ = keep_samples;
    dispatcher_.spread_over(plan().job);
    std::error_code error; // on failure, modules keep nothing
    if (fs::create_directories(folder_->state(), error); !error)
        dispatcher_.keep_state_in(folder_->state());
    for (const auto& planned : plan().cases) cases_.push_back(empty_case(planned));
    if (plan().soak_seconds) soaking_.emplace(plan(), telemetry::steady_seconds);
    if (const auto when = seconds_of(folder_->header.started)) not_before(*when);
    for (auto& step : folder_->steps) {
        for (const auto& replica : step.result.replicas)
            if (const auto when = seconds_of(replica.started)) not_before(*when);
        dispatcher_.adopt(plan().cases[step.case_index], step.result.settings);
        if (soaking_) soaking_->resume(step.case_index, step.result);
        take(step.case_index, std::move(step.result));
    }
    for (auto& c : cases_) record::mark_disturbed(c);
    // On bare metal there are no neighbours, and counters show programs beside us.
    if (!machine_.virtualization.empty() && machine_.virtualization != "none") {
        probe_.emplace(machine_);
        // The first one gets its memory, which can take a second: no time of a soak.
        if (soaking_) static_cast<void>(probe_->measure());
        known_probes_ = ProbeHistory::read(folder_->state() / probes_name);
    }
    if (keep_samples) {
        ASSAY_TRY(auto samples, LineFile::open(folder_->path / "samples.ndjson"));
        samples_.emplace(std::move(samples));
    }
    return {};
}

plan::Catalogue ActiveRun::used_modules() const {
    plan::Catalogue catalogue;
    for (const auto& planned : plan().cases) {
        const auto known = [&](const plan::Manifest& m) {
            return m.module == planned.module->module;
        };
        if (std::ranges::none_of(catalogue.modules, known))
            catalogue.modules.push_back(*planned.module);
    }
    return catalogue;
}

void ActiveRun::ask_modules(const std::function<bool()>& stop) {
    for (const auto& module : used_modules().modules) {
        if (stop()) return;
        const auto log = folder_->path / "logs" / (path_word(module.module) + ".facts.log");
        add_facts(machine_.software, dispatcher_.facts(module, log));
    }
}

bool ActiveRun::is_open(std::size_t index, int replica) const {
    return std::ranges::any_of(siblings_of(plan(), index), [&](std::size_t sibling) {
        return may_go_on(cases_[sibling], replica);
    });
}

/// A soak goes on with what was wrong once, if it goes on at all.
bool ActiveRun::may_go_on(const record::Case& c, int replica) const {
    if (!soaking_) return run::is_open(c, replica);
    return std::ranges::all_of(
               c.replicas,
               [](const auto& done) { return record::is_measured(done.status) || done.soak; }) &&
           (!c.replicas.empty() || c.status == record::Status::interrupted);
}

/// Keeps the first of a soak's thousands of visits, and those that did not end well.
void ActiveRun::take(std::size_t index, record::Case step) {
    const bool is_one_of_many =
        soaking_ && std::ranges::all_of(step.replicas, [&](const record::Replica& replica) {
            return replica.index >= plan().replicas && record::is_measured(replica.status);
        });
    constexpr std::size_t most = 100;
    if (!step.replicas.empty() && (is_one_of_many || cases_[index].replicas.size() >= most)) return;
    record::add_step(cases_[index], std::move(step));
}

bool ActiveRun::is_complete(std::size_t index) const {
    for (int replica = 0; replica < plan().replicas; ++replica)
        if (is_open(index, replica)) return false;
    return true;
}

bool ActiveRun::has(std::size_t index, int replica) const {
    return std::ranges::any_of(siblings_of(plan(), index), [&](std::size_t sibling) {
        const auto& done = cases_[sibling].replicas;
        return std::ranges::find(done, replica, &record::Replica::index) != done.end();
    });
}

void ActiveRun::drop(std::size_t index, int replica) {
    for (const auto sibling : siblings_of(plan(), index))
        std::erase_if(cases_[sibling].replicas, [&](const auto& r) { return r.index == replica; });
}

std::vector<process::message::Result> ActiveRun::attempt(const std::vector<std::size_t>& cases,
                                                         int replica) {
    if (plan().cases[cases.front()].skip_reason.empty())
        return measure_beside_probes(cases, replica);
    std::vector<process::message::Result> none;
    for (const auto index : cases) {
        const auto& planned = plan().cases[index];
        none.push_back({.result = empty_case(planned)});
        record::set_conclusion(none.back().result, {.status = record::Status::skipped,
                                                    .code = planned.skip_code,
                                                    .reason = planned.skip_reason,
                                                    .values = planned.skip_values});
    }
    return none;
}

std::vector<process::message::Result>
ActiveRun::measure_beside_probes(const std::vector<std::size_t>& cases, int replica) {
    std::vector<Errand> errands;
    for (const auto index : cases) {
        const auto& planned = plan().cases[index];
        errands.push_back({.planned = planned,
                           .protocol = planned.protocol,
                           .replica = replica,
                           .log = folder_->log_of(index, planned),
                           .expected = soaking_ ? soaking_->expected(index) : std::string{}});
        errands.back().protocol.keep_samples = keep_samples_;
    }
    const auto& benchmark = *errands.front().planned.benchmark;
    if (!probe_ || benchmark.place != "host") return dispatcher_.measure(errands);
    const bool uses_memory = benchmark.noise == plan::Noise::memory;
    // Work within each core's registers and caches knows no distance.
    const bool uses_cpus = benchmark.noise != plan::Noise::arithmetic &&
                           std::ranges::any_of(errands, [&](const Errand& errand) {
                               return is_parallel(errand.planned, machine_);
                           });
    const auto probe = [&] {
        return std::pair{uses_cpus || uses_memory ? core_latency() : std::nullopt,
                         uses_memory ? probe_->measure() : std::nullopt};
    };
    const auto before = probe();
    auto attempts = dispatcher_.measure(errands);
    const auto after = probe();
    for (auto& attempt : attempts)
        if (uses_cpus && !attempt.result.replicas.empty())
            judge_placement(attempt.replica().telemetry, before.first, after.first);
    if (!before.second || !after.second) return attempts;
    for (const auto& [latency, rate] : {before, after})
        probes_.push_back({.bytes_per_second = *rate, .core_latency_seconds = latency.value_or(0)});
    const auto best = known_probes_.best(before.first.value_or(0));
    for (auto& attempt : attempts)
        if (best && !attempt.result.replicas.empty())
            judge_neighbours(attempt.replica().telemetry, std::min(*before.second, *after.second),
                             *best);
    return attempts;
}

/// In addition to the recorded environment of the workers.
void ActiveRun::record_variant(process::message::Result& attempt) const {
    auto& result = attempt.result;
    if (result.replicas.empty()) return;
    for (auto& change : changes_of(variant()))
        if (change.name != "library" && record::find(result.settings, change.name) == nullptr)
            result.settings.push_back(std::move(change));
}

Result<bool> ActiveRun::measure(std::size_t index, int replica) {
    clock_step_ = clock().step_seconds;
    auto cases = siblings_of(plan(), index);
    // One that ended badly before is not tried again; a replica beyond the plan is one of all.
    if (replica < plan().replicas)
        std::erase_if(cases,
                      [&](std::size_t sibling) { return !may_go_on(cases_[sibling], replica); });
    if (soaking_) soaking_->begin();
    auto attempts = attempt(cases, replica);
    if (std::ranges::any_of(attempts, is_interrupted)) return false;
    if (soaking_) soaking_->take(cases, attempts);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        record_variant(attempts[i]);
        const auto& planned = plan().cases[cases[i]];
        if (planned.devices_used == plan::DeviceUse::at_once && cases.size() > 1)
            attempts[i].result.settings.push_back(
                {"devices_at_once", static_cast<std::int64_t>(cases.size())});
        if (planned.is_stress && !attempts[i].result.replicas.empty())
            add_course(attempts[i].replica());
        ASSAY_TRY(keep(cases[i], replica, std::move(attempts[i])));
    }
    return true;
}

Result<void> ActiveRun::keep(std::size_t index, int replica, process::message::Result attempt) {
    redaction_.apply(attempt.result); // what it says from here on is kept
    if (samples_ && !attempt.samples.empty())
        if (auto written = samples_->add(json::to_line(
                {{"case", index}, {"replica", replica}, {"seconds", attempt.samples}}));
            !written)
            return written;
    if (soaking_ && replica >= plan().replicas) shorten(attempt);
    attempt.result.spread = cases_[index].spread; // a journal alone can be concluded
    ASSAY_TRY(folder_->journal.add({.case_index = index, .result = attempt.result}));
    take(index, std::move(attempt.result));
    record::mark_disturbed(cases_[index]);
    return {};
}

void ActiveRun::adopt(std::size_t index, const record::NamedList& settings) {
    dispatcher_.adopt(plan().cases[index], settings);
}

/// The same case without siblings; null where it is not in the plan. A part of the host is never measured alone.
const record::Case* ActiveRun::alone(std::size_t index) const {
    const auto& planned = plan().cases[index];
    const bool is_named = record::find(planned.together, "together") != nullptr;
    if (planned.devices.empty() || (!is_named && !planned.together.empty())) return nullptr;
    auto wanted = empty_case(planned);
    wanted.parameters = planned.parameters;
    if (!is_named) wanted.parameters.push_back({"alone", true});
    const auto found = std::ranges::find(cases_, record::identity(wanted), record::identity);
    return found == cases_.end() ? nullptr : &*found;
}

record::Case ActiveRun::concluded(std::size_t index) const {
    auto c = cases_[index];
    if (const auto* by_itself = alone(index)) compare_with_alone(c, *by_itself);
    // A soak that was too short for all of them has as many as there were.
    const int visits = soaking_ ? std::max(soaking_->next_visit(), 1) : plan().replicas;
    record::conclude(c, std::min(visits, plan().replicas));
    return c;
}

void ActiveRun::close(std::size_t index) {
    for (const auto sibling : siblings_of(plan(), index)) {
        auto& c = cases_[sibling];
        const auto count = static_cast<int>(c.replicas.size());
        if (!c.spread || count >= c.spread->replicas) continue;
        // Uses the spread for this number of replicas: two cannot be known as well as five.
        const auto& was = *c.spread;
        c.spread =
            record::expected_spread({.between_replicas = was.between_replicas,
                                     .between_runs = was.between_runs,
                                     .degrees = was.degrees},
                                    plan().cases[sibling].protocol.target, count, was.source);
    }
}

record::RunClock ActiveRun::clock() const {
    constexpr std::size_t digits = 16;
    const auto boot = machine::Files{}.line("/proc/sys/kernel/random/boot_id");
    const double step = clock_step_seconds();
    return {.built = std::string{built()},
            .boot = boot.empty() ? "" : to_hex(sha256(boot)).substr(0, digits),
            .up_seconds = seconds_since_boot(),
            .step_seconds = std::abs(step) > std::abs(clock_step_) ? step : clock_step_};
}

/// Before bounds are added and names removed.
record::Run ActiveRun::result_of(record::RunEnd end) const {
    const auto& header = folder_->header;
    record::Run run{.id = header.run,
                    .suite = header.suite,
                    .started = header.started,
                    .ended = utc_now(),
                    .status = end == record::RunEnd::completed ? "done" : "interrupted",
                    .version = header.version,
                    .build = dispatcher_.build(),
                    .digest = header.digest,
                    .pairing = header.pairing,
                    .hosts = dispatcher_.hosts(),
                    .campaign = header.campaign,
                    .note = header.note,
                    .tags = header.tags,
                    .ended_by = end,
                    .clock = clock(),
                    .machine = machine_,
                    .cases = {}};
    for (std::size_t index = 0; index < cases_.size(); ++index)
        run.cases.push_back(concluded(index));
    return run;
}

Result<fs::path> ActiveRun::write_so_far() const {
    auto run = result_of(record::RunEnd::completed);
    assign_ceilings(run, used_modules());
    redaction_.apply(run);
    auto file = folder_->path / "so_far.json";
    ASSAY_TRY(record::write_run(file, run));
    return file;
}

Result<record::Run> ActiveRun::finish(record::RunEnd end, std::vector<record::ErrorCounter> errors,
                                      record::Schedule schedule, std::string not_watched_since) {
    auto run = result_of(end);
    run.not_watched_since = std::move(not_watched_since);
    run.error_counters = std::move(errors);
    run.schedule = std::move(schedule);
    if (soaking_) run.soak = soaking_->record();
    // Cases that do not apply to this machine have no results to compare.
    for (std::size_t index = run.soak ? run.cases.size() : 0; index-- > 0;)
        if (run.cases[index].status == record::Status::skipped)
            run.soak->phases.erase(run.soak->phases.begin() + static_cast<std::ptrdiff_t>(index));
    for (const auto& note : plan().left_out) run.left_out.push_back({note});
    assign_ceilings(run, used_modules());
    redaction_.apply(run);
    ASSAY_TRY(record::write_run(folder_->path / "run.json", run));
    process::remove_empty_logs(folder_->path / "logs");
    redaction_.apply_to_logs(folder_->path / "logs");
    if (!probes_.empty()) {
        const auto file = folder_->state() / probes_name;
        auto history = ProbeHistory::read(file);
        history.add(folder_->header.started, std::move(probes_));
        // On failure the next run knows less of this machine.
        static_cast<void>(write_atomically(file, history.text()));
    }
    std::error_code error;
    fs::remove(folder_->state(), error); // not removed if something is kept in it
    return run;
}

} // namespace assay::run
