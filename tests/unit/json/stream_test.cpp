// SPDX-License-Identifier: Apache-2.0
//
// A document in parts is the document that to_text() writes.

#include "json/stream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::json {
namespace {

/// As a Stream writes it that is given every member and item.
void write(const Value& value, Stream& out) {
    const bool plain_items = value.is_array() && (value.empty() || !value[0].is_structured());
    if (!value.is_structured() || plain_items) return out.value(value);
    value.is_object() ? out.open_object() : out.open_array();
    for (const auto& item : value.items()) {
        if (value.is_object()) out.key(item.key());
        write(item.value(), out);
    }
    out.close();
}

const Value& document() {
    static const Value value = [] {
        Value made{{"schema", "x/1"},
                   {"none", Value::array()},
                   {"flat", {1, 2.5, "three", nullptr, true}},
                   {"odd \"key\"", "quote \" backslash \\ tab \t bell \a delete \x7f"},
                   {"text", "温度 \xc3\xa9 \xff: "},
                   {"nested", {{"a", {{"b", Value::array({Value{{"c", -1}}, Value::object()})}}}}},
                   {"nodes", Value::array()}};
        for (int i = 0; i < 5000; ++i)
            made["nodes"].push_back({{"name", "n" + std::to_string(i)}, {"value", i * 0.1}});
        return made;
    }();
    return value;
}

TEST(Stream, WritesWhatToTextWrites) {
    std::vector<std::string> parts;
    const Sink sink = [&](std::string_view part) {
        parts.emplace_back(part);
        return true;
    };
    Stream out{sink};
    write(document(), out);
    EXPECT_TRUE(out.finish());
    std::string all;
    for (const auto& part : parts) {
        EXPECT_TRUE(part.ends_with('\n')) << "parts are whole lines";
        EXPECT_LT(part.size(), std::size_t{70} << 10U);
        all += part;
    }
    EXPECT_EQ(all, to_text(document()));
    EXPECT_GT(parts.size(), 2U);
}

TEST(Stream, TextsAreTheParsersOwn) {
    for (const auto& [key, value] : document().items()) {
        const Value one{{key, value}};
        const auto again = parse(to_text(one), "it");
        ASSERT_TRUE(again) << again.error().message;
        const bool is_text = key != "text"; // that one is no UTF-8, and is made so
        EXPECT_EQ(*again == one, is_text) << key;
    }
    EXPECT_EQ(to_text("a\x7f\"\\\n"), "\"a\x7f\\\"\\\\\\n\"\n");
}

TEST(Stream, AReaderThatHasEnoughIsNotAskedAgain) {
    int asked = 0;
    const Sink sink = [&](std::string_view) { return ++asked < 2; };
    Stream out{sink};
    write(document(), out);
    EXPECT_FALSE(out.finish());
    EXPECT_EQ(asked, 2);
}

} // namespace
} // namespace assay::json
