// SPDX-License-Identifier: Apache-2.0
//
// Whatever a file of limits says, a node is judged by it or it is refused with a message; and nothing passes by limits
// that ask for nothing.
#include "judge/limits.hpp"

#include "fuzz.hpp"
#include "judge/judge.hpp"
#include "support/collection_maker.hpp"

namespace {

assay::store::Collection good_node() {
    using namespace assay;
    test::CollectionMaker maker;
    const auto run = maker.run({});
    for (const auto& series : {test::triad(), test::gemm("openblas", 1024), test::latency(4096)}) {
        auto& seen = maker.observe(run, series, {1e11, 1.001e11, 0.999e11});
        seen.events = 0;
        seen.verified = true;
    }
    return std::move(maker.collection());
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    static const auto node = good_node();
    const auto limits = judge::parse_limits(fuzz::text(data, size), "input");
    if (fuzz::refused(limits)) return 0;
    const auto again = judge::parse_limits(to_json(*limits).dump(), "again");
    fuzz::expect(again.has_value());
    auto layers = judge::layered({*limits});
    if (!layers) return 0;
    const auto result = judge::judge(node, *std::move(layers), {.now = 1.8e9});
    fuzz::expect(!result || !limits->limits.empty() || result->outcome != judge::Outcome::pass);
    return 0;
}
