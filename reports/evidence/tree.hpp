// SPDX-License-Identifier: Apache-2.0
//
// One digest of a JSON document, of which single texts may be hidden later without changing it: a Merkle tree as in RFC
// 6962 over its leaves in the order of the document. A leaf is a plain value, an empty object or list, or a list of numbers
// as a whole; its digest is SHA-256 of 0, its salt, its place (RFC 6901) and its canonical value. A hidden leaf is a text
// that holds this digest in place of the value. Without the salt nobody can try what it was.

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace assay::report {

/// Of a document with nothing hidden: HMAC of its places by a random seed. Otherwise one for each place that is shown.
struct Salts {
    std::string seed; ///< 64 hexadecimal digits; empty where something is hidden
    std::map<std::string, std::string, std::less<>> of{}; ///< by place
};
Salts new_salts();
/// For the leaf at this place; nothing where there is none.
std::optional<std::string> salt_at(const Salts& salts, std::string_view place);

json::Value to_json(const Salts& salts);
/// Fails where it is no object with a seed or salts.
Result<Salts> salts_from(const json::Value& value, std::string_view source);

/// The digest in a hidden leaf, 64 digits; nothing where it is not hidden.
std::optional<std::string> hidden_in(const json::Value& leaf);
/// What stands in its place.
std::string hidden_text(std::string_view digest);

/// Visits every leaf with its place, in the order of the document.
void each_leaf(json::Value& document,
               const std::function<void(const std::string& place, json::Value& leaf)>& visit);
void each_leaf(const json::Value& document,
               const std::function<void(const std::string& place, const json::Value& leaf)>& visit);

std::string leaf_digest(std::string_view place, const json::Value& leaf, std::string_view salt);

struct Tree {
    std::string root; ///< 64 digits
    std::size_t leaves = 0;
    std::size_t hidden = 0;
};
/// Fails where a leaf that is shown has no salt.
Result<Tree> tree_of(const json::Value& document, const Salts& salts);

} // namespace assay::report
