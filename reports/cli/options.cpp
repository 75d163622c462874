// SPDX-License-Identifier: Apache-2.0

#include "options.hpp"

#include "base/command_line.hpp"
#include "base/version.hpp"
#include "catalog_options.hpp"
#include "document/language.hpp"
#include "evidence_options.hpp"
#include "offer_options.hpp"
#include "verbs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace assay::reports_cli {
namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 done (check: PASS or WARN), 1 failed check or verification, or --fail-on,\n"
    "  2 usage error or unreadable input, 3 nothing to compare, predict or decide,\n"
    "  4 output not writable or environment error; details: docs/exit-codes.md.";

constexpr const char* examples =
    "Examples:\n"
    "  assay-report report results --html report.html\n"
    "  assay-report compare before='results/2025*' after=results/2026\n"
    "  assay-report diff golden.json results/node17\n"
    "  assay-report history results --since 2026-01-01 --fail-on worse\n"
    "  assay-report check results --limits spec --junit check.xml\n"
    "  assay-report fleet results --expect 'node[01-40]'\n"
    "  assay-report limits derive results/fleet --out fleet.json\n"
    "  assay-report cost offers.json --term 3y\n"
    "  assay-report predict allreduce --nodes 1024 --gpus 8 results\n"
    "  assay-report export --to csv results --out runs.csv\n";

constexpr const char* help_of_help = "Show this help and exit";
constexpr const char* input_help = "Result file, or folder (its newest run); LABEL=PATH names it";
constexpr const char* runs_help =
    "Result files, folders (all runs below) or globs; LABEL=PATH sets a label";
constexpr const char* filter_help =
    "Keep only what matches: KEY=A|B, KEY!=A, with * and ?; several must all match";

const std::vector<std::string> formats{"csv", "ndjson", "openmetrics"};

void add_inputs(CLI::App& verb, Options& o) {
    verb.add_option("inputs", o.inputs, input_help)->type_name("RUN.json|FOLDER")->required();
}
void add_metrics(CLI::App& verb, Options& o) {
    add_list(verb, "--metric", o.collecting.metrics, "NAME,...",
             "Metrics: time, energy, item_rate, latency.worst, ..., all (default: primary)");
}
/// The files that every verb with a document writes.
void add_outputs(CLI::App& verb, Options& o) {
    in_group(verb, "Output", [&] {
        add_value(verb, "--html", o.html, "FILE", "Write a self-contained page (-: stdout)");
        add_value(verb, "--pdf", o.pdf, "FILE",
                  "Write the page as an A4 PDF; needs Chromium (-: stdout)");
        verb.add_flag("--static", o.static_page, "Page without JavaScript: no charts, no filters");
        verb.add_flag("--all-rows", o.all_rows,
                      "Show all sections and rows on a terminal (default: the most important)");
        add_value(verb, "--md", o.markdown, "FILE", "Write Markdown (-: stdout)");
        add_value(verb, "--xlsx", o.workbook, "FILE", "Write an Excel workbook (-: stdout)");
    });
}
void add_csv(CLI::App& verb, Options& o, const char* help) {
    add_value(verb, "--csv", o.csv, "FILE", help)->group("Output");
}
void add_report(CLI::App& verb, Options& o) {
    add_inputs(verb, o);
    add_procurement(verb, o);
    add_outputs(verb, o);
}
/// The changes to call; `how` are the verb's own options.
void add_verdicts(CLI::App& verb, Options& o, auto& how) {
    verb.add_option("--minimum-effect", how.minimum_effect, "Ignore smaller changes; 0.01 is 1%")
        ->capture_default_str();
    verb.add_option("--alpha", how.alpha, "Significance level over all cases")
        ->capture_default_str();
    add_value(verb, "--fail-on", o.fail_on, "worse", "Exit with 1 if a case became slower");
}
void add_compare(CLI::App& verb, Options& o) {
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH",
              "Result files, folders (all runs below) or globs; LABEL=PATH names a side, equal "
              "labels form one side")
        ->required();
    auto& c = o.comparing;
    const auto keys = [&](const char* name, std::vector<std::string>& list, const char* help) {
        add_list(verb, name, list, "KEY,...", help);
    };
    in_group(verb, "What to compare", [&] {
        keys("--column", c.column,
             "Compare by: label (default), instance, library, quarter, tag.KEY, ...");
        keys("--row", c.row, "Further keys that split and order the rows");
        keys("--table", c.table, "One table per: family (default), instance, ...");
        keys("--across", c.across,
             "Merge rows over device, backend or both (host and GPU); each side by its best");
        add_metrics(verb, o);
        add_many(verb, "--filter", c.filter, "KEY=VALUE", filter_help);
        add_value(verb, "--baseline", c.baseline, "LABEL",
                  "Side to compare the others with (default: the first)");
    });
    in_group(verb, "Verdict", [&] {
        add_verdicts(verb, o, c);
        add_value(
            verb, "--correction", o.correction, "bh|holm",
            "Multiple-testing correction: bh (false discovery rate; default), holm (stricter)");
    });
    add_outputs(verb, o);
    add_csv(verb, o, "Write CSV: one row per series and side (-: stdout)");
}
void add_diff(CLI::App& verb, Options& o) {
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH",
              "A, the known good node, then B: result files or folders (newest run); LABEL=PATH "
              "names a side")
        ->required();
    verb.add_flag("--this-machine", o.this_machine,
                  "B is this machine as it is now, without measuring (assay diff only)");
    add_value(verb, "--fail-on", o.fail_on, "difference", "Exit with 1 if a fact or value differs");
    add_outputs(verb, o);
}
void add_history(CLI::App& verb, Options& o) {
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH", runs_help)->required();
    in_group(verb, "What to show", [&] {
        add_value(verb, "--by", o.history.group, "KEY",
                  "Group runs by: instance (default), cpu, machine, label, campaign, tag.KEY");
        add_metrics(verb, o);
        add_many(verb, "--filter", o.history.filter, "KEY=VALUE", filter_help);
        add_value(verb, "--since", o.since, "YYYY-MM-DD",
                  "Show changes since this date, compared with earlier runs");
    });
    in_group(verb, "Verdict", [&] { add_verdicts(verb, o, o.history); });
    add_outputs(verb, o);
    add_csv(verb, o, "Write CSV: points, quarters and change points (-: stdout)");
}
void add_predict(CLI::App& verb, Options& o) {
    auto& p = o.predicting;
    add_value(verb, "collective", p.collective, "COLLECTIVE",
              "allreduce, allgather, reduce_scatter, broadcast, alltoall, send_receive")
        ->required();
    add_value(verb, "inputs", o.inputs, "PATH",
              "Runs that measured it: result files, folders (all runs below) or globs")
        ->required();
    in_group(verb, "What to predict", [&] {
        add_default(verb, "--nodes", p.nodes, "N", "Number of nodes");
        add_default(verb, "--ranks-per-node,--gpus", p.ranks_per_node, "N",
                    "Ranks (or GPUs) per node");
        add_list(verb, "--size", p.sizes, "SIZE,...",
                 "Message sizes, e.g. 8,64KiB (default: 1KiB,1MiB,1GiB)");
        add_value(verb, "--algorithm", p.algorithm, "NAME",
                  "Assume this algorithm, between nodes if there are several (default: chosen from "
                  "the data): ring, recursive_doubling, halving_doubling, binomial_tree, "
                  "double_tree");
        add_value(verb, "--node-bandwidth", p.node_bandwidth, "RATE",
                  "Bandwidth of a node's link, for the bound: 400Gb/s, 50GB/s (default: fitted)");
        add_many(verb, "--filter", p.filter, "KEY=VALUE", filter_help);
    });
    add_outputs(verb, o);
    add_csv(verb, o, "Write CSV: one row per size (-: stdout)");
}
void add_check(CLI::App& verb, Options& o) {
    auto& c = o.checking;
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH",
              "Result files, folders (all runs below) or globs; all runs of a machine are judged "
              "together");
    in_group(verb, "What to check", [&] {
        add_limits_by_name(verb, o);
        auto* campaign =
            add_value(verb, "--campaign", c.judging.campaign, "NAME", "Only runs of this campaign");
        add_value(verb, "--machine-of", c.machine_of, "RUN.json",
                  "Only runs of the same machine and campaign as this run")
            ->excludes(campaign);
        add_many(verb, "--filter", c.judging.filter, "KEY=VALUE", filter_help);
        verb.add_option("--part", c.part, "Judge only the host, or only devices and their links")
            ->option_text("host|devices [all]");
    });
    in_group(verb, "Verdict", [&] {
        auto& levels = c.judging.levels;
        for (auto* level :
             {verb.add_option("--pass-level", levels.pass,
                              "Highest probability that a node at its limit passes a check"),
              verb.add_option("--fail-level", levels.fail,
                              "Highest probability that a good node fails, over all its checks")})
            level->check(CLI::Range(1e-6, 0.5))->type_name("P")->capture_default_str();
        verb.add_option("--exit-style", c.exit_style,
                        "Exit codes and first line for Nagios or the node problem detector")
            ->option_text("assay|nagios|npd [assay]");
        verb.add_flag("--advisory", c.advisory,
                      "Exit with 0 for any verdict; stderr shows the actual code");
    });
    add_outputs(verb, o);
    in_group(verb, "Output", [&] {
        add_value(verb, "--junit", c.junit, "FILE",
                  "Write JUnit XML: one suite per node, one test per check (-: stdout)");
        add_value(verb, "--openmetrics", c.openmetrics, "FILE",
                  "Write the verdicts as Prometheus gauges (-: stdout)");
    });
    add_csv(verb, o, "Write CSV: one row per check (-: stdout)");
}
template <auto add>
void add_with_outputs(CLI::App& verb, Options& o) {
    add(verb, o);
    add_outputs(verb, o);
}
void add_export(CLI::App& verb, Options& o) {
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH", runs_help);
    in_group(verb, "Table", [&] {
        add_value(
            verb, "--to", o.format, "csv|ndjson|openmetrics",
            "csv, ndjson: one row per run, case and metric; openmetrics: newest value of each "
            "series");
        verb.add_flag("--columns", o.columns,
                      "List the table's columns; with --json, a JSON Schema of a row");
        verb.add_flag("--timestamps", o.timestamps,
                      "With openmetrics: add the time of the run to each value");
        add_value(verb, "--out", o.out, "FILE", "Output file (default: stdout)");
    });
    in_group(verb, "Evidence", [&] { add_bundle(verb, o); });
}
void add_verify(CLI::App& verb, Options& o) {
    add_inputs(verb, o);
    add_signers(verb, o);
}
void add_import(CLI::App& verb, Options& o) {
    add_value(verb, "files", o.inputs, "FILE", "Output files of other tools");
    in_group(verb, "What to read", [&] {
        add_value(verb, "--out", o.out, "DIR", "Folder to write the runs to");
        verb.add_flag("--list", o.list_tools,
                      "List the supported tools; ASSAY_IMPORT_PATH adds folders of descriptions");
        verb.add_flag("--explain", o.explain_lines,
                      "Show how each line is read (fact, row, not read) without writing");
        add_value(verb, "--from", o.from, "TOOL",
                  "Tool that wrote the files, if not detected; names: --list");
    });
    in_group(verb, "Facts that the files do not state", [&] {
        auto& facts = o.importing;
        verb.add_option("--provider", facts.provider,
                        "Provider of the machine: aws, gcp, azure, ...");
        verb.add_option("--instance", facts.instance, "Instance type: c7a.large");
        verb.add_option("--cpu-model", facts.cpu_model, "Processor model");
        verb.add_option("--machine", facts.machine, "Id of a machine that already has results");
        verb.add_option("--label", facts.label, "Name that distinguishes the machine; not stored");
        verb.add_option("--started", facts.started,
                        "Time of the measurement: 2026-01-31T12:34:56Z");
        verb.add_option("--library", facts.library, "Library that did the work: openmpi, ...");
        verb.add_option("--place", facts.place, "Where it ran: host, cuda, hip");
        verb.add_option("--name", facts.name, "Collective measured by nccl-tests: all_reduce, ...");
        add_value(verb, "--parameter", o.parameters, "NAME=VALUE",
                  "Parameter of all cases: ranks=4")
            ->take_all()
            ->delimiter(',');
    });
}

struct VerbDefinition {
    const char* name;
    Result<ExitCode> (*perform)(const Options&);
    const char* help;
    const char* example;
    void (*add)(CLI::App&, Options&);
};
constexpr std::array<VerbDefinition, 15> verbs{{
    {"report", &report, "Show the results of a run: terminal, page, Markdown, PDF or workbook",
     "assay-report report results\n"
     "  assay-report report results --html report.html --md report.md\n"
     "  assay-report report old=results/2025 new=results/2026",
     &add_report},
    {"compare", &compare_runs, "Compare runs: which is faster, by how much, and how sure",
     "assay-report compare old.json new.json\n"
     "  assay-report compare before='results/2025*' after=results/2026 --html compare.html\n"
     "  assay-report compare results --column instance --baseline c6a.large\n"
     "  assay-report compare run.json --column library --filter 'family=gemm|fft'\n"
     "  assay-report compare results --table instance --column quarter --fail-on worse",
     &add_compare},
    {"diff", &diff_nodes,
     "Show how a node differs from a good one: hardware, firmware, settings, versions, values",
     "assay-report diff golden.json results/node17\n"
     "  assay diff golden.json --this-machine --fail-on difference",
     &add_diff},
    {"history", &history, "Show changes over time, their likely causes, and what to expect",
     "assay-report history results\n"
     "  assay-report history results --since 2026-01-01 --fail-on worse\n"
     "  assay-report history results --by cpu --filter 'family=gemm|memory' --html history.html",
     &add_history},
    {"check", &check_nodes, "Is this node good? Compare its runs with limits",
     "assay-report check results\n"
     "  assay-report check results --limits spec --limits ours.json --junit check.xml\n"
     "  assay-report check results --limits ours.json --exit-style nagios",
     &add_check},
    {"fleet", &fleet_of_nodes, "Which nodes are slow, missing, or give wrong results?",
     "assay-report fleet results --expect nodes.txt --html fleet.html\n"
     "  assay-report fleet results --expect 'node[01-40]' --since 2026-11-20 --fail-on slow",
     &add_with_outputs<&add_fleet<CLI::App>>},
    {"limits", &limits, "Limits of a good node: start, check, show, or derive them from a fleet",
     "assay-report limits init results --out mine.json\n"
     "  assay-report limits lint mine.json\n"
     "  assay-report limits show spec mine.json results/run.json\n"
     "  assay-report limits derive results/fleet --out fleet.json --author 'HPC operations'",
     &add_with_outputs<&add_limits<CLI::App>>},
    {"offers", &offers, "Check offers, and show the cost of a node hour",
     "assay-report offers init --out offers.json\n"
     "  assay-report offers lint offers.json --results results\n"
     "  assay-report offers show offers.json --currency USD",
     &add_with_outputs<&add_offers<CLI::App>>},
    {"cost", &cost, "Cost of an offer per hour, job, month and term, with the calculation",
     "assay-report cost offers.json --term 3y --set utilisation=0.7 --set storage_gb=0 --explain\n"
     "  assay-report cost offers.json --usage hours.csv\n"
     "  assay-report cost offers.json --nodes 1 --results results --work 'gemm.square* "
     "size=4096*=1e18'",
     &add_with_outputs<&add_cost<CLI::App>>},
    {"capacity", &capacity, "Does a model fit, on which devices, and how many?",
     "assay-report capacity --model llama-3-70b --set sequence=8192 --set batch=16 --set tensor=4\n"
     "  assay-report capacity --train --set parameters=7.5e9 --set layers=48 --set hidden=4096 "
     ""
     "--set heads=32 --set sequence=2048 --set data=64 --set zero=3 --explain",
     &add_with_outputs<&add_capacity<CLI::App>>},
    {"catalog", &catalog,
     "Look up instances, processors and accelerators; each figure has its source",
     "assay-report catalog show p5.48xlarge 'H100 SXM5'\n"
     "  assay-report catalog show --kind accelerators",
     &add_with_outputs<&add_catalog<CLI::App>>},
    {"verify", &verify,
     "Check result files (schema, summaries recomputed from batch values) or an evidence bundle",
     "assay-report verify results/default/aws/c7a.large/m-5f1c/20260131/run.json\n"
     "  assay-report verify evidence --signers allowed_signers",
     &add_verify},
    {"export", &export_run, "Export results: tables, Prometheus metrics, or an evidence bundle",
     "assay-report export --to csv results --out runs.csv\n"
     "  assay-report export --to openmetrics results --out assay.prom\n"
     "  assay-report export results --bundle evidence --limits spec --sign ~/.ssh/id_ed25519",
     &add_export},
    {"predict", &predict, "Predict the time of a collective on more nodes from runs on fewer",
     "assay-report predict allreduce --nodes 1024 --gpus 8 --size 1GiB results\n"
     "  assay-report predict alltoall --nodes 64 --ranks-per-node 2 --size 64KiB,16MiB results "
     "--json",
     &add_predict},
    {"import", &import_files,
     "Import results of other tools: nccl-tests, nvbandwidth, OSU, STREAM, HPL, IOR, fio, vLLM, "
     "...",
     "assay-report import old.json --out results --provider aws --instance c7a.large\n"
     "  assay-report import osu_latency.txt --out results --started 2025-06-30 --parameter "
     "ranks=2\n"
     "  assay-report import nccl.log --explain\n"
     "  assay-report import --list",
     &add_import},
}};

std::vector<std::string> verb_names() {
    std::vector<std::string> names;
    for (const auto& verb : verbs) names.emplace_back(verb.name);
    return names;
}

class CommandLine {
public:
    CommandLine() {
        app_.set_version_flag("--version", fmt::format("assay-report {}", version()));
        app_.set_help_flag("--help,-h", help_of_help);
        app_.formatter(std::make_shared<GroupedHelp>());
        for (const auto& definition : verbs) {
            auto* verb = app_.add_subcommand(definition.name, definition.help);
            verb->footer(std::string{"Examples:\n  "} + definition.example + "\n" + exit_codes);
            verb->allow_extras(); // so that the message is ours
            definition.add(*verb, options_);
            in_group(*verb, "Output", [&] {
                verb->add_flag("--json", options_.json, "Print one JSON document");
                add_default(*verb, "--lang", options_.language, "en|zh", "Language of the output");
                verb->set_help_flag("--help,-h", help_of_help); // the last one, after its group
            });
            verb->callback([this, &definition] { options_.perform = definition.perform; });
        }
        app_.footer(std::string{examples} + exit_codes);
    }

    Parsed parse(const std::vector<std::string>& arguments) {
        auto line = parse_line(app_, arguments, verb_names());
        if (line.verb != nullptr)
            if (const auto wrong = fault(*line.verb); !wrong.empty())
                line = usage_error(app_, wrong, line.verb->get_name());
        if (line.verb != nullptr) return {.options = options_};
        return {
            .code = line.code, .output = std::move(line.output), .error = std::move(line.error)};
    }

private:
    /// The problem with values that CLI11 knows nothing about; "" if valid.
    std::string fault(const CLI::App& verb) {
        for (const auto* option : verb.get_options())
            if (std::ranges::count(option->results(), "") > 0)
                return fmt::format("{}: the value is empty (expected {})", option->get_name(),
                                   option->get_type_name());
        if (!value_named<document::Language>(options_.language))
            return fmt::format("--lang: unknown language \"{}\" (expected en or zh)",
                               options_.language);
        if (!options_.correction.empty() && options_.correction != "bh" &&
            options_.correction != "holm")
            return fmt::format("--correction: unknown method \"{}\" (expected bh or holm)",
                               options_.correction);
        const bool differs = options_.perform == &diff_nodes;
        const auto* const fails = differs                               ? "difference"
                                  : options_.perform == &fleet_of_nodes ? "slow"
                                                                        : "worse";
        if (!options_.fail_on.empty() && options_.fail_on != fails)
            return fmt::format("--fail-on: unknown condition \"{}\" (expected {})",
                               options_.fail_on, fails);
        if (options_.this_machine)
            return "--this-machine works only with assay diff; run: assay diff RUN.json "
                   "--this-machine";
        if (differs && options_.inputs.size() != 2)
            return fmt::format("diff needs two runs, or one and --this-machine (got {})",
                               options_.inputs.size());
        if (options_.perform == &import_files && !options_.list_tools) {
            if (options_.inputs.empty()) return "files are missing: output files of other tools";
            if (options_.out.empty() && !options_.explain_lines)
                return "--out is missing: the folder to write the runs to";
        }
        if (options_.perform == &import_files && !options_.from.empty()) {
            const auto tools = imports::tools();
            if (std::ranges::find(tools, options_.from) == tools.end())
                return fmt::format("--from: unknown tool \"{}\"{}", options_.from,
                                   suggestion(options_.from, tools));
        }
        if (options_.perform == &check_nodes && options_.inputs.empty())
            return "inputs are missing: result files or folders";
        if (judge::PartChoice part{}; !from_text(options_.checking.part, part))
            return fmt::format("--part: unknown part \"{}\" (expected all, host or devices)",
                               options_.checking.part);
        if (!exchange::exit_style_from(options_.checking.exit_style))
            return fmt::format("--exit-style: unknown style \"{}\" (expected assay, nagios or npd)",
                               options_.checking.exit_style);
        if (options_.json && options_.checking.exit_style != "assay")
            return "--json and --exit-style both write to stdout; use one of them";
        if (options_.perform == &export_run) return fault_of_export();
        if (options_.perform == &limits) return fault_of_limits(options_);
        if (options_.perform == &catalog) return fault_of_catalog(options_);
        if (options_.perform == &offers) return fault_of_offers(options_);
        if (options_.perform == &cost) return fault_of_cost(options_);
        if (options_.perform == &report) return fault_of_report(options_);
        return "";
    }
    std::string fault_of_export() const {
        if (options_.columns) return "";
        if (const auto wrong = fault_of_bundle(options_); !wrong.empty()) return wrong;
        if (!options_.evidence.bundle.empty()) return "";
        if (options_.format.empty())
            return "--to FORMAT or --bundle FOLDER is missing; FORMAT: csv, ndjson or openmetrics";
        if (std::ranges::count(formats, options_.format) == 0)
            return fmt::format("--to: unknown format \"{}\"{}", options_.format,
                               suggestion(options_.format, formats));
        if (options_.inputs.empty()) return "inputs are missing: result files or folders";
        if (options_.timestamps && options_.format != "openmetrics")
            return "--timestamps needs --to openmetrics";
        return "";
    }

    CLI::App app_{"Reports, compares and checks results of assay.", "assay-report"};
    Options options_;
};

} // namespace

Parsed parse_options(const std::vector<std::string>& arguments) {
    return CommandLine{}.parse(arguments);
}

} // namespace assay::reports_cli
