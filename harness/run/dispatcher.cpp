// SPDX-License-Identifier: Apache-2.0
#include "run/dispatcher.hpp"

#include "launch/placement.hpp"
#include "launch/team.hpp"
#include "machine/cgroup.hpp"
#include "machine/inventory.hpp"
#include "process/log.hpp"
#include "process/program.hpp"
#include "record/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <string_view>
#include <utility>

namespace assay::harness {
namespace {

namespace fs = std::filesystem;
using record::Status;

/// Adds the last output of a worker that did not answer.
void add_last_words(record::Replica& replica, const fs::path& log) {
    if (const auto words = complaint_in(log); !words.empty()) {
        replica.reason += ": " + words;
        replica.reason_values.push_back({"complaint", words});
    }
    if (const auto last = last_line_of(log); !last.empty()) {
        replica.reason += fmt::format("; last line of logs/{}: {}", log.filename().string(), last);
        replica.reason_values.push_back({"last_line", last});
    }
}

/// Of the host with the most ranks; the others are assumed to be alike.
int ranks_here(const Placement& placement) {
    if (placement.hosts.empty()) return placement.ranks;
    return std::ranges::max_element(placement.hosts, {}, &HostRanks::ranks)->ranks;
}

/// "node0:2 node1:2"
std::string words_of(const std::vector<HostRanks>& hosts) {
    std::string words;
    for (const auto& host : hosts)
        words += fmt::format("{}{}:{}", words.empty() ? "" : " ", host.label, host.ranks);
    return words;
}

bool is_known(const std::vector<record::TeamHost>& hosts, const std::string& name) {
    return std::ranges::find(hosts, name, &record::TeamHost::name) != hosts.end();
}

/// The devices of a case on several devices: their links carry its data.
std::vector<std::string> watched_together(const PlannedCase& planned) {
    std::vector<std::string> names;
    if (planned.benchmark->all_devices)
        for (const auto& device : planned.devices) names.push_back(device.uuid);
    return names;
}

} // namespace

bool is_interrupted(const message::Result& attempt) {
    return attempt.result.replicas.empty() && attempt.result.status == Status::interrupted;
}

Dispatcher::Dispatcher(fs::path program, const record::Machine& machine, Watch watch,
                       ExecutionContext context)
    : program_{std::move(program)}, machine_{machine}, watch_{std::move(watch)},
      context_{std::move(context)}, environment_{own_environment()},
      groups_{machine::own_group(machine::Files{})} {}

void Dispatcher::dismiss() {
    if (at_hand_)
        for (const auto& name : at_hand_->session->stop()) survivors_.push_back(survivor(name));
    at_hand_.reset();
}

Result<std::unique_ptr<Session>> Dispatcher::start(const Placement& placement,
                                                   const fs::path& log) {
    if (!placement.launcher.empty() && !scratch_) {
        auto scratch = Scratch::create();
        if (!scratch) return fail(scratch.error().message, Fault::benchmark);
        scratch_ = std::move(*scratch);
    }
    const double available = machine::fact(machine_, "memory.available");
    auto machine = machine_;
    machine.identity.serials.clear(); // no worker needs them, and some are on other hosts
    return Session::start(
        {.program = program_,
         .placement = placement,
         .log = log,
         .scratch = scratch_ ? scratch_->folder() : fs::path{},
         // A CUDA driver maps the device's memory into the process, which is not host
         // memory.
         .data_limit = placement.devices.empty() && !placement.rank_per_device
                           ? data_limit_for(available, ranks_here(placement))
                           : 0,
         .inherited = environment_,
         .build = build_,
         .context = context_,
         .groups = groups_,
         .memory = available > 0 ? static_cast<std::int64_t>(available) : 0},
        {.machine = std::move(machine),
         .state_folder = context_.inside(state_folder_),
         .ranks = placement.ranks,
         .hosts = static_cast<int>(placement.hosts.size()),
         .describe = !std::ranges::all_of(placement.hosts, [&](const HostRanks& host) {
             return is_known(hosts_, host.label);
         })});
}

Result<Session*> Dispatcher::session_for(const PlannedCase& planned, const Placement& placement,
                                         const fs::path& log) {
    const auto benchmark = fmt::format("{}[{}]", planned.benchmark->id, planned.module->module);
    if (at_hand_ && at_hand_->benchmark == benchmark && at_hand_->placement == placement &&
        at_hand_->session->alive())
        return at_hand_->session.get();
    dismiss(); // first: two workers would disturb each other
    auto session = start(placement, log);
    if (!session) return tl::unexpected{session.error()};
    at_hand_ =
        AtHand{.benchmark = benchmark, .placement = placement, .session = std::move(*session)};
    return at_hand_->session.get();
}

record::NamedList Dispatcher::facts(const Manifest& module, const fs::path& log) {
    auto [id, facts, problem] =
        ask_facts(start({.threads = std::max(machine_.usable_cores.value_or(1), 1)}, log),
                  context_.inside(module.library), watch_);
    for (auto& fact : facts)
        if (!fact.name.starts_with(module.module + '.'))
            fact.name = module.module + '.' + fact.name;
    if (!problem.empty()) facts.push_back({module.module + ".problem", std::move(problem)});
    return facts;
}

// --- tuning ---------------------------------------------------------------------------------------

void Dispatcher::adopt(const PlannedCase& planned, const record::NamedList& settings) {
    const auto is_set = [&](const Tuning& tuning) {
        return record::find(context_.variables, tuning.variable) != nullptr;
    };
    if (std::ranges::any_of(planned.module->tunings, is_set)) return; // set by the variant
    if (auto choice = recorded_choice(*planned.module, settings))
        choices_.try_emplace(tuning_group(planned), std::move(*choice));
}

const TuningChoice& Dispatcher::tune(const PlannedCase& planned, const measure::Protocol& protocol,
                                     const fs::path& log) {
    const auto group = tuning_group(planned);
    if (const auto known = choices_.find(group); known != choices_.end()) return known->second;
    const auto short_protocol = probe_protocol(protocol);
    double flops = 0;
    const Probe probe = [&](const Tuning* tuning) -> std::optional<double> {
        if (interrupted_) return std::nullopt;
        record::NamedList variables;
        if (tuning != nullptr) variables.push_back({tuning->variable, tuning->value});
        const auto tried = attempt(planned, short_protocol, 0, log, variables);
        if (tried.result.replicas.empty()) return std::nullopt;
        const auto& replica = tried.result.replicas.front();
        flops = record::number(tried.result.work, "flops").value_or(flops);
        const bool good = is_measured(replica.status);
        return good ? replica.seconds : std::nullopt;
    };
    const auto seen = worker_environment(environment_, {}, context_.variables);
    auto choice = choose_tuning(usable_tunings(*planned.module, machine_, seen), probe,
                                unset_tunings(*planned.module, environment_, seen));
    warn_of_unset(choice, flops);
    if (interrupted_) choice = {}; // an incomplete choice is not used: the run ends here
    return choices_.emplace(group, std::move(choice)).first->second;
}

// --- measuring ------------------------------------------------------------------------------------

message::Result Dispatcher::measure(const PlannedCase& planned, const measure::Protocol& protocol,
                                    int replica, const fs::path& log) {
    if (watch_.phase) watch_.phase("choosing the tuning");
    const auto& choice = tune(planned, protocol, log);
    if (interrupted_) return {.result = empty_case(planned)};
    auto done = attempt(planned, protocol, replica, log, choice.variables);
    auto& settings = done.result.settings;
    settings.insert(settings.end(), choice.settings.begin(), choice.settings.end());
    std::ranges::copy(choice.warnings, std::back_inserter(done.result.warnings));
    std::ranges::copy(survivors_, std::back_inserter(done.result.warnings));
    return done;
}

message::Result Dispatcher::attempt(const PlannedCase& planned, const measure::Protocol& protocol,
                                    int replica, const fs::path& log,
                                    const record::NamedList& variables) {
    message::Result attempt{.result = empty_case(planned)};
    const auto give_up = [&](const Error& error) {
        set_conclusion(attempt.result, record::conclusion(error));
        return attempt;
    };
    const auto placement = place(
        planned, machine_, variables,
        [&](int threads, const std::string& near) { return cpus_for(threads, near); }, job_);
    if (!placement) return give_up(placement.error());
    const auto session = session_for(planned, *placement, log);
    if (!session) {
        const auto& error = session.error();
        if (error.fault != Fault::benchmark) return give_up(error);
        attempt.result.replicas = {{.index = replica, .started = utc_now()}};
        set_conclusion(attempt.replica(), {.status = Status::not_started,
                                           .code = record::ReasonCode::no_worker,
                                           .reason = error.message,
                                           .values = {{"message", error.message}}});
        return attempt;
    }
    auto environment = recorded_environment((*session)->environment(), environment_);
    auto watch = watch_;
    watch.tick = [&] {
        limit_log(log);
        if (watch_.tick) watch_.tick();
    };
    auto answer = (*session)->measure({.id = ++last_id_,
                                       .module = context_.inside(planned.module->library),
                                       .build = planned.module->build_id,
                                       .benchmark = planned.benchmark->id,
                                       .parameters = planned.parameters,
                                       .protocol = protocol,
                                       .replica = replica,
                                       .place = place_of(planned),
                                       .devices = watched_together(planned),
                                       .log = context_.inside(fs::absolute(log))},
                                      watch);
    shorten_log(log);
    build_ = (*session)->build();
    for (const auto& host : placement->hosts) // in their order, not that of the answers
        for (const auto& described : (*session)->hosts())
            if (described.name == host.label && !is_known(hosts_, host.label))
                hosts_.push_back(described);
    interrupted_ = is_interrupted(answer);
    if (!(*session)->alive() && !interrupted_) add_last_words(answer.replica(), log);
    record::add_step(attempt.result, std::move(answer.result));
    attempt.samples = std::move(answer.samples);
    // After a device fault nothing works in that process.
    if (planned.benchmark->place != "host" && !attempt.result.replicas.empty() &&
        attempt.result.replicas.front().status == Status::failed)
        dismiss();
    auto& settings = attempt.result.settings;
    if (!placement->hosts.empty()) {
        settings.push_back({"job.launcher", placement->launcher});
        settings.push_back({"job.hosts", words_of(placement->hosts)});
    }
    if (!settings.empty() || !attempt.result.replicas.empty())
        std::ranges::move(environment, std::back_inserter(settings));
    return attempt;
}

const std::vector<int>& Dispatcher::cpus_for(int threads, const std::string& near) {
    const std::pair key{threads, near};
    const auto known = cpus_.find(key);
    if (known != cpus_.end()) return known->second;
    return cpus_.emplace(key, machine::choose_cpus(threads, near)).first->second;
}

} // namespace assay::harness
