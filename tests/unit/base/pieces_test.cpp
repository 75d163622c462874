// SPDX-License-Identifier: Apache-2.0

#include "base/file.hpp"
#include "base/on_all_cores.hpp"
#include "base/program.hpp"
#include "base/quantity.hpp"
#include "base/sha256.hpp"
#include "base/utc.hpp"
#include "support/results.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay {
namespace {

using made::TemporaryFolder;
using testing::Each;

TEST(Quantity, DurationsTakeUnits) {
    EXPECT_EQ(parse_duration("90"), 90);
    EXPECT_EQ(parse_duration("90s"), 90);
    EXPECT_EQ(parse_duration("1.5m"), 90);
    EXPECT_EQ(parse_duration("15m"), 900);
    EXPECT_EQ(parse_duration("1h"), 3600);
    EXPECT_EQ(parse_duration("20ms"), 0.02);
    for (const char* text : {"", "s", "-1s", "0", "1x", "nan", "inf", "1e999", "1h30m"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(SteadyTime, GoesOnAfterWhatARunHas) {
    const double now = steady_seconds_now();
    EXPECT_NEAR(now, seconds_now(), 2);
    not_before(now + 0.5);
    EXPECT_GE(steady_seconds_now(), now + 0.5);
    not_before(now);
    EXPECT_GE(steady_seconds_now(), now + 0.5);
    EXPECT_GE(*seconds_of(utc_now()), std::floor(now));
}

TEST(Quantity, SizesAndRatesTakeUnits) {
    EXPECT_EQ(*parse_bytes("1GiB"), 1 << 30);
    EXPECT_EQ(*parse_bytes("64 KiB"), 64 << 10);
    EXPECT_EQ(*parse_bytes("8"), 8);
    EXPECT_EQ(*parse_bytes("100MB"), 1e8);
    EXPECT_EQ(*parse_rate("400Gb/s"), 50e9);
    EXPECT_EQ(*parse_rate("50GB/s"), 50e9);
    for (const auto* text : {"", "GiB", "-1", "1e400", "nan", "4x", "0", "9999999TiB"})
        EXPECT_FALSE(parse_bytes(text)) << text;
    for (const auto* text : {"", "400", "0GB/s", "-5GB/s", "fast"})
        EXPECT_FALSE(parse_rate(text)) << text;
}

TEST(Quantity, WholeNumbersTakeUnitsAndDoNotOverflow) {
    EXPECT_EQ(parse_integer("-3"), -3);
    EXPECT_EQ(parse_integer("64MiB"), 64 << 20);
    EXPECT_EQ(parse_integer("64Ki"), 64 << 10);
    EXPECT_EQ(parse_integer("4Mi"), 4 << 20);
    EXPECT_EQ(parse_integer("2Ti"), parse_integer("2TiB"));
    EXPECT_EQ(parse_integer("2TiB"), std::int64_t{2} << 40);
    EXPECT_EQ(parse_integer("3k"), 3000);
    EXPECT_EQ(parse_integer("4M"), 4'000'000);
    EXPECT_EQ(parse_integer("2e9"), 2'000'000'000);
    EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
    for (const char* text :
         {"", "MiB", "1.5", "1MB", "1 MiB", "9223372036854775807KiB", "8589934592GiB", "64Kx",
          "64K", "64ki", "1e", "1e-3", "1e19", "1e6k", "1e999", "9e18Ti", "Ki"})
        EXPECT_FALSE(parse_integer(text)) << text;
    EXPECT_EQ(parse_real("0.5"), 0.5);
    EXPECT_FALSE(parse_real("0.5s"));
    EXPECT_FALSE(parse_real(""));
}

TEST(Quantity, VersionsAreTheirNumbers) {
    using Numbers = std::vector<std::int64_t>;
    EXPECT_EQ(parse_version("580.65.06"), (Numbers{580, 65, 6}));
    EXPECT_EQ(parse_version("6.1.0-18-amd64"), (Numbers{6, 1, 0}));
    EXPECT_EQ(parse_version("13"), Numbers{13});
    for (const char* text : {"", ".", "1.", "v2", "-1", "1..2", "1234567890"})
        EXPECT_FALSE(parse_version(text)) << text;
}

// --- digests -----------------------------------------------------------------------------------------

// By the processor's instructions and without them.

/// FIPS 180-4, with examples of NIST.
TEST(Sha256, GivesTheDigestsOfTheStandard) {
    for (const auto digest : {&sha256, &sha256_anywhere}) {
        EXPECT_EQ(to_hex(digest("")),
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        EXPECT_EQ(to_hex(digest("abc")),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        EXPECT_EQ(to_hex(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        EXPECT_EQ(to_hex(digest(std::string(1'000'000, 'a'))),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

TEST(Sha256, IsTheSameWithoutInstructionsAtEveryLength) {
    std::string message;
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(sha256(message), sha256_anywhere(message)) << i;
        message += static_cast<char>(37 * i);
    }
}

// RFC 4231.
TEST(Hmac, KnownAnswers) {
    EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'),
                                 "Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

// --- on all cores ------------------------------------------------------------------------------------

TEST(OnAllCores, DoesEachPieceOnce) {
    for (const std::size_t count : {0U, 1U, 1000U}) {
        std::vector<int> done(count);
        on_all_cores(count, [&](std::size_t i) { ++done[i]; });
        EXPECT_THAT(done, Each(1));
    }
}

TEST(OnAllCores, ThrowsWhatAPieceThrows) {
    const auto work = [](std::size_t i) {
        if (i == 700) throw std::runtime_error{"no"};
    };
    EXPECT_THROW(on_all_cores(1000, work), std::runtime_error);
    EXPECT_THROW(on_all_cores(1000, work, 1), std::runtime_error);
}

// --- files and programs ------------------------------------------------------------------------------

std::string content_of(const std::filesystem::path& path) {
    return read_whole(path, 100).value_or("unreadable");
}

/// Names in the folder: nothing temporary stays.
std::size_t count_in(const std::filesystem::path& folder) {
    const std::filesystem::directory_iterator entries{folder};
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST(WriteAtomically, KeepsTheModeAndLeavesNothingBeside) {
    const TemporaryFolder folder;
    const auto path = folder.write("file", "old");
    std::filesystem::permissions(path, std::filesystem::perms{0640});
    ASSERT_TRUE(write_atomically(path, "new"));
    EXPECT_EQ(content_of(path), "new");
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms{0640});
    EXPECT_EQ(count_in(folder.path()), 1U);
    EXPECT_FALSE(write_atomically(folder.path(), "x")) << "a folder";
    EXPECT_FALSE(write_atomically(folder.path() / "none" / "file", "x"));
    EXPECT_EQ(count_in(folder.path()), 1U);
}

TEST(WriteAtomically, WritesWhatALinkLeadsTo) {
    const TemporaryFolder folder;
    const auto file = folder.write("file", "old");
    const auto link = folder.path() / "link";
    std::filesystem::create_symlink("file", link);
    ASSERT_TRUE(write_atomically(link, "new"));
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(content_of(file), "new");
    std::filesystem::remove(file);
    ASSERT_TRUE(write_atomically(link, "again")) << "a link to nothing yet";
    EXPECT_EQ(content_of(file), "again");
    std::filesystem::remove(file);
    std::filesystem::create_symlink("link", file);
    EXPECT_FALSE(write_atomically(link, "x")) << "a circle";
}

TEST(WriteAtomically, NamesThatCanBeGuessedAreNotUsed) {
    const TemporaryFolder folder;
    const auto victim = folder.write("victim", "theirs");
    const auto path = folder.path() / "file";
    std::filesystem::create_symlink(victim,
                                    path.string() + "." + std::to_string(::getpid()) + ".tmp");
    ASSERT_TRUE(write_atomically(path, "ours"));
    EXPECT_EQ(content_of(victim), "theirs");
}

TEST(Drafts, AreRemovedUnlessALivingWriterHoldsThem) {
    const TemporaryFolder folder;
    const auto& path = folder.path();
    const auto living = make_draft(path, DraftOf::folder);
    const auto written = make_draft(path, DraftOf::file);
    auto killed = make_draft(path, DraftOf::folder);
    const auto old = make_draft(path, DraftOf::file).path;
    ASSERT_TRUE(living.held && written.held && killed.held && is_draft(killed.path));
    folder.write(killed.path.filename() / "results/run.json", "{}");
    killed.held.close();
    const auto theirs = folder.write(".assay-notes.tmp", "");
    const auto pipe = path / killed.path.filename().string().replace(7, 4, "pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    remove_abandoned_drafts(path);
    for (const auto& stays : {living.path, written.path, theirs, pipe})
        EXPECT_TRUE(std::filesystem::exists(stays)) << stays;
    EXPECT_EQ(count_in(path), 4U) << old << killed.path;
}

TEST(WriteAtomically, DevicesAndPipesAreWrittenInto) {
    const TemporaryFolder folder;
    const auto device = folder.path() / "device";
    std::filesystem::create_symlink("/dev/null", device);
    ASSERT_TRUE(write_atomically(device, "x"));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    EXPECT_TRUE(std::filesystem::is_symlink(device));

    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const Descriptor reader{::open(pipe.c_str(), O_RDWR | O_CLOEXEC)};
    ASSERT_TRUE(write_atomically(pipe, "through"));
    std::array<char, 16> got{};
    EXPECT_EQ(::read(reader.get(), got.data(), got.size()), 7);
    EXPECT_STREQ(got.data(), "through");
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));

    // `>> file`: a descriptor is written where it stands, and its file stays.
    const auto file = folder.write("file", "one ");
    const Descriptor end{::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)};
    const auto named = "/dev/fd/" + std::to_string(end.get());
    std::filesystem::create_symlink(named, folder.path() / "named");
    ASSERT_TRUE(write_atomically(named, "two "));
    ASSERT_TRUE(write_atomically(folder.path() / "named", "three"));
    EXPECT_EQ(content_of(file), "one two three");
}

TEST(MakeFolders, MakesThoseThatAreMissing) {
    const TemporaryFolder folder;
    EXPECT_TRUE(make_folders(folder.path() / "a/b/c/"));
    EXPECT_TRUE(make_folders(folder.path() / "a/b/c"));
    EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "a/b/c"));
    const auto file = folder.write("file", "");
    EXPECT_THAT(make_folders(file / "below"), Fails(Fault::environment, testing::_));
}

TEST(ReadText, SkipsAByteOrderMarkThatReadWholeKeeps) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "text";
    std::ofstream{path} << "\xEF\xBB\xBFnode1\n";
    EXPECT_EQ(read_text(path, 100), "node1\n");
    EXPECT_EQ(content_of(path), "\xEF\xBB\xBFnode1\n");
}

TEST(LineFile, CutsATornLineOfAnyLengthAndGoesOn) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "lines";
    for (const std::size_t torn : {0U, 1U, 4095U, 4096U, 10'000U})
        for (const std::string whole : {"", "one\n", "one\ntwo\n"}) {
            std::ofstream{path, std::ios::trunc} << whole << std::string(torn, 'x');
            auto file = valid(LineFile::open(path));
            EXPECT_EQ(file->bytes(), whole.size());
            EXPECT_FALSE(LineFile::open(path, {})) << "one writer at a time";
            ASSERT_TRUE(file->add("next"));
            EXPECT_EQ(read_whole(path, 100), whole + "next\n");
        }
}

TEST(LineFile, WaitsForWhatAKilledWriterForked) {
    TemporaryFolder folder;
    const auto path = folder.path() / "lines";
    pid_t forked = -1;
    {
        const auto file = valid(LineFile::open(path));
        forked = ::fork();
        if (forked == 0) {
            ::usleep(100'000);
            ::_exit(0);
        }
    }
    EXPECT_FALSE(LineFile::open(path, {}));
    EXPECT_TRUE(LineFile::open(path, std::chrono::minutes{1}));
    EXPECT_EQ(::waitpid(forked, nullptr, 0), forked);
}

TEST(LineFile, IsNeverAStandardStream) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "lines";
    const int input = ::dup(STDIN_FILENO);
    ::close(STDIN_FILENO);
    {
        const auto file = valid(LineFile::open(path));
        EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFD), -1);
    }
    ::dup2(input, STDIN_FILENO);
    ::close(input);
}

// --- programs ----------------------------------------------------------------------------------------

TEST(RunAndRead, HasBothStreamsAndTheCode) {
    const auto said = valid(run_and_read({"sh", "-c", "echo out; echo err >&2; exit 3"}));
    EXPECT_EQ(said->code, 3);
    EXPECT_EQ(said->text, "out\nerr\n");
    EXPECT_EQ(run_and_read({"sh", "-c", "kill -9 $$"})->code, -1);
}

TEST(RunAndRead, ReadsItsInputAndKeepsAtMostAFewBlocks) {
    const assay::TemporaryFolder folder;
    ASSERT_FALSE(folder.path().empty());
    const auto file = folder.path() / "input";
    ASSERT_TRUE(write_atomically(file, std::string(1 << 20U, 'x')));
    const auto said = valid(run_and_read({"cat"}, file));
    EXPECT_EQ(said->code, 0);
    EXPECT_GE(said->text.size(), 65536U);
    EXPECT_LT(said->text.size(), 65536U + 4096U);
}

TEST(RunAndRead, SaysWhatCannotBeStarted) {
    const auto said = run_and_read({"no-such-program"});
    EXPECT_THAT(said, Fails(Fault::environment, testing::_));
    EXPECT_NE(said.error().message.find("cannot start no-such-program"), std::string::npos);
}

TEST(TemporaryFolders, IsGoneWithAllInIt) {
    std::filesystem::path was;
    {
        const assay::TemporaryFolder folder;
        was = folder.path();
        ASSERT_TRUE(write_atomically(was / "file", "x"));
    }
    EXPECT_FALSE(std::filesystem::exists(was));
}

} // namespace
} // namespace assay
