// SPDX-License-Identifier: Apache-2.0
//
// A result that is accepted is the same after writing it, and its summaries can be checked. Without
// the values, the same results are accepted, and more.
#include "decide/check.hpp"
#include "fuzz.hpp"
#include "record/convert.hpp"
#include "record/reader.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto text = fuzz::text(data, size);
    const auto run = record::parse_run(text, "input");
    const auto quick = record::parse_run(text, "input", {.values = false});
    if (!run) {
        fuzz::expect(run.error().message.starts_with("input:"));
        fuzz::expect(json::parse(json::to_line(json::Value(run.error().message)), "m").has_value());
        return 0;
    }
    fuzz::expect(quick.has_value());
    const auto written = record::to_text(*run);
    const auto again = record::parse_run(written, "again", {.as_stored = true});
    fuzz::expect(again && record::to_text(*again) == written);
    static_cast<void>(decide::check_summaries(*run));
    return 0;
}
