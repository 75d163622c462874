// SPDX-License-Identifier: Apache-2.0
#include "registry/catalogue.hpp"

#include "base/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::harness {
namespace {

std::vector<std::filesystem::path> module_folders() {
    std::vector<std::filesystem::path> folders{layout().modules};
    // Read once, before any thread of ours is started.
    const char* variable = std::getenv("ASSAY_MODULE_PATH"); // NOLINT(concurrency-mt-unsafe)
    std::string_view rest = variable == nullptr ? "" : variable;
    while (!rest.empty()) {
        const auto colon = std::min(rest.find(':'), rest.size());
        if (colon != 0) folders.emplace_back(rest.substr(0, colon));
        rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    return folders;
}

/// The manifests of one folder, in order of their names.
Result<std::vector<std::filesystem::path>> manifests_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::directory_iterator item{folder, error}, end; !error && item != end;
         item.increment(error))
        if (item->path().extension() == ".json") files.push_back(item->path());
    if (error)
        return fail(
            fmt::format("cannot read the module folder {}: {}", folder.string(), error.message()),
            error == std::errc::no_such_file_or_directory ? Fault::usage : Fault::environment);
    std::ranges::sort(files);
    return files;
}

void add(Catalogue& catalogue, const std::filesystem::path& file) {
    auto manifest = read_manifest(file);
    if (!manifest) {
        catalogue.problems.push_back(std::move(manifest.error()));
        return;
    }
    const auto same = std::ranges::find(catalogue.modules, manifest->module, &Manifest::module);
    if (same != catalogue.modules.end()) {
        catalogue.problems.push_back(
            {fmt::format("module {} of {} is not used: {} comes first", manifest->module,
                         file.parent_path().string(), same->library.string())});
        return;
    }
    catalogue.modules.push_back(std::move(*manifest));
}

} // namespace

Catalogue read_catalogue() {
    Catalogue catalogue;
    for (const auto& folder : module_folders()) {
        const auto files = manifests_in(folder);
        if (!files) {
            catalogue.problems.push_back(files.error());
            continue;
        }
        for (const auto& file : *files) add(catalogue, file);
    }
    std::ranges::sort(catalogue.modules, {}, &Manifest::module);
    return catalogue;
}

} // namespace assay::harness
