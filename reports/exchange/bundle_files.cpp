// SPDX-License-Identifier: Apache-2.0
#include "exchange/bundle_files.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/program.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
#include "document/language.hpp"
#include "document/text.hpp"
#include "exchange/data.hpp"
#include "exchange/plugin.hpp"
#include "json/words.hpp"
#include "judge/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <system_error>
#include <utility>

namespace assay::exchange {

using namespace document;

namespace fs = std::filesystem;

bool is_result(std::string_view path) {
    return path.starts_with(results_folder) && path.ends_with("/run.json");
}
bool is_bundle(const fs::path& path) {
    std::error_code ignored;
    return std::ranges::any_of(std::array{manifest_file, signature_file, about_file, earlier_file},
                               [&](const char* name) { return fs::exists(path / name, ignored); });
}

std::string fault_of_path(std::string_view path) {
    constexpr std::size_t longest = 500; // bytes; ours have 60
    if (path.empty()) return "is empty";
    if (path.size() > longest) return fmt::format("is longer than {} bytes", longest);
    if (path.front() == '/') return "is absolute";
    if (plain(path, longest) != path || path.find('\\') != path.npos)
        return "contains characters that are not allowed";
    for (const auto part : split(path, '/'))
        if (part.empty() || part == "." || part == "..") return "leads out of the bundle";
    return "";
}

Result<BundleFiles> files_of_bundle(const fs::path& folder) {
    constexpr std::size_t most = 200'000; // ten thousand runs with twenty logs each
    BundleFiles files;
    std::error_code error;
    fs::recursive_directory_iterator entry{folder, error};
    for (; !error && entry != fs::recursive_directory_iterator{}; entry.increment(error)) {
        const auto status = entry->symlink_status(error);
        if (error) break;
        if (status.type() == fs::file_type::directory) continue;
        auto path = entry->path().lexically_relative(folder).string();
        const bool regular = status.type() == fs::file_type::regular;
        (regular ? files.regular : files.others).insert(std::move(path));
        if (files.regular.size() + files.others.size() > most)
            return fail(fmt::format("{}: more than {} files (the most a bundle may hold)",
                                    folder.string(), most));
    }
    if (error) return fail(fmt::format("cannot read {}: {}", folder.string(), error.message()));
    return files;
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view source) {
    Manifest manifest;
    constexpr std::size_t digits = 64;
    constexpr std::size_t gap = 2; // blanks, of sha256sum
    const auto wrong = [&](std::string_view what) {
        return fail(
            fmt::format("{}:{}: {} (expected lines of sha256sum, sorted by path: SHA-256, two "
                        "blanks, path)",
                        source, manifest.size() + 1, what));
    };
    while (!text.empty()) {
        const auto end = text.find('\n');
        if (end == text.npos) return wrong("unterminated line: the file is incomplete");
        const auto line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (line.size() <= digits + gap || line.find_first_not_of("0123456789abcdef") != digits ||
            line.substr(digits, gap) != "  ")
            return wrong(fmt::format("invalid line {}", json::show_text(line)));
        const auto path = line.substr(digits + gap);
        if (const auto fault = fault_of_path(path); !fault.empty())
            return wrong(fmt::format("the path {} {}", json::show_text(path), fault));
        if (!manifest.empty() && path <= manifest.rbegin()->first)
            return wrong(fmt::format("{} is a duplicate or out of order", json::show_text(path)));
        manifest.emplace(path, line.substr(0, digits));
    }
    if (manifest.empty()) return fail(fmt::format("{}: is empty", source));
    return manifest;
}

Result<void> write_manifest(const fs::path& folder) {
    ASSAY_TRY(const auto files, files_of_bundle(folder));
    std::string lines;
    for (const auto& path : files.regular) {
        if (path == manifest_file || path == signature_file) continue;
        ASSAY_TRY(const auto text, read_whole(folder / path, most_bytes_of_file));
        lines += fmt::format("{}  {}\n", to_hex(sha256(text)), path);
    }
    return write_atomically(folder / manifest_file, lines);
}

// --- signature -----------------------------------------------------------------------------------

namespace {

/// A passphrase is asked for on the terminal.
Result<Said> keygen(std::vector<std::string> arguments, const std::filesystem::path& input) {
    arguments.insert(arguments.begin(), "ssh-keygen");
    auto said = run_and_read(std::move(arguments), input);
    if (!said)
        return fail(
            fmt::format("{}; signatures need it: install the OpenSSH client", said.error().message),
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
        return fail(
            fmt::format("ssh-keygen cannot sign with {}: {}", key.string(), last_line(said.text)));
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

// --- derived -------------------------------------------------------------------------------------

namespace {

/// The same in every language that a bundle is checked in.
class InEnglish {
public:
    InEnglish() : before_{language_in_use()} { use_language(Language::en); }
    InEnglish(const InEnglish&) = delete;
    InEnglish& operator=(const InEnglish&) = delete;
    ~InEnglish() { use_language(before_); }

private:
    Language before_;
};

/// Paths as they are in the bundle, wherever it lies.
void make_relative(json::Value& value, const std::string& prefix) { // NOLINT(misc-no-recursion)
    if (value.is_string()) {
        auto& text = value.get_ref<std::string&>();
        for (auto at = text.find(prefix); at != text.npos; at = text.find(prefix, at))
            text.erase(at, prefix.size());
    } else if (value.is_structured()) {
        for (auto& inner : value) make_relative(inner, prefix);
    }
}

/// Recomputed values may differ in the last digits between compilers.
bool is_same(const json::Value& a, const json::Value& b) {
    if (!a.is_number() || !b.is_number()) return a == b;
    const auto x = a.get<double>();
    const auto y = b.get<double>();
    return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the parser let it be
void compare(const json::Value& a, const json::Value& b, const std::string& place, std::size_t most,
             std::vector<std::string>& found) {
    if (found.size() >= most) return;
    if (!a.is_structured() || a.type() != b.type() || a.size() != b.size()) {
        if (!is_same(a, b)) found.push_back(place.empty() ? "/" : place);
        return;
    }
    auto other = b.items().begin();
    for (const auto& [key, value] : a.items()) {
        const auto inner = fmt::format("{}/{}", place, key);
        if (key != other.key())
            found.push_back(inner);
        else
            compare(value, other.value(), inner, most, found);
        ++other;
    }
}

} // namespace

Result<json::Value> verdict_of_bundle(const std::filesystem::path& bundle,
                                      const std::string& created) {
    const InEnglish english;
    const auto folder = std::filesystem::absolute(bundle); // "b/" may be in any text
    const auto now = seconds_of(created);
    if (!now)
        return fail(fmt::format("invalid UTC time \"{}\" (expected e.g. 2026-01-31T12:34:56Z)",
                                plain(created, 60)));
    ASSAY_TRY(const auto files, files_of_bundle(folder));
    std::vector<judge::LimitsFile> limits;
    for (const auto& name : files.regular) {
        if (!name.starts_with(limits_folder)) continue;
        ASSAY_TRY(limits.emplace_back(), judge::read_limits(folder / name));
    }
    ASSAY_TRY(auto layers, layered(std::move(limits)));
    ASSAY_TRY(auto collection,
              collect({(folder / results_folder).string()}, collecting_for(layers, {.now = now})));
    ASSAY_TRY(const auto judgement, judge::judge(std::move(collection), std::move(layers),
                                                 {.campaign = {}, .levels = {}, .now = now}));
    auto value = json::parse(to_json(judgement, exit_code_of(judgement.outcome, ExitStyle::assay)),
                             verdict_file);
    if (!value) return tl::unexpected{value.error()};
    make_relative(*value, (folder / "").string());
    for (auto& text : (*value)["text"]) text = "";
    for (auto& node : (*value)["nodes"]) {
        node["name"] = node["machine"];
        if (node["worst"].is_object()) node["worst"]["text"] = "";
        if (node.contains("checks"))
            for (auto& check : node["checks"]) check["name"] = "";
    }
    return value;
}

std::vector<std::string> differences(const json::Value& a, const json::Value& b, std::size_t most) {
    std::vector<std::string> found;
    compare(a, b, "", most, found);
    return found;
}

} // namespace assay::exchange
