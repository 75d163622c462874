// SPDX-License-Identifier: Apache-2.0
//
// The options for what a plan costs on many nodes.

#pragma once

#include <optional>

namespace assay::cli {

template <class App, class Check> // of the option parser, which one file includes
void add_sweep(App& verb, std::optional<int>& nodes, std::optional<double>& price,
               const Check& is_count, const Check& is_price) {
    verb.add_option("--nodes", nodes,
                    "Also show what this plan costs on so many nodes, each measured by itself")
        ->type_name("N")
        ->check(is_count);
    verb.add_option("--price", price, "Price of a node and hour, in any currency")
        ->type_name("PRICE")
        ->check(is_price);
}

} // namespace assay::cli
