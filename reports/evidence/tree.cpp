// SPDX-License-Identifier: Apache-2.0

#include "evidence/tree.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "evidence/files.hpp"
#include "json/canonical.hpp"
#include "json/words.hpp"
#include "record/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>
#include <vector>

namespace assay::report {
namespace {

std::string bytes_of(const Digest& digest) { return {digest.begin(), digest.end()}; }

/// "a/b" and "~" would change the place they are in (RFC 6901).
std::string escaped(std::string_view key) {
    std::string out;
    for (const char c : key) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

bool is_leaf(const json::Value& value) {
    if (!value.is_structured() || value.empty()) return true;
    return value.is_array() && std::ranges::all_of(value, [](const json::Value& item) {
               return item.is_number() || item.is_boolean() || item.is_null();
           });
}

// As deep as the parser let it be.
template <class Value, class Visit>
void walk(Value& value, std::string& place, const Visit& visit) { // NOLINT(misc-no-recursion)
    if (is_leaf(value)) return visit(place, value);
    const auto length = place.size();
    const auto step = [&](std::string_view key, auto& inner) {
        place += '/';
        place += key;
        walk(inner, place, visit);
        place.resize(length);
    };
    if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) step(fmt::format("{}", i), value[i]);
    } else {
        for (auto& [key, inner] :
             value.template get_ref<std::conditional_t<
                 std::is_const_v<Value>, const json::Value::object_t&, json::Value::object_t&>>())
            step(escaped(key), inner);
    }
}

/// RFC 6962, section 2.1.
std::string root_of_leaves(std::span<const std::string> leaves) { // NOLINT(misc-no-recursion)
    if (leaves.empty()) return bytes_of(sha256(""));
    if (leaves.size() == 1) return leaves.front();
    const auto half = std::bit_ceil(leaves.size()) / 2;
    return bytes_of(
        sha256('\1' + root_of_leaves(leaves.first(half)) + root_of_leaves(leaves.subspan(half))));
}

std::string bytes_of_hex(std::string_view digits) {
    const auto number = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(number(digits[i]) * 16 + number(digits[i + 1]));
    return bytes;
}

} // namespace

Salts new_salts() { return {.seed = random_token(sizeof(Digest))}; }

std::optional<std::string> salt_at(const Salts& salts, std::string_view place) {
    if (!salts.seed.empty()) return to_hex(hmac_sha256(bytes_of_hex(salts.seed), place));
    const auto found = salts.of.find(place);
    return found == salts.of.end() ? std::nullopt : std::optional{found->second};
}

json::Value to_json(const Salts& salts) {
    if (!salts.seed.empty()) return {{"seed", salts.seed}};
    json::Value of = json::Value::object();
    auto& members = of.get_ref<json::Value::object_t&>();
    for (const auto& [place, salt] : salts.of) members.emplace_back(place, salt); // unique: a map's
    return {{"salts", std::move(of)}};
}

Result<Salts> salts_from(const json::Value& value, std::string_view source) {
    const auto wrong = [&] {
        return fail(fmt::format("{}: expected a seed or salts of 64 hexadecimal digits", source));
    };
    const auto is_salt = [](const json::Value& text) {
        return text.is_string() && is_digest(text.get_ref<const std::string&>());
    };
    if (!value.is_object() || value.size() != 1) return wrong();
    if (value.contains("seed")) {
        if (!is_salt(value["seed"])) return wrong();
        return Salts{.seed = value["seed"].get<std::string>()};
    }
    if (!value.contains("salts") || !value["salts"].is_object()) return wrong();
    Salts salts;
    for (const auto& [place, salt] : value["salts"].get_ref<const json::Value::object_t&>()) {
        if (!is_salt(salt)) return wrong();
        salts.of.emplace(place, salt.get<std::string>());
    }
    return salts;
}

std::optional<std::string> hidden_in(const json::Value& leaf) {
    if (!leaf.is_string()) return std::nullopt;
    std::string_view text = leaf.get_ref<const std::string&>();
    if (!text.starts_with(record::hidden_prefix)) return std::nullopt;
    text.remove_prefix(record::hidden_prefix.size());
    return is_digest(text) ? std::optional{std::string{text}} : std::nullopt;
}

std::string hidden_text(std::string_view digest) {
    return fmt::format("{}{}", record::hidden_prefix, digest);
}

void each_leaf(json::Value& document,
               const std::function<void(const std::string&, json::Value&)>& visit) {
    std::string place;
    walk(document, place, visit);
}
void each_leaf(const json::Value& document,
               const std::function<void(const std::string&, const json::Value&)>& visit) {
    std::string place;
    walk(document, place, visit);
}

std::string leaf_digest(std::string_view place, const json::Value& leaf, std::string_view salt) {
    std::string message(1, '\0'); // a leaf; nodes begin with 1
    message.append(bytes_of_hex(salt)).append(place).append(1, '\0');
    message += json::to_canonical(leaf);
    return to_hex(sha256(message));
}

Result<Tree> tree_of(const json::Value& document, const Salts& salts) {
    Tree tree;
    std::vector<std::string> leaves;
    std::string without;
    each_leaf(document, [&](const std::string& place, const json::Value& leaf) {
        if (const auto digest = hidden_in(leaf)) {
            ++tree.hidden;
            leaves.push_back(bytes_of_hex(*digest));
            return;
        }
        const auto salt = salt_at(salts, place);
        if (!salt && without.empty()) without = place.empty() ? "/" : place;
        if (salt) leaves.push_back(bytes_of_hex(leaf_digest(place, leaf, *salt)));
    });
    if (!without.empty())
        return fail(fmt::format("there is no salt for {}", json::show_text(without)));
    tree.leaves = leaves.size();
    tree.root = to_hex([&] {
        Digest digest{};
        std::ranges::copy(root_of_leaves(leaves), digest.begin());
        return digest;
    }());
    return tree;
}

} // namespace assay::report
