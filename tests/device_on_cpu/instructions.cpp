// SPDX-License-Identifier: Apache-2.0
//
// Instructions that C++ has no word for. Matrix instructions as the PTX ISA describes them ("Matrix fragments
// for mma.m8n8k4 ... m16n8k32"), and not as the benchmark that is tested lays out its operands.

#include "device/narrow_float.hpp"
#include "kernels.hpp"

#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>
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
float fp32(std::uint32_t bits) { return std::bit_cast<float>(bits); }
/// The lowest 13 bits are not looked at.
float tf32(std::uint32_t bits) { return std::bit_cast<float>(bits & ~0x1fffU); }
std::int32_t int8(std::uint32_t bits) { return static_cast<std::int8_t>(bits); }
double fp64(std::uint64_t bits) { return std::bit_cast<double>(bits); }

/// Where elements of a and b are, k = 0 first, and where sums are.
struct ElementPlace {
    unsigned lane;
    unsigned reg;
};

/// mma.sync: a of m x k, b of k x 8. `packed` elements follow each other in a register along k; four lanes share a row
/// of a, or a column of b, and have a register each of every four.
template <unsigned rows>
struct Nvidia {
    static constexpr unsigned lanes = 32;
    static constexpr unsigned m = rows;
    static constexpr unsigned n = 8;
    static constexpr ElementPlace a(unsigned row, unsigned word, unsigned /*of_lane*/) {
        return {row % 8 * 4 + word % 4, row / 8 + m / 8 * (word / 4)};
    }
    static constexpr ElementPlace b(unsigned column, unsigned word, unsigned /*of_lane*/) {
        return {column * 4 + word % 4, word / 4};
    }
    static constexpr unsigned row(unsigned lane, unsigned sum) { return lane / 4 + 8 * (sum / 2); }
    static constexpr unsigned column(unsigned lane, unsigned sum) { return lane % 4 * 2 + sum % 2; }
};

/// MFMA 16 x 16: sixteen lanes have the rows of a, or the columns of b, and each group of sixteen a quarter of k, one
/// register after the other. A lane has four sums of a column: neighbours, or with fp64 every fourth row.
template <bool is_fp64>
struct Amd {
    static constexpr unsigned lanes = 64;
    static constexpr unsigned m = 16;
    static constexpr unsigned n = 16;
    static constexpr ElementPlace a(unsigned row, unsigned word, unsigned of_lane) {
        return {word / of_lane * 16 + row, word % of_lane};
    }
    static constexpr ElementPlace b(unsigned column, unsigned word, unsigned of_lane) {
        return a(column, word, of_lane);
    }
    static constexpr unsigned row(unsigned lane, unsigned sum) {
        return is_fp64 ? lane / 16 + 4 * sum : lane / 16 * 4 + sum;
    }
    static constexpr unsigned column(unsigned lane, unsigned /*sum*/) { return lane % 16; }
};

/// Sums as registers hold them.
template <class T>
struct Whole {
    using Sum = T;
    static T get(const void* c, unsigned i) { return static_cast<const T*>(c)[i]; }
    static void put(void* c, unsigned i, T value) { static_cast<T*>(c)[i] = value; }
};
/// Ada's and Hopper's sums of fp8 products: fp32 that keeps 13 bits behind the leading one.
struct Cut : Whole<float> {
    static void put(void* c, unsigned i, float value) {
        static_cast<float*>(c)[i] =
            std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~0x3ffU);
    }
};
/// fp16, two in a register.
struct Halves {
    using Sum = float;
    static float get(const void* c, unsigned i) {
        std::uint16_t code = 0;
        std::memcpy(&code, static_cast<const std::byte*>(c) + i * sizeof code, sizeof code);
        return narrow<device::fp16_format>(code);
    }
    static void put(void* c, unsigned i, float value) {
        const auto code = static_cast<std::uint16_t>(device::encode(device::fp16_format(), value));
        std::memcpy(static_cast<std::byte*>(c) + i * sizeof code, &code, sizeof code);
    }
};

/// 2:4 sparsity, "Sparse matrix storage": a row of a moves to the places that the metadata names. Four bits are for
/// two elements of four, those of tf32 for one of two. k of one row is split over two lanes: those of 16 and 32 bits
/// have 16 bits for a row and 16 for the eighth one below, those of 8 bits have 32 for one row.
template <class Sum, unsigned k, unsigned packed>
bool spread(std::array<Sum, k>& elements, unsigned row, const auto& metadata_of) {
    constexpr unsigned chunk = packed == 1 ? 2 : 4;
    const auto given = std::exchange(elements, {});
    for (unsigned at = 0; at < k; at += chunk) {
        const unsigned half = at / (k / 2);
        const unsigned of_half = at % (k / 2) / chunk;
        const unsigned lane = row % 8 * 4 + (packed == 4 ? 2 * half + row / 8 : half);
        const unsigned shift = 4 * of_half + (packed == 4 ? 0 : row / 8 * 16);
        const unsigned code = metadata_of(lane) >> shift & 0xfU;
        const unsigned first = code & 3U;
        const unsigned second = code >> 2U;
        if (chunk == 2 ? code != 0b0100U && code != 0b1110U : first >= second) return false;
        elements[at + first / (4 / chunk)] = given[at / 2];
        if (chunk == 4) elements[at + second] = given[at / 2 + 1];
    }
    return true;
}

template <class Shape, class Register, class Sums, unsigned k, unsigned packed, auto element,
          bool is_sparse = false>
void multiply(const std::array<void*, most_lanes>& lanes) {
    using Sum = typename Sums::Sum;
    constexpr unsigned bits = 8 * sizeof(Register) / packed;
    constexpr Register mask =
        bits == 8 * sizeof(Register) ? ~Register{0} : (Register{1} << bits) - 1;
    constexpr unsigned words_of_lane = k / packed / 4;
    std::array<std::array<Sum, k>, Shape::m> a{};
    std::array<std::array<Sum, k>, Shape::n> b{};
    const auto of = [&](unsigned lane) { return static_cast<const Fragments*>(lanes[lane]); };
    const auto get = [&](const void* registers, unsigned number, unsigned e) {
        Register word{};
        std::memcpy(&word, static_cast<const Register*>(registers) + number, sizeof word);
        return static_cast<Sum>(element((word >> (e * bits)) & mask));
    };
    for (unsigned lane = 0; lane < most_lanes; ++lane)
        if ((lanes[lane] != nullptr) != (lane < Shape::lanes))
            return fault("a matrix instruction without all of its lanes, or with too many");
    for (unsigned at = 0; at < k; ++at) {
        for (unsigned row = 0; row < Shape::m && at < (is_sparse ? k / 2 : k); ++row) {
            const auto place = Shape::a(row, at / packed, words_of_lane);
            a[row][at] = get(of(place.lane)->a, place.reg, at % packed);
        }
        for (unsigned column = 0; column < Shape::n; ++column) {
            const auto place = Shape::b(column, at / packed, words_of_lane);
            b[column][at] = get(of(place.lane)->b, place.reg, at % packed);
        }
    }
    if constexpr (is_sparse)
        for (unsigned row = 0; row < Shape::m; ++row)
            if (!spread<Sum, k, packed>(a[row], row, [&](unsigned lane) {
                    constexpr unsigned after_a = Shape::m * (k / 2) / packed / Shape::lanes;
                    return static_cast<const Register*>(of(lane)->a)[after_a];
                }))
                return fault("a matrix instruction with metadata of no two elements in order");
    for (unsigned lane = 0; lane < Shape::lanes; ++lane)
        for (unsigned i = 0; i < Shape::m * Shape::n / Shape::lanes; ++i) {
            const auto& row = a[Shape::row(lane, i)];
            const auto& column = b[Shape::column(lane, i)];
            Sum sum = Sums::get(of(lane)->c, i);
            for (unsigned at = 0; at < k; ++at) sum += row[at] * column[at];
            Sums::put(of(lane)->c, i, sum);
        }
}

using Word = std::uint32_t;
using Pair = std::uint64_t;
/// In the order of device::Mma.
constexpr std::array<WarpWork, 27> instructions{
    multiply<Nvidia<16>, Word, Whole<float>, 8, 1, tf32>,
    multiply<Nvidia<16>, Word, Whole<float>, 16, 2, narrow<device::fp16_format>>,
    multiply<Nvidia<16>, Word, Whole<float>, 16, 2, narrow<device::bf16_format>>,
    multiply<Nvidia<16>, Word, Whole<std::int32_t>, 32, 4, int8>,
    multiply<Nvidia<16>, Word, Cut, 32, 4, narrow<device::e4m3_format>>,
    multiply<Nvidia<16>, Word, Cut, 32, 4, narrow<device::e5m2_format>>,
    multiply<Nvidia<16>, Pair, Whole<double>, 16, 1, fp64>,
    multiply<Nvidia<8>, Pair, Whole<double>, 4, 1, fp64>,
    multiply<Amd<false>, Word, Whole<float>, 16, 2, narrow<device::fp16_format>>,
    multiply<Amd<false>, Word, Whole<float>, 16, 2, narrow<device::bf16_format>>,
    multiply<Amd<false>, Word, Whole<std::int32_t>, 16, 4, int8>,
    multiply<Amd<false>, Word, Whole<std::int32_t>, 32, 4, int8>,
    multiply<Amd<true>, Pair, Whole<double>, 4, 1, fp64>,
    multiply<Amd<false>, Word, Whole<float>, 4, 1, fp32>,
    multiply<Amd<false>, Word, Whole<float>, 8, 1, tf32>,
    multiply<Amd<false>, Word, Whole<float>, 32, 4, narrow<device::e4m3fnuz_format>>,
    multiply<Amd<false>, Word, Whole<float>, 32, 4, narrow<device::e5m2fnuz_format>>,
    multiply<Amd<false>, Word, Whole<float>, 32, 4, narrow<device::e4m3_format>>,
    multiply<Amd<false>, Word, Whole<float>, 32, 4, narrow<device::e5m2_format>>,
    multiply<Nvidia<16>, Word, Halves, 16, 2, narrow<device::fp16_format>>,
    multiply<Nvidia<16>, Word, Whole<float>, 16, 1, tf32, true>,
    multiply<Nvidia<16>, Word, Whole<float>, 32, 2, narrow<device::fp16_format>, true>,
    multiply<Nvidia<16>, Word, Whole<float>, 32, 2, narrow<device::bf16_format>, true>,
    multiply<Nvidia<16>, Word, Whole<std::int32_t>, 64, 4, int8, true>,
    multiply<Nvidia<16>, Word, Cut, 64, 4, narrow<device::e4m3_format>, true>,
    multiply<Nvidia<16>, Word, Cut, 64, 4, narrow<device::e5m2_format>, true>,
    multiply<Nvidia<16>, Word, Halves, 32, 2, narrow<device::fp16_format>, true>};

} // namespace

void multiply_matrices(device::Mma instruction, void* c, const void* a, const void* b) {
    Fragments own{c, a, b};
    together(instructions.at(static_cast<std::size_t>(instruction)), &own,
             std::source_location::current());
}

/// "Matrix-descriptor", no swizzling: its address, from one core matrix (8 columns by 16 bytes) to the next along k,
/// and to those of the next 8 columns, 14 bits each, in units of 16 bytes.
void multiply_columns(device::Mma instruction, unsigned tile, void* c, const void* a,
                      unsigned long long descriptor) {
    const auto bytes = [&](unsigned bit) { return (descriptor >> bit & 0x3fffU) * 16; };
    const std::byte* from = dynamic_memory + bytes(0) + bytes(32) * tile + 4 * std::size_t{lane()};
    std::array<Word, 4> b{}; // more than a dense instruction reads
    for (std::size_t part = 0; part < b.size(); ++part)
        if (bytes(16) * part < bytes(32))
            std::memcpy(&b.at(part), from + bytes(16) * part, sizeof(Word));
    multiply_matrices(instruction, c, a, b.data());
}

unsigned long long nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<unsigned long long>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
// fp32: 1 ulp. Either neighbour, by a bit of the operand.
float reciprocal(float x) {
    const float away = (std::bit_cast<std::uint32_t>(x) & 1U) != 0 ? 2.0F : 0.0F;
    return std::nextafter(1 / x, away);
}
// fp64: only the upper words of operand and result.
double reciprocal(double x) {
    constexpr std::uint64_t upper = ~std::uint64_t{0xffffffff};
    const auto cut = [](double y) { return fp64(std::bit_cast<std::uint64_t>(y) & upper); };
    return cut(1 / cut(x));
}
unsigned cycles() { return static_cast<unsigned>(nanoseconds()); }
unsigned multiprocessor() { return place.block.x; }
unsigned shared_address(const void* memory) {
    return static_cast<unsigned>(static_cast<const std::byte*>(memory) - dynamic_memory);
}
unsigned load_shared(unsigned at) {
    unsigned word = 0;
    std::memcpy(&word, dynamic_memory + at, sizeof word);
    return word;
}

} // namespace assay::device_on_cpu
