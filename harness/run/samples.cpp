// SPDX-License-Identifier: Apache-2.0
#include "run/samples.hpp"

#include "json/json.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay::harness {
namespace {

tl::unexpected<Error> cannot_write(const std::filesystem::path& path) {
    return fail(
        fmt::format("cannot write {}: {}", path.string(), std::system_category().message(errno)),
        Fault::environment);
}

} // namespace

Samples::Samples(std::filesystem::path path, int descriptor)
    : path_{std::move(path)}, descriptor_{descriptor} {}

Samples::Samples(Samples&& other) noexcept
    : path_{std::move(other.path_)}, descriptor_{std::exchange(other.descriptor_, -1)} {}

Samples& Samples::operator=(Samples&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

Samples::~Samples() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Samples> Samples::open(const std::filesystem::path& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor < 0) return cannot_write(path);
    Samples samples{path, descriptor};
    // A line that was being written when the run was killed is ended, so that the next one is whole.
    const auto size = ::lseek(descriptor, 0, SEEK_END);
    char last = '\n';
    if (size > 0 && ::pread(descriptor, &last, 1, size - 1) == 1 && last != '\n' &&
        ::write(descriptor, "\n", 1) != 1)
        return cannot_write(path);
    return samples;
}

Result<void> Samples::add(std::size_t case_index, int replica, const std::vector<double>& seconds) {
    const auto line =
        json::to_line({{"case", case_index}, {"replica", replica}, {"seconds", seconds}}) + '\n';
    const auto before = ::lseek(descriptor_, 0, SEEK_END);
    std::string_view rest{line};
    while (!rest.empty()) {
        const auto written = ::write(descriptor_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            auto error = cannot_write(path_);
            [[maybe_unused]] const auto cut = ::ftruncate(descriptor_, before);
            return error;
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

} // namespace assay::harness
