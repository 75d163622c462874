// SPDX-License-Identifier: Apache-2.0
//
// Whatever a file of limits says, a node is judged by it or it is refused with a message; and nothing passes by limits
// that ask for nothing.
#include "judge/limits.hpp"

#include "fuzz.hpp"
#include "judge/self_test.hpp"
#include "record/convert.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    static const auto node = record::to_text(report::healthy_node());
    const auto limits = report::parse_limits(fuzz::text(data, size), "input");
    if (!limits) {
        fuzz::expect(limits.error().message.starts_with("input"));
        return 0;
    }
    const auto again = report::parse_limits(to_json(*limits).dump(), "again");
    fuzz::expect(again.has_value());
    const auto result = report::judged(node, *limits);
    fuzz::expect(!limits->limits.empty() || result.outcome != report::Outcome::pass);
    return 0;
}
