// SPDX-License-Identifier: Apache-2.0
//
// The module `external`: its table is made from descriptions when it is loaded, those that are part of it and those
// in the folders of ASSAY_EXTERNAL_PATH.

#include "external/library.hpp"
#include "external/tool_case.hpp"

#include <array>
#include <utility>

namespace assay::external {
namespace {

ToolCase& of(void* state) { return *static_cast<ToolCase*>(state); }
const ToolCase& of(const void* state) { return *static_cast<const ToolCase*>(state); }

void destroy(void* state) { delete static_cast<ToolCase*>(state); }
std::int32_t sample(void* state, std::uint64_t calls, double* seconds, assay_text* error) {
    return detail::guarded(error, [&] {
        *seconds = 0;
        for (std::uint64_t i = 0; i < calls; ++i) *seconds += of(state).run();
    });
}
/// The value is what the program reports; nothing follows from the time that it ran.
std::int32_t work(const void* /*state*/, assay_work* /*work*/, assay_text* /*error*/) { return 0; }
std::int32_t verify(const void* state, assay_check* to, assay_text* error) {
    return detail::guarded(error, [&] {
        const auto check = of(state).verify();
        to->passed = check.passed ? 1 : 0;
        to->error = check.error;
        to->bound = check.bound;
        detail::write(to->method, check.method);
        detail::write(to->detail, check.detail);
    });
}
std::int32_t poison(void* state, assay_text* error) {
    return detail::guarded(error, [&] { of(state).poison(); });
}
std::int32_t spoil(void* state, assay_text* error) {
    return detail::guarded(error, [&] { of(state).spoil(); });
}
std::int32_t metrics(const void* state, const assay_services* services, assay_text* error) {
    return detail::guarded(error, [&] {
        Metrics to{services};
        of(state).metrics(to);
    });
}

std::int32_t fit(const Description& description, const assay_services* services,
                 const assay_value* values, assay_text* why) {
    std::int32_t answer = 0;
    const auto fault = detail::guarded(why, [&] {
        const auto decision = fits(description, values, Machine{services});
        if (decision) return;
        detail::write(*why, decision.why());
        answer = 1;
    });
    return fault != 0 ? fault : answer;
}
std::int32_t create(const Description& description, const assay_services* services,
                    const assay_value* values, void** state, assay_text* error) {
    return detail::guarded(error,
                           [&] { *state = new ToolCase{description, values, Context{services}}; });
}

/// Before there is a state, functions of the interface do not know which benchmark they are called for: each place in
/// the library has its own two.
template <std::size_t I>
struct Place {
    static std::int32_t fit(const assay_services* services, const assay_value* values,
                            assay_text* why) {
        return external::fit(library().descriptions()[I], services, values, why);
    }
    static std::int32_t create(const assay_services* services, const assay_value* values,
                               void** state, assay_text* error) {
        return external::create(library().descriptions()[I], services, values, state, error);
    }
    static constexpr Calls calls{.fit = &fit,
                                 .create = &create,
                                 .destroy = &destroy,
                                 .sample = &sample,
                                 .work = &work,
                                 .verify = &verify,
                                 .poison = &poison,
                                 .spoil = &spoil,
                                 .metrics = &metrics};
};

constexpr auto all_calls = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Calls, sizeof...(I)>{Place<I>::calls...};
}(std::make_index_sequence<most_descriptions>{});

} // namespace

const Calls& calls_of(std::size_t place) { return all_calls.at(place); }

} // namespace assay::external

extern "C" ASSAY_EXPORT const assay_module_v1* assay_module(void);
const assay_module_v1* assay_module(void) {
    static const assay_module_v1 module = [] {
        const auto& library = assay::external::library();
        assay_module_v1 m{};
        m.struct_size = sizeof(assay_module_v1);
        m.abi = ASSAY_MODULE_ABI;
        m.name = "external";
        m.benchmarks = library.benchmarks().data();
        m.benchmark_count = library.benchmarks().size();
        m.launcher = "";
        m.path_variable = assay::external::path_variable;
        m.table_id = library.id().c_str();
        m.problems = library.problems().data();
        m.problem_count = library.problems().size();
        return m;
    }();
    return &module;
}
