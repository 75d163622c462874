// SPDX-License-Identifier: Apache-2.0
//
// Whatever is accepted can be written and reads back as the same value; whatever is not gets a short
// message.
#include "json/json.hpp"

#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto value = json::parse(fuzz::text(data, size), "input");
    if (!value) {
        fuzz::expect(value.error().message.starts_with("input:"));
        fuzz::expect(value.error().message.size() < 1000);
        return 0;
    }
    const auto line = json::parse(json::to_line(*value), "line");
    const auto indented = json::parse(json::to_text(*value), "text");
    fuzz::expect(line && *line == *value);
    fuzz::expect(indented && *indented == *value);
    return 0;
}
