// SPDX-License-Identifier: Apache-2.0

#include "exchange/signature.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/program.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace assay::report {
namespace {

/// A passphrase is asked for on the terminal.
Result<Said> keygen(std::vector<std::string> arguments, const std::filesystem::path& input) {
    arguments.insert(arguments.begin(), "ssh-keygen");
    auto said = run_and_read(std::move(arguments), input);
    if (!said)
        return fail(fmt::format("{}; it signs and checks signatures: install OpenSSH's client",
                                said.error().message),
                    said.error().fault);
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
    ASSAY_TRY(const auto said, keygen({"-Y", "sign", "-q", "-f", as_path(key), "-n",
                                       signature_namespace, as_path(file)},
                                      "/dev/null"));
    if (said.code != 0)
        return fail(fmt::format("ssh-keygen does not sign with {}: {}", key.string(),
                                last_line(said.text)));
    return {};
}

Result<SignatureCheck> check_signature(const std::filesystem::path& file,
                                       const std::filesystem::path& signature,
                                       const std::filesystem::path& signers) {
    const auto sig = as_path(signature);
    if (signers.empty()) {
        ASSAY_TRY(const auto said,
                  keygen({"-Y", "check-novalidate", "-n", signature_namespace, "-s", sig}, file));
        return SignatureCheck{.holds = said.code == 0, .details = last_line(said.text)};
    }
    ASSAY_TRY(read_whole(signers, std::size_t{16} << 20U));
    ASSAY_TRY(const auto found,
              keygen({"-Y", "find-principals", "-s", sig, "-f", as_path(signers)}, file));
    if (found.code != 0) return SignatureCheck{.details = last_line(found.text)};
    const std::string signer{trim(split(found.text, '\n').front())};
    ASSAY_TRY(const auto said, keygen({"-Y", "verify", "-f", as_path(signers), "-I", signer, "-n",
                                       signature_namespace, "-s", sig},
                                      file));
    return SignatureCheck{.holds = said.code == 0,
                          .signer = said.code == 0 ? plain(signer, 200) : std::string{},
                          .details = last_line(said.text)};
}

} // namespace assay::report
