// SPDX-License-Identifier: Apache-2.0
#include "procure/models.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "json/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace assay::procure {

Result<Model> model_named(std::string_view name) {
    ASSAY_TRY(const auto schema, json::read_file(layout().share / "schema" / "model.json"));
    const auto wanted = lower(name);
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator{layout().share / "models", error}) {
        const auto source = entry.path().string();
        ASSAY_TRY(const auto file, json::read_file(entry.path()));
        ASSAY_TRY(json::check_schema(file, schema, source));
        for (const auto& one : file.at("models")) {
            std::vector<std::string> own{one.at("name").get<std::string>()};
            if (const auto more = one.find("aliases"); more != one.end())
                for (const auto& alias : *more) own.push_back(alias.get<std::string>());
            names.insert(names.end(), own.begin(), own.end());
            if (std::ranges::find(own, wanted) == own.end()) continue;
            Model model{.name = wanted,
                        .source =
                            fmt::format("{}: {}", own.front(), one.at("source").get<std::string>()),
                        .figures = {},
                        .has_experts = one.contains("experts")};
            for (const auto& [key, figure] : one.items()) // the schema knows them all
                if (figure.is_number()) model.figures[key] = figure.get<double>();
            return model;
        }
    }
    std::ranges::sort(names);
    return fail(
        fmt::format("--model: unknown model \"{}\" (there are {}); for another one give its "
                    "figures by --set",
                    plain(name, 60), fmt::join(names, ", ")));
}

} // namespace assay::procure
