// SPDX-License-Identifier: Apache-2.0
#include "record/digests.hpp"

#include "base/sha256.hpp"
#include "json/canonical.hpp"

namespace assay::record {
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
