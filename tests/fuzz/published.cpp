// SPDX-License-Identifier: Apache-2.0
//
// Whatever a file of published figures holds: it is refused with its name, or each has a value above 0 and a source.
#include "fuzz.hpp"
#include "procure/promises.hpp"

#include <cmath>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto figures = procure::parse_published(fuzz::text(data, size), "input");
    if (fuzz::refused(figures)) return 0;
    for (const auto& figure : *figures)
        fuzz::expect(figure.value > 0 && std::isfinite(figure.value) && !figure.source.empty() &&
                     !figure.unit.empty());
    const auto beside = procure::beside(*figures, {});
    fuzz::expect(beside && beside->size() == figures->size());
    return 0;
}
