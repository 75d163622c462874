// SPDX-License-Identifier: Apache-2.0
//
// Opcodes in the machine code of a peak's kernels: what decides which units are busy, and no result shows.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {

/// ELF's section headers, as far as they matter.
struct Section {
    std::uint32_t name;
    std::uint32_t rest[5];
    std::uint64_t offset;
    std::uint64_t size;
};

template <class T>
T at(const std::string& bytes, std::uint64_t offset) {
    T value{};
    std::memcpy(&value, bytes.substr(offset, sizeof value).data(), sizeof value);
    return value;
}

/// How often each opcode is in kernels whose name has `part`: the lowest 12 bits of the 16 bytes of an instruction.
std::map<unsigned, unsigned> opcodes(const std::string& cubin, const std::string& part) {
    const auto table = at<std::uint64_t>(cubin, 0x28);
    const auto section = [&](std::uint64_t i) { return at<Section>(cubin, table + 64 * i); };
    const auto names = section(at<std::uint16_t>(cubin, 0x3e)).offset;
    std::map<unsigned, unsigned> counts;
    for (unsigned i = 0; i < at<std::uint16_t>(cubin, 0x3c); ++i) {
        const Section code = section(i);
        const std::string name = cubin.c_str() + names + code.name;
        if (!name.starts_with(".text.") || name.find(part) == name.npos) continue;
        for (std::uint64_t place = 0; place < code.size; place += 16)
            ++counts[at<std::uint16_t>(cubin, code.offset + place) & 0xfffU];
    }
    return counts;
}

TEST(Opcodes, HalfOfThePairsOfMultiplyAddsGoToEachPipeOfHopper) {
    std::ifstream file{ASSAY_FMA_CUBIN, std::ios::binary};
    const std::string cubin{std::istreambuf_iterator<char>{file}, {}};
    ASSERT_GT(cubin.size(), 1000U);
    constexpr unsigned hfma2 = 0x231;
    constexpr unsigned hfma2_mma = 0x235;
    constexpr unsigned hfma2_constant = 0x431;
    constexpr unsigned ffma = 0x223;
    for (const char* format : {"Fp16", "Bf16"}) {
        auto counts = opcodes(cubin, format);
        EXPECT_GT(counts[hfma2], 512U) << format;
        EXPECT_NEAR(counts[hfma2_mma], counts[hfma2], 0.02 * counts[hfma2]) << format;
        EXPECT_EQ(counts[hfma2_constant], 0U) << format;
    }
    EXPECT_EQ(opcodes(cubin, "Fp32")[ffma], 0U) << "its factor and addend are constants";
}

} // namespace
