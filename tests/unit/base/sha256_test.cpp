// SPDX-License-Identifier: Apache-2.0
//
// By the processor's instructions and without them.

#include "base/sha256.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

/// FIPS 180-4, with examples of NIST.
TEST(Sha256, GivesTheDigestsOfTheStandard) {
    for (const auto digest : {&sha256, &sha256_anywhere}) {
        EXPECT_EQ(to_hex(digest("")),
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        EXPECT_EQ(to_hex(digest("abc")),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        EXPECT_EQ(to_hex(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        EXPECT_EQ(to_hex(digest(std::string(1'000'000, 'a'))),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

TEST(Sha256, IsTheSameWithoutInstructionsAtEveryLength) {
    std::string message;
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(sha256(message), sha256_anywhere(message)) << i;
        message += static_cast<char>(37 * i);
    }
}

} // namespace
} // namespace assay
