// SPDX-License-Identifier: Apache-2.0
#include "machine/guest.hpp"
#include "trees.hpp"

#include <gtest/gtest.h>

#include <string>

namespace assay::machine {
namespace {

TEST(Virtualization, BySignature) {
    const Files nothing{"/no/such/place"};
    EXPECT_EQ(virtualization(nothing, {}, "KVMKVMKVM", true), "kvm");
    EXPECT_EQ(virtualization(nothing, {}, "Microsoft Hv", true), "hyperv");
    EXPECT_EQ(virtualization(nothing, {}, "XenVMMXenVMM", true), "xen");
    EXPECT_EQ(virtualization(nothing, {}, "SomethingNew", true), "other");
    EXPECT_EQ(virtualization(nothing, {}, "", true), "other");
    EXPECT_EQ(virtualization(nothing, {}, "", false), "none");
    EXPECT_EQ(virtualization(nothing, {}, "", std::nullopt), "");
}

TEST(Virtualization, ByFirmwareWhereTheProcessorSaysNothing) {
    const Files nothing{"/no/such/place"};
    const auto says = [&](std::string vendor, std::string product) {
        return virtualization(nothing, {.vendor = std::move(vendor), .product = std::move(product)},
                              "", std::nullopt);
    };
    EXPECT_EQ(says("Amazon EC2", "c7g.large"), "kvm");
    EXPECT_EQ(says("Amazon EC2", "c7g.metal"), "none");
    EXPECT_EQ(says("Amazon EC2", "c7a.metal-48xl"), "none");
    EXPECT_EQ(says("QEMU", "KVM Virtual Machine"), "kvm");
    EXPECT_EQ(says("QEMU", "Standard PC (Q35 + ICH9, 2009)"), "qemu");
    EXPECT_EQ(says("Microsoft Corporation", "Virtual Machine"), "hyperv");
    EXPECT_EQ(says("Google", "Google Compute Engine"), "kvm");
    EXPECT_EQ(says("VMware, Inc.", "VMware7,1"), "vmware");
    EXPECT_EQ(says("Dell Inc.", "PowerEdge R760"), "none");
}

TEST(Virtualization, XenTellsItsDomains) {
    const Scratch scratch;
    scratch.write("/sys/hypervisor/type", "xen\n");
    EXPECT_EQ(virtualization(scratch.files(), {}, "", std::nullopt), "xen");
    scratch.write("/proc/xen/capabilities", "control_d\n");
    EXPECT_EQ(virtualization(scratch.files(), {}, "XenVMMXenVMM", true), "none");
}

TEST(Container, EachLeavesItsTrace) {
    const auto found = [](const std::string& path, const std::string& text) {
        const Scratch scratch;
        scratch.write(path, text);
        return container(scratch.files());
    };
    EXPECT_EQ(found("/.dockerenv", ""), "docker");
    EXPECT_EQ(found("/run/.containerenv", ""), "podman");
    EXPECT_EQ(found("/run/systemd/container", "lxc\n"), "lxc");
    EXPECT_EQ(found("/.singularity.d/env", ""), "apptainer");
    EXPECT_EQ(found("/var/run/secrets/kubernetes.io/token", ""), "kubernetes");
    EXPECT_EQ(found("/proc/self/cgroup", "0::/kubepods.slice/x\n"), "kubernetes");
    EXPECT_EQ(found("/proc/1/cgroup", "4:memory:/docker/1\n"), "docker");
    EXPECT_EQ(found("/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n"), "wsl");
    EXPECT_EQ(found("/proc/self/cgroup", "0::/user.slice\n"), "");
}

TEST(Cloud, ByFirmware) {
    const Files nothing{"/no/such/place"};
    const auto provider = [&](const Firmware& firmware) {
        return read_cloud(nothing, firmware).provider;
    };
    EXPECT_EQ(provider({.vendor = "Xen", .product = "HVM domU", .bios = "Xen 4.11.amazon"}), "aws");
    EXPECT_EQ(provider({.chassis_tag = "OracleCloud.com"}), "oci");
    EXPECT_EQ(provider({.vendor = "Alibaba Cloud", .product = "Alibaba Cloud ECS"}), "alibaba");
    EXPECT_EQ(provider({.vendor = "Tencent Cloud", .product = "CVM"}), "tencent");
    EXPECT_EQ(provider({.vendor = "DigitalOcean", .product = "Droplet"}), "digitalocean");
    EXPECT_EQ(provider({.vendor = "Hetzner", .product = "vServer"}), "hetzner");
    EXPECT_EQ(provider({.vendor = "OpenStack Foundation", .product = "OpenStack Nova"}),
              "openstack");
    EXPECT_EQ(provider({.vendor = "Google", .product = "Chromebook"}), "unknown");
    EXPECT_EQ(provider({.vendor = "Dell Inc."}), "unknown");
}

TEST(Cloud, OldAmazonMachinesDoNotNameTheirType) {
    const Cloud cloud =
        read_cloud(Files{"/x"}, {.vendor = "Xen", .product = "HVM domU", .bios = "Xen 4.2.amazon"});
    EXPECT_EQ(cloud.instance, "HVM domU");
}

TEST(Cloud, CloudInitFillsTheGaps) {
    const Scratch scratch;
    const auto with = [&](std::string_view json) {
        scratch.write("/run/cloud-init/instance-data.json", json);
        return read_cloud(scratch.files(), {});
    };
    EXPECT_EQ(with(R"({"v1":{"cloud_name":"gce"}})").provider, "gcp");
    EXPECT_EQ(with(R"({"v1":{"cloud_name":"nocloud"}})").provider, "unknown");
    EXPECT_EQ(with(R"({"ds":{"meta_data":{"instance-type":"m1.big"}}})").instance, "m1.big");
    // Not names: kept out of the record.
    EXPECT_EQ(with(R"({"ds":{"meta_data":{"instance-type":"a b"}}})").instance, "unknown");
    EXPECT_EQ(with(R"({"ds":{"meta_data":{"instance-type":7}}})").instance, "unknown");
    EXPECT_EQ(with(R"({"ds":[],"v1":"x"})").instance, "unknown");
    EXPECT_EQ(with("{").provider, "unknown");
    EXPECT_EQ(with(std::string(100'000, '[')).provider, "unknown");
}

} // namespace
} // namespace assay::machine
