// SPDX-License-Identifier: Apache-2.0
#include "registry/selector.hpp"

#include "base/nearest.hpp"
#include "json/words.hpp"
#include "registry/catalogue.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

namespace assay::harness {
namespace {

constexpr std::size_t longest = 200; // bytes; ids are short, and fnmatch is slow on long patterns

} // namespace

Result<Selector> Selector::parse(std::string_view text) {
    Selector selector;
    const auto bracket = text.find('[');
    selector.id_ = text.substr(0, bracket);
    if (bracket != std::string_view::npos) {
        if (!text.ends_with(']') || text.size() - bracket < 3)
            return fail(fmt::format("{} should be a benchmark or benchmark[library], as in "
                                    "gemm.square[openblas]",
                                    json::show_text(text)));
        selector.library_ = text.substr(bracket + 1, text.size() - bracket - 2);
    }
    if (selector.id_.empty() || text.size() > longest)
        return fail(fmt::format("{} names no benchmark", json::show_text(text)));
    return selector;
}

bool Selector::is_pattern() const { return id_.find_first_of("*?") != std::string::npos; }

bool Selector::matches(const Manifest& module, const Benchmark& benchmark) const {
    if (!library_.empty() && library_ != module.module) return false;
    const auto family = std::string_view{benchmark.id}.substr(0, benchmark.id.find('.'));
    return id_ == family || ::fnmatch(id_.c_str(), benchmark.id.c_str(), FNM_NOESCAPE) == 0;
}

std::vector<std::string> benchmark_ids(const Catalogue& catalogue) {
    std::vector<std::string> ids;
    for (const auto& module : catalogue.modules)
        for (const auto& benchmark : module.benchmarks) ids.push_back(benchmark.id);
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    return ids;
}

std::vector<std::string> module_names(const Catalogue& catalogue) {
    std::vector<std::string> names;
    for (const auto& module : catalogue.modules) names.push_back(module.module);
    return names;
}

Error no_such_benchmark(const Catalogue& catalogue, std::string_view name) {
    const auto ids = benchmark_ids(catalogue);
    if (ids.empty())
        return {
            fmt::format("there is no benchmark {}: no module was found; ASSAY_MODULE_PATH names "
                        "folders to look in",
                        json::show_text(name)),
            Fault::environment};
    return {fmt::format("there is no benchmark {}{}; `assay list` shows all", json::show_text(name),
                        suggestion(name, ids))};
}

} // namespace assay::harness
