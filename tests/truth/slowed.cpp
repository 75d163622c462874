// SPDX-License-Identifier: Apache-2.0
//
// A module that does what another one does, and then nothing for a while: each batch is followed by a
// busy loop of SLOWED_BY (0.03: 3%) of the time it took, within what is timed. Without the
// variable it only passes on.

#include <assay/module.h>

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace {

constexpr std::size_t most = 64;
using Clock = std::chrono::steady_clock;

const assay_module_v1* original() {
    static const assay_module_v1* const module = [] {
        // Stays open: its benchmarks are ours.
        void* library = ::dlopen(SLOWED_MODULE, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) throw std::runtime_error{::dlerror()};
        const auto entry =
            reinterpret_cast<assay_module_function>(::dlsym(library, "assay_module"));
        if (entry == nullptr) throw std::runtime_error{::dlerror()};
        return entry();
    }();
    return module;
}

double slowdown() {
    static const double share = [] {
        const char* text = std::getenv("SLOWED_BY");
        return text == nullptr ? 0.0 : std::strtod(text, nullptr);
    }();
    return share;
}

template <std::size_t I>
int32_t sample(void* state, uint64_t calls, double* seconds, assay_text* error) {
    const int32_t result = original()->benchmarks[I]->sample(state, calls, seconds, error);
    if (result != 0 || !(slowdown() > 0)) return result;
    const auto start = Clock::now();
    double waited = 0;
    while (waited < slowdown() * *seconds)
        waited = std::chrono::duration<double>(Clock::now() - start).count();
    *seconds += waited;
    return 0;
}

using Sample = int32_t (*)(void*, uint64_t, double*, assay_text*);
template <std::size_t... I>
constexpr std::array<Sample, sizeof...(I)> samples(std::index_sequence<I...> /*of all*/) {
    return {sample<I>...};
}

struct Slowed {
    std::array<assay_benchmark, most> benchmarks{};
    std::array<const assay_benchmark*, most> list{};
    assay_module_v1 module{};

    Slowed() : module{*original()} {
        constexpr auto slow = samples(std::make_index_sequence<most>{});
        if (module.benchmark_count > most) throw std::runtime_error{"too many benchmarks"};
        for (std::size_t i = 0; i < module.benchmark_count; ++i) {
            benchmarks[i] = *module.benchmarks[i];
            benchmarks[i].sample = slow[i];
            list[i] = &benchmarks[i];
        }
        module.name = SLOWED_NAME;
        module.benchmarks = list.data();
    }
};

} // namespace

extern "C" ASSAY_EXPORT const assay_module_v1* assay_module(void);
const assay_module_v1* assay_module(void) {
    static const Slowed slowed;
    return &slowed.module;
}
