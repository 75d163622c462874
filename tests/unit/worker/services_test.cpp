// SPDX-License-Identifier: Apache-2.0
#include "worker/services.hpp"

#include <assay/benchmark.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace assay::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ServicesTest : public testing::Test {
protected:
    record::Machine machine_;
    std::vector<std::string> warnings_;
    Services services_{machine_, 0, [this](const std::string& text) { warnings_.push_back(text); },
                       "/kept/here"};
};

TEST_F(ServicesTest, TellsWhereModulesMayKeepThings) {
    const Machine machine{services_.table()};
    EXPECT_EQ(machine.text("state.folder"), "/kept/here");
    EXPECT_EQ(machine.text("no.such.fact"), "");
}

TEST_F(ServicesTest, ATableArrivesWithItsUnitAndItsHoles) {
    const Metrics metrics{services_.table()};
    metrics.add(assay::Table{.metric = "latency",
                             .row_title = "from core",
                             .column_title = "to core",
                             .rows = {"0", "1"},
                             .columns = {"0", "1"},
                             .values = {NAN, 2e-7, 3e-7, INFINITY}});
    ASSERT_EQ(services_.tables.size(), 1U);
    const auto& table = services_.tables[0];
    EXPECT_EQ(table.metric, "latency");
    EXPECT_EQ(table.unit, "s");
    EXPECT_EQ(table.row_title, "from core");
    EXPECT_THAT(table.rows, ElementsAre("0", "1"));
    EXPECT_THAT(table.values, ElementsAre(std::nullopt, 2e-7, 3e-7, std::nullopt));
    services_.clear();
    EXPECT_TRUE(services_.tables.empty());
}

TEST_F(ServicesTest, ATableThatMakesNoSenseIsDroppedWithAWarning) {
    const Metrics metrics{services_.table()};
    EXPECT_THROW(metrics.add(assay::Table{.metric = "latency",
                                          .row_title = "",
                                          .column_title = "",
                                          .rows = {"0"},
                                          .columns = {"0", "1"},
                                          .values = {1}}),
                 std::logic_error);
    metrics.add(assay::Table{.metric = "warmth",
                             .row_title = "",
                             .column_title = "",
                             .rows = {"0"},
                             .columns = {"0"},
                             .values = {1}});
    const std::array<const char*, 1> label{"x"};
    const double value = 1;
    assay_table huge{};
    huge.metric = "latency";
    huge.rows = huge.columns = label.data();
    huge.row_count = huge.column_count = SIZE_MAX / 2; // their product wraps
    huge.values = &value;
    services_.table()->table(services_.table()->context, &huge);
    services_.table()->table(services_.table()->context, nullptr);
    EXPECT_TRUE(services_.tables.empty());
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("no known metric"), HasSubstr("too large"),
                                       HasSubstr("no known metric")));
}

TEST_F(ServicesTest, AProgramFromBeforeTablesIsNotCalled) {
    assay_services old = *services_.table();
    old.struct_size = offsetof(assay_services, table);
    old.table = nullptr;
    Metrics{&old}.add(assay::Table{.metric = "latency",
                                   .row_title = "",
                                   .column_title = "",
                                   .rows = {"0"},
                                   .columns = {"0"},
                                   .values = {1}});
    EXPECT_TRUE(services_.tables.empty());
}

} // namespace
} // namespace assay::harness
