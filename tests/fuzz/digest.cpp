// SPDX-License-Identifier: Apache-2.0
//
// Whatever a row of an index holds, unpacking it answers with a value or with nothing; a value stays the
// same when it is packed again, and makes a Collection.
#include "fuzz.hpp"
#include "store/gather.hpp"

#include <utility>

namespace {

template <class T>
std::optional<T> same_again(std::string_view bytes) {
    using namespace assay::report;
    auto value = unpacked<T>(bytes);
    if (value) {
        const auto once = packed(*value);
        const auto again = unpacked<T>(once);
        assay::fuzz::expect(again && packed(*again) == once);
    }
    return value;
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto bytes = fuzz::text(data, size);
    same_again<record::Machine>(bytes);
    same_again<record::NamedList>(bytes);
    same_again<report::Series>(bytes);
    same_again<std::vector<report::MetricKind>>(bytes);
    auto digest = same_again<report::RunDigest>(bytes);
    report::Batch batch;
    for (auto* pool :
         {&batch.pools.machines, &batch.pools.series, &batch.pools.settings, &batch.pools.others})
        pool->add(bytes);
    if (!digest || !report::refers_to(*digest, batch.pools)) return 0;
    const std::size_t cases = digest->cases.size();
    batch.candidates.push_back({.label = "input", .file = "input", .digest = *std::move(digest)});
    std::vector<report::Batch> batches;
    batches.push_back(std::move(batch));
    const auto all = report::gather(std::move(batches), {.others = true, .now = 2e9});
    fuzz::expect(all.runs.empty() ? !all.problems.empty() : all.observations.size() == cases);
    return 0;
}
