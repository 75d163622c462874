// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu.hpp"
#include "machine/inventory.hpp"
#include "machine/pci.hpp"
#include "trees.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <initializer_list>

namespace assay::machine {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

record::Machine inspect_tree(std::string_view name, const std::string& synthetic,
                             std::string_view architecture = "x86_64",
                             std::string_view hypervisor = "") {
    return inspect(Sources{.files = tree(name),
                           .shape = described_shape(synthetic),
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
    EXPECT_EQ(m.core_clock_hz, 3.7e9);
    EXPECT_THAT(m.isa,
                AllOf(Contains("avx512_bf16"), Not(Contains("amx_tile")), Not(Contains("avx51"))));
    // The virtual display and the network; the disk is neither.
    using record::PciDevice;
    EXPECT_THAT(m.pci, ElementsAre(AllOf(Field(&PciDevice::kind, "display"),
                                         Field(&PciDevice::name, "Amazon device 1111")),
                                   AllOf(Field(&PciDevice::kind, "network"),
                                         Field(&PciDevice::address, "0000:00:05.0"))));
}

TEST(Inventory, ArmServerHasAName) {
    const auto m = inspect_tree("aws-c7g-metal", "pack:1 core:64 pu:1", "aarch64");
    EXPECT_EQ(m.cpu_model, "AWS Graviton3 (Arm Neoverse V1)");
    EXPECT_EQ(m.cpu_vendor, "Arm");
    EXPECT_EQ(m.virtualization, "none");
    EXPECT_EQ(m.instance, "c7g.metal");
    EXPECT_THAT(m.isa, AllOf(Contains("asimd"), Contains("svebf16")));
}

TEST(Inventory, ArmMachineNamesEachKindOfCoreOnce) {
    const auto m = inspect_tree("arm-big-little", "pack:1 core:4 pu:1", "aarch64");
    EXPECT_EQ(m.cpu_model, "Arm Cortex-A725 + Arm Cortex-X925");
    EXPECT_EQ(m.cpu_vendor, "Arm");
    EXPECT_THAT(m.isa, Contains("sve2"));
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
    const auto model = [&] { return inspect(Sources{.files = scratch.files()}).cpu_model; };
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
    EXPECT_EQ(m.provider, "unknown");
    EXPECT_EQ(m.instance, "SYS-821GE-TNHR");
    EXPECT_EQ(m.system, "Supermicro SYS-821GE-TNHR");
    EXPECT_EQ(m.cpu_model, "Intel(R) Xeon(R) Platinum 8480+");
    // Eight accelerators, the server's display, one network device; not its virtual function.
    EXPECT_THAT(m.pci, SizeIs(10));
    EXPECT_THAT(m.pci,
                Contains(AllOf(Field(&record::PciDevice::kind, "accelerator"),
                               Field(&record::PciDevice::name, "NVIDIA GH100 [H100 SXM5 80GB]")))
                    .Times(8));
    EXPECT_EQ(fact(m, "cache.last_level"), 2.0 * 110100480);
    EXPECT_EQ(fact(m, "cache.l2"), 2097152);
}

TEST(Inventory, AQuotaAllowsWholeCpus) {
    auto m = inspect_tree("cgroup2", "core:4 pu:2");
    EXPECT_EQ(m.cores, 4);
    EXPECT_EQ(m.threads, 8);
    EXPECT_EQ(m.usable_cores, 1);
    EXPECT_EQ(m.usable_threads, 1);
    EXPECT_EQ(m.container, "docker");
    EXPECT_EQ(fact(m, "memory.total"), 4.0 * (1U << 30U));
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
    const auto m = inspect(Sources{.files = Files{"/no/such/place"}});
    EXPECT_EQ(m.provider, "unknown");
    EXPECT_EQ(m.instance, "unknown");
    EXPECT_EQ(m.cpu_model, "");
    EXPECT_EQ(m.virtualization, "");
    EXPECT_THAT(m.id, SizeIs(16));
    EXPECT_TRUE(std::isnan(fact(m, "cores")));
    EXPECT_TRUE(std::isnan(fact(m, "cache.last_level")));
    EXPECT_TRUE(std::isnan(fact(m, "no such fact")));
    EXPECT_EQ(fact_text(m, "isa"), "");
    EXPECT_EQ(fact_text(m, "no such fact"), "");
}

TEST(Inventory, EveryFileOfATreeMayBeAFolder) {
    const Scratch scratch;
    scratch.copy(tree_path("aws-c7a"));
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{scratch.root()})
        if (entry.is_regular_file()) files.push_back(entry.path());
    for (const auto& file : files) {
        std::filesystem::remove(file);
        std::filesystem::create_directory(file);
    }
    EXPECT_EQ(inspect(Sources{.files = scratch.files()}).provider, "unknown");
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

TEST(Cpu, MixedArmCores) {
    const Scratch scratch;
    scratch.write("/proc/cpuinfo", "processor : 0\nFeatures : fp asimd\nCPU implementer : 0x41\n"
                                   "CPU part : 0xd08\n\nprocessor : 1\nCPU implementer : 0x41\n"
                                   "CPU part : 0xd03\n\nprocessor : 2\nCPU implementer : 0x41\n"
                                   "CPU part : 0xd03\n");
    EXPECT_EQ(read_cpu(scratch.files()).model, "Arm Cortex-A72 + Arm Cortex-A53");
    scratch.write("/proc/cpuinfo", "CPU implementer : 0x99\nCPU part : 0x123\n");
    EXPECT_EQ(read_cpu(scratch.files()).model, "0x99 part 0x123");
}

TEST(Cpu, ArmCoresByTheirRegisterWhereCpuinfoSaysLess) {
    const Scratch scratch;
    add_registers(scratch,
                  {"0x00000000410fd850\n", "0x00000000410fd870\n", "0x00000000410fd870\n"});
    scratch.write("/sys/devices/system/cpu/cpu10/regs/identification/midr_el1", "0x410fd800\n");
    scratch.write("/sys/devices/system/cpu/cpufreq/boost", "1\n");
    const std::string all = "Arm Cortex-X925 + Arm Cortex-A725 + Arm Cortex-A520";
    EXPECT_EQ(read_cpu(scratch.files()).model, all) << "nothing said";
    EXPECT_EQ(read_cpu(scratch.files()).vendor, "Arm");
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
    const Scratch scratch;
    scratch.copy(tree_path("bare-metal"));
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
    const auto m = inspect(Options{.core_clock = false});
    EXPECT_GE(fact(m, "cores"), 1);
    EXPECT_GE(fact(m, "threads"), fact(m, "cores"));
    EXPECT_GE(fact(m, "memory.total"), fact(m, "memory.available"));
    EXPECT_GT(fact(m, "memory.available"), 1 << 20);
    EXPECT_TRUE(std::isnan(fact(m, "core_clock_hz")));
    EXPECT_EQ(m.hostname, "");
    EXPECT_THAT(m.software, Contains(Field(&record::Named::name, "compiler")));
    EXPECT_EQ(inspect(Options{.core_clock = false}).id, m.id);
}

TEST(Facts, UnlikeCoresGiveTheSmallestCache) {
    record::Machine m;
    m.caches = {{.level = 1, .type = "instruction", .bytes = 16384, .count = 4},
                {.level = 1, .type = "data", .bytes = 49152, .count = 2},
                {.level = 1, .type = "data", .bytes = 32768, .count = 2},
                {.level = 3, .type = "unified", .bytes = 100, .count = 2},
                {.level = 3, .type = "unified", .bytes = 300, .count = 1}};
    EXPECT_EQ(fact(m, "cache.l1d"), 32768);
    EXPECT_TRUE(std::isnan(fact(m, "cache.l2")));
    EXPECT_EQ(fact(m, "cache.last_level"), 500);
}

} // namespace
} // namespace assay::machine
