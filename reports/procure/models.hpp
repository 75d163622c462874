// SPDX-License-Identifier: Apache-2.0
//
// Published models by name: the figures of configs/models, each from the model's config.json.

#pragma once

#include "base/result.hpp"
#include "offers/cost.hpp"

#include <string>
#include <string_view>

namespace assay::procure {

struct Model {
    std::string name;
    std::string source;
    offers::Given figures; ///< by the names of capacity_settings()
    bool has_experts = false;
};

/// By name or alias, in any case; an unknown name lists them all.
Result<Model> model_named(std::string_view name);

} // namespace assay::procure
