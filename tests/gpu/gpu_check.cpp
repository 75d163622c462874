// SPDX-License-Identifier: Apache-2.0
//
// The program behind scripts/gpu-check: tries every device benchmark on the GPU of this machine, with what
// the tree it lies in holds and nothing else. Every step is a process of its own with a time limit, so that
// a fault costs one row.

#include "base/file.hpp"
#include "base/version.hpp"
#include "json/json.hpp"
#include "launch/environment.hpp"
#include "launch/launcher.hpp"
#include "machine/inventory.hpp"
#include "outcomes.hpp"
#include "plan/device_choice.hpp"
#include "process/log.hpp"
#include "process/process.hpp"
#include "process/program.hpp"
#include "record/reader.hpp"
#include "registry/catalogue.hpp"
#include "run/dispatcher.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

struct Options {
    fs::path out = "gpu-check";
    std::string device = "0";
    std::set<std::string> without;
    int pairs = 6;
};

/// Where things lie: in the package this program is in lib/assay/tests, in a build tree in tests/.
struct Tree {
    fs::path assay;
    fs::path contract;
    fs::path torch;
};

Tree find_tree() {
    std::error_code error;
    const auto own = fs::read_symlink("/proc/self/exe", error).parent_path();
    const bool packed = fs::exists(own / "../../../bin/assay", error);
    return {.assay = fs::weakly_canonical(own / (packed ? "../../../bin/assay" : "../bin/assay")),
            .contract = own / "module_contract",
            .torch = packed ? own / "torch_gemm.py" : fs::path{TORCH_SOURCE}};
}

class Check {
public:
    explicit Check(const Options& options)
        : options_{options}, tree_{find_tree()}, catalogue_{read_modules()} {
        report_.date = utc_now();
        report_.version = version();
        const auto machine = machine::inspect({.core_clock = false});
        report_.devices = machine.devices;
        report_.software = machine.software;
    }

    Report run() {
        for (const auto& module : catalogue_.modules)
            for (const auto& benchmark : module.benchmarks)
                if (benchmark.place != "host")
                    report_.rows.push_back(
                        {.benchmark = fmt::format("{}[{}]", benchmark.id, module.module),
                         .contract = {},
                         .memory = {},
                         .races = {}});
        if (wants("contract")) contracts();
        if (wants("quick")) quick();
        if (wants("peer")) peers();
        if (wants("sanitizer")) sanitizers();
        return report_;
    }

private:
    bool wants(const char* step) const { return !options_.without.contains(step); }

    harness::Catalogue read_modules() const {
        // Modules lie beside the program of this tree, not beside this one.
        ::setenv("ASSAY_MODULE_PATH",
                 (tree_.assay.parent_path().parent_path() / "lib/assay").c_str(), 0);
        return harness::read_catalogue();
    }

    /// "memory.stream[cuda]" as the contract tests call it: cuda_memory_stream
    static std::string test_name(const std::string& benchmark) {
        const auto bracket = benchmark.find('[');
        auto name = benchmark.substr(bracket + 1, benchmark.size() - bracket - 2) + "_" +
                    benchmark.substr(0, bracket);
        std::ranges::replace(name, '.', '_');
        return name;
    }

    /// True when it ended by itself with exit code 0. What it prints is in `log`.
    bool execute(const std::vector<std::string>& arguments, const fs::path& log, int seconds,
                 const std::vector<std::string>& variables = {}) const {
        auto environment = harness::own_environment();
        for (const auto& variable : variables) environment.push_back(variable);
        auto process = harness::Process::start({.arguments = arguments,
                                                .environment = environment,
                                                .cpus = {},
                                                .log = log,
                                                .mark = {}});
        if (!process) return false;
        const auto ending = process->wait(std::chrono::seconds{seconds});
        process->kill();
        return ending && ending->signal == 0 && ending->code == 0;
    }

    std::vector<std::string> devices() const {
        const auto& all = report_.devices;
        const auto found = std::ranges::find_if(
            all, [&](const auto& d) { return std::to_string(d.index) == options_.device; });
        if (found == all.end()) return {};
        return {"CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES=" + found->uuid};
    }

    static std::string text_of(const fs::path& path) {
        constexpr std::size_t most = std::size_t{64} << 20U;
        return read_whole(path, most).value_or("");
    }

    void contracts() {
        for (auto& row : report_.rows) {
            const auto name = test_name(row.benchmark);
            fmt::print(stderr, "contract {}\n", row.benchmark);
            const auto json = options_.out / (name + ".contract.json");
            execute({tree_.contract.string(), "--gtest_filter=*/" + name,
                     "--gtest_output=json:" + json.string()},
                    options_.out / (name + ".contract.log"), 300, devices());
            row.contract = read_contract(text_of(json));
        }
    }

    void quick() {
        std::set<std::string> modules;
        for (const auto& row : report_.rows)
            modules.insert(row.benchmark.substr(row.benchmark.find('[') + 1));
        std::string only;
        for (auto name : modules)
            only += (only.empty() ? "" : ",") + name.substr(0, name.size() - 1);
        fmt::print(stderr, "quick on device {}\n", options_.device);
        const auto begin = std::chrono::steady_clock::now();
        const auto log = options_.out / "quick.log";
        const bool done = execute({tree_.assay.string(), "run", "quick", "--only", only, "--device",
                                   options_.device, "--out", (options_.out / "quick").string()},
                                  log, 600);
        if (!done) report_.quick_problem = fmt::format("did not end well; see {}", log.string());
        report_.quick_seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        for (auto& c : cases_below(options_.out / "quick")) {
            const auto name = fmt::format("{}[{}]", c.benchmark, c.library);
            const auto row = std::ranges::find(report_.rows, name, &Row::benchmark);
            if (row != report_.rows.end()) row->cases.push_back(std::move(c));
        }
    }

    static std::vector<record::Case> cases_below(const fs::path& folder) {
        std::error_code error;
        for (const auto& entry : fs::recursive_directory_iterator{folder, error})
            if (entry.path().filename() == "run.json")
                if (auto run = record::read_run(entry.path())) return std::move(run->cases);
        return {};
    }

    double own_rate(const std::string& precision, int turn) {
        const auto out = options_.out / fmt::format("gemm-{}-{}", precision, turn);
        execute({tree_.assay.string(),
                 "run",
                 "gemm.square[cublaslt]",
                 "--set",
                 "gemm.square.precision=" + precision,
                 "--set",
                 "gemm.square.size=8192",
                 "--set",
                 "gemm.square.cache=hot",
                 "--set",
                 "gemm.square.load=sustained",
                 "--set",
                 "gemm.square.data=normal",
                 "--device",
                 options_.device,
                 "--replicas",
                 "1",
                 "--budget",
                 "8s",
                 "--out",
                 out.string()},
                options_.out / "peer.log", 120);
        double best = 0; // the rows of fp8 are two: with and without fast accumulation
        for (const auto& c : cases_below(out))
            if (!c.metrics.empty()) best = std::max(best, c.metrics.front().value.value_or(0));
        return best;
    }

    PeerRate peer_rate(const fs::path& python, const std::string& precision) {
        const auto log = options_.out / "torch.out";
        execute({python.string(), tree_.torch.string(), precision, "8192"}, log, 120, devices());
        return read_peer(harness::last_line_of(log));
    }

    void peers() {
        const char* path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): one thread
        const auto python = harness::find_program("python3", path == nullptr ? "" : path);
        if (python.empty()) return;
        for (const char* precision : {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3"}) {
            fmt::print(stderr, "PyTorch, {}\n", precision);
            auto first = peer_rate(python, precision);
            if (!first.problem.empty()) {
                report_.ratios.push_back({.precision = precision, .problem = first.problem});
                if (first.problem.find("no torch") != std::string::npos) return;
                continue;
            }
            std::vector<double> ours;
            std::vector<double> theirs;
            for (int turn = 0; turn < options_.pairs; ++turn) { // ABBA
                if (turn % 2 == 0) ours.push_back(own_rate(precision, turn));
                theirs.push_back(peer_rate(python, precision).flop_rate);
                if (turn % 2 == 1) ours.push_back(own_rate(precision, turn));
            }
            report_.ratios.push_back(ratio_of(precision, ours, theirs));
        }
    }

    void sanitizers() {
        const char* path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): one thread
        auto tool = harness::find_program("compute-sanitizer", path == nullptr ? "" : path);
        if (tool.empty()) tool = harness::find_program("compute-sanitizer", "/usr/local/cuda/bin");
        for (auto& row : report_.rows) {
            if (tool.empty()) {
                row.memory = row.races = {Outcome::missing, "no compute-sanitizer here"};
                continue;
            }
            if (row.contract.outcome == Outcome::skipped) continue;
            fmt::print(stderr, "compute-sanitizer {}\n", row.benchmark);
            row.memory = sanitize(tool, "memcheck", row);
            row.races = sanitize(tool, "racecheck", row);
        }
    }

    Verdict sanitize(const fs::path& tool, const std::string& check, const Row& row) const {
        const auto name = test_name(row.benchmark);
        const auto log = options_.out / fmt::format("{}.{}.log", name, check);
        auto variables = devices();
        // It runs one kernel at a time: one that waits for the next to be queued would wait for ever.
        variables.emplace_back("ASSAY_HOLD_STREAMS=0");
        execute({tool.string(), "--tool", check, tree_.contract.string(),
                 "--gtest_filter=*ComputesAndIsChecked/" + name},
                log, 300, variables);
        return read_sanitizer(text_of(log));
    }

    const Options& options_;
    Tree tree_;
    harness::Catalogue catalogue_;
    Report report_;
};

/// A driver tells of a device, or PCI does, or the driver's own file is there (containers).
bool may_have_device() {
    std::error_code error;
    return fs::exists("/dev/nvidiactl", error) ||
           harness::may_have_devices(machine::inspect({.core_clock = false}));
}

int main_with(const Options& options) {
    if (!may_have_device()) {
        fmt::print(stderr,
                   "gpu-check: there is no NVIDIA GPU here: nothing was tried; `assay doctor` says "
                   "what this machine has\n");
        return static_cast<int>(ExitCode::environment);
    }
    std::error_code error;
    if (fs::exists(options.out, error)) {
        fmt::print(stderr, "gpu-check: {} is there already; name another folder with --out\n",
                   options.out.string());
        return static_cast<int>(ExitCode::usage);
    }
    fs::create_directories(options.out, error);
    if (error) {
        fmt::print(stderr, "gpu-check: cannot make {}: {}\n", options.out.string(),
                   error.message());
        return static_cast<int>(ExitCode::environment);
    }
    Check check{options};
    const auto report = check.run();
    fmt::print("{}", to_text(report));
    for (const auto& [name, text] : {std::pair{"gpu-check.json", json::to_text(to_json(report))},
                                     std::pair{"status.md", to_markdown(report)}})
        if (const auto written = write_atomically(options.out / name, text); !written)
            fmt::print(stderr, "gpu-check: {}\n", written.error().message);
    fmt::print("\n{}\n", (options.out / "gpu-check.json").string());
    return static_cast<int>(is_good(report) ? ExitCode::done : ExitCode::failed);
}

} // namespace
} // namespace assay::gpu

int main(int argc, char** argv) {
    assay::gpu::Options options;
    CLI::App app{
        "Tries every device benchmark on a GPU of this machine: contract tests, the quick suite, "
        "PyTorch in turns, compute-sanitizer; one JSON, one table",
        "gpu-check"};
    app.add_option("--out", options.out, "Folder for all that comes out; must not exist")
        ->capture_default_str();
    app.add_option("--device", options.device, "Index of the device, as doctor shows it")
        ->capture_default_str();
    app.add_option("--without", options.without, "Steps to leave out")
        ->delimiter(',')
        ->check(CLI::IsMember({"contract", "quick", "peer", "sanitizer"}));
    app.add_option("--pairs", options.pairs, "Turns against PyTorch")
        ->check(CLI::Range(2, 100))
        ->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    return assay::gpu::main_with(options);
}
