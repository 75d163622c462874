// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogue.hpp"

#include "worker/module.hpp"

#include <cstdlib>
#include <utility>

namespace assay::cli {
namespace {

bool is_set(const std::string& variable) {
    const char* const value =
        std::getenv(variable.c_str()); // NOLINT(concurrency-mt-unsafe): no threads yet
    return value != nullptr && *value != '\0';
}

} // namespace

plan::Catalogue full_catalogue() {
    auto catalogue = plan::read_catalogue();
    for (auto& manifest : catalogue.modules) {
        if (!manifest.path_variable || !is_set(*manifest.path_variable)) continue;
        const auto module = worker::Module::load(manifest.library);
        auto described = module ? worker::describe(*module)
                                : Result<plan::Manifest>{tl::unexpected{module.error()}};
        if (!described) {
            catalogue.problems.push_back(described.error());
            continue;
        }
        for (auto& problem : described->problems)
            catalogue.problems.push_back({std::move(problem)});
        manifest = std::move(*described);
    }
    return catalogue;
}

} // namespace assay::cli
