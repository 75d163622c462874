// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace assay {
namespace {

using harness::made::TemporaryFolder;

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
    const auto made = make_folders(file / "below");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().fault, Fault::environment);
}

TEST(LineFile, CutsATornLineOfAnyLengthAndGoesOn) {
    const auto path =
        std::filesystem::path{testing::TempDir()} / ("assay_lines_" + std::to_string(::getpid()));
    for (const std::size_t torn : {0U, 1U, 4095U, 4096U, 10'000U})
        for (const std::string whole : {"", "one\n", "one\ntwo\n"}) {
            std::ofstream{path, std::ios::trunc} << whole << std::string(torn, 'x');
            auto file = LineFile::open(path);
            ASSERT_TRUE(file) << file.error().message;
            EXPECT_EQ(file->bytes(), whole.size());
            EXPECT_FALSE(LineFile::open(path, {})) << "one writer at a time";
            ASSERT_TRUE(file->add("next"));
            EXPECT_EQ(read_whole(path, 100), whole + "next\n");
        }
    std::filesystem::remove(path);
}

TEST(LineFile, WaitsForWhatAKilledWriterForked) {
    TemporaryFolder folder;
    const auto path = folder.path() / "lines";
    pid_t forked = -1;
    {
        const auto file = LineFile::open(path);
        ASSERT_TRUE(file);
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
    const auto path =
        std::filesystem::path{testing::TempDir()} / ("assay_lines_" + std::to_string(::getpid()));
    const int input = ::dup(STDIN_FILENO);
    ::close(STDIN_FILENO);
    {
        const auto file = LineFile::open(path);
        ASSERT_TRUE(file);
        EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFD), -1);
    }
    ::dup2(input, STDIN_FILENO);
    ::close(input);
    std::filesystem::remove(path);
}

TEST(LineFile, SaysWhatCannotBeOpened) {
    const auto file = LineFile::open("/no/such/folder/lines");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().fault, Fault::environment);
    EXPECT_NE(file.error().message.find("/no/such/folder/lines"), std::string::npos);
}

} // namespace
} // namespace assay
