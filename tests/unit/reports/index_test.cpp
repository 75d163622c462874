// SPDX-License-Identifier: Apache-2.0

#include "store/collection.hpp"
#include "store/gather.hpp"
#include "store/index.hpp"
#include "support/generated_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace assay::report {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::SizeIs;

/// A small fleet's runs, and a cache of our own.
class IndexTest : public testing::Test {
protected:
    void SetUp() override {
        base_ = fs::temp_directory_path() / ("assay-index-" + std::to_string(getpid()));
        runs_ = base_ / "runs";
        test::write_runs({.machines = 2, .quarters = 2, .runs = 1, .values = 2}, runs_);
        ::setenv("XDG_CACHE_HOME", (base_ / "cache").c_str(), 1);
        index_ = index_path(runs_);
    }
    void TearDown() override {
        ::unsetenv("XDG_CACHE_HOME");
        fs::remove_all(base_);
    }

    Collection collected(bool index = true) const {
        auto collection =
            collect({"fleet=" + runs_.string()}, {.index = index, .index_from = 2, .others = true});
        EXPECT_TRUE(collection.has_value()) << collection.error().message;
        return std::move(collection).value_or(Collection{});
    }
    fs::path any_run() const {
        for (const auto& entry : fs::recursive_directory_iterator{runs_})
            if (entry.is_regular_file()) return entry.path();
        return {};
    }
    fs::path base_;
    fs::path runs_;
    fs::path index_;
};

/// Everything in a Collection but its files' places.
std::string shown(const Collection& all) {
    std::ostringstream out;
    out.precision(17);
    for (const auto& run : all.runs)
        out << run.label << run.id << run.suite << run.started << run.started_seconds << run.status
            << run.version << run.digest << run.core_clock_hz.value_or(-1)
            << all.machines[run.machine].id << all.machines[run.machine].kernel << '\n';
    for (const auto& seen : all.observations) {
        out << seen.run << all.series[seen.series].question << all.series[seen.series].library
            << all.series[seen.series].what << static_cast<int>(seen.status) << seen.reason
            << seen.value.value_or(-1) << seen.low.value_or(-1) << seen.high.value_or(-1)
            << static_cast<int>(seen.scope) << seen.ceiling.value_or(-1) << seen.disturbed
            << all.settings[seen.settings].size();
        for (const auto& replica : seen.replicas) out << ' ' << replica.index << replica.value;
        out << '\n';
    }
    for (const auto& problem : all.problems) out << problem.where << problem.reason << '\n';
    return out.str();
}

TEST_F(IndexTest, SaysTheSameAsTheFiles) {
    const auto plainly = shown(collected(false));
    EXPECT_FALSE(fs::exists(index_));
    EXPECT_EQ(shown(collected()), plainly); // writes it
    const Index index = read_index(index_);
    EXPECT_TRUE(index.usable);
    EXPECT_THAT(index.rows, SizeIs(20));
    EXPECT_EQ(shown(collected()), plainly); // reads it
}

/// That it is used shows where it lies: a digest is put into another file's row.
TEST_F(IndexTest, IsUsedForFilesThatHaveNotChanged) {
    collected();
    Index index = read_index(index_);
    ASSERT_THAT(index.rows, SizeIs(20));
    index.rows[0].digest = index.rows[1].digest;
    write_index(index_, index, std::vector{index.rows[0]}, {});
    const auto all = collected();
    EXPECT_THAT(all.runs, SizeIs(19));
    EXPECT_THAT(all.problems, SizeIs(1)) << "the same run twice";
}

TEST_F(IndexTest, FollowsFilesThatChangeComeAndGo) {
    collected();
    const auto run = any_run();
    const auto copy = runs_ / "copied" / "run.json";
    fs::create_directories(copy.parent_path());
    fs::rename(run, copy);
    EXPECT_EQ(shown(collected()), shown(collected(false)));
    EXPECT_THAT(read_index(index_).rows, SizeIs(20));
    std::ofstream{copy} << "{}";
    EXPECT_EQ(shown(collected()), shown(collected(false)));
    EXPECT_THAT(collected().problems, SizeIs(1));
    EXPECT_THAT(read_index(index_).rows, SizeIs(20))
        << "an unreadable file's row stays until the file goes";
    fs::remove(copy);
    EXPECT_EQ(shown(collected()), shown(collected(false)));
    EXPECT_THAT(read_index(index_).rows, SizeIs(19));
}

TEST_F(IndexTest, FilesThatCameByAnotherInputStayInIt) {
    collected();
    const auto all = collect({any_run().string(), runs_.string()}, {.index_from = 2});
    ASSERT_TRUE(all.has_value());
    EXPECT_THAT(all->runs, SizeIs(20));
    EXPECT_THAT(all->problems, SizeIs(1));
    EXPECT_THAT(read_index(index_).rows, SizeIs(20));
}

TEST_F(IndexTest, DamageIsRepairedAndNeverSeen) {
    const auto plainly = shown(collected());
    std::ifstream in{index_, std::ios::binary};
    const std::string whole{std::istreambuf_iterator<char>{in}, {}};
    ASSERT_GT(whole.size(), 10000U);
    std::vector<std::string> damaged{"", "no database", whole.substr(0, whole.size() / 2)};
    for (std::size_t at = 50; at < whole.size(); at += whole.size() / 15) {
        damaged.push_back(whole);
        damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 0x55);
    }
    for (const auto& bytes : damaged) {
        std::ofstream{index_, std::ios::binary | std::ios::trunc} << bytes;
        EXPECT_EQ(shown(collected()), plainly);
        EXPECT_EQ(shown(collected()), plainly);
        EXPECT_TRUE(read_index(index_).usable);
    }
}

TEST_F(IndexTest, AnotherWriterIsNotOverwritten) {
    collected();
    const Index first = read_index(index_);
    const Index second = read_index(index_);
    const std::vector gone{first.rows[0].within};
    write_index(index_, first, {}, gone);
    write_index(index_, second, {}, std::vector{first.rows[1].within, first.rows[2].within});
    EXPECT_THAT(read_index(index_).rows, SizeIs(19));
}

TEST_F(IndexTest, WhereItCannotBeWrittenIsDoneWithout) {
    const auto plainly = shown(collected(false));
    std::ofstream{base_ / "cache"} << "a file where the folder would be";
    EXPECT_EQ(shown(collected()), plainly);
    ::setenv("XDG_CACHE_HOME", "/proc/none", 1);
    EXPECT_EQ(shown(collected()), plainly);
}

TEST_F(IndexTest, NumbersThatDoNotExistAreReadAnew) {
    const auto plainly = shown(collected());
    Index index = read_index(index_);
    auto digest = unpacked<RunDigest>(index.rows[0].digest);
    ASSERT_TRUE(digest);
    digest->cases[0].series = 1000000;
    index.rows[0].digest = packed(*digest);
    index.rows[1].digest = "no digest";
    write_index(index_, index, std::vector{index.rows[0], index.rows[1]}, {});
    EXPECT_EQ(shown(collected()), plainly);
}

TEST(Pack, TakesNothingApartThatIsNotWhole) {
    const auto bytes = packed(test::Generator{{}}.pattern().machine);
    ASSERT_TRUE(unpacked<record::Machine>(bytes));
    EXPECT_EQ(packed(*unpacked<record::Machine>(bytes)), bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        EXPECT_FALSE(unpacked<record::Machine>(bytes.substr(0, i)));
    EXPECT_FALSE(unpacked<record::Machine>(bytes + '\0'));
    const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"; // a list of as many
    EXPECT_FALSE(unpacked<record::NamedList>(huge));
    EXPECT_FALSE(unpacked<std::vector<double>>(huge));
    EXPECT_EQ(unpacked<std::int64_t>(packed(std::int64_t{-5})), -5);
    EXPECT_EQ(unpacked<std::int64_t>(packed(INT64_MIN)), INT64_MIN);
    EXPECT_FALSE(unpacked<int>(packed(INT64_MIN)));
    EXPECT_FALSE(unpacked<record::Status>(packed(200)));
}

} // namespace
} // namespace assay::report
