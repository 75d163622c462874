// SPDX-License-Identifier: Apache-2.0
#include "process/scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <system_error>
#include <utility>

namespace assay::process {
namespace {

namespace fs = std::filesystem;

std::string prefix() { return fmt::format("assay-{}-", ::geteuid()); }

/// A lock on the folder itself, or none when another process holds it. Locks work across containers,
/// process numbers do not.
Descriptor lock(const fs::path& folder) {
    Descriptor held{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!held || ::flock(held.get(), LOCK_EX | LOCK_NB) != 0) held.close();
    return held;
}

void remove_abandoned(const fs::path& base) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{base, error}) {
        if (!entry.path().filename().string().starts_with(prefix())) continue;
        struct stat status{};
        if (::lstat(entry.path().c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
        if (const auto held = lock(entry.path())) fs::remove_all(entry.path(), error);
    }
}

fs::path make_in(const fs::path& base) {
    auto name = (base / (prefix() + "XXXXXX")).string();
    return ::mkdtemp(name.data()) == nullptr ? fs::path{} : fs::path{name};
}

} // namespace

Result<Scratch> Scratch::create(const fs::path& base) {
    std::error_code error;
    const auto second = fs::temp_directory_path(error);
    Scratch scratch;
    for (const auto& place : {base, second}) {
        if (place.empty()) continue;
        remove_abandoned(place);
        // Between making and locking it, another process may take it for abandoned.
        constexpr int most_tries = 100;
        for (int tries = 0; tries < most_tries; ++tries) {
            scratch.folder_ = make_in(place);
            if (scratch.folder_.empty()) break;
            scratch.lock_ = lock(scratch.folder_);
            if (scratch.lock_ && fs::exists(scratch.folder_, error)) return scratch;
        }
    }
    return fail(fmt::format("cannot create a folder in {} or {}: {}", base.string(),
                            second.string(), std::system_category().message(errno)),
                Fault::environment);
}

Scratch::Scratch(Scratch&& other) noexcept
    : folder_{std::exchange(other.folder_, {})}, lock_{std::move(other.lock_)} {}

Scratch& Scratch::operator=(Scratch&& other) noexcept {
    std::swap(folder_, other.folder_);
    std::swap(lock_, other.lock_);
    return *this;
}

Scratch::~Scratch() {
    std::error_code error;
    if (!folder_.empty()) fs::remove_all(folder_, error);
}

// --- log -----------------------------------------------------------------------------------------

namespace {

struct Complaint {
    std::string_view phrase; ///< as Open MPI 4 or Slurm prints it
    std::string_view words;
};

/// The first match counts, so the more specific ones come first.
constexpr std::array complaints{
    Complaint{.phrase = "unable to reach each other",
              .words = "no common transport: the processes cannot reach each other"},
    Complaint{.phrase = "No components were able to be opened in the pml framework",
              .words = "no common transport: this MPI cannot use the requested one"},
    Complaint{.phrase = "unable to reliably start one or more daemons",
              .words = "the launcher could not start its daemon on a host: mpirun needs ssh "
                       "without a password (or plm_rsh_agent) and Open MPI on every host"},
    Complaint{.phrase = "unable to launch the specified application",
              .words = "the program is missing on a host: assay must be installed at the same path "
                       "on every host"},
    Complaint{.phrase = "unable to find the specified executable",
              .words = "the program is missing on a host: assay must be installed at the same path "
                       "on every host"},
    Complaint{.phrase = "No such file or directory",
              .words =
                  "a file is missing on a host: assay must be installed at the same path on every "
                  "host"},
    Complaint{.phrase = "not enough slots available",
              .words = "the launcher has fewer slots than the ranks requested"},
    Complaint{.phrase = "lost communication with a remote daemon", .words = "a host was lost"},
    Complaint{.phrase = "Unable to create step for job",
              .words = "Slurm has no room for the step in this allocation"},
    Complaint{.phrase = "Invalid MPI plugin name",
              .words = "this Slurm has no PMIx: see `srun --mpi=list` and set SLURM_MPI_TYPE"},
};

constexpr off_t kept = off_t{8} << 20U; // bytes at either end

/// The file, if it is a log that is too long.
Descriptor long_log(const std::filesystem::path& log, off_t& size) {
    Descriptor file{::open(log.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat facts{};
    if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
        facts.st_size <= 2 * kept)
        file.close();
    size = facts.st_size;
    return file;
}

} // namespace

void limit_log(const std::filesystem::path& log) {
    off_t size = 0;
    if (const auto file = long_log(log, size)) // where the file system cannot, the log stays
        ::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kept, size - 2 * kept);
}

void shorten_log(const std::filesystem::path& log) {
    off_t size = 0;
    const auto file = long_log(log, size);
    if (!file) return;
    std::string tail(static_cast<std::size_t>(kept), ' ');
    const auto got = ::pread(file.get(), tail.data(), tail.size(), size - kept);
    if (got < 0 || ::ftruncate(file.get(), kept) != 0 || ::lseek(file.get(), 0, SEEK_END) < 0)
        return;
    tail.resize(static_cast<std::size_t>(got));
    write_all(file.get(), fmt::format("\n[{} bytes left out]\n{}", size - 2 * kept, tail));
}

std::string complaint_in_text(std::string_view text) {
    const auto* const found = std::ranges::find_if(complaints, [&](const Complaint& complaint) {
        return text.find(complaint.phrase) != std::string_view::npos;
    });
    return found == complaints.end() ? std::string{} : std::string{found->words};
}

std::string complaint_in(const std::filesystem::path& log) {
    constexpr std::streamsize most = 64 << 10U; // launchers report errors at the beginning
    std::ifstream file{log, std::ios::binary};
    std::string text(static_cast<std::size_t>(most), ' ');
    file.read(text.data(), most);
    return complaint_in_text({text.data(), static_cast<std::size_t>(file.gcount())});
}

std::string last_line_of(const std::filesystem::path& log) {
    constexpr std::streamoff tail = 4096; // bytes: a longer line cannot be a message
    constexpr std::size_t longest = 200;  // characters shown
    std::ifstream file{log, std::ios::binary | std::ios::ate};
    if (!file) return {};
    file.seekg(std::max<std::streamoff>(file.tellg() - tail, 0));
    std::string last;
    for (std::string line; std::getline(file, line);)
        if (line.find_first_not_of(" \t\r-*=") != std::string::npos) last = std::move(line);
    std::ranges::replace_if(last, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return last.substr(0, longest);
}

void remove_empty_logs(const std::filesystem::path& folder) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{folder, error})
        if (entry.is_regular_file(error) && entry.file_size(error) == 0)
            std::filesystem::remove(entry.path(), error);
}

} // namespace assay::process
