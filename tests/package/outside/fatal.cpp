// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks that take their process down, each in its own way. Each may cost its own case, nothing else.
#include "sum.hpp"

#include <assay/define.hpp>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace assay::outside {
namespace {

class Crashes : public Sum {
public:
    static constexpr Info info = about("outside.crashes", "Does a crash cost one case?");
    using Sum::Sum;
    void run() noexcept { std::raise(SIGSEGV); }
};

class Hangs : public Sum {
public:
    static constexpr Info info = about("outside.hangs", "Does a hang cost one case?");
    using Sum::Sum;
    void run() noexcept {
        for (volatile bool forever = true; forever;) {
        }
    }
};

class Throws : public Sum {
public:
    static constexpr Info info = about("outside.throws", "Does an exception cost one case?");
    Throws(const Params& params, Context& context) : Sum{params, context} {
        throw std::runtime_error{"the planted exception"};
    }
};

class Exits : public Sum {
public:
    static constexpr Info info = about("outside.exits", "Does exit() cost one case?");
    using Sum::Sum;
    void run() noexcept { std::exit(0); }
};

/// Asks for memory until the system refuses. Not written to: filling a big machine would take a minute.
class Greedy : public Sum {
public:
    static constexpr Info info = about("outside.greedy", "Does eating all memory cost one case?");
    Greedy(const Params& params, Context& context) : Sum{params, context} {
        constexpr std::size_t block = std::size_t{1} << 30U;
        for (;;) blocks_.emplace_back(new char[block]);
    }

private:
    std::vector<std::unique_ptr<char[]>> blocks_;
};

} // namespace

extern constinit const assay_benchmark crashes = define<Crashes>();
extern constinit const assay_benchmark hangs = define<Hangs>();
extern constinit const assay_benchmark throws = define<Throws>();
extern constinit const assay_benchmark exits = define<Exits>();
extern constinit const assay_benchmark greedy = define<Greedy>();
} // namespace assay::outside
