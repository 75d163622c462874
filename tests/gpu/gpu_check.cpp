// SPDX-License-Identifier: Apache-2.0
//
// The program behind scripts/gpu-check: goes through the steps of a plan, each a process of its own with a time limit,
// so that a fault costs one row, and writes the archive after every row. Whatever ends this program, what was done
// until then is in it.

#include "archive.hpp"
#include "base/file.hpp"
#include "base/quantity.hpp"
#include "base/version.hpp"
#include "outcomes.hpp"
#include "peer.hpp"
#include "process/process.hpp"
#include "process/program.hpp"
#include "process/signals.hpp"
#include "record/reader.hpp"
#include "steps.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <stdlib.h> // mkdtemp is POSIX, not std
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_archive = std::size_t{16} << 20U;
constexpr std::size_t most_result = std::size_t{4} << 20U; ///< one run.json or journal
constexpr std::size_t most_log = std::size_t{64} << 10U;

struct Options {
    fs::path out = "gpu-check";
    std::string device = "0";
    std::string part{first_part};
    double budget = 480; ///< seconds
    int pairs = 8;
    unsigned at_once = 8; ///< contracts: they take the host's time more than the device's
};

Tree find_tree() {
    std::error_code error;
    const auto own = fs::read_symlink("/proc/self/exe", error).parent_path();
    const bool packed = fs::exists(own / "../../../bin/assay", error);
    const auto root = fs::weakly_canonical(own / (packed ? "../../.." : ".."));
    return {.assay = root / "bin/assay",
            .contract = own / "module_contract",
            .modules = root / "lib/assay",
            .data = packed ? own : fs::path{GPU_CHECK_DATA}};
}

/// A program on PATH, or where NVIDIA's installers put theirs.
std::string found(const std::string& program) {
    if (program.find('/') != program.npos) return program;
    const char* path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): one thread
    return harness::find_program(program,
                                 fmt::format("{}:/usr/local/cuda/bin", path == nullptr ? "" : path))
        .string();
}

std::string text_of(const fs::path& path, std::size_t most = std::size_t{64} << 20U) {
    return read_whole(path, most).value_or("");
}

/// A name that every file system takes.
std::string file_name(std::string name) {
    std::ranges::replace_if(name, [](char c) { return c == '/' || c == ' ' || c == '['; }, '_');
    std::erase_if(name, [](char c) { return c == ']' || c == ','; });
    return name;
}

class Check {
public:
    Check(const Options& options, Tree tree, fs::path work)
        : options_{options}, tree_{std::move(tree)}, work_{std::move(work)},
          plan_{plan_of(options.part, tree_, tried_of(tree_.modules), options.device)},
          archive_{options.out / "gpu-check.tar", most_archive} {
        report_.date = utc_now();
        report_.version = version();
        report_.part = options.part;
        report_.state = "running";
        report_.budget = options.budget;
        for (const auto& part : plan_.parts) {
            if (part.name == turns_part)
                for (const auto& turn : turns()) announce(std::string{part.name}, turn.name);
            for (const auto& step : plan_.steps)
                if (step.part == part.name) announce(step.part, step.name);
        }
    }

    const Report& run() {
        pack();
        const auto budget = std::chrono::duration<double>{options_.budget};
        // The last of it belongs to ending what runs and to writing.
        end_ = begin_ + std::chrono::duration_cast<Clock::duration>(
                            budget - std::min(budget / 20, 5.0 * 1s));
        for (const auto& part : plan_.parts) {
            const auto share =
                std::min(part.until * budget, std::chrono::duration<double>{part.seconds});
            const auto until =
                std::min(end_, begin_ + std::chrono::duration_cast<Clock::duration>(share));
            if (part.name == turns_part) take_turns(until);
            attempt_part(part, until);
        }
        // With the time that is left; facts last, for they are early unless the driver hangs.
        std::ranges::rotate(plan_.steps, std::ranges::find_if(plan_.steps, [&](const Step& step) {
                                return step.part != plan_.parts.front().name;
                            }));
        for (const auto& step : plan_.steps) attempt(step, end_);
        report_.state = signals_.caught() == 0 ? "done" : harness::signal_words(signals_.caught());
        pack();
        return report_;
    }
    /// Why the archive is not what it should be; empty where it is.
    const std::string& trouble() const { return trouble_; }
    int caught() const { return signals_.caught(); }

private:
    Row& row_of(const std::string& part, const std::string& name) {
        return *std::ranges::find_if(
            report_.rows, [&](const Row& row) { return row.part == part && row.name == name; });
    }
    void announce(const std::string& part, const std::string& name) {
        report_.rows.push_back(
            {.part = part, .name = name, .verdict = {{}, "its turn did not come"}});
    }
    void finish(Row& row, Verdict verdict, Clock::time_point begin) {
        const std::scoped_lock one{lock_};
        row.verdict = std::move(verdict);
        row.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        fmt::print("{:<10} {:<50} {:<9} {}\n", row.part, row.name, to_string(row.verdict.outcome),
                   row.verdict.words);
        std::fflush(stdout);
        pack();
    }

    /// Of a program that takes the device it is shown; assay chooses by itself.
    std::vector<std::string> environment(std::vector<std::string> first) const {
        first.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
        first.push_back("CUDA_VISIBLE_DEVICES=" + options_.device);
        for (auto& entry : harness::own_environment()) // the first of a name counts
            if (!entry.starts_with("CUDA_VISIBLE_DEVICES=") &&
                !entry.starts_with("CUDA_DEVICE_ORDER="))
                first.push_back(std::move(entry));
        return first;
    }

    void pack() {
        const std::scoped_lock one{lock_};
        report_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
        report_.left_out = archive_.left_out();
        archive_.put({"gpu-check.json", json::to_text(to_json(report_)), Rank::report});
        archive_.put({"gpu-check.txt", to_text(report_), Rank::report});
        archive_.put({"status.md", to_markdown(report_), Rank::report});
        const auto written = archive_.write();
        trouble_ = written ? std::string{} : written.error().message;
    }

    /// Waits for a process until its time is over or somebody stops us; what it has so far is packed now and then.
    void attend(harness::Process& process, Clock::time_point until,
                const std::function<void()>& collect) {
        auto packed = Clock::now();
        while (!process.wait(100ms)) {
            const bool stopped = signals_.caught() != 0;
            if (Clock::now() - packed > 5s || stopped) {
                collect();
                pack();
                packed = Clock::now();
            }
            if (!stopped && Clock::now() < until) continue;
            // `assay run` writes its result when it is asked to end.
            ::kill(process.pid(), SIGTERM);
            process.wait(stopped ? 1500ms : 3000ms);
            break;
        }
        process.kill();
    }

    /// Of what `assay run` left in `folder`: the result, or the journal until there is one.
    std::vector<record::Case> collect(const fs::path& folder, const std::string& name, Rank rank) {
        std::error_code error;
        fs::path result;
        fs::path journal;
        for (const auto& entry : fs::recursive_directory_iterator{folder, error}) {
            if (entry.path().filename() == "run.json") result = entry.path();
            if (entry.path().filename() == "journal.ndjson") journal = entry.path();
        }
        if (result.empty()) {
            if (!journal.empty())
                archive_.put({name + "/journal.ndjson", text_of(journal, most_result), rank});
            return {};
        }
        archive_.drop(name + "/journal.ndjson");
        archive_.put({name + "/run.json", text_of(result, most_result), rank});
        auto run = record::read_run(result);
        return run ? std::move(run->cases) : std::vector<record::Case>{};
    }

    struct Done {
        Said said;
        std::vector<record::Case> cases;
    };
    /// Nothing: the program is not there.
    std::optional<Done> execute(const Step& step, Clock::time_point until, const std::string& name,
                                Rank rank) {
        auto arguments = step.arguments;
        arguments[0] = found(arguments[0]);
        if (arguments[0].empty()) return std::nullopt;
        const auto folder = work_ / file_name(name);
        const auto log = work_ / (file_name(name) + ".txt");
        if (step.measures) arguments.insert(arguments.end(), {"--out", folder.string()});
        Done done{.said = {.log = {}, .ending = {}, .test = step.test}, .cases = {}};
        const auto keep = [&] {
            const std::scoped_lock one{lock_};
            done.said.log = text_of(log);
            archive_.put(
                {"logs/" + file_name(name) + ".txt", shortened_log(done.said.log, most_log)});
            if (step.measures) done.cases = collect(folder, file_name(name), rank);
        };
        const auto limit = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>{step.seconds});
        auto variables = step.measures ? harness::own_environment() : environment({});
        variables.insert(variables.begin(), step.variables.begin(), step.variables.end());
        auto process = harness::Process::start(
            {.arguments = arguments, .environment = variables, .cpus = {}, .log = log, .mark = {}});
        if (!process) {
            done.said.ending = process.error().message;
            return done;
        }
        const auto begin = Clock::now();
        attend(*process, std::min(until, limit), keep);
        const auto ending = process->poll();
        keep();
        // Of its own accord with code 0, also where it was asked to: then it is done.
        const bool overtime = Clock::now() >= std::min(until, limit) || signals_.caught() != 0;
        done.said.cut_off = overtime && (!ending || ending->signal != 0 || ending->code != 0);
        if (done.said.cut_off)
            done.said.ending =
                fmt::format("cut off after {:.1f} s",
                            std::chrono::duration<double>(Clock::now() - begin).count());
        else if (!ending || ending->signal != 0)
            done.said.ending = harness::signal_words(ending ? ending->signal : SIGKILL);
        else if (ending->code != 0)
            done.said.ending = fmt::format("ended with code {}", ending->code);
        return done;
    }

    /// Those that measure nothing share the device.
    void attempt_part(const Part& part, Clock::time_point until) {
        std::vector<const Step*> steps;
        for (const auto& step : plan_.steps)
            if (step.part == part.name) steps.push_back(&step);
        std::atomic<std::size_t> next = 0;
        const auto work = [&] {
            for (std::size_t i = next++; i < steps.size(); i = next++) attempt(*steps[i], until);
        };
        std::vector<std::jthread> others;
        for (unsigned i = 1; part.measures_nothing && i < options_.at_once; ++i)
            others.emplace_back(work);
        work();
    }

    void attempt(const Step& step, Clock::time_point until) {
        auto& row = row_of(step.part, step.name);
        // Less is not worth beginning; but a short budget has short parts.
        const auto least = std::min(3s * 1.0, std::chrono::duration<double>{options_.budget / 40});
        if (row.verdict.outcome != Outcome::not_started || signals_.caught() != 0 ||
            until - Clock::now() < least)
            return;
        const auto begin = Clock::now();
        auto done = execute(step, until, step.part + "-" + step.name, Rank::result);
        if (!done) {
            finish(row, {Outcome::missing, fmt::format("there is no {} here", step.arguments[0])},
                   begin);
            return;
        }
        auto verdict = step.read(done->said);
        if (step.measures) add_cases(step.part, done->cases);
        // What was measured is a row of its own; this one says whether the run got to its end.
        finish(row_of(step.part, step.name), std::move(verdict), begin);
    }

    void add_cases(const std::string& part, const std::vector<record::Case>& cases) {
        for (const auto& c : cases) {
            report_.rows.push_back({.part = part, .name = name_of(c), .verdict = verdict_of(c)});
            fmt::print("{:<10} {:<50} {:<9} {}\n", part, report_.rows.back().name,
                       to_string(report_.rows.back().verdict.outcome),
                       report_.rows.back().verdict.words);
        }
    }

    // PyTorch ----------------------------------------------------------------------------------------------------

    /// Every peer has had one pair before any has two; who begins changes from round to round (A B, B A).
    void take_turns(Clock::time_point until) {
        const auto go_on = [&] { return signals_.caught() == 0 && Clock::now() < until; };
        if (!go_on()) return;
        const auto all = turns();
        const auto begin = Clock::now();
        const auto nobody = [&](const std::string& why) {
            for (const auto& turn : all)
                finish(row_of(std::string{turns_part}, turn.name), {Outcome::missing, why}, begin);
        };
        const auto python = found("python3");
        if (python.empty()) return nobody("there is no python3 here");
        auto peer =
            Peer::start({python, (tree_.data / "torch_turns.py").string()}, environment({}), work_);
        if (!peer) return nobody(peer.error().message);
        const auto ready = peer->answer(go_on);
        archive_.put({"logs/torch_turns.txt", shortened_log(text_of(peer->log()), most_log)});
        if (!ready)
            return nobody("PyTorch did not get ready: " + shortened_log(text_of(peer->log()), 300));
        if (const auto said = json::parse(*ready, "the peer"); !said || said->contains("problem"))
            return nobody(read_peer(*ready).problem);

        for (int round = 0; round < options_.pairs; ++round)
            for (const auto& turn : all) {
                auto& row = row_of(std::string{turns_part}, turn.name);
                const bool hopeless = row.verdict.outcome == Outcome::failed;
                if (hopeless || !go_on()) continue;
                if (const auto why = pair(*peer, turn, round, until, go_on); !why.empty()) {
                    if (go_on()) finish(row, {Outcome::failed, why}, begin);
                    continue;
                }
                finish(row, verdict_of(ratio_of(turn)), begin);
            }
        archive_.put({"logs/torch_turns.txt", shortened_log(text_of(peer->log()), most_log)});
    }

    Ratio& ratio_of(const Turn& turn) {
        const auto known = std::ranges::find(report_.ratios, turn.name, &Ratio::name);
        if (known != report_.ratios.end()) return *known;
        report_.ratios.push_back({.name = turn.name, .unit = turn.unit, .ours = {}, .theirs = {}});
        return report_.ratios.back();
    }

    /// Why there is no pair; empty where there is.
    std::string pair(Peer& peer, const Turn& turn, int round, Clock::time_point until,
                     const std::function<bool()>& go_on) {
        double ours = 0;
        PeerTime theirs;
        std::string why;
        const auto our_turn = [&] {
            const auto done = execute(step_of(turn, tree_, options_.device), until,
                                      fmt::format("turns-{}-{}", turn.name, round), Rank::detail);
            if (!done || done->cases.empty() || done->cases.front().metrics.empty() ||
                !done->cases.front().metrics.front().value)
                why = "assay gave no rate: " + (!done || done->cases.empty()
                                                    ? done ? done->said.ending : "it is not there"
                                                    : verdict_of(done->cases.front()).words);
            else
                ours = *done->cases.front().metrics.front().value;
        };
        const auto their_turn = [&] {
            peer.ask(turn.name);
            const auto line = peer.answer(go_on);
            theirs = line ? read_peer(*line) : PeerTime{.problem = "PyTorch gave no answer"};
            if (!theirs.problem.empty()) why = "PyTorch: " + theirs.problem;
        };
        if (round % 2 == 0) our_turn();
        if (why.empty()) their_turn();
        if (why.empty() && round % 2 == 1) our_turn();
        if (!why.empty()) return why;
        auto& ratio = ratio_of(turn);
        ratio.ours.push_back(ours);
        ratio.theirs.push_back(turn.work / theirs.seconds);
        return {};
    }

    const Options& options_;
    std::recursive_mutex lock_; ///< of report and archive
    Tree tree_;
    fs::path work_;
    Plan plan_;
    Archive archive_;
    Report report_;
    harness::Signals signals_;
    Clock::time_point begin_ = Clock::now();
    Clock::time_point end_ = begin_;
    std::string trouble_;
};

/// The driver's own file is there, that of WSL, or its tool.
bool may_have_device() {
    std::error_code error;
    return fs::exists("/dev/nvidiactl", error) || fs::exists("/dev/dxg", error) ||
           !found("nvidia-smi").empty();
}

/// A folder for what is not brought home; in `out` where temporary files have no room.
fs::path make_work_folder(const fs::path& out) {
    std::error_code error;
    for (const auto& below : {fs::temp_directory_path(error), out}) {
        auto pattern = (below / "gpu-check-XXXXXX").string();
        if (::mkdtemp(pattern.data()) != nullptr) return pattern;
    }
    return {};
}

int say(ExitCode code, const std::string& words) {
    fmt::print(stderr, "gpu-check: {}\n", words);
    return static_cast<int>(code);
}

int main_with(const Options& options) {
    const auto archive = options.out / "gpu-check.tar";
    if (!may_have_device())
        return say(ExitCode::environment, "there is no NVIDIA GPU here: nothing was tried; `assay "
                                          "doctor` says what this machine has");
    std::error_code error;
    if (fs::exists(archive, error))
        return say(
            ExitCode::usage,
            fmt::format("{} is there already; name another folder with --out", archive.string()));
    fs::create_directories(options.out, error);
    if (error)
        return say(ExitCode::environment,
                   fmt::format("cannot make {}: {}", options.out.string(), error.message()));
    const auto work = make_work_folder(options.out);
    if (work.empty())
        return say(ExitCode::environment,
                   "there is no folder for temporary files: set TMPDIR to one "
                   "that can be written");
    Check check{options, find_tree(), work};
    const auto& report = check.run();
    fs::remove_all(work, error);
    fmt::print("\n{}", to_text(report));
    if (!check.trouble().empty())
        return say(ExitCode::environment,
                   check.trouble() + "; the table above is all that is left");
    fmt::print("\n{}\n", archive.string());
    if (check.caught() != 0) return static_cast<int>(ExitCode::interrupted);
    if (has(report, Outcome::failed)) return static_cast<int>(ExitCode::failed);
    const bool done = has(report, Outcome::passed) && !has(report, Outcome::cut_off) &&
                      !has(report, Outcome::not_started);
    return static_cast<int>(done ? ExitCode::done : ExitCode::inconclusive);
}

} // namespace
} // namespace assay::gpu

// NOLINTNEXTLINE(bugprone-exception-escape): CLI11 throws where two options have one name
int main(int argc, char** argv) {
    assay::gpu::Options options;
    CLI::App app{"Tries every device benchmark on a GPU of this machine and brings home one "
                 "archive, written after "
                 "every row: is it right, how fast, and against PyTorch in turns? Exit codes: 0 "
                 "all passed, 1 something "
                 "failed, 3 something was not done, 4 environment, 5 stopped",
                 "gpu-check"};
    app.add_option("--out", options.out, "Folder that gets gpu-check.tar")->capture_default_str();
    app.add_option("--device", options.device, "Index or UUID of the device, as doctor shows it")
        ->capture_default_str();
    app.add_option("--part", options.part,
                   "What to do: the first look, compute-sanitizer, or what takes longer")
        ->check(CLI::IsMember({"first", "sanitizer", "long"}))
        ->capture_default_str();
    app.add_option_function<std::string>(
           "--budget",
           [&](const std::string& text) {
               const auto seconds = assay::parse_duration(text);
               if (!seconds) throw CLI::ValidationError("--budget", seconds.error().message);
               options.budget = *seconds;
           },
           "Time for all of it: 60s, 8m")
        ->default_str("8m");
    app.add_option("--pairs", options.pairs, "Turns against PyTorch, at most")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    app.add_option("--at-once", options.at_once, "Contracts that share the device")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return assay::gpu::main_with(options);
}
