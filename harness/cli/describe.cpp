// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogue.hpp"
#include "cli/console.hpp"
#include "cli/reports.hpp"
#include "cli/verbs.hpp"
#include "json/json.hpp"
#include "plan/filter.hpp"
#include "plan/manifest.hpp"
#include "plan/parameter.hpp"
#include "record/metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::cli {
namespace {

struct Entry {
    const plan::Manifest* module;
    const plan::Benchmark* benchmark;
};

constexpr std::size_t indent = 14; // columns: the widest heading and two blanks

std::string heading(const Terminal& terminal, std::string_view name) {
    return fmt::format("  {}{}", paint(terminal, Paint::bold, name),
                       std::string(indent - 2 - name.size(), ' '));
}

std::string paragraph(const Terminal& terminal, std::string_view name, std::string_view text) {
    return heading(terminal, name) + indented(text, indent, terminal.width) + '\n';
}

std::string headline_text(const plan::Benchmark& benchmark) {
    const auto* metric = record::find_metric(benchmark.headline);
    if (metric == nullptr) return benchmark.headline;
    return fmt::format("{} ({}), in {}; {} is better", metric->name, metric->title,
                       metric->work == "items" && benchmark.items ? *benchmark.items + "/s"
                                                                  : std::string{metric->unit},
                       metric->higher_is_better ? "higher" : "lower");
}

const char* sheet_text(plan::BoundBy bound) {
    using plan::BoundBy;
    switch (bound) {
    case BoundBy::vector_units:
        return "the device's vector units in this precision, by its data sheet";
    case BoundBy::matrix_units:
        return "the device's matrix and vector units in this precision, by its data sheet";
    case BoundBy::memory:
        return "the device's memory, by its data sheet, from four times its cache on";
    case BoundBy::host_link:
        return "the link of the device to its host, by its generation and width";
    case BoundBy::device_links:
        return "the links that the data took, by their number and data sheet";
    case BoundBy::network:
        return "between two machines the network devices, by their rate in the kernel";
    case BoundBy::none:
        break;
    }
    return "";
}

/// "the best peak.fma of the same run; the device's vector units ...".
std::string bound_text(const plan::Benchmark& benchmark) {
    std::vector<std::string> bounds;
    if (const auto ids = plan::words_of(benchmark.ceiling); !ids.empty())
        bounds.push_back(fmt::format("the best {} of the same run{}", fmt::join(ids, " or "),
                                     ids.size() > 1 ? ", by unit and parameters" : ""));
    if (benchmark.bound != plan::BoundBy::none) bounds.emplace_back(sheet_text(benchmark.bound));
    return fmt::format("{}", fmt::join(bounds, "; "));
}

std::string values_text(const std::vector<record::Value>& values) {
    std::vector<std::string> texts;
    for (const auto& value : values) texts.push_back(record::to_string(value));
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// The variables that a value sets before the process starts: "OMPI_MCA_btl=self,tcp", with VALUE for its own name.
std::string variables_of(const plan::Parameter& parameter, std::string_view value) {
    std::vector<std::string> set;
    for (const auto& v : parameter.variables)
        if (v.value == value)
            set.push_back(fmt::format("{}={}", v.name, v.setting == value ? "VALUE" : v.setting));
    return fmt::format("{}", fmt::join(set, " "));
}

/// "; tcp sets OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp", values that set the same together.
std::string variables_text(const plan::Parameter& parameter) {
    std::vector<std::pair<std::string, std::string>> groups; // values, what they set
    for (const auto& name : parameter.names) {
        const auto set = variables_of(parameter, name);
        if (set.empty()) continue;
        if (!groups.empty() && groups.back().second == set)
            groups.back().first += ", " + name;
        else
            groups.emplace_back(name, set);
    }
    std::string text;
    for (const auto& [names, set] : groups)
        text += fmt::format("; {} {} {}", names,
                            names.find(',') != std::string::npos ? "set" : "sets", set);
    return text;
}

std::string parameters_text(const Terminal& terminal, const Entry& entry) {
    std::string out = heading(terminal, "Parameters") + "by " + entry.module->module + '\n';
    for (const auto& parameter : entry.benchmark->parameters) {
        const std::string unit = parameter.unit.empty() ? "" : ", in " + parameter.unit;
        out += std::string(indent, ' ') +
               indented(fmt::format("{}: {}{}. Takes {}. Default: {}{}", parameter.name,
                                    parameter.help, unit, plan::range_of(parameter),
                                    values_text(parameter.defaults), variables_text(parameter)),
                        indent + 4, terminal.width) +
               '\n';
    }
    return out;
}

std::string example_text(const plan::Benchmark& benchmark) {
    if (benchmark.parameters.empty()) return fmt::format("assay run {}", benchmark.id);
    const auto& parameter = benchmark.parameters.front();
    return fmt::format("assay run {0} --set {0}.{1}={2}", benchmark.id, parameter.name,
                       record::to_string(parameter.defaults.front()));
}

/// Everything but the parameters: the same benchmark by several libraries is explained once.
std::string explanation(const Terminal& terminal, const plan::Benchmark& benchmark) {
    std::string out =
        fmt::format("{}  version {}, on {}\n", paint(terminal, Paint::bold, benchmark.id),
                    benchmark.version, benchmark.place);
    out += paragraph(terminal, "Question", benchmark.question);
    out += paragraph(terminal, "Method", benchmark.method);
    out += paragraph(terminal, "Caveats", benchmark.caveats);
    out += paragraph(terminal, "Metric", headline_text(benchmark));
    if (benchmark.packages)
        out +=
            paragraph(terminal, "Packages", *benchmark.packages + " (Debian); --install says how");
    if (const auto bound = bound_text(benchmark); !bound.empty())
        out += paragraph(terminal, "Bound", bound);
    return out;
}

std::string describe_all(const Terminal& terminal, const std::vector<Entry>& entries) {
    std::string out;
    std::string before;
    std::string example;
    for (const auto& entry : entries) {
        auto text = explanation(terminal, *entry.benchmark);
        if (text != before) {
            out += example + (before.empty() ? "" : "\n") + text;
            example = paragraph(terminal, "Example", example_text(*entry.benchmark));
            before = std::move(text);
        }
        out += parameters_text(terminal, entry);
    }
    return out + example;
}

std::string describe_as_json(const std::vector<Entry>& entries) {
    json::Value list = json::Value::array();
    for (const auto& entry : entries) {
        json::Value item{{"library", entry.module->module}};
        item.update(plan::to_json(*entry.benchmark));
        list.push_back(std::move(item));
    }
    return json::to_text({{"schema", "assay.describe/1"}, {"benchmarks", std::move(list)}});
}

Result<std::vector<Entry>> find_entries(const plan::Catalogue& catalogue, const Options& options) {
    auto what = options.what;
    if (options.all) what = {"*"};
    if (what.empty())
        return fail("name a benchmark, as in `assay describe gemm.square`, or use --all");
    std::vector<Entry> entries;
    for (const auto& text : what) {
        ASSAY_TRY(const auto selector, plan::Selector::parse(text));
        const auto before = entries.size();
        for (const auto& id :
             plan::benchmark_ids(catalogue)) // one id after the other, all libraries
            for (const auto& module : catalogue.modules)
                for (const auto& benchmark : module.benchmarks)
                    if (benchmark.id == id && selector.matches(module, benchmark))
                        entries.push_back({&module, &benchmark});
        if (entries.size() == before)
            return tl::unexpected{plan::no_such_benchmark(catalogue, text)};
    }
    return entries;
}

/// Prints the command that installs what they start; with consent becomes it.
ExitCode install(const std::vector<Entry>& entries, bool consents) {
    std::set<std::string> packages;
    for (const auto& entry : entries)
        for (auto& package : plan::words_of(entry.benchmark->packages.value_or("")))
            packages.insert(std::move(package));
    if (packages.empty()) return report({"these benchmarks start no other programs"});
    std::vector<std::string> command{"apt-get", "install", "--no-install-recommends"};
    if (::geteuid() != 0) command.insert(command.begin(), "sudo");
    if (consents) command.emplace_back("--yes");
    command.insert(command.end(), packages.begin(), packages.end());
    if (consents) return become(std::move(command));
    print(fmt::format("{}\n", fmt::join(command, " ")));
    return ExitCode::done;
}

} // namespace

ExitCode describe(const Options& options) {
    const auto catalogue = full_catalogue();
    const auto entries = find_entries(catalogue, options);
    if (!entries) return report(entries.error());
    if (options.install) return install(*entries, options.yes);
    if (options.json)
        print_json(describe_as_json(*entries));
    else
        print(describe_all(terminal_of(STDOUT_FILENO), *entries));
    return ExitCode::done;
}

} // namespace assay::cli
