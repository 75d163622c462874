// SPDX-License-Identifier: Apache-2.0
#include "run/dispatcher.hpp"

#include "launch/team.hpp"
#include "machine/cpu.hpp"
#include "machine/inventory.hpp"
#include "plan/groups.hpp"
#include "process/control_group.hpp"
#include "process/start.hpp"
#include "record/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace assay::run {
namespace {

namespace fs = std::filesystem;
using record::Status;

/// Adds the last output of a worker that did not answer.
void add_last_words(record::Replica& replica, const fs::path& log) {
    if (const auto words = process::complaint_in(log); !words.empty()) {
        replica.reason += ": " + words;
        replica.reason_values.push_back({"complaint", words});
    }
    if (const auto last = process::last_line_of(log); !last.empty()) {
        replica.reason += fmt::format("; last line of logs/{}: {}", log.filename().string(), last);
        replica.reason_values.push_back({"last_line", last});
    }
}

/// Ranks on the busiest host; the others are assumed to be alike.
int ranks_here(const launch::Placement& placement) {
    if (placement.hosts.empty()) return placement.ranks;
    return std::ranges::max_element(placement.hosts, {}, &launch::HostRanks::ranks)->ranks;
}

/// "node0:2 node1:2"
std::string words_of(const std::vector<launch::HostRanks>& hosts) {
    std::string words;
    for (const auto& host : hosts)
        words += fmt::format("{}{}:{}", words.empty() ? "" : " ", host.label, host.ranks);
    return words;
}

bool is_known(const std::vector<record::TeamHost>& hosts, const std::string& name) {
    return std::ranges::find(hosts, name, &record::TeamHost::name) != hosts.end();
}

/// The devices of a case on several devices: their links carry its data.
std::vector<std::string> watched_together(const plan::PlannedCase& planned) {
    std::vector<std::string> names;
    if (planned.benchmark->all_devices)
        for (const auto& device : planned.devices) names.push_back(device.uuid);
    return names;
}

/// The machine reduced to a case's share of the CPUs.
record::Machine shared(record::Machine machine, const machine::Shape& share) {
    int threads = 0;
    for (const auto& core : share.usable) threads += static_cast<int>(core.size());
    machine.usable_cores = static_cast<int>(share.usable.size());
    machine.usable_threads = threads;
    machine.sockets = share.sockets;
    machine.numa_nodes = share.numa_nodes;
    return machine;
}

std::string benchmark_of(const plan::PlannedCase& planned) {
    return fmt::format("{}[{}]", planned.benchmark->id, planned.module->module);
}

} // namespace

bool is_interrupted(const process::message::Result& attempt) {
    return attempt.result.replicas.empty() && attempt.result.status == Status::interrupted;
}

Dispatcher::Dispatcher(fs::path program, const record::Machine& machine, launch::Watch watch,
                       launch::ExecutionContext context)
    : program_{std::move(program)}, machine_{machine}, watch_{std::move(watch)},
      context_{std::move(context)}, environment_{process::own_environment()},
      groups_{process::group_to_use(machine::own_group(machine::Files{}))} {}

void Dispatcher::stop(std::unique_ptr<launch::Session>& session) {
    if (session)
        for (const auto& name : session->stop()) survivors_.push_back(launch::survivor(name));
    session.reset();
}

void Dispatcher::dismiss() {
    for (auto& slot : at_hand_) stop(slot.session);
    at_hand_.clear();
}

Result<std::unique_ptr<launch::Session>> Dispatcher::start(record::Machine machine,
                                                           const launch::Placement& placement,
                                                           const fs::path& log,
                                                           std::size_t at_once) {
    machine.identity.serials.clear(); // no worker needs them, and some are on other hosts
    if (!placement.launcher.empty() && !scratch_) {
        auto scratch = process::Scratch::create();
        if (!scratch) return fail(scratch.error().message, Fault::benchmark);
        scratch_ = std::move(*scratch);
    }
    const double available = machine::fact(machine_, "memory.available");
    return launch::Session::start(
        {.program = program_,
         .placement = placement,
         .log = log,
         .scratch = scratch_ ? scratch_->folder() : fs::path{},
         // A CUDA driver maps the device's memory into the process, which is not host
         // memory.
         .data_limit = placement.devices.empty() && !placement.rank_per_device
                           ? launch::data_limit_for(available, ranks_here(placement) *
                                                                   static_cast<int>(at_once))
                           : 0,
         .inherited = environment_,
         .build = build_,
         .context = context_,
         .groups = groups_,
         .memory = available > 0 ? static_cast<std::int64_t>(available) : 0},
        {.machine = std::move(machine),
         .state_folder = state_folder_,
         .ranks = placement.ranks,
         .hosts = static_cast<int>(placement.hosts.size()),
         .describe = !std::ranges::all_of(placement.hosts, [&](const launch::HostRanks& host) {
             return is_known(hosts_, host.label);
         })});
}

record::NamedList Dispatcher::facts(const plan::Manifest& module, const fs::path& log) {
    auto [id, facts, problem] =
        ask_facts(start(machine_, {.threads = std::max(machine_.usable_cores.value_or(1), 1)}, log),
                  module.library, watch_);
    for (auto& fact : facts)
        if (!fact.name.starts_with(module.module + '.'))
            fact.name = module.module + '.' + fact.name;
    if (!problem.empty()) facts.push_back({module.module + ".problem", std::move(problem)});
    return facts;
}

// --- tuning ---------------------------------------------------------------------------------------

void Dispatcher::adopt(const plan::PlannedCase& planned, const record::NamedList& settings) {
    const auto is_set = [&](const plan::Tuning& tuning) {
        return record::find(context_.variables, tuning.variable) != nullptr;
    };
    if (std::ranges::any_of(planned.module->tunings, is_set)) return; // set by the variant
    if (auto choice = recorded_choice(*planned.module, settings))
        choices_.try_emplace(tuning_group(planned), std::move(*choice));
}

const TuningChoice& Dispatcher::tune(const Errand& errand) {
    const auto& planned = errand.planned;
    const auto group = tuning_group(planned);
    if (const auto known = choices_.find(group); known != choices_.end()) return known->second;
    auto probed = errand;
    probed.protocol = probe_protocol(errand.protocol);
    probed.replica = 0;
    double flops = 0;
    const Probe probe = [&](const plan::Tuning* tuning) -> std::optional<double> {
        if (interrupted_) return std::nullopt;
        record::NamedList variables;
        if (tuning != nullptr) variables.push_back({tuning->variable, tuning->value});
        std::vector<Attempt> one{{.errand = probed, .variables = std::move(variables)}};
        measure(one);
        const auto& tried = one.front().result;
        if (tried.result.replicas.empty()) return std::nullopt;
        const auto& replica = tried.result.replicas.front();
        flops = record::number(tried.result.work, "flops").value_or(flops);
        const bool good = is_measured(replica.status);
        return good ? replica.seconds : std::nullopt;
    };
    const auto seen = launch::worker_environment(environment_, {}, context_.variables);
    auto choice = choose_tuning(usable_tunings(*planned.module, machine_, seen), probe,
                                unset_tunings(*planned.module, environment_, seen));
    warn_of_unset(choice, flops);
    if (interrupted_) choice = {}; // an incomplete choice is not used: the run ends here
    return choices_.emplace(group, std::move(choice)).first->second;
}

// --- measuring ------------------------------------------------------------------------------------

std::vector<process::message::Result> Dispatcher::measure(const std::vector<Errand>& errands) {
    std::vector<process::message::Result> results;
    std::vector<Attempt> attempts;
    std::vector<const TuningChoice*> choices;
    for (const auto& errand : errands) {
        if (watch_.phase) watch_.phase("choosing the tuning");
        choices.push_back(&tune(errand));
        if (interrupted_) {
            results.assign(1, {.result = empty_case(errand.planned)});
            return results;
        }
        attempts.push_back({.errand = errand, .variables = choices.back()->variables});
    }
    const auto loads = loads_of(errands);
    for (const auto& load : loads)
        attempts.push_back({.errand = load, .variables = tune(load).variables, .only_load = true});
    measure(attempts);
    for (std::size_t i = 0; i < errands.size(); ++i) {
        auto& done = results.emplace_back(std::move(attempts[i].result));
        auto& settings = done.result.settings;
        const auto& choice = *choices[i];
        settings.insert(settings.end(), choice.settings.begin(), choice.settings.end());
        std::ranges::copy(choice.warnings, std::back_inserter(done.result.warnings));
        std::ranges::copy(survivors_, std::back_inserter(done.result.warnings));
    }
    for (std::size_t i = errands.size(); i < attempts.size(); ++i)
        judge_load(attempts[i].result, results);
    if (errands.size() > 1) compare_siblings(results);
    return results;
}

void Dispatcher::find_place(Attempt& attempt) {
    const auto& planned = attempt.errand.planned;
    attempt.result.result = empty_case(planned);
    auto placement = launch::place(
        planned, attempt.machine, attempt.variables,
        [&](int threads, const std::string& near) {
            return planned.share ? machine::choose_cpus(*planned.share, threads)
                                 : cpus_for(threads, near);
        },
        job_);
    if (placement)
        attempt.placement = std::move(*placement);
    else
        record::set_conclusion(attempt.result.result, record::conclusion(placement.error()));
}

void Dispatcher::find_session(Attempt& attempt, AtHand& slot, std::size_t at_once) {
    const auto& errand = attempt.errand;
    if (!slot.session) {
        auto session = start(attempt.machine, *attempt.placement, errand.log, at_once);
        if (!session) {
            const auto& error = session.error();
            if (error.fault != Fault::benchmark)
                return record::set_conclusion(attempt.result.result, record::conclusion(error));
            attempt.result.result.replicas = {{.index = errand.replica, .started = utc_now()}};
            return record::set_conclusion(attempt.result.replica(),
                                          {.status = Status::not_started,
                                           .code = record::ReasonCode::no_worker,
                                           .reason = error.message,
                                           .values = {{"message", error.message}}});
        }
        slot = {.benchmark = benchmark_of(errand.planned),
                .placement = *attempt.placement,
                .session = std::move(*session)};
    }
    attempt.session = slot.session.get();
    attempt.environment =
        launch::recorded_environment(attempt.session->environment(), environment_);
}

/// Workers that do not fit end before others start: they would disturb each other.
void Dispatcher::find_sessions(std::vector<Attempt>& attempts) {
    for (std::size_t i = attempts.size(); i < at_hand_.size(); ++i) stop(at_hand_[i].session);
    at_hand_.resize(attempts.size());
    for (std::size_t i = 0; i < attempts.size(); ++i) {
        auto& slot = at_hand_[i];
        if (!slot.session || slot.benchmark != benchmark_of(attempts[i].errand.planned) ||
            slot.placement != attempts[i].placement || !slot.session->alive())
            stop(slot.session);
    }
    for (std::size_t i = 0; i < attempts.size(); ++i)
        if (attempts[i].placement) find_session(attempts[i], at_hand_[i], attempts.size());
}

process::message::Measure Dispatcher::request_for(const Attempt& attempt, bool has_siblings) {
    const auto& [planned, protocol, replica, log, expected] = attempt.errand;
    return {.id = ++last_id_,
            .module = planned.module->library,
            .build = planned.module->build_id,
            .benchmark = planned.benchmark->id,
            .parameters = planned.parameters,
            .protocol = protocol,
            .replica = replica,
            .place = place_of(planned),
            .devices = watched_together(planned),
            .log = fs::absolute(log),
            .has_siblings = has_siblings,
            .only_load = attempt.only_load,
            .expected = expected};
}

void Dispatcher::measure(std::vector<Attempt>& attempts) {
    for (auto& attempt : attempts) {
        const auto& share = attempt.errand.planned.share;
        attempt.machine = share ? shared(machine_, *share) : machine_;
        find_place(attempt);
    }
    find_sessions(attempts);
    auto watch = watch_;
    watch.tick = [&] {
        for (const auto& attempt : attempts) process::limit_log(attempt.errand.log);
        if (watch_.tick) watch_.tick();
    };
    std::vector<Sibling> siblings;
    std::vector<Attempt*> asked;
    for (auto& attempt : attempts) {
        if (attempt.session == nullptr) continue;
        siblings.push_back(
            {.session = attempt.session, .request = request_for(attempt, attempts.size() > 1)});
        asked.push_back(&attempt);
    }
    const auto started =
        utc_now(); // by our clock: that of a worker may have been set, or is another host's
    auto answers = measure_together(siblings, watch);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        for (auto& replica : answers[i].result.replicas) replica.started = started;
        take(*asked[i], std::move(answers[i]));
    }
}

void Dispatcher::take(Attempt& attempt, process::message::Result answer) {
    const auto& [planned, protocol, replica, log, expected] = attempt.errand;
    const auto& session = *attempt.session;
    process::shorten_log(log);
    build_ = session.build();
    const auto& placement = *attempt.placement;
    for (const auto& host : placement.hosts) // in their order, not that of the answers
        for (const auto& described : session.hosts())
            if (described.name == host.label && !is_known(hosts_, host.label))
                hosts_.push_back(described);
    const bool interrupted = is_interrupted(answer);
    interrupted_ = interrupted_ || interrupted;
    if (!session.alive() && !interrupted) add_last_words(answer.replica(), log);
    auto& result = attempt.result.result;
    record::add_step(result, std::move(answer.result));
    attempt.result.samples = std::move(answer.samples);
    attempt.result.reference = std::move(answer.reference);
    // After a device fault nothing works in that process.
    if (planned.benchmark->place != "host" && !result.replicas.empty() &&
        result.replicas.front().status == Status::failed)
        for (auto& slot : at_hand_)
            if (slot.session.get() == attempt.session) stop(slot.session);
    auto& settings = result.settings;
    if (!placement.hosts.empty()) {
        settings.push_back({"job.launcher", placement.launcher});
        settings.push_back({"job.hosts", words_of(placement.hosts)});
        std::vector<std::vector<plan::Group>> groups;
        for (const auto& host : placement.hosts) groups.push_back(host.groups);
        for (const auto& kind : kinds_of(groups))
            settings.push_back({"job.groups." + kind, words_of_kind(groups, kind)});
    }
    if (!settings.empty() || !result.replicas.empty())
        std::ranges::move(attempt.environment, std::back_inserter(settings));
}

const std::vector<int>& Dispatcher::cpus_for(int threads, const std::string& near) {
    const std::pair key{threads, near};
    const auto known = cpus_.find(key);
    if (known != cpus_.end()) return known->second;
    return cpus_.emplace(key, machine::choose_cpus(threads, near)).first->second;
}

} // namespace assay::run
