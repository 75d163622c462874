// SPDX-License-Identifier: Apache-2.0
//
// What offers promise, and what machines of their types were found to have. An offer whose machines have other counts than
// it promises is not ranked: its price would be of one machine and its speed of another.

#pragma once

#include "base/fields.hpp"
#include "base/result.hpp"
#include "json/codec.hpp"
#include "offers/calculation.hpp"
#include "offers/offer.hpp"
#include "reference/hardware.hpp"
#include "store/collection.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::procure {

/// What an offer says a node has, and what machines of its type were found to have.
struct Promise {
    std::string offer;
    std::string_view
        code; ///< "gpus", "memory", "bandwidth", "availability", ...; in words: promise.json
    std::string_view unit;
    double promised = 0;
    std::optional<double>
        measured; ///< the least of the machines; of GPUs the count that differs most
    bool kept() const;
};

std::vector<Promise> promises_of(const std::vector<offers::Offer>& offers,
                                 const store::Collection& runs,
                                 const reference::Hardware* hardware = nullptr);

/// For each offer the first count that machines of its type were found not to have: GPUs (by the catalogue, where the offer
/// names none), hardware threads, cores or memory.
std::vector<std::optional<Promise>> broken_promises(const std::vector<offers::Offer>& offers,
                                                    const store::Collection& runs,
                                                    const reference::Hardware* hardware = nullptr);

/// "GPUs"
std::string name_of(const Promise& promise);
/// "99.95%", "64 GiB", "8"
std::string amount_of(double value, const Promise& promise);

// --- published -----------------------------------------------------------------------------------
// Figures that others published (schema assay.published/1): they stand beside measured ones, with their source, and enter
// nothing that is computed.

struct Published {
    std::string provider;
    std::string instance;
    std::string title;
    std::string series; ///< pattern of test items that measure the same; may be empty
    double value = 0;
    std::string unit; ///< SI base units: "B/s"
    std::string source;
    std::string date;
};

/// The files, whole or refused.
Result<std::vector<Published>> read_published(const std::vector<std::string>& files);
Result<std::vector<Published>> parse_published(std::string_view text, const std::string& source);

struct BesidePublished {
    Published figure;
    std::optional<offers::Quantity> measured; ///< of machines of that type, in the same unit
    std::string series;
};
/// Fails where a pattern means several test items.
Result<std::vector<BesidePublished>> beside(const std::vector<Published>& figures,
                                            const store::Collection& runs,
                                            const reference::Hardware* hardware = nullptr);

ASSAY_FIELDS(Published, provider, instance, title, series, value, unit, source, date)

template <OneOf<Published> T>
void json_lenient(const T&);

} // namespace assay::procure
