// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include "base/command_line.hpp"
#include "base/console.hpp"
#include "base/file.hpp"
#include "base/quantity.hpp"
#include "base/version.hpp"
#include "cli/option_groups.hpp"
#include "cli/reports.hpp"
#include "decide/expectations.hpp"
#include "plan/interleaving.hpp"
#include "plan/plan.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <system_error>
#include <tuple>
#include <utility>

namespace assay::cli {
namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 done (--check: PASS or WARN), 1 a case failed (--check: FAIL) or --fail-on,\n"
    "  2 usage error or unreadable input, 3 nothing measured (--check: INCONCLUSIVE),\n"
    "  4 the machine does not allow it, 5 interrupted (continue with --resume);\n"
    "  details: docs/exit-codes.md.";

constexpr const char* examples =
    "Examples:\n"
    "  assay doctor                      what is this machine, and what can it run?\n"
    "  assay run quick --out results     a first measurement in a minute, with a report\n"
    "  assay run quick --check           is this node good? PASS, FAIL or what is missing\n"
    "  assay describe gemm.square        what a number means\n"
    "Reports: assay report, check, limits, offers, cost, capacity, catalog, compare, history,\n"
    "  predict, import, export and verify start assay-report.\n";

/// The hosts of teams.
void add_hosts(CLI::App& verb, Options& o) {
    const auto take = [&o](const char* option, Result<std::vector<plan::Host>> hosts) {
        if (!hosts) throw CLI::ValidationError(option, hosts.error().message);
        o.job.hosts = std::move(*hosts);
    };
    auto* hosts =
        verb.add_option_function<std::string>(
                "--hosts",
                [take](const std::string& text) { take("--hosts", plan::parse_hosts(text)); },
                "Hosts for collective.* and network.*, with ranks per host: node[1-3,7]:2")
            ->type_name("HOST:N,...");
    verb.add_option_function<std::string>(
            "--hostfile",
            [take](const std::string& path) {
                constexpr std::size_t most = std::size_t{16} << 20U;
                const auto text = read_text(path, most);
                take("--hostfile",
                     text ? plan::parse_hostfile(*text, path)
                          : Result<std::vector<plan::Host>>{tl::unexpected{text.error()}});
            },
            "Read the hosts from an Open MPI hostfile: one `HOST slots=N` a line")
        ->type_name("FILE")
        ->excludes(hosts);
    verb.add_option("--launcher", o.job.launcher,
                    "Launcher of the ranks; srun uses the hosts of the Slurm allocation by default")
        ->check(CLI::IsMember({"mpirun", "srun"}))
        ->option_text("mpirun|srun [mpirun]");
    add_groups(verb, o.groups, [](const char* option, const std::string& why) {
        throw CLI::ValidationError(option, why);
    });
}

void add_request(CLI::App& verb, Options& o) {
    add_value(
        verb, "what", o.what, "SUITE|ID",
        "A suite (name or file), or benchmarks: gemm.square, 'gemm.*', gemm.square[openblas]");
    add_many(
        verb, "--set", o.set, "ID.PARAM=VALUE",
        "Set a parameter: gemm.square.size=2048,4096, or a range low..high; ID may be a pattern");
    add_list(verb, "--only", o.only, "NAME",
             "Only these benchmarks, families or libraries: gemm, 'gemm.square size=512..'");
    add_list(verb, "--exclude", o.exclude, "NAME", "Leave these out, named as in --only");
    add_list(verb, "--device", o.devices, "DEVICE",
             "Devices: all, or an index, UUID or PCI address [the first; acceptance: all]");
    auto* together = add_value(verb, "--together", o.together, "PLACES",
                               "Measure each case in several places at the same time: devices, "
                               "sockets, numa, or cpus:N (N parts of the CPUs)");
    verb.add_option_function<std::string>(
            "--budget",
            [&o](const std::string& text) {
                const auto seconds = parse_duration(text);
                if (!seconds) throw CLI::ValidationError("--budget", seconds.error().message);
                o.budget_seconds = *seconds;
            },
            "Target time for the whole run: 90s, 15m, 1h")
        ->type_name("TIME");
    auto* replicas = verb.add_option_function<int>(
                             "--replicas", [&o](const int& count) { o.replicas = count; },
                             "Measure each case in exactly N processes, one after the other "
                             "(default: stop after three that agree)")
                         ->type_name("N")
                         ->check(CLI::Range(1, 100));
    add_hosts(verb, o);
    auto* interleave =
        add_many(verb, "--interleave", o.interleave, "LABEL:[KEY=VALUE,...]",
                 "Compare variants in the order A B B A; give at least two. KEY is an environment "
                 "variable, library, or via (a command that starts the worker)");
    verb.add_option_function<int>(
            "--pairs", [&o](const int& count) { o.pairs = count; },
            fmt::format("Number of pairs for --interleave or --while [{}]", plan::usual_pairs))
        ->type_name("N")
        ->check(CLI::Range(1, 100));
    add_value(verb, "--while", o.load, "LOAD",
              "Compare each case with and without this load: 'memory.stream kernel=triad on other "
              "cores', or '... on other devices'")
        ->excludes(interleave)
        ->excludes(replicas)
        ->excludes(together);
    replicas->excludes(interleave);
    add_soak<CLI::App, CLI::ValidationError>(verb, o.soak_seconds);
}

/// "0" means none, in addition to the usual durations.
double duration_of(const char* option, const std::string& text) {
    if (text == "0") return 0;
    const auto seconds = parse_duration(text);
    if (!seconds) throw CLI::ValidationError(option, seconds.error().message);
    return *seconds;
}

// Seconds, of --time-limit: a scheduler kills what lasts longer.
constexpr double shortest_limit = 5;
constexpr double least_for_ending = 4; // workers, result, report, verdict
constexpr double share_for_ending = 0.1;

/// How a run handles other load on the machine, and the order of its cases.
void add_schedule(CLI::App& verb, Options& o) {
    verb.add_option_function<std::string>(
            "--patience",
            [&o](const std::string& text) { o.patience_seconds = duration_of("--patience", text); },
            "Time to repeat disturbed replicas; 0: none [as long as the plan; quick: 30s]")
        ->type_name("TIME");
    verb.add_option_function<std::string>(
            "--wait-for-quiet",
            [&o](const std::string& text) {
                o.quiet_seconds = duration_of("--wait-for-quiet", text);
            },
            "Wait at most this long for other programs to leave the machine idle")
        ->type_name("TIME");
    verb.add_option_function<std::string>(
            "--time-limit",
            [&o](const std::string& text) {
                const auto seconds = parse_duration(text);
                if (!seconds) throw CLI::ValidationError("--time-limit", seconds.error().message);
                if (*seconds < shortest_limit)
                    throw CLI::ValidationError(
                        "--time-limit",
                        fmt::format("{}: expected at least {:.0f}s, of which {:.0f}s "
                                    "are for ending the run and its report",
                                    text, shortest_limit, least_for_ending));
                o.limit_seconds =
                    *seconds - std::max(least_for_ending, *seconds * share_for_ending);
            },
            "Stop after this time, report included; the plan is cut to fit: 55s")
        ->type_name("TIME");
    add_preemption(verb, o.watch_preemption);
    verb.add_flag("--keep-going", o.keep_going,
                  "Measure everything, even after the node has failed");
    verb.add_option_function<std::string>(
            "--order",
            [&o](const std::string& text) {
                o.planned_order = text == "plan";
                if (o.planned_order || text == "shuffled") return;
                std::uint32_t seed = 0;
                const auto* const end = text.data() + text.size();
                const auto read = std::from_chars(text.data(), end, seed);
                if (text.empty() || read.ec != std::errc{} || read.ptr != end)
                    throw CLI::ValidationError(
                        "--order", fmt::format("\"{}\": expected plan, shuffled, or the seed of an "
                                               "order that is recorded in run.json, a whole number "
                                               "below 2^32",
                                               text));
                o.seed = seed;
            },
            "Order of the cases in each replica")
        ->option_text("plan|shuffled|SEED [shuffled]");
}

/// Before hours of measuring: a file must be there. Names of installed ones have neither folder nor ending.
std::string why_no_limits(const std::string& text) {
    const std::filesystem::path path{text};
    std::error_code ignored;
    return (!path.has_parent_path() && !path.has_extension()) ||
                   std::filesystem::is_regular_file(path, ignored)
               ? ""
               : fmt::format("no such limits file: {}", text);
}

void add_run(CLI::App& verb, Options& o) {
    add_request(verb, o);
    verb.add_option("--out", o.out, "Folder for results")
        ->type_name("DIR")
        ->capture_default_str()
        ->check([](const std::string& text) { return text.empty() ? "expected a folder" : ""; },
                "");
    auto* resume =
        verb.add_flag("--resume", o.resume, "Continue the newest unfinished run of this plan");
    verb.add_flag("--retry", o.retry, "With --resume: repeat unstable cases")->needs(resume);
    add_schedule(verb, o);
    add_allowed_devices(verb, o.allowed_devices);
    verb.add_option("--fail-on", o.fail_on, "Exit with 1 if a case is unstable or disturbed")
        ->check(CLI::IsMember({"unstable", "disturbed"}))
        ->option_text("unstable|disturbed")
        ->delimiter(',')
        ->allow_extra_args(false);
    add_occasion<CLI::App, CLI::ValidationError>(verb, o.campaign, o.note, o.tags);
    for (const auto& [name, to, help] :
         {std::tuple{"--provider", &o.provider, "Cloud provider or owner [detected]"},
          std::tuple{"--instance", &o.instance, "Instance type [detected]"},
          std::tuple{"--region", &o.region, "Cloud region [detected]"},
          std::tuple{"--zone", &o.zone, "Cloud zone [detected]"}})
        verb.add_option(name, *to, help)->type_name("NAME")->check(why_no_name, "");
    add_value(verb, "--node", o.node, "NAME",
              "Name of this node in reports; needed where containers or clones look alike "
              "[with --hostname: as in Slurm or Kubernetes]")
        ->check(
            [](const std::string& text) -> std::string {
                if (machine::is_node_name(text)) return {};
                return fmt::format(
                    "invalid name '{}' (expected 1 to 253 letters, digits, '-', '_', '.' or ':')",
                    plain(text, 100));
            },
            "");
    verb.add_option_function<std::vector<std::string>>(
            "--expect",
            [&o](const std::vector<std::string>& texts) {
                for (const auto& text : texts) {
                    auto read = decide::read_expectations(text);
                    if (!read) throw CLI::ValidationError("--expect", read.error().message);
                    std::ranges::move(*read, std::back_inserter(o.expected));
                }
            },
            "Required hardware: gpu=8, memory=1TiB, driver>=580, ecc=on, ..., or a file, one a "
            "line; if missing, nothing is measured (acceptance: FAIL)")
        ->type_name("KEY=VALUE|FILE")
        ->delimiter(',')
        ->allow_extra_args(false);
    add_many(verb, "--keep-environment", o.keep_environment, "NAME",
             "Keep and record this variable, which may change kernels or name hosts, users or "
             "paths: OPENBLAS_*, ONEDNN_*, MALLOC_*");
    verb.add_flag("--raw", o.keep_samples,
                  "Write the time of every batch to a file beside the result");
    verb.add_flag("--hostname", o.record_hostname, "Record host and user names (default: tokens)");
    auto* serials = verb.add_flag("--serials", o.serials.in_clear,
                                  "Record serial numbers of machine, board, devices and disks, and "
                                  "network addresses");
    verb.add_option_function<std::string>(
            "--id-key",
            [&o](const std::string& file) {
                auto key = machine::read_id_key(file);
                if (!key) throw CLI::ValidationError("--id-key", key.error().message);
                o.serials.key = std::move(*key);
            },
            "Record serial numbers as hashes with the key in this file")
        ->type_name("FILE")
        ->excludes(serials);
    auto* check =
        verb.add_flag("--check", o.check,
                      "End with a verdict: is this node good? A case ends when its checks "
                      "are decided")
            ->excludes(verb.get_option("--interleave"));
    add_many(verb, "--limits", o.limits, "FILE|NAME",
             "Limits for --check: a file, or the name of an installed one [spec]")
        ->check(why_no_limits, "")
        ->needs(check);
    verb.add_flag("--dry-run", o.dry_run, "Show the plan, measure nothing");
    verb.add_option("--lang", o.language, "Language of the report")
        ->check(CLI::IsMember({"en", "zh"})) // those of assay-report
        ->option_text("en|zh [en]");
    verb.add_flag("--open", o.open, "Open the report in a browser");
    verb.add_flag("--quiet", o.quiet, "Show no progress and no summary");
}

struct VerbDefinition {
    const char* name;
    Verb verb;
    const char* help;
    const char* example;
    void (*add)(CLI::App&, Options&);
    bool hidden = false;
};

void add_list(CLI::App& verb, Options& o) {
    auto* suites = verb.add_flag("--suites", o.suites,
                                 "List the suites, with the cases that this machine can run");
    verb.add_flag("--metrics", o.metrics, "List the metrics, with their units")->excludes(suites);
}
void add_plan(CLI::App& verb, Options& o) {
    add_request(verb, o);
    verb.add_flag("--all", o.all, "List every case, and why others cannot run on this machine");
    add_sweep(verb, o.nodes, o.node_price, CLI::Range(1, 1'000'000), CLI::Range(0.0, 1e9));
}
void add_describe(CLI::App& verb, Options& o) {
    add_value(verb, "id", o.what, "ID", "Benchmarks, or patterns: gemm.square, 'memory.*'");
    verb.add_flag("--all", o.all, "Describe every benchmark");
    add_install(verb, o.install, o.yes);
}
void add_manifest(CLI::App& verb, Options& o) {
    add_value(verb, "module", o.what, "MODULE.so", "The module")->required()->expected(1);
    verb.add_option("--out", o.out, "The manifest to write")->type_name("FILE.json")->required();
}

/// The options that most people need, and the groups of --help.
const std::vector<std::string> first{"help",   "help-all", "set",        "only",    "device",
                                     "hosts",  "budget",   "time-limit", "expect",  "check",
                                     "limits", "out",      "resume",     "dry-run", "json"};
const std::vector<std::pair<const char*, std::vector<const char*>>> groups{
    {"What to measure",
     {"--set", "--only", "--exclude", "--interleave", "--pairs", "--while", "--order", "--all",
      "--keep-environment"}},
    {"How long",
     {"--budget", "--time-limit", "--replicas", "--for", "--patience", "--wait-for-quiet",
      "--keep-going", "--watch-preemption", "--nodes", "--price"}},
    {"Where",
     {"--device", "--together", "--hosts", "--hostfile", "--launcher", "--groups", "--group",
      "--expect", "--allow-device", "--provider", "--instance", "--region", "--zone", "--node"}},
    {"Verdict", {"--check", "--limits", "--fail-on"}},
    {"Output",
     {"--out", "--resume", "--retry", "--campaign", "--note", "--tag", "--raw", "--hostname",
      "--serials", "--id-key", "--dry-run", "--lang", "--open", "--quiet", "--json"}}};

std::vector<std::string> group_names() {
    std::vector<std::string> names;
    for (const auto& [group, options] : groups) names.emplace_back(group);
    return names;
}

void put_in_groups(CLI::App& verb) {
    verb.set_help_all_flag("--help-all", "Show all options and exit");
    for (const auto& [group, names] : groups)
        for (const char* name : names)
            if (auto* option = verb.get_option_no_throw(name); option != nullptr)
                option->group(group);
}

constexpr std::array<VerbDefinition, 6> verbs{{
    {"doctor", Verb::doctor, "Show what this machine is, what can run on it, and what to improve",
     "assay doctor", [](CLI::App& /*verb*/, Options& /*o*/) {}},
    {"list", Verb::list, "List every benchmark and the question it answers",
     "assay list\n  assay list --suites", &add_list},
    {"describe", Verb::describe, "Explain a benchmark: method, caveats, parameters",
     "assay describe memory.stream", &add_describe},
    {"plan", Verb::plan, "Show what a run would measure and how long it would take",
     "assay plan quick --only gemm\n  assay plan acceptance --nodes 1000 --price 24\n  assay plan "
     "standard --exclude fft --only 'gemm.square "
     "size=1Ki..,memory'\n  assay plan gemm.square --interleave 'a:' --interleave 'b: "
     "OMP_WAIT_POLICY=active'",
     &add_plan},
    {"run", Verb::run, "Measure, and write results and a report",
     "assay run quick --out results\n  assay run 'gemm.*' --set gemm.square.size=2048,4096 "
     "--budget 5m\n  assay run gemm.square --interleave 'old:' "
     "--interleave 'new: OPENBLAS_CORETYPE=Haswell'",
     &add_run},
    {"manifest", Verb::manifest, "Write the manifest of a module (module builds do this)",
     "assay manifest lib/assay/host.so --out lib/assay/host.json", &add_manifest, true},
}};

/// Verbs that people may type: all but the hidden ones.
std::vector<std::string> verb_names() {
    std::vector<std::string> names{report_verbs.begin(), report_verbs.end()};
    for (const auto& verb : verbs)
        if (!verb.hidden) names.emplace_back(verb.name);
    return names;
}

class CommandLine {
public:
    CommandLine() {
        app_.set_version_flag("--version", fmt::format("assay {}", version()));
        app_.set_help_flag("--help,-h", "Show this help and exit");
        app_.footer(std::string{examples} + exit_codes);
        app_.formatter(std::make_shared<GroupedHelp>(first, group_names()));
        for (const auto& definition : verbs) {
            auto* verb = app_.add_subcommand(definition.name, definition.help);
            if (definition.hidden) verb->group("");
            verb->footer(std::string{"Example:\n  "} + definition.example + "\n" + exit_codes);
            verb->allow_extras(); // so that the message is ours
            definition.add(*verb, options_);
            verb->add_flag("--json", options_.json, "Print one JSON document on stdout");
            if (definition.verb == Verb::run || definition.verb == Verb::plan) put_in_groups(*verb);
            verb->callback([this, &definition] { options_.verb = definition.verb; });
        }
    }

    Parsed parse(const std::vector<std::string>& arguments) {
        auto line = parse_line(app_, arguments, verb_names());
        if (line.verb != nullptr && line.verb->get_help_all_ptr() != nullptr &&
            options_.what.empty())
            line = usage_error(app_,
                               fmt::format("name a suite or a benchmark, e.g. assay {} quick",
                                           line.verb->get_name()),
                               line.verb->get_name());
        if (line.verb != nullptr) {
            if (options_.out.native().starts_with('-')) options_.out = "." / options_.out;
            return {.options = options_};
        }
        return {
            .code = line.code, .output = std::move(line.output), .error = std::move(line.error)};
    }

private:
    CLI::App app_{"Benchmarks a machine. Every result is verified and has a confidence interval.",
                  "assay"};
    Options options_;
};

} // namespace

Parsed parse_options(const std::vector<std::string>& arguments) {
    return CommandLine{}.parse(arguments);
}

} // namespace assay::cli
