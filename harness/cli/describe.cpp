// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogue.hpp"
#include "cli/console.hpp"
#include "cli/reports.hpp"
#include "cli/verbs.hpp"
#include "json/json.hpp"
#include "plan/filter.hpp"
#include "plan/manifest.hpp"
#include "plan/parameter.hpp"
#include "record/format.hpp"
#include "record/metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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
    const auto title = metric->name == metric->title ? "" : fmt::format(" ({})", metric->title);
    return fmt::format("{}{} in {}; {} is better", metric->name, title,
                       metric->work == "items" && benchmark.items ? *benchmark.items + "/s"
                                                                  : std::string{metric->unit},
                       metric->higher_is_better ? "higher" : "lower");
}

const char* sheet_text(plan::BoundBy bound) {
    using plan::BoundBy;
    switch (bound) {
    case BoundBy::vector_units:
        return "vector units of the device in this precision (data sheet)";
    case BoundBy::matrix_units:
        return "matrix and vector units of the device in this precision (data sheet)";
    case BoundBy::memory:
        return "memory of the device (data sheet), for footprints of at least four times its cache";
    case BoundBy::host_link:
        return "link between device and host, by its generation and width";
    case BoundBy::device_links:
        return "links that the data took, by their number (data sheet)";
    case BoundBy::network:
        return "between two machines, their network devices at the rate that the kernel states";
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

/// Sizes are easier to read as 16 KiB than as 16384.
std::string value_text(const plan::Parameter& parameter, const record::Value& value) {
    const auto* number = std::get_if<std::int64_t>(&value);
    return parameter.unit == "B" && number != nullptr
               ? record::human_bytes(static_cast<double>(*number))
               : record::to_string(value);
}

std::string range_text(const plan::Parameter& parameter) {
    if (parameter.unit != "B" || parameter.kind != plan::ParameterKind::integer)
        return plan::range_of(parameter);
    return fmt::format("{} to {}{}{}", value_text(parameter, parameter.integer_low),
                       value_text(parameter, parameter.integer_high),
                       parameter.names.empty() ? "" : ", or ", fmt::join(parameter.names, ", "));
}

std::string values_text(const plan::Parameter& parameter) {
    std::vector<std::string> texts;
    for (const auto& value : parameter.defaults) texts.push_back(value_text(parameter, value));
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
    if (entry.benchmark->parameters.empty()) return {};
    std::string out = heading(terminal, "Parameters") + "of " + entry.module->module + '\n';
    for (const auto& parameter : entry.benchmark->parameters) {
        const std::string unit =
            parameter.unit.empty() || parameter.unit == "B" ? "" : ", in " + parameter.unit;
        out += std::string(indent, ' ') +
               indented(fmt::format("{}: {}{}. Takes {}. Default: {}{}", parameter.name,
                                    parameter.help, unit, range_text(parameter),
                                    values_text(parameter), variables_text(parameter)),
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
        out += paragraph(terminal, "Packages",
                         fmt::format("{} (Debian); install: assay describe {} --install",
                                     *benchmark.packages, benchmark.id));
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
    if (packages.empty()) return report({"no packages to install for these benchmarks"});
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
