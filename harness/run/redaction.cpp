// SPDX-License-Identifier: Apache-2.0
#include "run/redaction.hpp"

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "machine/system.hpp"
#include "process/start.hpp"
#include "record/conditions.hpp"
#include "record/layout.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

namespace assay::run {
namespace {

namespace fs = std::filesystem;

std::string token_of(std::string_view kind, std::string_view text, std::size_t digits) {
    // The last digits: names that differ in their last letter alone, as those of a cluster do, share the first.
    const auto hash = hash_of(text);
    return fmt::format("<{}:{}>", kind, hash.substr(hash.size() - digits));
}

/// Is the path the system's? Such paths name no user or host.
bool is_public(std::string_view path) {
    constexpr std::array common{"/boot/",     "/proc/",      "/sys/",        "/dev/",
                                "/etc/",      "/lib/",       "/lib64/",      "/bin/",
                                "/sbin/",     "/usr/lib/",   "/usr/lib64/",  "/usr/bin/",
                                "/usr/sbin/", "/usr/share/", "/usr/include/"};
    return std::ranges::any_of(common, [&](const char* c) { return path.starts_with(c); });
}

bool is_alphanumeric(char c) { return is_word(c, ""); }
bool is_foreign(char c) {
    return static_cast<unsigned char>(c) >= 0x80U;
} // of a letter beyond ASCII
bool is_of_path(char c) { return is_word(c, "_/.-+~@%#$=") || is_foreign(c); }

/// Not in the middle of a word, as in "B/s"; after "=", and after an option's letter, as in "-I/opt/x".
/// The address of a page is public: https://example.org/sheet.
bool may_begin(std::string_view text, std::size_t at) {
    const auto before = text.substr(0, at);
    if (before.ends_with("http:/") || before.ends_with("https:/")) return false;
    while (at > 0 && text[at - 1] == '/') --at; // file:///home
    if (at == 0 || !is_of_path(text[at - 1]) || text[at - 1] == '=') return true;
    return at >= 2 && text[at - 2] == '-' && is_alphanumeric(text[at - 1]);
}

bool ends_word(std::string_view text, std::size_t at) {
    return at == text.size() || !is_alphanumeric(text[at]);
}

/// The name, and its first part where it has a domain.
void add_host(std::vector<std::string>& hosts, const std::string& name) {
    constexpr std::size_t shortest = 2;
    for (const auto& one : {name, name.substr(0, name.find('.'))})
        if (one.size() >= shortest && one != "localhost" && !to_number(one)) hosts.push_back(one);
}

void add_user(std::vector<std::string>& users, std::string_view name) {
    constexpr std::size_t shortest = 2;
    if (name.size() >= shortest && name != "root" && name != "nobody") users.emplace_back(name);
}

/// Absolute, without a slash at the end; neither the root nor what every machine has.
void add_path(std::vector<std::string>& paths, const fs::path& path) {
    std::error_code error;
    auto text = fs::absolute(path, error).lexically_normal().string();
    while (text.ends_with('/')) text.pop_back();
    constexpr std::array everywhere{"", "/root", "/tmp", "/var/tmp", "/home", "/usr"};
    if (!path.empty() && std::ranges::find(everywhere, text) == everywhere.end())
        paths.push_back(std::move(text));
}

template <class Text>
void remove_user_and_home(Secrets& secrets, Text variable) {
    for (const char* name : {"USER", "LOGNAME", "SUDO_USER"})
        if (const char* value = variable(name)) add_user(secrets.users, value);
    for (const char* name : {"HOME", "PWD", "TMPDIR"})
        if (const char* value = variable(name)) add_path(secrets.paths, value);
    if (const auto* entry = ::getpwuid(::geteuid())) { // NOLINT(concurrency-mt-unsafe): one thread
        add_user(secrets.users, entry->pw_name);
        add_path(secrets.paths, entry->pw_dir);
    }
}

} // namespace

Secrets find_secrets(const std::vector<plan::PlannedRun>& runs, const RunOptions& options) {
    Secrets secrets{.kept_variables = options.keep_environment};
    const auto environment = process::own_environment();
    remove_user_and_home(
        secrets, [&](const char* name) { return process::find_variable(environment, name); });
    std::error_code error;
    add_path(secrets.paths, fs::current_path(error));
    add_path(secrets.paths, options.out);
    if (options.record_hostname) {
        secrets.users.clear();
        return secrets;
    }
    add_host(secrets.hosts, machine::host_name());
    for (const auto& run : runs)
        for (const auto& host : run.plan.job.hosts) add_host(secrets.hosts, host.name);
    return secrets;
}

Redaction::Redaction(Secrets secrets) : paths_{std::move(secrets.paths)} {
    for (const auto& host : secrets.hosts) words_.push_back({host, token_of("host", host, 4)});
    for (const auto& user : secrets.users) words_.push_back({user, "<user>"});
    for (const auto& name : secrets.kept_variables) kept_.push_back("environment." + name);
    std::ranges::stable_sort(words_, std::ranges::greater{},
                             [](const Known& word) { return word.text.size(); });
    std::ranges::sort(paths_, std::ranges::greater{}, &std::string::size);
}

/// Length of the secret path that begins here, or 0.
std::size_t Redaction::path_at(std::string_view text, std::size_t at) const {
    const auto rest = text.substr(at);
    if (rest.starts_with("//")) return 0; // it begins at the last of them
    const auto known = std::ranges::find_if(paths_, [&](const std::string& path) {
        return rest.starts_with(path) && ends_word(rest, path.size());
    });
    const std::size_t least = known == paths_.end() ? 0 : known->size();
    if (least == 0 && !may_begin(text, at)) return 0;
    std::size_t end = least;
    while (end < rest.size() && is_of_path(rest[end])) ++end;
    while (end > least && (rest[end - 1] == '.' || rest[end - 1] == '/')) --end; // of the sentence
    if (least > 0) return end;
    const auto parts = split(rest.substr(0, end), '/');
    const auto is_part = [](std::string_view part) {
        return std::ranges::any_of(part, [](char c) { return is_word(c) || is_foreign(c); });
    };
    const bool is_path = std::ranges::count_if(parts, is_part) >= 2;
    return is_path && !is_public(rest) ? end : 0;
}

void Redaction::add_words(std::string& out, std::string_view text) const {
    for (std::size_t at = 0; at < text.size();) {
        const bool begins = at == 0 || !is_alphanumeric(text[at - 1]);
        const auto known = std::ranges::find_if(words_, [&](const Known& word) {
            return begins && text.substr(at).starts_with(word.text) &&
                   ends_word(text, at + word.text.size());
        });
        if (known == words_.end()) {
            out += text[at++];
        } else {
            out += known->token;
            if (known->token.starts_with("<host:")) hidden_[known->token] = known->text;
            at += known->text.size();
        }
    }
}

std::string Redaction::operator()(std::string_view text) const {
    std::string out;
    std::size_t done = 0; // up to here `out` has it
    for (auto at = text.find('/'); at != text.npos; at = text.find('/', at)) {
        const auto length = path_at(text, at);
        if (length == 0) {
            ++at;
            continue;
        }
        add_words(out, text.substr(done, at - done));
        const auto path = text.substr(at, length);
        const auto& token = hidden_.try_emplace(token_of("path", path, 6), path).first->first;
        out += token;
        done = at += length;
    }
    add_words(out, text.substr(done));
    return out;
}

/// Names of series and units stay, and so do codes that a program reads: they are not strings. What limits select by
/// stays as well: a user called EPYC would measure on another CPU.
template <class T>
void Redaction::each_text(T& member) const {
    if constexpr (std::is_same_v<T, std::string>) {
        member = (*this)(member);
    } else if constexpr (std::is_base_of_v<record::NamedList, T>) {
        named(member);
    } else if constexpr (requires { member.has_value(); }) {
        if (member) each_text(*member);
    } else if constexpr (requires { member.begin(); }) {
        for (auto& item : member) each_text(item);
    } else if constexpr (json::Record<T>) {
        each_field(
            [&](std::string_view key, auto& field) {
                constexpr std::array kept{
                    "benchmark", "place",       "library",        "parameters", "work",
                    "headline",  "metrics",     "metric",         "unit",       "suite",
                    "started",   "id",          "node",           "hostname",   "uuid",
                    "address",   "pci_address", "extra",          "cpu_model",  "architecture",
                    "provider",  "instance",    "virtualization", "name",       "mode",
                    "kind",      "vendor_id",   "device_id"};
                if (std::ranges::find(kept, key) == kept.end()) each_text(field);
            },
            member);
    }
}

void Redaction::named(record::NamedList& list) const {
    for (auto& [name, value] : list)
        if (auto* text = std::get_if<std::string>(&value);
            text != nullptr && std::ranges::find(kept_, name) == kept_.end() &&
            std::ranges::find(record::condition_table(), name, &record::Condition::setting) ==
                record::condition_table().end())
            *text = (*this)(*text);
}

void Redaction::apply(record::Case& c) const { each_text(c); }
void Redaction::apply(record::Run& run) const {
    each_text(run.left_out);
    each_text(run.machine);
    each_text(run.cases);
}

void Redaction::apply_to_logs(const fs::path& folder) const {
    constexpr std::size_t most = std::size_t{32} << 20U; // bytes: logs are shortened to less
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{folder, error}) {
        const auto text = read_whole(entry.path(), most);
        if (!text) continue;
        if (const auto redacted = (*this)(*text); redacted != *text)
            static_cast<void>(write_atomically(entry.path(), redacted));
    }
}

void reveal(record::Run& run, const Hidden& hidden) {
    const auto reveal_text = [&](std::string& text) {
        for (const auto& [token, original] : hidden)
            for (auto at = text.find(token); at != text.npos;
                 at = text.find(token, at + original.size()))
                text.replace(at, token.size(), original);
    };
    for (auto& c : run.cases) {
        reveal_text(c.reason);
        for (auto& warning : c.warnings) reveal_text(warning);
    }
}

} // namespace assay::run
