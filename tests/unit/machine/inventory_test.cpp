// SPDX-License-Identifier: Apache-2.0

#include "base/text.hpp"
#include "machine/cpu.hpp"
#include "machine/files.hpp"
#include "machine/guest.hpp"
#include "machine/inventory.hpp"
#include "scratch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <string>

namespace assay::machine {
namespace {

using namespace testing;

record::Machine inspect_tree(std::string_view name, const std::string& synthetic,
                             std::string_view architecture = "x86_64",
                             std::string_view hypervisor = "") {
    return inspect(machine::Sources{.files = tree(name),
                                    .shape = machine::described_shape(synthetic),
                                    .architecture = std::string{architecture},
                                    .hypervisor = std::string{hypervisor},
                                    .core_clock_hz = 3.7e9});
}

TEST(Inventory, AmazonInstance) {
    const auto m =
        inspect_tree("aws-c7a", "pack:1 l3:1(size=8388608) core:2 pu:1", "x86_64", "KVMKVMKVM");
    EXPECT_EQ(m.provider, "aws");
    EXPECT_EQ(m.instance, "c7a.large");
    EXPECT_EQ(m.system, "Amazon EC2 c7a.large");
    EXPECT_EQ(m.cpu_model, "AMD EPYC 9R14");
    EXPECT_EQ(m.cpu_vendor, "AuthenticAMD");
    EXPECT_EQ(m.virtualization, "kvm");
    EXPECT_EQ(m.container, "");
    EXPECT_EQ(m.os, "Debian GNU/Linux 12 (bookworm)");
    EXPECT_EQ(m.kernel, "6.1.0-18-cloud-amd64");
    EXPECT_EQ(m.memory_bytes, std::int64_t{3'936'120} * 1024);
    EXPECT_EQ(m.usable_cores, 2);
    EXPECT_THAT(m.isa,
                AllOf(Contains("avx512_bf16"), Not(Contains("amx_tile")), Not(Contains("avx51"))));
    // The virtual display and the network; the disk is neither.
    using record::PciDevice;
    EXPECT_THAT(m.pci, ElementsAre(AllOf(Field(&PciDevice::kind, "display"),
                                         Field(&PciDevice::name, "Amazon device 1111")),
                                   AllOf(Field(&PciDevice::kind, "network"),
                                         Field(&PciDevice::address, "0000:00:05.0"))));
}

TEST(Inventory, ArmMachineNamesChipAndEachKindOfCoreOnce) {
    const auto m = inspect_tree("aws-c7g-metal", "pack:1 core:64 pu:1", "aarch64");
    EXPECT_EQ(m.cpu_model, "AWS Graviton3 (Arm Neoverse V1)");
    EXPECT_EQ(m.cpu_vendor, "Arm");
    EXPECT_EQ(m.virtualization, "none");
    EXPECT_EQ(m.instance, "c7g.metal");
    EXPECT_THAT(m.isa, AllOf(Contains("asimd"), Contains("svebf16")));
    const auto two = inspect_tree("arm-big-little", "pack:1 core:4 pu:1", "aarch64");
    EXPECT_EQ(two.cpu_model, "Arm Cortex-A725 + Arm Cortex-X925");
}

/// An Arm machine with these cores, as the kernel shows their registers.
void add_registers(const Scratch& scratch, std::initializer_list<const char*> cores) {
    int cpu = 0;
    for (const char* const midr : cores)
        scratch.write(
            fmt::format("/sys/devices/system/cpu/cpu{}/regs/identification/midr_el1", cpu++), midr);
}

TEST(Inventory, ChipsWithCoresOfOneNameAreToldApart) {
    const Scratch scratch;
    add_registers(scratch, {"0x00000000410fd4f0\n"});
    const auto model = [&] {
        return inspect(machine::Sources{.files = scratch.files()}).cpu_model;
    };
    EXPECT_EQ(model(), "Arm Neoverse V2") << "whose is not known";
    const std::string firmware = "/sys/class/dmi/id/";
    scratch.write(firmware + "sys_vendor", "Amazon EC2\n");
    for (const char* const type : {"r8g.48xlarge", "c8gd.metal-24xl", "x8g.large"}) {
        scratch.write(firmware + "product_name", type);
        EXPECT_EQ(model(), "AWS Graviton4 (Arm Neoverse V2)") << type;
    }
    for (const char* const type : {"p6e-gb200.36xlarge", "g9.large", "unheard-of", "g"}) {
        scratch.write(firmware + "product_name", type);
        EXPECT_EQ(model(), "Arm Neoverse V2") << type;
    }
    scratch.write("/sys/bus/soc/devices/soc0/soc_id", "jep106:0426:0001\n");
    EXPECT_EQ(model(), "Arm Neoverse V2");
    scratch.write("/sys/bus/soc/devices/soc1/soc_id", "jep106:036b:0241\n");
    EXPECT_EQ(model(), "NVIDIA Grace (Arm Neoverse V2)");
    add_registers(scratch, {"0x00000000410fd8e0\n"});
    EXPECT_EQ(model(), "Arm Neoverse N3") << "Grace has other cores";
    scratch.write(firmware + "product_name", "a1.metal");
    add_registers(scratch, {"0x00000000410fd083\n"});
    EXPECT_EQ(model(), "AWS Graviton (Arm Cortex-A72)");
}

TEST(Inventory, GoogleAcceleratorsWithAndWithoutADriver) {
    const auto m = inspect_tree("gcp-a2", "core:6 pu:2", "x86_64", "KVMKVMKVM");
    EXPECT_EQ(m.provider, "gcp");
    EXPECT_EQ(m.instance, "Google Compute Engine");
    using record::PciDevice;
    EXPECT_THAT(m.pci, ElementsAre(AllOf(Field(&PciDevice::kind, "accelerator"),
                                         Field(&PciDevice::name, "NVIDIA A100-SXM4-40GB")),
                                   Field(&PciDevice::kind, "network"),
                                   AllOf(Field(&PciDevice::kind, "accelerator"),
                                         Field(&PciDevice::device_id, "0063"))));
}

TEST(Inventory, AzureSaysItsSizeThroughCloudInit) {
    const auto m = inspect_tree("azure-hb", "core:2 pu:1", "x86_64", "Microsoft Hv");
    EXPECT_EQ(m.provider, "azure");
    EXPECT_EQ(m.instance, "Standard_HB176rs_v4");
    EXPECT_EQ(m.virtualization, "hyperv");
    EXPECT_THAT(m.pci, ElementsAre(Field(&record::PciDevice::kind, "infiniband"),
                                   Field(&record::PciDevice::kind, "network")));
}

TEST(Inventory, BareMetalWithTwoSocketsAndEightAccelerators) {
    const auto m = inspect_tree(
        "bare-metal", "pack:2 numa:1 l3:1(size=110100480) l2:56(size=2097152) core:1 pu:2");
    EXPECT_EQ(m.sockets, 2);
    EXPECT_EQ(m.cores, 112);
    EXPECT_EQ(m.threads, 224);
    EXPECT_EQ(m.numa_nodes, 2);
    EXPECT_EQ(m.virtualization, "none");
    EXPECT_EQ(m.system, "Supermicro SYS-821GE-TNHR");
    EXPECT_EQ(m.cpu_model, "Intel(R) Xeon(R) Platinum 8480+");
    // Eight accelerators, the server's display, one network device; not its virtual function.
    EXPECT_THAT(m.pci, SizeIs(10));
    EXPECT_THAT(m.pci,
                Contains(AllOf(Field(&record::PciDevice::kind, "accelerator"),
                               Field(&record::PciDevice::name, "NVIDIA GH100 [H100 SXM5 80GB]")))
                    .Times(8));
    EXPECT_EQ(machine::fact(m, "cache.last_level"), 2.0 * 110100480);
    EXPECT_EQ(machine::fact(m, "cache.l2"), 2097152);
}

TEST(Inventory, AQuotaAllowsWholeCpus) {
    auto m = inspect_tree("cgroup2", "core:4 pu:2");
    EXPECT_EQ(m.cores, 4);
    EXPECT_EQ(m.threads, 8);
    EXPECT_EQ(m.usable_cores, 1);
    EXPECT_EQ(m.usable_threads, 1);
    EXPECT_EQ(m.container, "docker");
    EXPECT_EQ(machine::fact(m, "memory.total"), 4.0 * (1U << 30U));
    m = inspect_tree("cgroup2-nested", "core:4 pu:2"); // 8 CPUs' worth, for 4 cores
    EXPECT_EQ(m.usable_cores, 4);
    EXPECT_EQ(m.usable_threads, 8);
}

TEST(Inventory, GarbageIsSurvivedAndStaysPrintable) {
    const auto m = inspect_tree("garbage", "");
    for (const std::string& text : {m.cpu_model, m.cpu_vendor, m.os, m.kernel, m.virtualization,
                                    m.provider, m.instance, m.system, m.huge_pages})
        for (const char c : text) EXPECT_TRUE(c >= ' ' && c <= '~');
    EXPECT_THAT(m.pci, IsEmpty());
    EXPECT_EQ(m.memory_bytes, std::nullopt);
    EXPECT_EQ(m.provider, "unknown");
    EXPECT_THAT(m.id, SizeIs(16));
}

TEST(Inventory, NothingAtAll) {
    const auto m = inspect(machine::Sources{.files = machine::Files{"/no/such/place"}});
    EXPECT_EQ(m.provider, "unknown");
    EXPECT_EQ(m.instance, "unknown");
    EXPECT_EQ(m.virtualization, "");
    EXPECT_THAT(m.id, SizeIs(16));
    for (const char* const name : {"cores", "cache.last_level", "no such fact"})
        EXPECT_TRUE(std::isnan(machine::fact(m, name))) << name;
    EXPECT_EQ(machine::fact_text(m, "no such fact"), "");
}

TEST(Inventory, EveryFileOfATreeMayBeAFolder) {
    const Scratch scratch{tree_path("aws-c7a")};
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{scratch.root()})
        if (entry.is_regular_file()) files.push_back(entry.path());
    for (const auto& file : files) {
        std::filesystem::remove(file);
        std::filesystem::create_directory(file);
    }
    EXPECT_EQ(inspect(machine::Sources{.files = scratch.files()}).provider, "unknown");
}

TEST(Cpu, AGiganticCpuinfoIsReadInPart) {
    const Scratch scratch;
    const std::string block = "processor\t: 0\nmodel name\t: Big\nflags\t\t: avx2\n\n";
    std::string text;
    while (text.size() < (std::size_t{8} << 20U)) text += block;
    scratch.write("/proc/cpuinfo", text);
    EXPECT_EQ(read_cpu(scratch.files()).model, "Big");
    scratch.write("/proc/cpuinfo", "flags : " + std::string(8U << 20U, 'x'));
    EXPECT_THAT(read_cpu(scratch.files()).isa, IsEmpty());
    std::string many = "flags : ";
    for (int i = 0; i < 100'000; ++i) many += "x ";
    scratch.write("/proc/cpuinfo", many);
    EXPECT_THAT(read_cpu(scratch.files()).isa, SizeIs(1000));
}

TEST(Cpu, ArmCoresByTheirRegisterWhereCpuinfoSaysLess) {
    const Scratch scratch;
    add_registers(scratch,
                  {"0x00000000410fd850\n", "0x00000000410fd870\n", "0x00000000410fd870\n"});
    scratch.write("/sys/devices/system/cpu/cpu10/regs/identification/midr_el1", "0x410fd800\n");
    scratch.write("/sys/devices/system/cpu/cpufreq/boost", "1\n");
    const std::string all = "Arm Cortex-X925 + Arm Cortex-A725 + Arm Cortex-A520";
    EXPECT_EQ(read_cpu(scratch.files()).model, all) << "nothing said";
    scratch.write("/proc/cpuinfo", "processor : 0\nBogoMIPS : 50.00\nFeatures : fp asimd\n");
    EXPECT_EQ(read_cpu(scratch.files()).model, all);
    scratch.write("/proc/cpuinfo", "model name : ARMv8 Processor rev 1 (v8l)\n"
                                   "CPU implementer : 0x41\nCPU part : 0xd4f\n");
    EXPECT_EQ(read_cpu(scratch.files()).model, "Arm Neoverse V2") << "told a process of 32 bits";
    scratch.write("/proc/cpuinfo", "vendor_id : GenuineIntel\nmodel name : Xeon\n");
    EXPECT_EQ(read_cpu(scratch.files()).model, "Xeon");
}

TEST(Cpu, ARegisterThatIsNoneIsPassedOver) {
    for (const char* const text : {"", "0x", "410fd4f0", "0x410fd4f0z", "-1", "0x1ffffffffffffffff",
                                   "0x\xff\xfe", "(null)"}) {
        const Scratch scratch;
        add_registers(scratch, {text});
        EXPECT_EQ(read_cpu(scratch.files()).model, "") << text;
    }
    const Scratch scratch;
    add_registers(scratch, {"0x99ffffff990f1230\n"});
    EXPECT_EQ(read_cpu(scratch.files()).model, "0x99 part 0x123") << "known by no name";
}

TEST(Pci, NamesOfIdsWithoutTheirVendor) {
    const Scratch scratch{tree_path("bare-metal")};
    scratch.write("/usr/share/misc/pci.ids", "\t2330 not ours\n10de\n15b3 next\n\t2330 wrong\n");
    EXPECT_THAT(read_pci(scratch.files()),
                Contains(Field(&record::PciDevice::name, "NVIDIA device 2330")).Times(8));
}

TEST(Pci, IdsThatAreNoIdsAreLeftOut) {
    const Scratch scratch;
    const std::string folder = "/sys/bus/pci/devices/0000:00:01.0/";
    scratch.write(folder + "vendor", "0x10de\n");
    scratch.write(folder + "device", "<script>\n");
    for (const char* const code : {"", "0x", "030200", "0x03020", "0x0302000", "0xgg0000"}) {
        scratch.write(folder + "class", code);
        EXPECT_THAT(read_pci(scratch.files()), IsEmpty()) << code;
    }
    scratch.write(folder + "class", "0x030200\n");
    EXPECT_THAT(read_pci(scratch.files()), ElementsAre(Field(&record::PciDevice::device_id, "")));
}

TEST(Facts, ThisMachine) {
    const auto m = inspect(machine::Options{.core_clock = false});
    EXPECT_GE(machine::fact(m, "cores"), 1);
    EXPECT_GE(machine::fact(m, "threads"), machine::fact(m, "cores"));
    EXPECT_GE(machine::fact(m, "memory.total"), machine::fact(m, "memory.available"));
    EXPECT_GT(machine::fact(m, "memory.available"), 1 << 20);
    EXPECT_TRUE(std::isnan(machine::fact(m, "core_clock_hz")));
    EXPECT_EQ(m.hostname, "");
    EXPECT_THAT(m.software, Contains(Field(&record::Named::name, "compiler")));
    EXPECT_EQ(inspect(machine::Options{.core_clock = false}).id, m.id);
}

TEST(Facts, UnlikeCoresGiveTheSmallestCache) {
    record::Machine m;
    m.caches = {{.level = 1, .type = "instruction", .bytes = 16384, .count = 4},
                {.level = 1, .type = "data", .bytes = 49152, .count = 2},
                {.level = 1, .type = "data", .bytes = 32768, .count = 2},
                {.level = 3, .type = "unified", .bytes = 100, .count = 2},
                {.level = 3, .type = "unified", .bytes = 300, .count = 1}};
    EXPECT_EQ(machine::fact(m, "cache.l1d"), 32768);
    EXPECT_TRUE(std::isnan(machine::fact(m, "cache.l2")));
    EXPECT_EQ(machine::fact(m, "cache.last_level"), 500);
}

// --- guests and clouds -------------------------------------------------------------------------------

TEST(Virtualization, BySignature) {
    const machine::Files nothing{"/no/such/place"};
    EXPECT_EQ(virtualization(nothing, {}, "KVMKVMKVM", true), "kvm");
    EXPECT_EQ(virtualization(nothing, {}, "Microsoft Hv", true), "hyperv");
    EXPECT_EQ(virtualization(nothing, {}, "XenVMMXenVMM", true), "xen");
    EXPECT_EQ(virtualization(nothing, {}, "SomethingNew", true), "other");
    EXPECT_EQ(virtualization(nothing, {}, "", true), "other");
    EXPECT_EQ(virtualization(nothing, {}, "", false), "none");
    EXPECT_EQ(virtualization(nothing, {}, "", std::nullopt), "");
}

TEST(Virtualization, ByFirmwareWhereTheProcessorSaysNothing) {
    const machine::Files nothing{"/no/such/place"};
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
    const machine::Files nothing{"/no/such/place"};
    const auto provider = [&](const machine::Firmware& firmware) {
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
    const machine::Cloud cloud = read_cloud(
        machine::Files{"/x"}, {.vendor = "Xen", .product = "HVM domU", .bios = "Xen 4.2.amazon"});
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

// --- files of the kernel -----------------------------------------------------------------------------

TEST(Cloud, NamesBurstableTypes) {
    const auto is_burstable = [](const char* provider, const char* type) {
        const Scratch scratch;
        scratch.write("/run/cloud-init/instance-data.json",
                      fmt::format(R"({{"v1": {{"cloud_name": "{}"}},
                                       "ds": {{"meta_data": {{"instance-type": "{}"}}}}}})",
                                  provider, type));
        return read_cloud(scratch.files(), {}).burstable;
    };
    for (const auto& [provider, type] : {std::pair{"aws", "t2.micro"},
                                         {"aws", "t3.large"},
                                         {"aws", "t3a.nano"},
                                         {"aws", "t4g.2xlarge"},
                                         {"azure", "Standard_B2ms"},
                                         {"azure", "Standard_B4als_v2"},
                                         {"gce", "e2-micro"},
                                         {"gce", "e2-medium"}})
        EXPECT_TRUE(is_burstable(provider, type)) << type;
    for (const auto& [provider, type] : {std::pair{"aws", "c7a.large"},
                                         {"aws", "trn1.2xlarge"},
                                         {"azure", "Standard_D2s_v5"},
                                         {"gce", "e2-standard-4"},
                                         {"hetzner", "t3.large"}})
        EXPECT_FALSE(is_burstable(provider, type)) << type;
}

TEST(Files, MissingIsEmpty) {
    const machine::Files files{"/no/such/place"};
    EXPECT_FALSE(files.exists("/proc"));
    EXPECT_EQ(files.text("/proc/cpuinfo"), "");
    EXPECT_EQ(files.line("/proc/cpuinfo"), "");
    EXPECT_EQ(files.number("/x"), std::nullopt);
    EXPECT_THAT(files.names("/"), IsEmpty());
    EXPECT_EQ(files.link_name("/x"), "");
}

TEST(Files, ReadsNoMoreThanTheLimit) {
    const Scratch scratch;
    scratch.write("/big", std::string(1'000'000, 'x'));
    EXPECT_EQ(scratch.files().text("/big").size(), machine::Files::text_limit);
    EXPECT_EQ(scratch.files().text("/big", 10), std::string(10, 'x'));
    EXPECT_EQ(scratch.files().line("/big").size(), 200U);
}

TEST(Files, AFolderOrAPipeIsNoText) {
    const Scratch scratch;
    scratch.write("/folder/file", "x");
    ASSERT_EQ(::mkfifo((scratch.root() / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(scratch.files().text("/folder"), "");
    EXPECT_EQ(scratch.files().text("/pipe"), "");
}

TEST(Files, OnlyPrintableTextLeaves) {
    const Scratch scratch;
    scratch.write("/a", "x\x01\xffy\tz\n second");
    EXPECT_EQ(scratch.files().line("/a"), "x??y z");
    using namespace std::string_literals;
    scratch.write("/b", "model\0rest"s);
    EXPECT_EQ(scratch.files().text("/b"), "model");
}

TEST(Files, NumbersAreWholeWords) {
    const Scratch scratch;
    scratch.write("/a", " 42 rest\n");
    scratch.write("/b", "42x\n");
    scratch.write("/c", "99999999999999999999\n");
    EXPECT_EQ(scratch.files().number("/a"), 42);
    EXPECT_EQ(scratch.files().number("/b"), std::nullopt);
    EXPECT_EQ(scratch.files().number("/c"), std::nullopt);
}

TEST(Text, SplitsAndFinds) {
    EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
    EXPECT_THAT(words("  a \t b\n"), ElementsAre("a", "b"));
    EXPECT_THAT(words(" \n"), IsEmpty());
    EXPECT_EQ(value_of("ab : 1\na\t: 2\na: 3", "a", ':'), "2");
    EXPECT_EQ(value_of("a", "a", ':'), "");
    EXPECT_EQ(to_number(""), std::nullopt);
    EXPECT_EQ(to_number("-7"), -7);
}

} // namespace
} // namespace assay::machine
