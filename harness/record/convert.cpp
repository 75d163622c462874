// SPDX-License-Identifier: Apache-2.0
#include "record/convert.hpp"

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "json/canonical.hpp"
#include "json/members.hpp"
#include "record/digests.hpp"

#include <cmath>
#include <utility>
#include <variant>

namespace assay::record {

json::Value encode_value(const NamedList& list) {
    json::Members members;
    for (const Named& named : list) {
        const auto* number = std::get_if<double>(&named.value);
        if (number == nullptr || std::isfinite(*number))
            members.set(named.name, json::encode(named.value));
    }
    return members.take();
}

void decode_value(const json::Object& object, std::string_view key, NamedList& out) {
    const json::Object inner = object.object(key);
    if (object.failed()) return;
    NamedList list;
    for (const auto& item : inner.value().items()) {
        if (item.value().is_null()) continue;
        auto value = json::scalar_from(item.value());
        if (!value) return inner.expected(item.key(), json::scalar_words);
        list.push_back({item.key(), *std::move(value)});
    }
    out = std::move(list);
}

json::Value to_json(const Run& run) {
    json::Value document{{"schema", schema_name},
                         {"run", json::encode(run)},
                         {"machine", json::encode(run.machine)},
                         {"cases", json::encode(run.cases)}};
    document["digests"] = json::encode(digests_of(document));
    return document;
}

std::string to_text(const Run& run) { return json::to_text(to_json(run)); }

Result<void> write_run(const std::filesystem::path& path, const Run& run) {
    return write_atomically(path, to_text(run));
}

namespace {

std::string digest_of(const json::Value& section) {
    return to_hex(sha256(json::to_canonical(section)));
}

} // namespace

Digests digests_of(const json::Value& document) {
    Digests digests{.algorithm = "sha256",
                    .run = digest_of(document.at("run")),
                    .machine = digest_of(document.at("machine"))};
    for (const auto& c : document.at("cases")) digests.cases.push_back(digest_of(c));
    digests.root = root_of(document, digests);
    return digests;
}

std::string root_of(const json::Value& document, const Digests& digests) {
    return digest_of({{"schema", document.at("schema")},
                      {"run", digests.run},
                      {"machine", digests.machine},
                      {"cases", digests.cases}});
}

} // namespace assay::record
