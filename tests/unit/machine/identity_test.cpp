// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"
#include "machine/inventory.hpp"
#include "machine/system.hpp"
#include "trees.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::machine {
namespace {

// FIPS 180-4 examples (NIST CSRC) and RFC 4231.
TEST(Sha256, KnownAnswers) {
    EXPECT_EQ(to_hex(sha256("")),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(to_hex(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hmac, KnownAnswers) {
    EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'),
                                 "Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

std::string id_of(const Scratch& scratch, Shape shape = {}) {
    return inspect(Sources{.files = scratch.files(), .shape = std::move(shape)}).id;
}

TEST(Identity, ComesAndGoesNotWithTheWeather) {
    const Scratch scratch;
    scratch.copy(tree_path("aws-c7a"));
    const std::string id = id_of(scratch);
    EXPECT_THAT(id, testing::MatchesRegex("[0-9a-f]{16}"));
    scratch.write("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 10 kB\n");
    scratch.write("/proc/sys/kernel/osrelease", "6.9.9\n");
    scratch.write("/etc/os-release", "PRETTY_NAME=\"Other 1\"\n");
    scratch.write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
    scratch.write("/.dockerenv", "");
    std::filesystem::remove_all(scratch.root() / "sys/bus/pci");
    EXPECT_EQ(id_of(scratch, described_shape("core:1 pu:1")), id);
}

TEST(Identity, TellsMachinesApart) {
    const Scratch scratch;
    scratch.copy(tree_path("aws-c7a"));
    const std::string id = id_of(scratch);
    scratch.write("/etc/machine-id", "ec2b7ad8f5a94f3f9d6a1d5a40a7c002\n");
    const std::string other = id_of(scratch);
    EXPECT_NE(other, id);
    scratch.write("/sys/class/dmi/id/product_name", "c7a.xlarge\n");
    EXPECT_NE(id_of(scratch), other);
}

TEST(Identity, AnImageWithoutAnIdIsNoKey) {
    const Scratch scratch;
    scratch.copy(tree_path("aws-c7a"));
    scratch.write("/etc/machine-id", "uninitialized\n");
    const std::string id = id_of(scratch);
    scratch.write("/etc/machine-id", "");
    EXPECT_EQ(id_of(scratch), id);
    scratch.write("/var/lib/dbus/machine-id", "ec2b7ad8f5a94f3f9d6a1d5a40a7c001\n");
    EXPECT_NE(id_of(scratch), id);
}

/// Nothing that names one owner, one piece of hardware or one rented machine is in the record.
TEST(Identity, NothingPersonalIsRecorded) {
    for (const char* const name : {"aws-c7a", "bare-metal", "azure-hb", "gcp-a2"}) {
        const auto m = inspect(Sources{.files = tree(name)});
        std::string all = m.id + m.hostname + m.cpu_model + m.os + m.kernel + m.virtualization +
                          m.container + m.provider + m.instance + m.system;
        for (const auto& device : m.pci) all += device.address + device.name + device.driver;
        for (const char* const secret :
             {"ec2b7ad8f5a94f3f", "i-04751aa1358a0a964", "ec2a24ed", "S1234567X", "ZM19AS0001",
              "11111111-2222", "private-name", "secret", "GPU-5c89a2b4", "westeurope"})
            EXPECT_THAT(all, testing::Not(testing::HasSubstr(secret))) << name;
    }
}

} // namespace
} // namespace assay::machine
