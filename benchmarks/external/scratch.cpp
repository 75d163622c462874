// SPDX-License-Identifier: Apache-2.0
#include "external/scratch.hpp"

#include "external/description.hpp"

#include <assay/text.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

/// -1: another process holds it.
int lock(const fs::path& folder) {
    const int held = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (held < 0 || ::flock(held, LOCK_EX | LOCK_NB) == 0) return held;
    ::close(held);
    return -1;
}

void remove_abandoned(const fs::path& base, const std::string& prefix) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{base, error}) {
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        struct stat status{};
        if (::lstat(entry.path().c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
        const int held = lock(entry.path());
        if (held < 0) continue;
        fs::remove_all(entry.path(), error);
        ::close(held);
    }
}

} // namespace

Scratch::Scratch(const fs::path& base) {
    const auto prefix = joined("assay-", ::geteuid(), "-");
    remove_abandoned(base, prefix);
    // Between making and locking it, another process may take it for abandoned.
    constexpr int most_tries = 100;
    for (int tries = 0; tries < most_tries; ++tries) {
        auto name = (base / (prefix + "XXXXXX")).string();
        if (::mkdtemp(name.data()) == nullptr) break;
        folder_ = name;
        lock_ = lock(folder_);
        std::error_code error;
        if (lock_ >= 0 && fs::exists(folder_, error)) return;
        if (lock_ >= 0) ::close(lock_);
        lock_ = -1;
    }
    throw Problem{joined("cannot make a folder in ", base.string(), ": ",
                         std::system_category().message(errno))};
}

Scratch::~Scratch() {
    std::error_code error;
    fs::remove_all(folder_, error);
    if (lock_ >= 0) ::close(lock_);
}

} // namespace assay::external
