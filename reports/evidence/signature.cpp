// SPDX-License-Identifier: Apache-2.0

#include "evidence/signature.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

struct Said {
    int code = -1; ///< -1: it did not end by itself
    std::string text;
};

/// ssh-keygen with its standard input from a file; a passphrase it asks for on the terminal.
Result<Said> keygen(std::vector<std::string> arguments, const std::filesystem::path& input) {
    arguments.insert(arguments.begin(), "ssh-keygen");
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        return fail(fmt::format("no pipe: {}", std::strerror(errno)), Fault::environment);
    const Descriptor from{pipe[0]};
    Descriptor into{pipe[1]};
    std::vector<char*> pointers;
    for (auto& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(),
                                       O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    ::posix_spawn_file_actions_adddup2(&actions, into.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, into.get(), STDERR_FILENO);
    pid_t child = 0;
    const int fault =
        ::posix_spawnp(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    into.close();
    if (fault != 0)
        return fail(fmt::format("cannot start ssh-keygen, which signs and checks signatures: {}; "
                                "install OpenSSH's client",
                                std::strerror(fault)),
                    Fault::environment);
    Said said;
    constexpr std::size_t most = 65536; // it says a few lines
    std::array<char, 4096> block{};
    for (;;) {
        const auto got = ::read(from.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        if (said.text.size() < most) said.text.append(block.data(), static_cast<std::size_t>(got));
    }
    int status = -1;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) said.code = WEXITSTATUS(status);
    return said;
}

std::string last_line(const std::string& text) {
    const auto all = trim(text);
    const auto end = all.rfind('\n');
    return plain(end == all.npos ? all : all.substr(end + 1), 300);
}

/// ssh-keygen takes a name that begins with a dash for an option.
std::string as_path(const std::filesystem::path& path) {
    return path.is_absolute() ? path.string() : (std::filesystem::path{"."} / path).string();
}

} // namespace

Result<void> sign(const std::filesystem::path& file, const std::filesystem::path& key) {
    const auto said =
        keygen({"-Y", "sign", "-q", "-f", as_path(key), "-n", signature_namespace, as_path(file)},
               "/dev/null");
    if (!said) return tl::unexpected{said.error()};
    if (said->code != 0)
        return fail(fmt::format("ssh-keygen does not sign with {}: {}", key.string(),
                                last_line(said->text)));
    return {};
}

Result<SignatureCheck> check_signature(const std::filesystem::path& file,
                                       const std::filesystem::path& signature,
                                       const std::filesystem::path& signers) {
    const auto sig = as_path(signature);
    if (signers.empty()) {
        const auto said =
            keygen({"-Y", "check-novalidate", "-n", signature_namespace, "-s", sig}, file);
        if (!said) return tl::unexpected{said.error()};
        return SignatureCheck{.holds = said->code == 0, .details = last_line(said->text)};
    }
    if (auto readable = read_whole(signers, std::size_t{16} << 20U); !readable)
        return tl::unexpected{readable.error()};
    const auto found = keygen({"-Y", "find-principals", "-s", sig, "-f", as_path(signers)}, file);
    if (!found) return tl::unexpected{found.error()};
    if (found->code != 0) return SignatureCheck{.details = last_line(found->text)};
    const std::string signer{trim(split(found->text, '\n').front())};
    const auto said = keygen({"-Y", "verify", "-f", as_path(signers), "-I", signer, "-n",
                              signature_namespace, "-s", sig},
                             file);
    if (!said) return tl::unexpected{said.error()};
    return SignatureCheck{.holds = said->code == 0,
                          .signer = said->code == 0 ? plain(signer, 200) : std::string{},
                          .details = last_line(said->text)};
}

} // namespace assay::report
