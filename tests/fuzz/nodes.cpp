// SPDX-License-Identifier: Apache-2.0
//
// Whatever a list of nodes holds: each of its names is one by itself, and a fault names the file.
#include "fleet/model.hpp"
#include "fuzz.hpp"

#include <algorithm>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto nodes = fleet::parse_nodes(fuzz::text(data, size), "input");
    if (fuzz::refused(nodes)) return 0;
    fuzz::expect(!nodes->empty());
    const auto& last = nodes->back();
    const auto again = fleet::expand_nodes(last);
    fuzz::expect(again && again->size() == 1 && again->front() == last);
    const fleet::NodeNames names{*nodes};
    fuzz::expect(names.is_expected(last) && names.of_host(last) == last);
    return 0;
}
