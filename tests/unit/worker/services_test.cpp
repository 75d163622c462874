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
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("\"warmth\" is not in the table of metrics"),
                                       HasSubstr("too large"), HasSubstr("no name")));
}

TEST_F(ServicesTest, AValueOfNoMetricIsDroppedAndSaysWhichThereAre) {
    const Metrics metrics{services_.table()};
    metrics.add("latency_p98", 1);
    metrics.add("latency_p99", 2);
    ASSERT_EQ(services_.metrics.size(), 1U);
    EXPECT_EQ(services_.metrics.front().name, "latency_p99");
    EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("latency_p98"), HasSubstr("did you mean"),
                                             HasSubstr("assay list --metrics"))));
}

TEST_F(ServicesTest, EvidenceArrivesAndWhatIsNotToldStays) {
    const Context context{services_.table()};
    EXPECT_TRUE(services_.evidence.empty());
    context.tell({.links = Links::peer, .footprint_bytes = 3e9, .directions = 2});
    context.tell({.machines = 2, .ranks = 16, .switch_work = "NVLS"});
    context.tell({.links = Links::nvlink, .network_devices = "mlx5_0:1"});
    context.sustained(0.02, 2);
    const record::Evidence expected{.links = record::Links::nvlink,
                                    .footprint_bytes = 3e9,
                                    .directions = 2,
                                    .machines = 2,
                                    .ranks = 16,
                                    .batch_seconds = 0.02,
                                    .load_seconds = 2,
                                    .switch_work = "NVLS",
                                    .network_devices = "mlx5_0:1"};
    EXPECT_EQ(services_.evidence, expected);
    services_.clear();
    EXPECT_TRUE(services_.evidence.empty());
    context.nvlink_at_least(4, 1e6);
    EXPECT_EQ(services_.evidence.nvlink_least_bytes, 1e6);
    context.nvlink_at_most(4, 0);
    EXPECT_EQ(services_.evidence.nvlink_most_bytes, 0);
    EXPECT_EQ(services_.evidence.nvlink_devices, 4);
}

TEST_F(ServicesTest, EvidenceThatMakesNoSenseIsPassedOver) {
    const Context context{services_.table()};
    context.tell({.footprint_bytes = NAN, .cache_bytes = INFINITY, .batch_seconds = -1});
    services_.table()->evidence(services_.table()->context, nullptr);
    assay_evidence shorter{}; // of a module that knows less
    shorter.struct_size = offsetof(assay_evidence, cache_bytes);
    shorter.footprint_bytes = 1e9;
    shorter.cache_bytes = 1e6;
    services_.table()->evidence(services_.table()->context, &shorter);
    EXPECT_EQ(services_.evidence, record::Evidence{.footprint_bytes = 1e9});
}

/// Modules from before there was evidence said some of it by settings: they are measured as before.
TEST_F(ServicesTest, AModuleFromBeforeEvidenceIsUnderstood) {
    auto* const table = services_.table();
    table->setting_number(table->context, "nvlink.devices", 2);
    table->setting_number(table->context, "nvlink.most_bytes", 0);
    table->setting_number(table->context, "batch_at_least", 0.02);
    table->setting_text(table->context, "network_devices", "eth0");
    EXPECT_EQ(services_.evidence, (record::Evidence{.nvlink_devices = 2,
                                                    .nvlink_most_bytes = 0,
                                                    .batch_seconds = 0.02,
                                                    .network_devices = "eth0"}));
    EXPECT_EQ(services_.settings.size(), 4U);
}

TEST_F(ServicesTest, AProgramFromBeforeEvidenceGetsSettingsAlone) {
    assay_services old = *services_.table();
    old.struct_size = offsetof(assay_services, evidence);
    old.evidence = nullptr;
    Context{&old}.tell({.machines = 2});
    EXPECT_TRUE(services_.evidence.empty());
    Metrics{&old}.add(assay::Table{.metric = "latency",
                                   .row_title = "",
                                   .column_title = "",
                                   .rows = {"0"},
                                   .columns = {"0"},
                                   .values = {1}});
    EXPECT_EQ(services_.tables.size(), 1U) << "what it knows, it gets";
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
