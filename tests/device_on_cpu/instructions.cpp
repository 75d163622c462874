// SPDX-License-Identifier: Apache-2.0
//
// What instructions do that C++ has no word for. Matrix instructions as the PTX ISA describes them ("Matrix fragments
// for mma.m8n8k4 ... m16n8k32"), and not as the benchmark that is tested lays out its operands.

#include "device/narrow_float.hpp"
#include "kernels.hpp"

#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <vector>

namespace assay::device_on_cpu {
namespace {

struct Fragments {
    void* c;
    const void* a;
    const void* b;
};

/// Every number of a narrow format.
std::vector<float> numbers_of(device::NarrowFloat format) {
    std::vector<float> numbers;
    const std::uint32_t codes = 2U << (format.exponent_bits + format.mantissa_bits);
    for (std::uint32_t code = 0; code < codes; ++code)
        numbers.push_back(static_cast<float>(device::decode(format, code)));
    return numbers;
}
template <device::NarrowFloat (*format)()>
float narrow(std::uint32_t code) {
    static const std::vector<float> numbers = numbers_of(format());
    return numbers[code];
}
/// The lowest 13 bits are not looked at.
float tf32(std::uint32_t bits) { return std::bit_cast<float>(bits & ~0x1fffU); }
std::int32_t int8(std::uint32_t bits) { return static_cast<std::int8_t>(bits); }
double fp64(std::uint64_t bits) { return std::bit_cast<double>(bits); }

/// c += a b with a of m x k, b of k x 8. `packed` elements follow each other in a register along k; four lanes share a
/// row of a, or a column of b, and have a register each of every four.
template <class Register, class Sum, unsigned m, unsigned k, unsigned packed, auto element>
void multiply(const std::array<void*, warp_lanes>& lanes) {
    constexpr unsigned n = 8;
    constexpr unsigned bits = 8 * sizeof(Register) / packed;
    constexpr Register mask =
        bits == 8 * sizeof(Register) ? ~Register{0} : (Register{1} << bits) - 1;
    std::array<std::array<Sum, k>, m> a{};
    std::array<std::array<Sum, k>, n> b{};
    const auto of = [&](unsigned lane) { return static_cast<const Fragments*>(lanes[lane]); };
    const auto get = [&](const void* registers, unsigned number, unsigned e) {
        Register word{};
        std::memcpy(&word, static_cast<const Register*>(registers) + number, sizeof word);
        return static_cast<Sum>(element((word >> (e * bits)) & mask));
    };
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        if (lanes[lane] == nullptr) return fault("a matrix instruction without all of its lanes");
    for (unsigned at = 0; at < k; ++at) {
        const unsigned in_group = at / packed % 4;
        const unsigned group = at / packed / 4;
        for (unsigned row = 0; row < m; ++row)
            a[row][at] = get(of(row % 8 * 4 + in_group)->a, row / 8 + m / 8 * group, at % packed);
        for (unsigned column = 0; column < n; ++column)
            b[column][at] = get(of(column * 4 + in_group)->b, group, at % packed);
    }
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
        for (unsigned i = 0; i < m * n / warp_lanes; ++i) {
            const auto& row = a[lane / 4 + 8 * (i / 2)];
            const auto& column = b[lane % 4 * 2 + i % 2];
            Sum& sum = static_cast<Sum*>(of(lane)->c)[i];
            for (unsigned at = 0; at < k; ++at) sum += row[at] * column[at];
        }
}

using Word = std::uint32_t;
using Pair = std::uint64_t;
/// In the order of device::Mma.
constexpr std::array<WarpWork, 8> instructions{
    multiply<Word, float, 16, 8, 1, tf32>,
    multiply<Word, float, 16, 16, 2, narrow<device::fp16_format>>,
    multiply<Word, float, 16, 16, 2, narrow<device::bf16_format>>,
    multiply<Word, std::int32_t, 16, 32, 4, int8>,
    multiply<Word, float, 16, 32, 4, narrow<device::e4m3_format>>,
    multiply<Word, float, 16, 32, 4, narrow<device::e5m2_format>>,
    multiply<Pair, double, 16, 16, 1, fp64>,
    multiply<Pair, double, 8, 4, 1, fp64>};

} // namespace

void multiply_add(int instruction, void* c, const void* a, const void* b) {
    Fragments own{c, a, b};
    together(instructions.at(static_cast<std::size_t>(instruction)), &own,
             std::source_location::current());
}

unsigned long long nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<unsigned long long>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
unsigned shared_address(const void* memory) {
    return static_cast<unsigned>(static_cast<const std::byte*>(memory) - dynamic_memory);
}
unsigned load_shared(unsigned at) {
    unsigned word = 0;
    std::memcpy(&word, dynamic_memory + at, sizeof word);
    return word;
}

} // namespace assay::device_on_cpu
