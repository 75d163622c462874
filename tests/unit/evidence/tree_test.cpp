// SPDX-License-Identifier: Apache-2.0
//
// The tree of digests: by hand for the smallest, and what hiding and changing do to its root.

#include "base/sha256.hpp"
#include "evidence/redaction.hpp"
#include "evidence/tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace assay::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

json::Value parsed(std::string_view text) { return json::parse(text, "test").value(); }
std::string bytes(const Digest& digest) { return {digest.begin(), digest.end()}; }

/// 32 bytes of 'A' and of 'B'.
Salts two_salts() {
    std::string a;
    std::string b;
    for (int i = 0; i < 32; ++i) {
        a += "41";
        b += "42";
    }
    return {.seed = "", .of = {{"/x", a}, {"/y~1z", b}}};
}

TEST(EvidenceTree, IsThatOfRfc6962) {
    const auto document = parsed(R"({"x":1.50,"y/z":[2,3]})");
    const std::string zero(1, '\0');
    const auto left = bytes(sha256(zero + std::string(32, 'A') + "/x" + zero + "1.5"));
    const auto right = bytes(sha256(zero + std::string(32, 'B') + "/y~1z" + zero + "[2,3]"));
    const auto tree = tree_of(document, two_salts()).value();
    EXPECT_EQ(tree.root, to_hex(sha256('\1' + left + right)));
    EXPECT_EQ(tree.leaves, 2U);
}

TEST(EvidenceTree, LeavesAreInTheOrderOfTheDocument) {
    std::vector<std::string> places;
    each_leaf(
        parsed(R"({"b":[{"c":1},"d"],"a":{},"e":[],"f":[1,null,true],"g":["h","i"]})"),
        [&](const std::string& place, const json::Value& /*leaf*/) { places.push_back(place); });
    EXPECT_THAT(places, ElementsAre("/b/0/c", "/b/1", "/a", "/e", "/f", "/g/0", "/g/1"));
}

TEST(EvidenceTree, EveryValueKeyAndOrderCounts) {
    const auto salts = new_salts();
    const auto root = [&](std::string_view text) { return tree_of(parsed(text), salts)->root; };
    const auto first = root(R"({"a":1,"b":"x","c":[1,2]})");
    EXPECT_EQ(first, root(R"( {"a": 1.0, "b": "x", "c": [1, 2]})")) << "only formatted anew";
    for (const char* other :
         {R"({"a":2,"b":"x","c":[1,2]})", R"({"a":"1","b":"x","c":[1,2]})",
          R"({"a":1,"b":"x","c":[2,1]})", R"({"a":1,"b":"x"})", R"({"a":1,"d":"x","c":[1,2]})",
          R"({"b":"x","a":1,"c":[1,2]})", R"({"a":1,"b":"x","c":[1,2],"d":null})",
          R"({"a":1,"b":"x","c":[[1,2]]})"})
        EXPECT_NE(first, root(other)) << other;
    EXPECT_NE(first, tree_of(parsed(R"({"a":1,"b":"x","c":[1,2]})"), new_salts())->root);
}

TEST(EvidenceTree, HidingKeepsTheRootAndNeedsTheSalts) {
    const auto original =
        parsed(R"({"run":{"note":"of node-17"},"machine":{"hostname":"node-17","cores":2},)"
               R"("digests":{"run":"r","machine":"m","cases":[],"root":"t"}})");
    auto salts = new_salts();
    const auto before = tree_of(original, salts)->root;
    auto hidden = original;
    std::set<std::string> secrets;
    const std::vector<std::string> fields{"machine.hostname"};
    collect_secrets(hidden, fields, secrets);
    EXPECT_EQ(hide(hidden, salts, fields, secrets), 2U) << "the note has the name in it";
    EXPECT_THAT(json::to_text(hidden), testing::Not(HasSubstr("node-17")));
    const auto tree = tree_of(hidden, salts).value();
    EXPECT_EQ(tree.root, before);
    EXPECT_EQ(tree.hidden, 5U) << "with the digests of run and machine and the root over them";
    EXPECT_TRUE(salts.seed.empty());
    EXPECT_FALSE(salts.of.contains("/machine/hostname"));
    // More later, and the order does not matter.
    EXPECT_EQ(hide(hidden, salts, {"run.*"}, {}), 0U) << "hidden already";
    EXPECT_EQ(tree_of(hidden, salts)->root, before);
    hidden["machine"]["cores"] = 3;
    EXPECT_NE(tree_of(hidden, salts)->root, before);
    salts.of.erase("/machine/cores");
    EXPECT_THAT(tree_of(hidden, salts).error().message, HasSubstr("/machine/cores"));
}

TEST(EvidenceTree, KeysMayHaveDots) {
    auto document =
        parsed(R"({"machine":{"software":{"openblas.version":"0.3.21","libc":"2.36"}}})");
    auto salts = new_salts();
    EXPECT_EQ(hide(document, salts, {"machine.software.openblas.version"}, {}), 1U);
    EXPECT_EQ(document["machine"]["software"]["libc"], "2.36");
    EXPECT_EQ(hide(document, salts, {"machine.software.*"}, {}), 1U);
}

TEST(EvidenceTree, RefusesFieldsThatNobodyKnows) {
    EXPECT_TRUE(checked_fields({"hostname", "machine.kernel"}));
    EXPECT_THAT(checked_fields({"hostnam"}).error().message, HasSubstr("\"hostname\""));
    EXPECT_FALSE(checked_fields({"digests.root"}));
}

TEST(EvidenceTree, SaltsAreReadWithCare) {
    for (const char* wrong : {"[]", "{}", R"({"seed":"ab"})", R"({"seed":1})", R"({"salts":[]})",
                              R"({"salts":{"/a":"zz"}})", R"({"salts":{},"seed":"x"})"})
        EXPECT_FALSE(salts_from(parsed(wrong), "salts.json")) << wrong;
}

} // namespace
} // namespace assay::report
