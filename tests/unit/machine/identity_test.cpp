// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"
#include "machine/inventory.hpp"
#include "machine/system.hpp"
#include "record/convert.hpp"
#include "record/same_machine.hpp"
#include "scratch.hpp"
#include "support/fake_nvml.hpp"

#include <gmock/gmock.h>

#include <string>

namespace assay::machine {
namespace {

record::Machine machine_of(const Scratch& scratch, machine::Shape shape = {}) {
    return inspect(machine::Sources{.files = scratch.files(), .shape = std::move(shape)});
}
std::string id_of(const Scratch& scratch, machine::Shape shape = {}) {
    return machine_of(scratch, std::move(shape)).id;
}

constexpr const char* product_uuid = "/sys/class/dmi/id/product_uuid";
constexpr const char* one_uuid = "4c4c4544-0039-3510-8052-b4c04f4d3633\n";

TEST(Identity, ComesAndGoesNotWithTheWeather) {
    const Scratch scratch{tree_path("aws-c7a")};
    const std::string id = id_of(scratch);
    EXPECT_THAT(id, testing::MatchesRegex("[0-9a-f]{16}"));
    // Ids of the first version, which histories know machines by.
    EXPECT_EQ(id, "7857c74efdf775f9");
    scratch.write("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 10 kB\n");
    scratch.write("/proc/sys/kernel/osrelease", "6.9.9\n");
    scratch.write("/etc/os-release", "PRETTY_NAME=\"Other 1\"\n");
    scratch.write("/sys/fs/cgroup/cpu.max", "100000 100000\n");
    scratch.write("/.dockerenv", "");
    std::filesystem::remove_all(scratch.root() / "sys/bus/pci");
    EXPECT_EQ(id_of(scratch, machine::described_shape("core:1 pu:1")), id);
}

TEST(Identity, IsKeptWhereSysIsHiddenOrItIsSaid) {
    const Scratch scratch;
    scratch.write("/etc/machine-id", "ec2b7ad8f5a94f3f9d6a1d5a40a7c002\n");
    scratch.write("/proc/cpuinfo", "processor : 0\nmodel name : A\n\nprocessor : 1\n");
    const std::string hidden = id_of(scratch);
    EXPECT_THAT(machine::id_remark(scratch.files()), testing::HasSubstr("/sys is hidden"));
    scratch.write("/sys/devices/system/cpu/present", "0-1\n");
    EXPECT_EQ(id_of(scratch), hidden);
    EXPECT_EQ(machine::id_remark(scratch.files()), "");
}

TEST(Identity, TellsMachinesApart) {
    const Scratch scratch{tree_path("aws-c7a")};
    const std::string id = id_of(scratch);
    scratch.write("/etc/machine-id", "ec2b7ad8f5a94f3f9d6a1d5a40a7c002\n");
    const std::string other = id_of(scratch);
    EXPECT_NE(other, id);
    scratch.write("/sys/class/dmi/id/product_name", "c7a.xlarge\n");
    EXPECT_NE(id_of(scratch), other);
}

TEST(Identity, AnImageWithoutAnIdIsNoKey) {
    const Scratch scratch{tree_path("aws-c7a")};
    scratch.write("/etc/machine-id", "uninitialized\n");
    const auto machine = machine_of(scratch);
    EXPECT_EQ(machine.identity.by, "hardware");
    scratch.write("/etc/machine-id", "");
    EXPECT_EQ(id_of(scratch), machine.id);
    scratch.write("/var/lib/dbus/machine-id", "ec2b7ad8f5a94f3f9d6a1d5a40a7c001\n");
    EXPECT_NE(id_of(scratch), machine.id);
    EXPECT_EQ(machine_of(scratch).identity.by, "machine_id");
}

TEST(Identity, MachinesFromOneImageAreTwo) {
    const Scratch scratch{tree_path("bare-metal")};
    scratch.write("/etc/machine-id", "ec2b7ad8f5a94f3f9d6a1d5a40a7c001\n");
    const auto one = machine_of(scratch);
    scratch.write(product_uuid, one_uuid);
    const auto two = machine_of(scratch);
    EXPECT_NE(one.id, two.id);
    EXPECT_EQ(two.identity.by, "product_uuid");
    // Before there were such ids, they were one.
    EXPECT_EQ(one.identity.aliases, two.identity.aliases);
    EXPECT_EQ(one.identity.aliases.size(), 1U);
}

TEST(Identity, AReinstalledMachineIsTheSame) {
    const Scratch scratch{tree_path("bare-metal")};
    scratch.write("/etc/machine-id", "ec2b7ad8f5a94f3f9d6a1d5a40a7c001\n");
    const auto before = machine_of(scratch);
    scratch.write("/etc/machine-id", "00112233445566778899aabbccddeeff\n");
    const auto after = machine_of(scratch);
    EXPECT_EQ(after.id, before.id);
    EXPECT_NE(after.identity.aliases, before.identity.aliases);
}

TEST(Identity, WithoutRootItIsTheOldIdWhichRootHasAsAnAlias) {
    const Scratch scratch{tree_path("bare-metal")};
    scratch.write("/etc/machine-id", "ec2b7ad8f5a94f3f9d6a1d5a40a7c001\n");
    const auto as_root = machine_of(scratch);
    std::filesystem::remove(scratch.root() / "sys/class/dmi/id/product_uuid");
    const auto as_user = machine_of(scratch);
    EXPECT_EQ(as_user.identity.by, "machine_id");
    EXPECT_TRUE(as_user.identity.aliases.empty());
    EXPECT_TRUE(record::is_id_of(as_root, as_user.id));
}

TEST(Identity, PlaceholdersAreNoUuids) {
    for (const char* const uuid :
         {"00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
          "03000200-0400-0500-0006-000700080009", "00020003-0004-0005-0006-000700080009",
          "12345678-1234-5678-90AB-CDDEEFAABBCC", "fefefefe-fefe-fefe-fefe-fefefefefefe",
          "Not Settable", "To Be Filled By O.E.M.", "4c4c4544003935108052b4c04f4d3633xxxx", ""}) {
        const Scratch scratch{tree_path("bare-metal")};
        scratch.write(product_uuid, std::string{uuid} + "\n");
        EXPECT_EQ(machine_of(scratch).identity.by, "hardware") << uuid;
    }
    const Scratch scratch; // a container: no DMI at all
    scratch.write("/etc/machine-id", "ec2b7ad8f5a94f3f9d6a1d5a40a7c001\n");
    EXPECT_EQ(machine_of(scratch).identity.by, "machine_id");
}

TEST(Identity, AnInstanceIsItsOwnWhoeverReadsIt) {
    const Scratch scratch{tree_path("aws-c7a")};
    const auto old = id_of(scratch);
    const auto with = [&](const std::string& instance) {
        scratch.write("/run/cloud-init/instance-data.json",
                      R"({"v1":{"instance_id":")" + instance + R"("}})");
        return machine_of(scratch);
    };
    const auto one = with("i-04751aa1358a0a964");
    EXPECT_EQ(one.identity.by, "cloud_instance");
    EXPECT_THAT(one.identity.aliases, testing::ElementsAre(old));
    EXPECT_NE(with("i-04751aa1358a0a965").id, one.id);
    // The firmware's UUID is for root alone: the same machine.
    scratch.write(product_uuid, one_uuid);
    const auto as_root = with("i-04751aa1358a0a964");
    EXPECT_EQ(as_root.id, one.id);
    EXPECT_EQ(as_root.identity.aliases.size(), 2U);
    // An instance that comes back as another type, or with another processor, is another machine.
    scratch.write("/sys/class/dmi/id/product_name", "c7a.xlarge\n");
    EXPECT_NE(with("i-04751aa1358a0a964").id, one.id);
    scratch.copy(tree_path("aws-c7a"));
    scratch.write("/proc/cpuinfo", "model name : Other\n");
    EXPECT_NE(with("i-04751aa1358a0a964").id, one.id);
    // No ids of instances.
    EXPECT_EQ(with("iid-datasource-none").identity.by, "product_uuid");
}

TEST(Identity, TheIdOnDiskCountsIfCloudInitRanSinceBoot) {
    const Scratch scratch{tree_path("aws-c7a")};
    scratch.write("/var/lib/cloud/data/instance-id", "i-04751aa1358a0a964\n");
    EXPECT_EQ(machine_of(scratch).identity.by, "machine_id");
    scratch.write("/run/cloud-init/status.json", "{}");
    EXPECT_EQ(machine_of(scratch).identity.by, "cloud_instance");
}

TEST(Identity, OnlyProvidersHaveInstances) {
    const Scratch scratch{tree_path("bare-metal")};
    scratch.write("/run/cloud-init/instance-data.json",
                  R"({"v1":{"cloud_name":"nocloud","instance_id":"my-machines"}})");
    EXPECT_EQ(machine_of(scratch).identity.by, "product_uuid");
}

record::Machine with_device(const Scratch& scratch, const std::string& uuid) {
    const test::FakeNvml nvml{"- count 1\n0 name NVIDIA H200\n0 bus 27\n0 uuid " + uuid + "\n"};
    return inspect(machine::Sources{.files = scratch.files(), .nvml = nvml.library()});
}

TEST(Identity, AnotherDeviceIsSeenAndTheMachineStays) {
    const Scratch scratch{tree_path("bare-metal")};
    const auto before = with_device(scratch, "GPU-5c89a2b4");
    const auto again = with_device(scratch, "GPU-5c89a2b4");
    const auto after = with_device(scratch, "GPU-00000001");
    EXPECT_EQ(after.id, before.id);
    EXPECT_THAT(record::changed_parts(before, again), testing::IsEmpty());
    EXPECT_THAT(record::changed_parts(before, after), testing::ElementsAre("device 0000:1b:00.0"));
    scratch.write("/sys/class/dmi/id/board_serial", "ZM19AS0002\n");
    EXPECT_THAT(record::changed_parts(before, with_device(scratch, "GPU-5c89a2b4")),
                testing::ElementsAre("board"));
}

// --- without strong facts -------------------------------------------------------------------------

record::Machine container(const std::string& uuid, const std::string& node = "") {
    const Scratch scratch; // no machine-id, no firmware
    const test::FakeNvml nvml{"- count 1\n0 name NVIDIA H100\n0 bus 6\n0 uuid " + uuid + "\n"};
    return inspect(
        machine::Sources{.files = scratch.files(), .nvml = nvml.library(), .node = node});
}

TEST(Identity, ContainersWithOtherDevicesDiffer) {
    const auto one = container("GPU-5c89a2b4");
    EXPECT_EQ(one.identity.by, "devices");
    EXPECT_THAT(one.id, testing::MatchesRegex("[0-9a-f]{16}"));
    EXPECT_EQ(container("GPU-5c89a2b4").id, one.id);
    const auto other = container("GPU-00000001");
    EXPECT_NE(other.id, one.id);
    // They had one id before.
    EXPECT_EQ(other.identity.aliases, one.identity.aliases);
    EXPECT_EQ(record::own_id(one), one.id);
}

TEST(Identity, ANameStaysWithANodeWhoseDeviceIsReplaced) {
    const auto before = container("GPU-5c89a2b4", "n1");
    const auto after = container("GPU-00000001", "n1");
    EXPECT_EQ(before.identity.by, "node");
    EXPECT_EQ(before.identity.node, "n1");
    EXPECT_EQ(after.id, before.id);
    EXPECT_NE(container("GPU-5c89a2b4", "n2").id, before.id);
    EXPECT_TRUE(record::is_id_of(before, container("GPU-5c89a2b4").id));
    EXPECT_EQ(record::own_id(before), before.id);
    EXPECT_THAT(record::changed_parts(before, after), testing::ElementsAre("device 0000:06:00.0"));
}

TEST(Identity, ANameIsNoStrongFact) {
    const Scratch scratch{tree_path("bare-metal")};
    const auto without = machine_of(scratch);
    const auto with = inspect(machine::Sources{.files = scratch.files(), .node = "n1"});
    EXPECT_EQ(with.id, without.id);
    EXPECT_EQ(with.identity.by, "product_uuid");
    EXPECT_EQ(with.identity.node, "n1");
}

TEST(Identity, NodeNamesAreThoseOfSchedulers) {
    for (const char* const name : {"n1", "gpu-07.cluster", "rack_3:n4"})
        EXPECT_TRUE(machine::is_node_name(name));
    for (const auto& name : {std::string{}, std::string{"n 1"}, std::string{"../n1"},
                             std::string{"n\x1b[31m"}, std::string(254, 'n')})
        EXPECT_FALSE(machine::is_node_name(name)) << name;
}

// --- serial numbers -------------------------------------------------------------------------------

record::Machine with_serials(const machine::SerialOptions& options) {
    const Scratch scratch{tree_path("bare-metal")};
    scratch.write_lines("/sys/class/", {{"net/eth0/type", "1"},
                                        {"net/eth0/address", "04:3F:72:aa:bb:01"},
                                        {"net/eth0/device/vendor", "0x15b3"},
                                        {"net/veth1/type", "1"},
                                        {"net/veth1/address", "06:00:00:aa:bb:02"},
                                        {"nvme/nvme0/serial", "S64ANS0T  "}});
    const test::FakeNvml nvml{"- count 1\n0 bus 27\n0 uuid GPU-5c89a2b4\n0 serial 1650522001\n"
                              "0 vbios 96.00.74.00.01\n0 inforom G520.0200.00.05\n"};
    return inspect(
        machine::Sources{.files = scratch.files(), .nvml = nvml.library(), .serials = options});
}

TEST(Serials, AreInTheRecordOnRequest) {
    const auto machine = with_serials({.in_clear = true});
    std::string all;
    for (const auto& one : machine.identity.serials)
        all += one.kind + ' ' + one.where + ' ' + one.text + one.keyed + ", ";
    EXPECT_EQ(all, "product  S1234567X, board  ZM19AS0001, network eth0 04:3f:72:aa:bb:01, "
                   "storage nvme0 S64ANS0T, device 0000:1b:00.0 1650522001, ");
    EXPECT_THAT(with_serials({}).identity.serials, testing::IsEmpty());
    ASSERT_EQ(machine.devices.size(), 1U);
    EXPECT_EQ(machine.devices[0].firmware,
              (record::DeviceFirmware{.vbios = "96.00.74.00.01", .inforom = "G520.0200.00.05"}));
}

TEST(Serials, PlaceholdersAreLeftOut) {
    const Scratch scratch{tree_path("bare-metal")};
    for (const char* const text :
         {"Default string", "To be filled by O.E.M.", "System Serial Number", "0123456789",
          "123456789", "00000000", "xxxxxxxxxxxx", "None"}) {
        scratch.write("/sys/class/dmi/id/board_serial", std::string{text} + "\n");
        scratch.write("/sys/class/dmi/id/product_serial", std::string{text} + "\n");
        EXPECT_THAT(read_serials(scratch.files()), testing::IsEmpty()) << text;
    }
}

TEST(Serials, WithAKeyHashesAreEqualForEqualParts) {
    const auto one = with_serials({.key = "campaign 7"}).identity.serials;
    ASSERT_EQ(one.size(), 5U);
    for (const auto& serial : one) EXPECT_EQ(serial.text, "");
    EXPECT_EQ(one[1].keyed, to_hex(hmac_sha256("campaign 7", "board\nZM19AS0001")));
    EXPECT_EQ(with_serials({.key = "campaign 7"}).identity.serials, one);
    EXPECT_NE(with_serials({.key = "campaign 8"}).identity.serials[1].keyed, one[1].keyed);
}

/// Nothing that names one owner, one piece of hardware or one rented machine is in the record.
TEST(Identity, NothingPersonalIsRecorded) {
    for (const char* const name : {"aws-c7a", "bare-metal", "azure-hb", "gcp-a2"}) {
        const auto m = inspect(machine::Sources{.files = tree(name)});
        const auto all = json::to_text(record::to_json(m));
        for (const char* const secret :
             {"ec2b7ad8f5a94f3f", "i-04751aa1358a0a964", "ec2a24ed", "S1234567X", "ZM19AS0001",
              "11111111-2222", "private-name", "secret", "GPU-5c89a2b4"})
            EXPECT_THAT(all, testing::Not(testing::HasSubstr(secret))) << name;
    }
}

} // namespace
} // namespace assay::machine
