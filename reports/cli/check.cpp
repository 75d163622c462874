// SPDX-License-Identifier: Apache-2.0

#include "export/judgement_data.hpp"
#include "files.hpp"
#include "json/json.hpp"
#include "judge/document.hpp"
#include "judge/judge.hpp"
#include "judge/plugin.hpp"
#include "judge/self_test.hpp"
#include "judge/words.hpp"
#include "language/language.hpp"
#include "language/texts/judge.hpp"
#include "verbs.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

Result<void> write_extras(const CheckWords& asked, const Judgement& judgement,
                          const std::vector<Input>& inputs) {
    const std::pair<const std::filesystem::path&, std::string (*)(const Judgement&)> files[] = {
        {asked.junit, &to_junit}, {asked.openmetrics, &to_openmetrics}};
    for (const auto& [path, render] : files)
        if (auto fine = check_output(path, inputs); !fine) return fine;
    for (const auto& [path, render] : files) {
        if (path.empty()) continue;
        if (auto done = write(path, render(judgement)); !done) return done;
    }
    return {};
}

Result<ExitCode> check_as(const Options& options, ExitStyle style) {
    const auto& asked = options.checking;
    std::vector<Input> inputs; // no output may replace one of them
    auto limits = limits_of(asked, inputs);
    if (!limits) return tl::unexpected{limits.error()};
    auto collection = collect(options.inputs, collecting_for(*limits, options.collecting));
    if (!collection) return tl::unexpected{collection.error()};
    for (const auto& run : collection->runs) inputs.push_back({.label = "", .file = run.file});
    const auto judgement = judge(std::move(*collection), std::move(*limits), asked.judging);
    if (!judgement) return tl::unexpected{judgement.error()};
    if (auto done = write_extras(asked, *judgement, inputs); !done)
        return tl::unexpected{done.error()};
    const int code = exit_code_of(judgement->outcome, style);
    const Outputs outputs{.documents = [&] { return std::vector{make_document(*judgement)}; },
                          .json = [&] { return to_json(*judgement, asked.advisory ? 0 : code); },
                          .csv = [&] { return to_csv(*judgement); },
                          .brief = style == ExitStyle::assay
                                       ? std::function<std::string()>{}
                                       : [&] { return plugin_output(*judgement, style); },
                          .written = !asked.junit.empty() || !asked.openmetrics.empty()};
    if (auto done = deliver(options, outputs, inputs); !done) return tl::unexpected{done.error()};
    if (!asked.advisory) return static_cast<ExitCode>(code); // a plugin's, too
    if (code != 0) print_error(say<text::judge::advisory>(code) + "\n");
    return ExitCode::done;
}

/// A line for each made-up node.
Result<ExitCode> test_itself(const Options& options) {
    std::string text;
    json::Value list = json::Value::array();
    bool passed = true;
    for (const auto& test : self_test()) {
        passed = passed && test.passed();
        text += fmt::format("{} {}: {} {}", test.passed() ? "ok    " : "WRONG ", test.name,
                            to_string(test.outcome), to_string(test.cause));
        text += test.passed() ? "\n"
                              : fmt::format(", not {} {}\n", to_string(test.expected),
                                            to_string(test.expected_cause));
        list.push_back({{"name", test.name},
                        {"passed", test.passed()},
                        {"verdict", std::string{to_string(test.outcome)}},
                        {"cause", std::string{to_string(test.cause)}}});
    }
    const auto done = options.json ? print_json(json::to_text({{"schema", "assay.self_test/1"},
                                                               {"passed", passed},
                                                               {"tests", std::move(list)}}))
                                   : print(text);
    if (!done) return tl::unexpected{done.error()};
    return passed ? ExitCode::done : ExitCode::failed;
}

} // namespace

Result<Limits> limits_of(const CheckWords& asked, std::vector<Input>& inputs) {
    const auto names = asked.limits.empty() ? std::vector<std::string>{"spec"} : asked.limits;
    std::vector<LimitsFile> files;
    for (const auto& name : names) {
        const auto path = find_limits(name);
        if (!path) return tl::unexpected{path.error()};
        auto file = read_limits(*path);
        if (!file) return tl::unexpected{file.error()};
        files.push_back(std::move(*file));
        inputs.push_back({.label = "", .file = *path});
    }
    return layered(std::move(files));
}

Result<ExitCode> check_nodes(const Options& options) {
    if (options.checking.self_test) return test_itself(options);
    const auto style = exit_style_from(options.checking.exit_style).value_or(ExitStyle::assay);
    auto code = check_as(options, style);
    if (code || style == ExitStyle::assay) return code;
    // Their own codes of "unknown": what is wrong with the command says nothing about the node.
    if (auto done = print(plugin_output(code.error(), style)); !done)
        return tl::unexpected{done.error()};
    return static_cast<ExitCode>(
        options.checking.advisory ? 0 : exit_code_of(Outcome::inconclusive, style));
}

} // namespace assay::report
