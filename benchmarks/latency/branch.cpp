// SPDX-License-Identifier: Apache-2.0
#include <assay/define.hpp>

#include <bit>

namespace assay::latency {
namespace {

class Branch {
public:
    enum class Pattern : std::uint8_t { steady, random };
    struct Params {
        Pattern pattern = Pattern::random;
    };
    static constexpr Info info{
        .id = "latency.branch",
        .question = "How long does a branch take that cannot be predicted?",
        .method = "A million branches on the bits of words, one after the other: all bits are set "
                  "(steady), or random. Checked: the branches that were taken, against the bits of "
                  "the random seed.",
        .caveats =
            "Half of the random branches are mispredicted: a misprediction costs twice the "
            "difference between random and steady. The code behind a branch is one addition; a "
            "program whose loads must be repeated pays more. The sequence is too long for a "
            "predictor to remember.",
        .headline = "latency",
        .noise = Noise::latency,
        .reproducible = true,
    };
    static constexpr std::tuple axes{
        choice("pattern", "steady: always taken; random: taken half of the times", &Params::pattern,
               {Name{"steady", Pattern::steady}, Name{"random", Pattern::random}}),
    };

    static Fit fit(const Params& /*p*/, const Machine& /*m*/) { return Fit::yes(); }
    Branch(const Params& p, const Context& context) : pattern_{p.pattern}, words_(count) {
        for (std::size_t i = 0; i < count; ++i) words_[i] = word(i);
        context.setting("branches", count * bits);
    }
    void run() noexcept {
        std::uint64_t taken = 0;
        for (std::uint64_t word : words_)
            for (std::size_t i = 0; i < bits; ++i, word >>= 1U)
                if ((word & 1U) != 0) {
                    ++taken;
                    // A statement that may not be executed ahead of its turn: no addition of the bit instead.
                    asm volatile("" : "+r"(taken)); // NOLINT(hicpp-no-assembler)
                }
        taken_ = taken;
    }
    Work work() const { return {.steps = static_cast<double>(count * bits)}; }
    Check verify() const {
        std::uint64_t expected = 0;
        for (std::size_t i = 0; i < count; ++i)
            expected += static_cast<std::uint64_t>(std::popcount(word(i)));
        return check_value(std::fabs(static_cast<double>(taken_) - static_cast<double>(expected)),
                           0, "the branches that were taken, against the bits that are set",
                           joined(taken_, " branches were taken instead of ", expected));
    }
    Outputs outputs() const { return {taken_}; }
    void poison() { taken_ = 0; }
    void spoil() { taken_ += 1; }

private:
    static constexpr std::size_t bits = 64;
    static constexpr std::size_t count = 1 << 14; // words: they stay in the second-level cache

    std::uint64_t word(std::size_t i) const {
        constexpr std::uint64_t seed = 49;
        return pattern_ == Pattern::steady ? ~std::uint64_t{0} : random_bits(seed, i);
    }

    Pattern pattern_;
    std::vector<std::uint64_t> words_;
    std::uint64_t taken_ = 0;
};

} // namespace

extern constinit const assay_benchmark branch = define<Branch>();

} // namespace assay::latency
