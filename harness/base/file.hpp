// SPDX-License-Identifier: Apache-2.0
//
// Files that are complete or absent, and the project's own files, found relative to the program.

#pragma once

#include "base/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace assay {

/// Replaces a regular file whole: a temporary file beside it, flushed to disk, renamed; its mode stays, and an error
/// leaves what was there. A link's target is written, not the link. A pipe, a device or a descriptor (/dev/stdout,
/// `>(command)`) is written into.
Result<void> write_atomically(const std::filesystem::path& path, std::string_view content);

/// Takes the next part of a file; false: it was not written, nor will others be.
using Sink = std::function<bool(std::string_view part)>;
/// Gives the parts one after the other, so that one of them is in memory; false: a part was not taken.
using Produce = std::function<bool(const Sink& sink)>;
Result<void> write_atomically(const std::filesystem::path& path, const Produce& produce);

/// Writes all of it, also after partial writes; false leaves the reason in errno.
bool write_all(int descriptor, std::string_view content);

/// An open file that is closed with it; -1: none.
class Descriptor {
public:
    explicit Descriptor(int value = -1) : value_{value} {}
    Descriptor(Descriptor&& other) noexcept : value_{std::exchange(other.value_, -1)} {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }
    explicit operator bool() const { return value_ >= 0; }
    int get() const { return value_; }
    void close();

private:
    int value_;
};

/// Something new beside its final place, under a name of its own, until it is complete and gets its name. The lock
/// tells it from those that a killed writer left behind.
struct Draft {
    std::filesystem::path path;
    Descriptor held{}; ///< open and locked; a file may be written; none: errno has the reason
};
enum class DraftOf : bool { file, folder };
/// In `folder`, which exists.
Draft make_draft(const std::filesystem::path& folder, DraftOf kind);
/// Is it named as a draft? Drafts are never read as results.
bool is_draft(const std::filesystem::path& path);
/// Removes the drafts in `folder` that no living process holds.
void remove_abandoned_drafts(const std::filesystem::path& folder);

/// Whole lines, added at the end, by one process at a time: opening it again fails, here and elsewhere.
class LineFile {
public:
    /// Made if missing. A last line without its end is cut off: its writer was killed. Where another has it open,
    /// waits for `patience`: what a killed writer had just forked holds its files until it is gone as well.
    static Result<LineFile> open(const std::filesystem::path& path,
                                 std::chrono::milliseconds patience = std::chrono::seconds{1});
    std::uint64_t bytes() const { return bytes_; }
    /// Adds the line and its end, on disk when it returns. After an error (a full disk) the file is as it was.
    Result<void> add(std::string line);

private:
    LineFile(std::filesystem::path path, Descriptor descriptor);
    std::filesystem::path path_;
    Descriptor descriptor_;
    std::uint64_t bytes_ = 0;
};

/// Has a process here it open as a LineFile?
bool is_being_written(const std::filesystem::path& path);

/// A folder of our own among the temporary ones, gone with all in it when this goes.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    /// Empty where none could be made.
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// `bytes` random bytes from the kernel in hexadecimal.
std::string random_token(std::size_t bytes = 16);

/// Makes the folder and those above it that are missing; they survive a power cut.
Result<void> make_folders(const std::filesystem::path& folder);

/// Makes new names in this folder survive a power cut. Best effort: some file systems refuse it.
void flush_folder(const std::filesystem::path& folder);

/// The whole file; an error when it is larger than `limit` bytes, missing or not a regular file.
Result<std::string> read_whole(const std::filesystem::path& path, std::size_t limit);
/// The same of a text file, without a byte order mark.
Result<std::string> read_text(const std::filesystem::path& path, std::size_t limit);

/// Folders relative to the running executable: bin/ -> lib/assay, share/assay. The same in the
/// build tree, the installed tree and the package.
struct Layout {
    std::filesystem::path programs; ///< bin
    std::filesystem::path modules;  ///< lib/assay
    std::filesystem::path share;    ///< share/assay: suites, schemas
};
Layout layout();

/// UTC now as 2026-01-31T12:34:56Z.
std::string utc_now();

} // namespace assay
