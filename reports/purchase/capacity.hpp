// SPDX-License-Identifier: Apache-2.0
//
// Does a transformer fit into the memory of devices, to train it or to serve it? Parameters, gradients and optimiser by
// ZeRO stage, activations, the cache of keys and values; each as a line with its formula. Published models by name: the
// figures of configs/models, each from the model's config.json.

#pragma once

#include "base/result.hpp"
#include "document/document.hpp"
#include "purchase/cost.hpp"
#include "reference/catalog.hpp"
#include "reference/hardware.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::purchase {

struct Model {
    std::string name;
    std::string source;
    Given figures; ///< by the names of capacity_settings()
    bool has_experts = false;
};

/// By name or alias, in any case; an unknown name lists them all.
Result<Model> model_named(std::string_view name);

/// Meanings: capacity_line.json of document/texts.
std::span<const Setting> capacity_settings();

struct Holder {
    std::string device;
    double memory_bytes = 0;
    double share = 0;         ///< of the memory that may be used
    double least_devices = 1; ///< that hold one copy of all of it, however it is divided
};
/// A type of machine with GPUs of one kind, which fits as its GPU does or by dividing further.
struct InstanceHolder {
    std::string instance; ///< "aws/p5.48xlarge"
    std::string device;   ///< its GPU
    double gpus = 0;      ///< of a node; 0.5: half of one
    /// Needed nodes: for the requested devices if each holds its part, else for the fewest that hold one copy.
    double nodes = 1;
    double share = 0; ///< of the memory that may be used on all of these
};
struct Capacity {
    bool training = false;
    Calculation lines; ///< "device_bytes" is the answer, "copy_bytes" that of one copy, undivided
    std::vector<Holder> holders; ///< the catalogue, the smallest memory first
    std::vector<InstanceHolder>
        instances; ///< the fewest nodes first, of these what leaves least unused
};
/// Fails where heads or layers do not divide. `only`: accelerators and types of instances; all where empty. `model`: has
/// the figures that are not given.
Result<Capacity> capacity_of(const Given& given, bool training, const reference::Hardware& hardware,
                             const std::vector<reference::CatalogEntry>& only = {},
                             const std::optional<Model>& model = {});

document::Document make_document(const Capacity& capacity, bool explain);
std::string to_json(const Capacity& capacity);

} // namespace assay::purchase
