// SPDX-License-Identifier: Apache-2.0
#include "worker/case_worker.hpp"

#include "base/file.hpp"
#include "machine/inventory.hpp"
#include "record/format.hpp"
#include "record/soak.hpp"
#include "worker/transport.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <thread>
#include <utility>

namespace assay::worker {
namespace {

using record::ReasonCode;
using record::Status;

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Wall time is the host's; the benchmark states the resolution of its own clock.
class PlaceClock : public worker::Clock {
public:
    explicit PlaceClock(const assay_benchmark& benchmark)
        : resolution_{std::isfinite(benchmark.clock_resolution) ? benchmark.clock_resolution : 0} {}
    double now() override { return host_.now(); }
    double read_cost() override { return std::max(resolution_, host_.read_cost()); }
    double resolution() override { return std::max(resolution_, host_.resolution()); }

private:
    worker::Clock& host_ = worker::steady_clock();
    double resolution_;
};

std::string text_of(const std::array<char, 1024>& text, const char* fallback) {
    return text[0] == '\0' ? fallback : text.data();
}

/// The harness's data of a window, and a library's allocations in its first call, are smaller.
constexpr double least_growth = 16.0 * 1024 * 1024; // bytes
constexpr double least_growth_share = 0.05;

/// A process that grows while it repeats the same calls: one replica alone shows it, because the next one is a new
/// process.
void watch_growth(std::int64_t before, std::int64_t after, process::message::Result& result) {
    if (before <= 0 || after <= 0) return;
    result.replica().resident_bytes = static_cast<double>(after);
    const auto grown = static_cast<double>(after - before);
    if (grown <= std::max(least_growth, least_growth_share * static_cast<double>(before))) return;
    result.result.warnings.push_back(
        fmt::format("memory of the process grew from {} to {} during equal calls: the benchmark or "
                    "its library leaks memory",
                    record::human_bytes(static_cast<double>(before)),
                    record::human_bytes(static_cast<double>(after))));
}

/// Changes of the phase, for the parent. Short calls that are checked one by one change it thousands of times a second:
/// from the hundredth on one phase stands for both.
class PhaseChanges {
public:
    /// The phase to report; null: none.
    const char* reported(const char* phase) {
        constexpr int most = 100;
        if (count_ == most) return nullptr;
        return ++count_ < most ? phase : "running and checking";
    }

private:
    int count_ = 0;
};

/// Bytes in the log of the case, where stdout and stderr go; 0 where they are not files.
std::int64_t logged_bytes() {
    struct stat facts{};
    std::fflush(stdout);
    return ::fstat(STDOUT_FILENO, &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_size : 0;
}

/// From harmless to final, for ranks that end a case differently.
int weight(Status status) {
    switch (status) {
    case Status::ok:
        return 0;
    case Status::skipped:
        return 1;
    default:
        return 2;
    }
}

/// Is the module here the one that the run was planned with? Not where it was rebuilt since, where another host has
/// another one, and where its manifest was made of another.
Result<void> compare_build(const Module& module, const std::string& wanted) {
    if (wanted.empty()) return {};
    ASSAY_TRY(const auto own, build_id(module));
    if (own == wanted) return {};
    constexpr std::size_t shown = 8; // of an id: enough to tell two apart
    return fail(fmt::format("{} has another build ({}) than its manifest had when the run was "
                            "planned ({}): it was rebuilt or replaced, or differs between hosts; "
                            "install one build with its manifest, and start again",
                            module.path().string(), own.substr(0, shown), wanted.substr(0, shown)),
                Fault::benchmark);
}

} // namespace

CaseWorker::CaseWorker(record::Machine machine, std::int64_t data_limit, std::string state_folder,
                       Reports reports, JobFacts job, int owner)
    : machine_{std::move(machine)}, reports_{std::move(reports)},
      services_{machine_, data_limit, [this](const std::string& text) { reports_.log({text}); },
                std::move(state_folder), job},
      owner_{owner} {}

CaseWorker::~CaseWorker() {
    if (leave_ != nullptr) leave_();
}

Result<const Module*> CaseWorker::load(const std::string& path) {
    const auto known = modules_.find(path);
    if (known != modules_.end()) return &known->second;
    ASSAY_TRY(auto module, Module::load(path));
    return &modules_.emplace(path, std::move(module)).first->second;
}

Result<void> CaseWorker::join(const Module& module, const assay_benchmark& benchmark) {
    const bool wanted = (benchmark.flags & ASSAY_TEAM) != 0;
    if (!wanted || leave_ != nullptr || services_.table()->team != nullptr) return {};
    const auto& table = module.table();
    if (table.join == nullptr)
        return fail(fmt::format("{} needs a team, but its module has none", benchmark.id));
    std::array<char, 1024> words{};
    assay_text error{.data = words.data(), .capacity = words.size()};
    const assay_team* team = table.join(&error);
    if (team == nullptr)
        return fail(fmt::format("cannot join the team: {}", text_of(words, "no reason given")),
                    Fault::environment);
    services_.set_team(team);
    leave_ = table.leave;
    return {};
}

process::message::Facts CaseWorker::facts(const process::message::AskFacts& request) {
    process::message::Facts answer{.id = request.id};
    const auto module = load(request.module);
    if (!module) {
        answer.problem = module.error().message;
        return answer;
    }
    const auto ask = (*module)->table().facts;
    if (ask == nullptr) return answer;
    services_.clear();
    std::array<char, 1024> words{};
    assay_text error{.data = words.data(), .capacity = words.size()};
    if (ask(services_.table(), &error) != 0) answer.problem = text_of(words, "no reason given");
    answer.facts = services_.settings;
    return answer;
}

process::message::Result CaseWorker::measure(const process::message::Measure& request) {
    process::message::Result result{.id = request.id};
    result.result.replicas.push_back({.index = request.replica, .started = utc_now()});
    services_.clear();
    attempt(request, result);
    note_network_rate(services_.evidence, services_.settings);
    result.result.settings = services_.settings;
    result.result.evidence = services_.evidence;
    result.replica().extra = services_.metrics;
    result.replica().tables = services_.tables;
    return result;
}

bool CaseWorker::all_agree(record::Conclusion mine, process::message::Result& result) {
    // The largest is of the worst rank: its weight and its number.
    const int size = team().size();
    const auto worst = static_cast<int>(team().max((weight(mine.status) * size) + team().rank()));
    const int heaviest = worst / size;
    if (heaviest == 0) return true;
    if (heaviest != weight(mine.status)) // the parent replaces this by the reason of that rank
        mine = {.status = heaviest == weight(Status::skipped) ? Status::skipped : Status::failed,
                .code = ReasonCode::another_rank,
                .reason = "another rank could not take part",
                .values = {{"rank", std::int64_t{worst % size}}}};
    record::set_conclusion(result.replica(), std::move(mine));
    return false;
}

void CaseWorker::attempt(const process::message::Measure& request,
                         process::message::Result& result) {
    const auto give_up = [&](const Error& error) {
        record::set_conclusion(result.replica(), record::conclusion(error));
    };
    reports_.phase({.id = request.id, .phase = "loading the module"});
    const auto module = load(request.module);
    if (!module) return give_up(module.error());
    if (const auto same = compare_build(**module, request.build); !same)
        return give_up(same.error());
    const auto* benchmark = (*module)->find(request.benchmark);
    if (benchmark == nullptr)
        return give_up(
            {.message = fmt::format("{} has no benchmark {}", request.module, request.benchmark)});
    const auto values = module_values(*benchmark, request.parameters);
    if (!values) return give_up(values.error());
    PlaceClock clock{*benchmark};
    PhaseChanges changes;
    LoadedCase subject{*benchmark, *services_.table(), *values, [&](const char* phase) {
                           if (const auto* reported = changes.reported(phase))
                               reports_.phase({.id = request.id, .phase = reported});
                       }};
    // If the case does not apply, there may be no team to join.
    record::Conclusion fit{.status = Status::ok};
    if (const auto misfit = subject.misfit(); !misfit.empty())
        fit = {.status = Status::skipped,
               .code = ReasonCode::not_applicable,
               .reason = misfit,
               .values = {{"message", misfit}}};
    if (fit.status != Status::ok && leave_ == nullptr)
        return record::set_conclusion(result.replica(), std::move(fit));
    if (const auto joined = join(**module, *benchmark); !joined) return give_up(joined.error());
    if (!all_agree(std::move(fit), result)) return;

    if (benchmark->items != nullptr && *benchmark->items != '\0')
        services_.settings.push_back({"items", std::string{benchmark->items}});
    reports_.phase({.id = request.id, .phase = "setting up"});
    const auto start = std::chrono::steady_clock::now();
    const auto created = subject.create();
    result.replica().setup_seconds = seconds_since(start);
    if (all_agree(created ? record::Conclusion{.status = Status::ok}
                          : record::conclusion(created.error()),
                  result))
        run_engine(request, subject, clock, result);
    auto& replica = result.replica();
    if (replica.reason_code == ReasonCode::benchmark_error && !subject.failure().empty())
        replica.reason_values = subject.failure();
}

/// Warm-up watches the clock of the place: a device's clock says nothing about the host's core.
worker::Hooks CaseWorker::hooks(const process::message::Measure& request,
                                telemetry::Window& window) {
    worker::Hooks hooks;
    if (request.place.uuid.empty())
        hooks.core_clock_hz = [] { return machine::measure_core_clock(); };
    else if (auto* device = window.device(); device != nullptr && device->clock_hz())
        hooks.core_clock_hz = [device] { return device->clock_hz().value_or(0); };
    hooks.phase = [this, id = request.id](const char* phase) {
        reports_.phase({.id = id, .phase = phase});
    };
    hooks.pause = [](double seconds) {
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    };
    hooks.utc = utc_now;
    hooks.expected = record::hashes_from(request.expected);
    if (request.has_siblings) meet_siblings(request, hooks);
    return hooks;
}

void CaseWorker::meet_siblings(const process::message::Measure& request, worker::Hooks& hooks) {
    const auto reached = [id = request.id](std::string_view point) {
        return process::message::Reached{.id = id, .point = std::string{point}};
    };
    hooks.only_load = request.only_load;
    hooks.ready = [this, reached] {
        reports_.reached(reached(process::message::ready));
        reports_.may_proceed(reached(process::message::ready));
    };
    hooks.goes_on = [this, reached, said = false]() mutable {
        if (!std::exchange(said, true)) reports_.reached(reached(process::message::measured));
        return !reports_.may_proceed(reached(process::message::measured));
    };
}

/// An idle device takes a while to reach its steady clock: the first case of a worker warms it up for all,
/// however short the suite's warm-up is. A clock that is steady earlier ends it earlier.
record::Protocol CaseWorker::protocol_of(const process::message::Measure& request) {
    constexpr double device_warmup = 0.5; // seconds
    auto protocol = request.protocol;
    const auto& asked = services_.evidence; // see Context::sustained in assay/benchmark.hpp
    protocol.batch_floor = std::max(protocol.batch_floor, asked.batch_seconds.value_or(0));
    protocol.load_seconds = std::max(protocol.load_seconds, asked.load_seconds.value_or(0));
    if (request.place.kind == "host") return protocol;
    const bool is_first = !std::exchange(device_is_warm_, true);
    services_.settings.push_back({"device_at_start", std::string{is_first ? "cold" : "warm"}});
    if (is_first) protocol.warmup_seconds = std::max(protocol.warmup_seconds, device_warmup);
    return protocol;
}

/// The NVLink counters for a case on several devices; nothing if the driver has none.
std::optional<telemetry::LinkWindow>
CaseWorker::watch_links(const process::message::Measure& request) {
    if (request.devices.size() < 2) return {};
    auto links = telemetry::LinkWindow::open(request.devices);
    return links ? std::optional{std::move(*links)} : std::nullopt;
}

/// When the counters contradict the path, the result may be right, but its value belongs to another path.
void CaseWorker::prove_path(const Counts& counted, std::uint64_t calls,
                            process::message::Result& result) {
    auto& replica = result.replica();
    if (!is_measured(replica.status)) return;
    if (const auto sum = sum_of(counted); sum.sent || sum.received) {
        if (!replica.telemetry.device) replica.telemetry.device.emplace();
        replica.telemetry.device->nvlink_received_bytes = sum.received;
        replica.telemetry.device->nvlink_sent_bytes = sum.sent;
    }
    auto proof = prove_links(services_.evidence, counted, calls);
    if (!proof.said.empty()) services_.settings.push_back({"nvlink.proof", proof.said});
    if (proof.contradiction.empty() || !result.result.verification) return;
    result.result.verification->passed = false;
    result.result.verification->detail = proof.contradiction;
    record::set_conclusion(replica, {.status = Status::incorrect,
                                     .code = ReasonCode::path_contradicted,
                                     .reason = std::move(proof.contradiction),
                                     .values = std::move(proof.values)});
}

/// The windows of a case: of the machine, of a device, and of links between several.
struct CaseWorker::Watched {
    telemetry::Window window;
    std::optional<telemetry::LinkWindow> links;
    record::Telemetry telemetry{};
    Counts counted{};
    std::int64_t resident_before = 0; ///< bytes
    std::int64_t resident_after = 0;
    std::int64_t logged_before = 0; ///< bytes
    bool prints = false;

    void begin() {
        if (links) links->begin();
        logged_before = logged_bytes();
        resident_before = resident_in_use();
        window.begin();
    }
    void end() {
        resident_after = resident_in_use();
        telemetry = window.end();
        if (links) counted = links->end();
        prints = logged_bytes() > logged_before;
    }
};

CaseWorker::Watched CaseWorker::watched(const process::message::Measure& request, bool watches) {
    telemetry::Options options{.owner = owner_, .own_cpus = team().size() == 1};
    if (watches) options.device.name = request.place.uuid;
    const bool asks = watches && (!options.device.name.empty() || request.devices.size() > 1);
    if (asks && !driver_)
        if (auto opened = machine::Nvml::open()) driver_ = std::move(*opened);
    if (request.place.kind == "cuda" && request.place.uuid.empty())
        options.no_energy = "the case is measured on several devices at once";
    else if (request.has_siblings && request.place.kind == "host")
        options.no_energy = "other cases are measured at the same time";
    return {.window = telemetry::Window{std::move(options)},
            .links = watches ? watch_links(request) : std::nullopt};
}

void CaseWorker::run_engine(const process::message::Measure& request, LoadedCase& subject,
                            worker::Clock& clock, process::message::Result& result) {
    // Rank 0 watches for all: they share the machine.
    const bool watches = team().rank() == 0;
    auto seen = watched(request, watches);
    auto watch = hooks(request, seen.window);
    if (watches) {
        watch.window_begins = [&] { seen.begin(); };
        watch.window_ends = [&] { seen.end(); };
    }
    auto measured =
        worker::measure(subject, protocol_of(request), clock, worker::google_benchmark(), team(),
                        watch, std::move(result.replica()));
    measured.replica.telemetry = std::move(seen.telemetry);
    result.replica() = std::move(measured.replica);
    result.result.verification = std::move(measured.verification);
    result.samples = std::move(measured.samples);
    result.reference = record::to_text(measured.reference);
    watch_growth(seen.resident_before, seen.resident_after, result);
    if (seen.prints)
        result.result.warnings.push_back(
            fmt::format("{} prints while it is measured, which takes time; see logs/ of the run",
                        request.benchmark));
    // At 22 bytes each, half a million are 11 MB, which fits a message.
    constexpr std::size_t most_samples = 500'000;
    if (result.samples.size() > most_samples) {
        reports_.log({fmt::format("of {} samples the first {} are kept", result.samples.size(),
                                  most_samples)});
        result.samples.resize(most_samples);
    }
    if (result.replica().status == Status::failed) return;
    if (watches) prove_path(seen.counted, measured.window_calls, result);
    add_work(subject, result);
}

void CaseWorker::add_work(LoadedCase& subject, process::message::Result& result) {
    auto work = subject.work();
    const auto reported = work ? subject.report_metrics() : Result<void>{};
    if (work && reported) {
        result.result.work = std::move(*work);
        return;
    }
    record::set_conclusion(result.replica(),
                           record::conclusion(work ? reported.error() : work.error()));
}

} // namespace assay::worker
