// SPDX-License-Identifier: Apache-2.0
//
// Figures that others published (schema assay.published/1): they stand beside measured ones, with their source, and enter
// nothing that is computed.

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

namespace assay::report {

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
    std::optional<Quantity> measured; ///< of machines of that type, in the same unit
    std::string series;
};
/// Fails where a pattern means several test items.
Result<std::vector<BesidePublished>> beside(const std::vector<Published>& figures,
                                            const Collection& runs,
                                            const datasheet::Hardware* hardware = nullptr);

ASSAY_FIELDS(Published, provider, instance, title, series, value, unit, source, date)

template <OneOf<Published> T>
void json_lenient(const T&);

} // namespace assay::report
