// SPDX-License-Identifier: Apache-2.0
//
// A value, a newline that separates, and a schema: either matches, or is explained, or the schema is
// refused.
#include "fuzz.hpp"
#include "json/json.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace assay;
    const auto text = fuzz::text(data, size);
    const auto newline = text.find('\n');
    if (newline == text.npos) return 0;
    const auto value = json::parse(text.substr(0, newline), "value");
    const auto schema = json::parse(text.substr(newline + 1), "schema");
    if (!value || !schema) return 0;
    if (const auto checked = json::check_schema(*value, *schema, "value"); !checked)
        fuzz::expect(!checked.error().message.empty());
    return 0;
}
