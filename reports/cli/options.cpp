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
    "Exit codes: 0 done (check: PASS or WARN), 1 verification or check found something wrong\n"
    "  (or --fail-on did), 2 usage error or a file that cannot be read as a result,\n"
    "  3 nothing to compare, predict or decide, 4 an output that cannot be written: README,\n"
    "  \"Exit codes\".";

constexpr const char* input_help =
    "A result file, a folder (the newest run.json in it or below), or LABEL=PATH";

const std::vector<std::string> formats{"csv", "ndjson", "openmetrics"};

void add_inputs(CLI::App& verb, Options& o) {
    verb.add_option("inputs", o.inputs, input_help)->type_name("RUN.json|FOLDER")->required();
}
/// Of every verb that writes a page.
void add_page(CLI::App& verb, Options& o) {
    add_value(verb, "--html", o.html, "FILE", "Write one self-contained page; - is stdout");
    verb.add_option("--pdf", o.pdf, "Write the page as a PDF on A4; needs Chromium; - is stdout")
        ->type_name("FILE");
    verb.add_flag("--static", o.static_page, "A page without its script: no charts, no filters");
}
/// Of every verb that takes many runs.
void add_metrics(CLI::App& verb, Options& o) {
    add_list(verb, "--metric", o.collecting.metrics, "NAME,...",
             "These metrics of each case: time, energy, item_rate, latency.worst, ..., primary, "
             "all; primary otherwise");
}
void add_texts(CLI::App& verb, Options& o) {
    verb.add_flag(
        "--all-rows", o.all_rows,
        "Show every row on a terminal, which otherwise has the 50 of a table that matter most");
    verb.add_option("--md", o.markdown, "Write Markdown; - is stdout")->type_name("FILE");
    add_value(verb, "--xlsx", o.workbook, "FILE",
              "Write a workbook: numbers to go on calculating with; - is stdout");
}
/// Of verbs that make a document of many runs.
void add_outputs(CLI::App& verb, Options& o) {
    add_page(verb, o);
    add_texts(verb, o);
}
void add_report(CLI::App& verb, Options& o) {
    add_inputs(verb, o);
    add_outputs(verb, o);
    add_procurement(verb, o);
}
/// Which changes are called; `how` are the verb's own options.
void add_verdicts(CLI::App& verb, Options& o, auto& how) {
    verb.add_option("--minimum-effect", how.minimum_effect,
                    "Smaller changes are never called; 0.01 is 1%")
        ->capture_default_str();
    verb.add_option("--alpha", how.alpha, "Level of the tests, over all test items")
        ->capture_default_str();
    add_value(verb, "--fail-on", o.fail_on, "worse", "End with 1 where a test item became slower");
}
void add_compare(CLI::App& verb, Options& o) {
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH",
              "Result files, folders (every run below), globs, each with LABEL= in front or not; "
              "equal labels make one side")
        ->required();
    const auto keys = [&](const char* name, std::vector<std::string>& list, const char* help) {
        add_list(verb, name, list, "KEY,...", help);
    };
    auto& c = o.comparing;
    keys("--column", c.column,
         "What makes a side: label (default), instance, library, quarter, tag.KEY, ...");
    keys("--row", c.row, "What keeps rows apart and in order, beside the series itself");
    keys("--table", c.table, "What makes a table: family (default), instance, ...");
    keys("--across", c.across,
         "One row for every device, backend or both (a host beside a GPU); each side by its best");
    add_metrics(verb, o);
    add_many(verb, "--filter", c.filter, "KEY=VALUE",
             "Only these: KEY=A|B, KEY!=A, with * and ?; several: all");
    add_value(verb, "--baseline", c.baseline, "LABEL", "The side that the others are held against");
    add_verdicts(verb, o, c);
    add_value(verb, "--correction", o.correction, "bh|holm",
              "For many tests: bh (false discoveries; default) or holm (stricter)");
    add_outputs(verb, o);
    add_value(verb, "--csv", o.csv, "FILE", "Write a row for each series and side; - is stdout");
}
void add_diff(CLI::App& verb, Options& o) {
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH",
              "A, the node that is known to be good, then B: result files or folders (the newest "
              "run below), each with LABEL= in front or not")
        ->required();
    verb.add_flag("--this-machine", o.this_machine,
                  "B is this machine as it is set now, without measuring (with `assay diff`)");
    verb.add_option("--fail-on", o.fail_on, "End with 1 where a fact or a value differs")
        ->type_name("difference");
    add_page(verb, o);
    add_texts(verb, o);
}
void add_history(CLI::App& verb, Options& o) {
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH",
              "Folders (every run below), result files, globs, each with LABEL= in front or not")
        ->required();
    add_value(verb, "--by", o.history.group, "KEY",
              "What makes a group: instance (default), cpu, machine, label, campaign, tag.KEY");
    add_metrics(verb, o);
    add_many(verb, "--filter", o.history.filter, "KEY=VALUE",
             "Only these: KEY=A|B, KEY!=A; several: all");
    add_value(verb, "--since", o.since, "YYYY-MM-DD",
              "Changes from this date on; what was measured before is what they are held against");
    add_verdicts(verb, o, o.history);
    add_outputs(verb, o);
    add_value(verb, "--csv", o.csv, "FILE", "Write points, quarters, change points; - is stdout");
}
void add_predict(CLI::App& verb, Options& o) {
    auto& p = o.predicting;
    add_value(verb, "collective", p.collective, "COLLECTIVE",
              "allreduce, allgather, reduce_scatter, broadcast, alltoall, send_receive")
        ->required();
    add_value(verb, "inputs", o.inputs, "PATH",
              "Runs that measured it: result files, folders (every run below), globs")
        ->required();
    verb.add_option("--nodes", p.nodes, "How many nodes")->type_name("N")->capture_default_str();
    add_default(verb, "--ranks-per-node,--gpus", p.ranks_per_node, "N", "Ranks (or GPUs) on each");
    add_list(verb, "--size", p.sizes, "SIZE,...",
             "Message sizes: 8, 64KiB, 1GiB; 1KiB,1MiB,1GiB otherwise");
    add_value(verb, "--algorithm", p.algorithm, "NAME",
              "Assume this one (between nodes, where there are several) instead of choosing by the "
              "data: ring, recursive_doubling, halving_doubling, binomial_tree, double_tree");
    add_value(verb, "--node-bandwidth", p.node_bandwidth, "RATE",
              "Of a node's link, for the bound: 400Gb/s, 50GB/s; as fitted otherwise");
    add_many(verb, "--filter", p.filter, "KEY=VALUE", "Only these: KEY=A|B, KEY!=A; several: all");
    add_outputs(verb, o);
    verb.add_option("--csv", o.csv, "Write a row for each size; - is stdout")->type_name("FILE");
}
void add_check(CLI::App& verb, Options& o) {
    auto& c = o.checking;
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH",
              "Result files, folders (every run below it), globs, each with LABEL= in front or "
              "not; all runs of a machine are judged together");
    add_limits_by_name(verb, o);
    auto* campaign = verb.add_option("--campaign", c.judging.campaign, "Only runs of this campaign")
                         ->type_name("NAME");
    verb.add_option("--machine-of", c.machine_of, "Only the machine and campaign of this run")
        ->type_name("RUN.json")
        ->excludes(campaign);
    add_many(verb, "--filter", c.judging.filter, "KEY=VALUE",
             "Only these: KEY=A|B, KEY!=A; several: all");
    auto& levels = c.judging.levels;
    for (auto* level : {verb.add_option("--pass-level", levels.pass,
                                        "How often a node at its limit may pass, each check"),
                        verb.add_option("--fail-level", levels.fail,
                                        "How often a good node may fail, all its checks together")})
        level->check(CLI::Range(1e-6, 0.5))->type_name("P")->capture_default_str();
    verb.add_option("--part", c.part, "Judge only the host, or only devices and their links")
        ->option_text("host|devices [all]");
    verb.add_option("--exit-style", c.exit_style,
                    "Exit codes and first line as a Nagios plugin or the node problem detector "
                    "wants them")
        ->option_text("assay|nagios|npd [assay]");
    verb.add_flag("--advisory", c.advisory, "End with 0 and say what it would have been");
    add_value(verb, "--junit", c.junit, "FILE",
              "Write JUnit XML: a suite for each node, a test for each check; - is stdout");
    add_value(verb, "--openmetrics", c.openmetrics, "FILE",
              "Write the verdicts as gauges for Prometheus; - is stdout");
    add_outputs(verb, o);
    verb.add_option("--csv", o.csv, "Write a row for each check; - is stdout")->type_name("FILE");
}
template <auto add>
void add_with_outputs(CLI::App& verb, Options& o) {
    add(verb, o);
    add_outputs(verb, o);
}
void add_export(CLI::App& verb, Options& o) {
    add_value(verb, "--to", o.format, "csv|ndjson|openmetrics",
              "csv, ndjson: one table, a row for each run, case and metric; openmetrics: the "
              "newest value of each series");
    verb.add_flag("--columns", o.columns,
                  "Show what the columns of the table are; with --json, a JSON Schema of a line");
    verb.add_flag("--timestamps", o.timestamps, "Of openmetrics: each value with its run's time");
    verb.add_option("--out", o.out, "Write to this file instead of stdout")->type_name("FILE");
    add_value(verb, "inputs", o.inputs, "[LABEL=]PATH",
              "Result files, folders (every run below), globs, each with LABEL= in front or not");
    add_bundle(verb, o);
}
void add_verify(CLI::App& verb, Options& o) {
    add_inputs(verb, o);
    add_signers(verb, o);
}
void add_import(CLI::App& verb, Options& o) {
    verb.add_option("files", o.inputs, "Files that the tools wrote")->type_name("FILE");
    add_value(verb, "--out", o.out, "DIR", "Folder that the runs go to; required");
    verb.add_flag("--list", o.list_tools,
                  "List the tools whose outputs are read, and their versions");
    verb.add_flag("--explain", o.explain_lines,
                  "Show what becomes of each line: fact, row, not read; nothing is written");
    verb.add_option("--from", o.from,
                    "The tool, where it is not to be found out from the content; --list names all")
        ->type_name("TOOL");
    auto& facts = o.importing;
    verb.add_option("--provider", facts.provider, "Who runs the machine: aws, gcp, azure, ...");
    verb.add_option("--instance", facts.instance, "Its type: c7a.large");
    verb.add_option("--cpu-model", facts.cpu_model, "Its processor");
    verb.add_option("--machine", facts.machine, "Id of a machine that has results already");
    verb.add_option("--label", facts.label, "A name that tells this machine from others; not kept");
    verb.add_option("--started", facts.started,
                    "When it was measured, where the file does not say: 2026-01-31T12:34:56Z");
    verb.add_option("--library", facts.library, "What did the work: openmpi, mvapich, ...");
    verb.add_option("--place", facts.place, "Where it was done: host, cuda, hip");
    verb.add_option("--name", facts.name,
                    "The collective, where output of nccl-tests does not name it: all_reduce, ...");
    add_value(verb, "--parameter", o.parameters, "NAME=VALUE",
              "What else the figures depend on and the file does not say: ranks=4")
        ->take_all()
        ->delimiter(',');
}

struct VerbDefinition {
    const char* name;
    Result<ExitCode> (*perform)(const Options&);
    const char* help;
    const char* example;
    void (*add)(CLI::App&, Options&);
};
constexpr std::array<VerbDefinition, 15> verbs{{
    {"report", &report, "Show what a run found: on the terminal, as a page, as Markdown",
     "assay-report report results\n"
     "  assay-report report results --html report.html --md report.md\n"
     "  assay-report report old=results/2025 new=results/2026",
     &add_report},
    {"compare", &compare_runs,
     "Is one side faster than another, by how much, and how sure is that?",
     "assay-report compare old.json new.json\n"
     "  assay-report compare before='results/2025*' after=results/2026 --html compare.html\n"
     "  assay-report compare results --column instance --baseline c6a.large\n"
     "  assay-report compare run.json --column library --filter 'family=gemm|fft'\n"
     "  assay-report compare results --table instance --column quarter --fail-on worse",
     &add_compare},
    {"diff", &diff_nodes,
     "How does this node differ from a good one: hardware, firmware, settings, versions, values?",
     "assay-report diff golden.json results/node17\n"
     "  assay diff golden.json --this-machine --fail-on difference",
     &add_diff},
    {"history", &history, "Why did it change over time, and what will I get?",
     "assay-report history results\n"
     "  assay-report history results --since 2026-01-01 --fail-on worse\n"
     "  assay-report history results --by cpu --filter 'family=gemm|memory' --html history.html",
     &add_history},
    {"check", &check_nodes, "Is this node good? Holds its runs against limits",
     "assay-report check results\n"
     "  assay-report check results --limits spec --limits ours.json --junit check.xml\n"
     "  assay-report check results --limits ours.json --exit-style nagios",
     &add_check},
    {"fleet", &fleet_of_nodes,
     "Which nodes answered, which are slow, what is wrong with their results?",
     "assay-report fleet results --expect nodes.txt --html fleet.html\n"
     "  assay-report fleet results --expect 'node[01-40]' --since 2026-11-20 --fail-on slow",
     &add_with_outputs<&add_fleet<CLI::App>>},
    {"limits", &limits,
     "What must a good node reach: limits begun, checked, shown, or derived from a fleet",
     "assay-report limits init results --out mine.json\n"
     "  assay-report limits lint mine.json\n"
     "  assay-report limits show spec mine.json results/run.json\n"
     "  assay-report limits derive results/fleet --out fleet.json --author 'HPC operations' "
     "--valid "
     "180d",
     &add_with_outputs<&add_limits<CLI::App>>},
    {"offers", &offers, "What is offered, and what a node costs an hour: offers checked and shown",
     "assay-report offers init --out offers.json\n"
     "  assay-report offers lint offers.json --results results\n"
     "  assay-report offers show offers.json --currency USD",
     &add_with_outputs<&add_offers<CLI::App>>},
    {"cost", &cost, "What an offer costs: per hour, job, month and term, and how that follows",
     "assay-report cost offers.json --term 3y --set utilisation=0.7 --set storage_gb=0 --explain\n"
     "  assay-report cost offers.json --usage hours.csv\n"
     "  assay-report cost offers.json --nodes 1 --results results --work 'gemm.square* "
     "size=4096*=1e18'",
     &add_with_outputs<&add_cost<CLI::App>>},
    {"capacity", &capacity, "Does a model fit, on which devices, and on how many?",
     "assay-report capacity --model llama-3-70b --set sequence=8192 --set batch=16 --set tensor=4\n"
     "  assay-report capacity --train --set parameters=7.5e9 --set layers=48 --set hidden=4096 "
     "--set "
     "heads=32 --set sequence=2048 --set data=64 --set zero=3 --explain",
     &add_with_outputs<&add_capacity<CLI::App>>},
    {"catalog", &catalog, "Instances, processors and accelerators, every figure with its source",
     "assay-report catalog show p5.48xlarge 'H100 SXM5'\n"
     "  assay-report catalog show --kind accelerators",
     &add_with_outputs<&add_catalog<CLI::App>>},
    {"verify", &verify,
     "Check a result file: its schema, and every summary computed again from the batch values; or "
     "a bundle of evidence",
     "assay-report verify results/default/aws/c7a.large/m-5f1c/20260131/run.json\n"
     "  assay-report verify evidence --signers allowed_signers",
     &add_verify},
    {"export", &export_run, "Convert results for other tools: tables, databases, Prometheus",
     "assay-report export --to csv results --out runs.csv\n"
     "  assay-report export --to openmetrics results --out assay.prom\n"
     "  assay-report export results --bundle evidence --limits spec --sign ~/.ssh/id_ed25519",
     &add_export},
    {"predict", &predict,
     "What would a collective take on more nodes, by the runs that measured it on fewer?",
     "assay-report predict allreduce --nodes 1024 --gpus 8 --size 1GiB results\n"
     "  assay-report predict alltoall --nodes 64 --ranks-per-node 2 --size 64KiB,16MiB results "
     "--json",
     &add_predict},
    {"import", &import_files,
     "Make runs of other tools' results: nccl-tests, nvbandwidth, OSU, STREAM, HPL, IOR, fio, vLLM "
     "and more (--list); ASSAY_IMPORT_PATH names folders with descriptions of your own",
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
        app_.set_help_flag("--help,-h", "Show this help and stop");
        std::string examples = "Examples:\n";
        for (const auto& definition : verbs) {
            auto* verb = app_.add_subcommand(definition.name, definition.help);
            verb->footer(std::string{"Examples:\n  "} + definition.example + "\n" + exit_codes);
            verb->allow_extras(); // so that the message is ours
            definition.add(*verb, options_);
            verb->add_flag("--json", options_.json, "One JSON document on stdout");
            verb->add_option("--lang", options_.language, "Language of what is shown")
                ->type_name("en|zh")
                ->capture_default_str();
            verb->callback([this, &definition] { options_.perform = definition.perform; });
            examples += std::string{"  "} + definition.example + "\n";
        }
        app_.footer(examples + exit_codes);
    }

    Parsed parse(const std::vector<std::string>& arguments) {
        auto line = parse_line(app_, arguments, verb_names());
        if (line.verb != nullptr)
            if (const auto wrong = fault(); !wrong.empty())
                line = usage_error(app_, wrong, line.verb->get_name());
        if (line.verb != nullptr) return {.options = options_};
        return {
            .code = line.code, .output = std::move(line.output), .error = std::move(line.error)};
    }

private:
    /// What is wrong with values that CLI11 knows nothing about; "" where all is well.
    std::string fault() {
        if (!value_named<document::Language>(options_.language))
            return fmt::format("--lang \"{}\": it is en or zh", options_.language);
        if (!options_.correction.empty() && options_.correction != "bh" &&
            options_.correction != "holm")
            return fmt::format("--correction \"{}\": it is bh or holm", options_.correction);
        const bool differs = options_.perform == &diff_nodes;
        const auto* const fails = differs                               ? "difference"
                                  : options_.perform == &fleet_of_nodes ? "slow"
                                                                        : "worse";
        if (!options_.fail_on.empty() && options_.fail_on != fails)
            return fmt::format("--fail-on \"{}\" is not known; there is {}", options_.fail_on,
                               fails);
        if (options_.this_machine)
            return "--this-machine goes with `assay diff`, which can look at it";
        if (differs && options_.inputs.size() != 2)
            return fmt::format("diff takes two runs, or one and --this-machine; there {} {}",
                               options_.inputs.size() == 1 ? "is" : "are", options_.inputs.size());
        if (options_.perform == &import_files && !options_.list_tools) {
            if (options_.inputs.empty()) return "files are missing: what a tool wrote";
            if (options_.out.empty() && !options_.explain_lines)
                return "--out is missing: the folder that the runs go to";
        }
        if (const auto tools = imports::tools();
            options_.perform == &import_files && !options_.from.empty() &&
            std::ranges::find(tools, options_.from) == tools.end())
            return fmt::format("--from \"{}\" is no tool whose results are read{}", options_.from,
                               suggestion(options_.from, tools));
        if (options_.perform == &check_nodes && options_.inputs.empty())
            return "inputs are missing: result files or folders of the nodes";
        if (judge::PartChoice part{}; !from_text(options_.checking.part, part))
            return fmt::format("--part \"{}\" is not known; there are all, host and devices",
                               options_.checking.part);
        if (!exchange::exit_style_from(options_.checking.exit_style))
            return fmt::format("--exit-style \"{}\" is not known; there are assay, nagios and npd",
                               options_.checking.exit_style);
        if (options_.json && options_.checking.exit_style != "assay")
            return "--json and --exit-style both decide what is on stdout; give one of them";
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
            return fmt::format("--to or --bundle is missing; --to is {}", fmt::join(formats, ", "));
        if (std::ranges::count(formats, options_.format) == 0)
            return fmt::format("--to \"{}\" is no known format{}", options_.format,
                               suggestion(options_.format, formats));
        if (options_.inputs.empty()) return "inputs are missing: a result file or a folder";
        if (options_.timestamps && options_.format != "openmetrics")
            return "--timestamps goes with --to openmetrics";
        return "";
    }

    CLI::App app_{"Reads the results of assay and says what they mean.", "assay-report"};
    Options options_;
};

} // namespace

Parsed parse_options(const std::vector<std::string>& arguments) {
    return CommandLine{}.parse(arguments);
}

} // namespace assay::reports_cli
