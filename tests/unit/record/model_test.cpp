// SPDX-License-Identifier: Apache-2.0
#include "record/model.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay::record {
namespace {

TEST(Model, NamesGoBothWays) {
    for (int i = 0; i < 8; ++i) {
        const auto status = static_cast<Status>(i);
        EXPECT_EQ(status_from(to_string(status)), status);
    }
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(interval_scope_from(to_string(static_cast<IntervalScope>(i))),
                  static_cast<IntervalScope>(i));
        EXPECT_EQ(ceiling_kind_from(to_string(static_cast<CeilingKind>(i))),
                  static_cast<CeilingKind>(i));
    }
    EXPECT_EQ(status_from("OK"), std::nullopt);
    EXPECT_EQ(status_from(""), std::nullopt);
    EXPECT_EQ(interval_scope_from("both"), std::nullopt);
    EXPECT_EQ(ceiling_kind_from("guess"), std::nullopt);
}

TEST(Model, FinishedMeansNotTriedAgain) {
    for (const auto status : {Status::ok, Status::unstable, Status::incorrect, Status::skipped})
        EXPECT_TRUE(is_finished(status)) << to_string(status);
    for (const auto status :
         {Status::failed, Status::timed_out, Status::crashed, Status::interrupted})
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

} // namespace
} // namespace assay::record
