// SPDX-License-Identifier: Apache-2.0
//
// Kept plans come back as they were, and nothing else that lies in their place does.
#include "fft/wisdom_file.hpp"
#include "fft/wisdom_text.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

namespace assay::fft {
namespace {

namespace fs = std::filesystem;

const std::string key = "fft-fftw-3.3.10-sse2-1d-c2c-1024x1-fp64-2threads-measured";
const Wisdom wisdom{.text = "(fftw-3.3.10 fftw_wisdom #x1\n  (a 0 #x1 #x2)\n)\n",
                    .planning_seconds = 3.25};

class WisdomFile : public testing::Test {
protected:
    fs::path path() const { return wisdom_path(folder_, key); }
    std::string content() const {
        std::ifstream file{path(), std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    void put(const std::string& text) const { std::ofstream{path(), std::ios::binary} << text; }
    /// Read as nothing, and for this reason.
    void expect_ignored(const std::string& reason) const {
        const Reading reading = read_wisdom(folder_, key);
        EXPECT_FALSE(reading.found);
        EXPECT_TRUE(reading.wisdom.text.empty());
        EXPECT_NE(reading.problem.find(reason), std::string::npos) << reading.problem;
    }

    const made::TemporaryFolder made_;
    const fs::path& folder_ = made_.path();
};

TEST_F(WisdomFile, comes_back_as_it_was) {
    ASSERT_EQ(keep_wisdom(folder_, key, wisdom), "");
    const Reading reading = read_wisdom(folder_, key);
    EXPECT_TRUE(reading.found) << reading.problem;
    EXPECT_EQ(reading.wisdom.text, wisdom.text);
    EXPECT_EQ(reading.wisdom.planning_seconds, 3.25);

    // Where planning was cut short there is no text, and that too is worth knowing.
    ASSERT_EQ(keep_wisdom(folder_, key, {.text = {}, .planning_seconds = 1}), "");
    EXPECT_TRUE(read_wisdom(folder_, key).found);
    EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, {}), 1) << "something was left behind";
}

TEST_F(WisdomFile, is_nothing_where_there_is_no_file) {
    const Reading reading = read_wisdom(folder_, key);
    EXPECT_FALSE(reading.found);
    EXPECT_EQ(reading.problem, "") << "the first run gives no warning";
}

TEST_F(WisdomFile, is_ignored_when_cut_off_anywhere) {
    ASSERT_EQ(keep_wisdom(folder_, key, wisdom), "");
    const std::string whole = content();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        put(whole.substr(0, length));
        EXPECT_FALSE(read_wisdom(folder_, key).found) << length << " bytes";
    }
}

TEST_F(WisdomFile, is_ignored_when_any_byte_differs) {
    ASSERT_EQ(keep_wisdom(folder_, key, wisdom), "");
    const std::string whole = content();
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const char other : {static_cast<char>(whole[at] ^ 1), '\0', '\n', '\xff'}) {
            if (whole[at] == other) continue;
            std::string damaged = whole;
            damaged[at] = other;
            put(damaged);
            EXPECT_FALSE(read_wisdom(folder_, key).found) << "byte " << at << " is " << other;
        }
    put(whole + "more");
    EXPECT_FALSE(read_wisdom(folder_, key).found);
}

TEST_F(WisdomFile, is_ignored_when_it_is_about_something_else) {
    ASSERT_EQ(keep_wisdom(folder_, "fft-other", wisdom), "");
    fs::rename(wisdom_path(folder_, "fft-other"), path());
    expect_ignored("another plan");
    put("(fftw-3.3.10 fftw_wisdom #x1)\n");
    expect_ignored("no wisdom of this version");
}

TEST_F(WisdomFile, has_numbers_that_are_numbers_and_text_that_is_text) {
    for (const double seconds : {-1.0, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}) {
        ASSERT_EQ(keep_wisdom(folder_, key, {.text = "(w)", .planning_seconds = seconds}), "");
        expect_ignored("damaged");
    }
    const std::string zero{"(w\0)", 4};
    ASSERT_EQ(keep_wisdom(folder_, key, {.text = zero, .planning_seconds = 1}), "");
    expect_ignored("damaged");
}

TEST_F(WisdomFile, is_not_read_when_huge) {
    put("");
    fs::resize_file(path(), 10ULL << 30U); // sparse
    expect_ignored("larger than any wisdom");
    const std::string huge(largest_wisdom, 'x');
    EXPECT_NE(keep_wisdom(folder_, key, {.text = huge, .planning_seconds = 1}), "");
}

TEST_F(WisdomFile, is_a_file_and_nothing_else) {
    fs::create_directory(path());
    expect_ignored("no file");
    EXPECT_NE(keep_wisdom(folder_, key, wisdom), "");
    fs::remove(path());

    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    expect_ignored("no file"); // and comes back at once
    fs::remove(path());

    ASSERT_EQ(keep_wisdom(folder_, "fft-other", wisdom), "");
    fs::create_symlink(wisdom_path(folder_, "fft-other"), path());
    expect_ignored("cannot be opened");
    ASSERT_EQ(keep_wisdom(folder_, key, wisdom), "") << "a link is replaced, not followed";
    EXPECT_TRUE(read_wisdom(folder_, key).found);
}

TEST_F(WisdomFile, says_when_it_cannot_be_kept) {
    EXPECT_NE(keep_wisdom(folder_ / "absent", key, wisdom), "");
}

bool is_sound(const std::string& text) { return WisdomText{text}.is_sound(); }

const std::string head = "(fftw-3.3.10 fftw_wisdom #x706526c0 #x2f8b6c85 #x8cd1bb1a #x7c96e03d\n";
const std::string entry =
    "  (fftw_codelet_n1fv_64_avx 0 #x10fdd #x11bdd #x0 #x3d805cbb #x1 #x2 #xff701d01)\n";

TEST(WisdomText, is_what_the_library_writes) {
    EXPECT_TRUE(is_sound(head + ")\n"));
    EXPECT_TRUE(is_sound(head + entry + entry + ")\n"));
}

TEST(WisdomText, has_no_number_that_aborts_the_reader) {
    const auto with = [](const std::string& flags) {
        return head + "(solver 0 " + flags + " #x1 #x2 #x3 #x4)\n)\n";
    };
    EXPECT_TRUE(is_sound(with("#xfffff #xfffff #x1ff")));
    for (const char* flags :
         {"#x100000 #x0 #x0", "#x0 #x100000 #x0", "#x0 #x0 #x200", "#x0 #x0 #x0 #x0", "#x0 #x0",
          "#x-1 #x0 #x0", "#x #x0 #x0", "#xfffffffffffffffff #x0 #x0", "0 0 0"})
        EXPECT_FALSE(is_sound(with(flags))) << flags;
    EXPECT_FALSE(is_sound(head + "(solver 4096 #x0 #x0 #x0 #x1 #x2 #x3 #x4))"));
    EXPECT_FALSE(is_sound(head + "(solver -1 #x0 #x0 #x0 #x1 #x2 #x3 #x4))"));
    EXPECT_FALSE(is_sound(head + "(" + std::string(61, 'x') + " 0 #x0 #x0 #x0 #x1 #x2 #x3 #x4))"));
}

TEST(WisdomText, is_whole) {
    const std::string whole = head + entry + ")";
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(is_sound(whole.substr(0, length))) << length << " characters";
    EXPECT_FALSE(is_sound(whole + ")"));
    EXPECT_FALSE(is_sound(whole + entry));
}

} // namespace
} // namespace assay::fft
