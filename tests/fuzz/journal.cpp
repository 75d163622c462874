// SPDX-License-Identifier: Apache-2.0
//
// A journal that is accepted is accepted wherever it is cut, with as many steps as it has whole lines.
#include "record/journal.hpp"

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto text = fuzz::text(data, size);
    const auto content = record::parse_journal(text, "input");
    if (fuzz::refused(content, "input: line ")) return 0;
    fuzz::expect(content->bytes <= size);
    const auto shorter = record::parse_journal(text.substr(0, size / 2), "input");
    fuzz::expect(shorter && shorter->steps.size() <= content->steps.size());
    record::Case all;
    for (const auto& step : content->steps) record::add_step(all, step.result);
    return 0;
}
