// SPDX-License-Identifier: Apache-2.0
#include "process/scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace assay::harness {
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

} // namespace assay::harness
