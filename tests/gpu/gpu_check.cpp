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
#include "places.hpp"
#include "process/preemption.hpp"
#include "process/process.hpp"
#include "process/start.hpp"
#include "record/reader.hpp"
#include "steps.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string>
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
        const auto budget = std::chrono::duration<double>{std::min(options_.budget, plan_.seconds)};
        // The last of it belongs to ending what runs and to writing.
        end_ = begin_ + std::chrono::duration_cast<Clock::duration>(
                            budget - std::min(budget / 20, 5.0 * 1s));
        for (const auto& part : plan_.parts) {
            const auto share =
                std::min(part.until * budget, std::chrono::duration<double>{part.seconds});
            const auto until =
                std::min(end_, begin_ + std::chrono::duration_cast<Clock::duration>(share));
            if (part.name == turns_part) measure_turns(until);
            std::vector<const Step*> steps;
            for (const auto& step : plan_.steps)
                if (step.part == part.name) steps.push_back(&step);
            attempt(steps, until, part.measures_nothing ? options_.at_once : 1); // side by side
        }
        // With the time that is left; facts last, for they are early unless the driver hangs.
        std::ranges::rotate(plan_.steps, std::ranges::find_if(plan_.steps, [&](const Step& step) {
                                return step.part != plan_.parts.front().name;
                            }));
        for (const Step& step : plan_.steps) attempt(std::array{&step}, end_, 1);
        report_.state = signals_.caught() == 0 ? "done" : process::signal_words(signals_.caught());
        pack();
        return report_;
    }
    /// Why the archive is not what it should be; empty where it is.
    const std::string& trouble() const { return trouble_; }
    int caught() const { return signals_.caught(); }

private:
    Row& row_of(const std::string& part, const std::string& name) {
        const auto found = std::ranges::find_if(
            report_.rows, [&](const Row& row) { return row.part == part && row.name == name; });
        if (found != report_.rows.end()) return *found;
        return report_.rows.emplace_back(
            Row{.part = part, .name = name}); // the second time of a turn
    }
    void announce(const std::string& part, const std::string& name) {
        report_.rows.push_back(
            {.part = part, .name = name, .verdict = {{}, "its turn did not come"}});
    }
    void finish(Row& row, Verdict verdict, Clock::time_point begin) {
        row.verdict = std::move(verdict);
        row.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        fmt::print("{:<10} {:<50} {:<9} {}\n", row.part, row.name, to_string(row.verdict.outcome),
                   row.verdict.words);
        std::fflush(stdout);
        pack();
    }

    /// Environment of a program that takes the device it is shown; assay chooses by itself.
    std::vector<std::string> environment(std::vector<std::string> first) const {
        first.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
        first.push_back("CUDA_VISIBLE_DEVICES=" + options_.device);
        for (auto& entry : process::own_environment()) // the first of a name counts
            if (!entry.starts_with("CUDA_VISIBLE_DEVICES=") &&
                !entry.starts_with("CUDA_DEVICE_ORDER="))
                first.push_back(std::move(entry));
        return first;
    }

    void pack() {
        report_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
        report_.left_out = archive_.left_out();
        archive_.put({"gpu-check.json", json::to_text(to_json(report_)), Rank::report});
        archive_.put({"gpu-check.txt", to_text(report_), Rank::report});
        archive_.put({"status.md", to_markdown(report_), Rank::report});
        const auto written = archive_.write();
        trouble_ = written ? std::string{} : written.error().message;
    }

    /// The cases that `assay run` left in `folder`: from the result, or from the journal until there is one.
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
    /// A step that is going on; its log and result are named after it.
    struct Running {
        const Step* step;
        std::string name;
        Rank rank;
        Clock::time_point begin;
        Clock::time_point end; ///< then it is ended
        process::Process process;
        std::optional<process::Process> beside; ///< ends with it
    };

    /// Nothing: the program is not there.
    std::optional<Result<Running>> start(const Step& step, Clock::time_point until,
                                         const std::string& name, Rank rank) {
        auto arguments = step.arguments;
        arguments[0] = found(arguments[0]);
        if (arguments[0].empty()) return std::nullopt;
        if (step.measures) arguments.insert(arguments.end(), {"--out", folder_of(name)});
        for (char side = 'A'; const auto& other : step.results)
            arguments.push_back(fmt::format("{}={}", side++, folder_of(step.part + "-" + other)));
        auto variables = step.measures ? process::own_environment() : environment({});
        variables.insert(variables.begin(), step.variables.begin(), step.variables.end());
        const auto begin = Clock::now();
        const auto limit = begin + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>{step.seconds});
        const auto launch = [&](std::vector<std::string> words, const std::string& log) {
            return process::Process::start({.arguments = std::move(words),
                                            .environment = variables,
                                            .cpus = {},
                                            .log = log_of(log),
                                            .mark = {}});
        };
        std::optional<process::Process> beside;
        if (auto words = step.beside; !words.empty()) {
            words.insert(words.end(), {"--out", folder_of(name + "-beside")});
            auto other = launch(std::move(words), name + "-beside");
            if (!other) return tl::unexpected{other.error()};
            beside = std::move(*other);
        }
        auto process = launch(std::move(arguments), name);
        if (!process) return tl::unexpected{process.error()};
        return Running{.step = &step,
                       .name = name,
                       .rank = rank,
                       .begin = begin,
                       .end = std::min(until, limit),
                       .process = std::move(*process),
                       .beside = std::move(beside)};
    }
    std::string folder_of(const std::string& name) const {
        return (work_ / file_name(name)).string();
    }
    fs::path log_of(const std::string& name) const { return work_ / (file_name(name) + ".txt"); }

    /// The results so far go to the archive.
    Done keep(const Running& running) {
        Done done{.said = {.log = text_of(log_of(running.name)),
                           .ending = {},
                           .test = running.step->test},
                  .cases = {}};
        const auto name = file_name(running.name);
        archive_.put({"logs/" + name + ".txt", shortened_log(done.said.log, most_log)});
        if (running.step->measures) done.cases = collect(work_ / name, name, running.rank);
        return done;
    }
    /// Has it ended? It is asked to when its time is over or somebody stops us.
    bool is_over(Running& running) {
        if (running.process.poll()) return true;
        const bool stopped = signals_.caught() != 0;
        if (!stopped && Clock::now() < running.end) return false;
        // `assay run` writes its result when it is asked to end.
        ::kill(running.process.pid(), SIGTERM);
        running.process.wait(stopped ? 1500ms : 3000ms);
        return true;
    }
    Done ended(Running& running) {
        running.process.kill();
        if (running.beside) {
            running.beside->kill();
            archive_.put({"logs/" + file_name(running.name) + "-beside.txt",
                          shortened_log(text_of(log_of(running.name + "-beside")), most_log)});
        }
        const auto ending = running.process.poll();
        Done done = keep(running);
        // A program that ends by itself with code 0 is done, even if it was asked to end.
        const bool overtime = Clock::now() >= running.end || signals_.caught() != 0;
        done.said.cut_off = overtime && (!ending || ending->signal != 0 || ending->code != 0);
        if (done.said.cut_off)
            done.said.ending =
                fmt::format("cut off after {:.1f} s",
                            std::chrono::duration<double>(Clock::now() - running.begin).count());
        else if (!ending || ending->signal != 0)
            done.said.ending = process::signal_words(ending ? ending->signal : SIGKILL);
        else if (ending->code != 0)
            done.said.ending = fmt::format("ended with code {}", ending->code);
        return done;
    }
    static Done not_started(const Error& why, const Step& step) {
        return {.said = {.log = {}, .ending = why.message, .test = step.test}, .cases = {}};
    }

    /// Nothing: the program is not there.
    std::optional<Done> execute(const Step& step, Clock::time_point until, const std::string& name,
                                Rank rank) {
        auto running = start(step, until, name, rank);
        if (!running) return std::nullopt;
        if (!*running) return not_started(running->error(), step);
        while (!is_over(**running)) (*running)->process.wait(100ms);
        return ended(**running);
    }

    /// Less is not worth beginning; but a short budget has short parts.
    bool is_worth_while(const Row& row, Clock::time_point until) const {
        const auto least = std::min(3s * 1.0, std::chrono::duration<double>{options_.budget / 40});
        return row.verdict.outcome == Outcome::not_started && signals_.caught() == 0 &&
               until - Clock::now() >= least;
    }
    /// In their order, so many at once; what they have so far is packed now and then.
    void attempt(std::span<const Step* const> steps, Clock::time_point until, unsigned at_once) {
        std::list<Running> running;
        auto packed = Clock::now();
        while (!steps.empty() || !running.empty()) {
            if (!steps.empty() && running.size() < at_once) {
                begin(*steps.front(), until, running);
                steps = steps.subspan(1);
                continue;
            }
            for (auto each = running.begin(); each != running.end();) {
                if (!is_over(*each)) {
                    ++each;
                    continue;
                }
                conclude(*each->step, ended(*each), each->begin);
                each = running.erase(each);
            }
            if (running.empty()) continue;
            running.front().process.wait(running.size() == 1 ? 100ms : 20ms);
            if (Clock::now() - packed < 5s) continue;
            for (const auto& each : running) keep(each);
            pack();
            packed = Clock::now();
        }
    }
    void begin(const Step& step, Clock::time_point until, std::list<Running>& running) {
        auto& row = row_of(step.part, step.name);
        for (const auto& other : step.results)
            if (!fs::exists(folder_of(step.part + "-" + other))) {
                row.verdict.words = fmt::format("it needs {}", other);
                return;
            }
        if (!is_worth_while(row, until)) return;
        const auto begin = Clock::now();
        auto started = start(step, until, step.part + "-" + step.name, Rank::result);
        if (!started)
            finish(row, {Outcome::missing, fmt::format("there is no {} here", step.arguments[0])},
                   begin);
        else if (!*started)
            conclude(step, not_started(started->error(), step), begin);
        else
            running.push_back(std::move(**started));
    }
    void conclude(const Step& step, const Done& done, Clock::time_point begin) {
        auto verdict = step.read(done.said);
        if (step.measures) add_cases(step.part, done.cases);
        // Measurements have rows of their own; this one says whether the run got to its end.
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

    void measure_turns(Clock::time_point until) {
        const auto begin = Clock::now();
        const auto go_on = [&, until] { return signals_.caught() == 0 && Clock::now() < until; };
        if (!go_on()) return;
        const auto python = found("python3");
        const TakeTurns turns{
            .arguments = python.empty()
                             ? std::vector<std::string>{}
                             : std::vector{python, (tree_.data / "torch_turns.py").string()},
            .environment = environment({}),
            .folder = work_,
            .pairs = options_.pairs,
            .go_on = go_on,
            .ours = [&](const Turn& turn, int round) -> Result<Rates> {
                const auto done =
                    execute(step_of(turn, tree_, options_.device), until,
                            fmt::format("turns-{}-{}", turn.name, round), Rank::detail);
                if (!done) return fail("assay gave no rate: it is not there");
                if (done->cases.empty()) return fail("assay gave no rate: " + done->said.ending);
                const auto& c = done->cases.front();
                if (c.metrics.empty() || !c.metrics.front().value)
                    return fail("assay gave no rate: " + verdict_of(c).words);
                Rates rates{.single = *c.metrics.front().value};
                const auto queued =
                    std::ranges::find(c.metrics, "time_back_to_back", &record::Metric::name);
                if (queued != c.metrics.end() && queued->value)
                    rates.back_to_back = turn.work / *queued->value;
                return rates;
            },
            .finish =
                [&](const Turn& turn, Verdict verdict) {
                    finish(row_of(std::string{turns_part}, turn.name), std::move(verdict), begin);
                },
            .keep_log =
                [&](const std::string& log) {
                    archive_.put({"logs/torch_turns.txt", shortened_log(log, most_log)});
                }};
        take_turns(turns, report_.ratios);
    }

    const Options& options_;
    Tree tree_;
    fs::path work_;
    Plan plan_;
    Archive archive_;
    Report report_;
    process::Signals signals_;
    Clock::time_point begin_ = Clock::now();
    Clock::time_point end_ = begin_;
    std::string trouble_;
};

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
                   "What to do: the first look, compute-sanitizer, what takes longer, or verdicts "
                   "of a healthy device")
        ->check(CLI::IsMember({"first", "sanitizer", "long", "decide"}))
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
