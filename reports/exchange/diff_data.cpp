// SPDX-License-Identifier: Apache-2.0

#include "exchange/diff_data.hpp"

#include "compare/diff_document.hpp"
#include "json/codec.hpp"
#include "record/same_machine.hpp"

namespace assay::report {

ASSAY_FIELDS(DiffSide, label, file, (record::own_id(record.run.machine), "machine"))
ASSAY_FIELDS(Difference, group, key, (record.before, "a"), (record.after, "b"), matters, count)
ASSAY_FIELDS(DifferentValue, name, (record.before, "a"), (record.after, "b"),
             (record.contrast.outcome, "outcome"), (record.contrast.ratio, "ratio"),
             (record.contrast.low, "low"), (record.contrast.high, "high"))
ASSAY_FIELDS(Diff, ("assay.diff/1", "schema"), a, b, (verdict_of(record), "verdict"), same_machine,
             differences, by_nature, only_a, only_b, (record.compared, "values_compared"), values)

std::string to_json(const Diff& diff) { return json::to_text(json::encode(diff)); }

} // namespace assay::report
