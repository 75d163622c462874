// SPDX-License-Identifier: Apache-2.0
#include "record/model.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace assay::record {
namespace {

template <class Enum>
void expect_names(int count) {
    Enum out{};
    for (int i = 0; i < count; ++i) {
        const auto value = static_cast<Enum>(i);
        EXPECT_TRUE(from_text(to_string(value), out));
        EXPECT_EQ(out, value);
    }
    for (const char* other : {"OK", "", "both", "?"}) EXPECT_FALSE(from_text(other, out)) << other;
}

TEST(Model, NamesGoBothWays) {
    expect_names<Status>(10);
    expect_names<IntervalScope>(3);
    expect_names<CeilingKind>(3);
}

TEST(Model, AReasonOfALaterVersionIsAnother) {
    ReasonCode code = ReasonCode::none;
    EXPECT_TRUE(from_text("time_limit", code));
    EXPECT_EQ(code, ReasonCode::time_limit);
    EXPECT_TRUE(from_text("eaten_by_mice", code));
    EXPECT_EQ(code, ReasonCode::other);
}

TEST(Model, FinishedMeansNotTriedAgain) {
    for (const auto status : {Status::ok, Status::unstable, Status::incorrect, Status::skipped})
        EXPECT_TRUE(is_finished(status)) << to_string(status);
    for (const auto status : {Status::failed, Status::timed_out, Status::crashed,
                              Status::interrupted, Status::not_started, Status::disturbed})
        EXPECT_FALSE(is_finished(status)) << to_string(status);
}

TEST(Model, IdentityInWords) {
    Case c;
    c.benchmark = "gemm.square";
    c.place.kind = "host";
    c.library = "openblas";
    c.parameters = {{"precision", std::string{"fp64"}}, {"size", std::int64_t{1024}}};
    c.settings = {{"core_type", std::string{"SkylakeX"}}};
    EXPECT_EQ(identity(c), "gemm.square[openblas] precision=fp64 size=1024");
    c.version = 2;
    c.place = {.kind = "cuda", .uuid = "GPU-1", .index = 3};
    c.parameters = {{"ratio", 0.5}, {"plain", false}};
    EXPECT_EQ(identity(c), "gemm.square/2[openblas]@cuda:3 ratio=0.5 plain=false");
}

TEST(Model, FindByName) {
    const NamedList list{{"a", std::int64_t{1}}, {"b", true}};
    ASSERT_NE(find(list, "b"), nullptr);
    EXPECT_EQ(*find(list, "b"), Value{true});
    EXPECT_EQ(find(list, "c"), nullptr);
    EXPECT_EQ(find({}, "a"), nullptr);
}

TEST(Model, NumbersAndTextsByName) {
    const NamedList list{
        {"whole", std::int64_t{64}}, {"real", 0.5}, {"truth", true}, {"word", std::string{"64"}}};
    EXPECT_EQ(number(list, "whole"), 64.0);
    EXPECT_EQ(number(list, "real"), 0.5);
    for (const char* name : {"truth", "word", "absent"})
        EXPECT_EQ(number(list, name), std::nullopt) << name;
    EXPECT_EQ(text(list, "whole"), "64");
    EXPECT_EQ(text(list, "truth"), "true");
    EXPECT_EQ(text(list, "word"), "64");
    EXPECT_EQ(text(list, "absent"), "");
}

} // namespace
} // namespace assay::record
