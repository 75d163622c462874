// SPDX-License-Identifier: Apache-2.0
//
// The only header that a benchmark includes: all of <assay/...>, and the standard headers that every benchmark
// uses.
//
// Turns a benchmark class into the table of C functions of the module interface. The timed loop is
// instantiated per benchmark, so there is no virtual call in the timed region. Exceptions of a benchmark
// are caught here.

#pragma once

// In its pass for the device clang for HIP copies constants there, and would want the functions that a table points to.
#ifdef __HIP_DEVICE_COMPILE__
#define ASSAY_CONSTEVAL inline
#else
#define ASSAY_CONSTEVAL consteval
#endif

#include "assay/benchmark.hpp"
#include "assay/host.hpp"
#include "assay/one_of.hpp"
#include "assay/random.hpp"
#include "assay/room.hpp"
#include "assay/trial.hpp"
#include "assay/units.hpp"
#include "assay/verify.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::detail {

inline void write(const assay_text& to, std::string_view from) {
    if (to.data == nullptr || to.capacity == 0) return;
    const std::size_t length = std::min(from.size(), to.capacity - 1);
    std::memcpy(to.data, from.data(), length);
    to.data[length] = '\0';
}

/// Runs `body`; an exception becomes the error text and return value 1.
template <class Body>
std::int32_t guarded(assay_text* error, Body&& body) noexcept {
    try {
        body();
        return 0;
    } catch (const std::exception& e) {
        write(*error, e.what());
    } catch (...) {
        write(*error, "threw something that is not a std::exception");
    }
    return 1;
}

// --- axes as C tables -----------------------------------------------------------------------------

constexpr assay_value value_of(std::int64_t v) { return {ASSAY_INTEGER, 0, v, 0, nullptr}; }
constexpr assay_value value_of(double v) { return {ASSAY_REAL, 0, 0, v, nullptr}; }
constexpr assay_value value_of(bool v) { return {ASSAY_BOOLEAN, 0, v ? 1 : 0, 0, nullptr}; }
constexpr assay_value value_of_name(const char* v) { return {ASSAY_NAME, 0, 0, 0, v}; }
constexpr assay_value value_of_text(const char* v) { return {ASSAY_STRING, 0, 0, 0, v}; }

constexpr const char* symbol_name(Symbol symbol) {
    for (const auto& name : symbol_names)
        if (name.value == symbol) return name.text;
    return "";
}
constexpr assay_value value_of(Symbolic v) {
    return v.symbol == Symbol::none ? value_of(v.number) : value_of_name(symbol_name(v.symbol));
}

constexpr assay_parameter parameter_of(std::uint32_t kind, const char* name, const char* help,
                                       const char* unit) {
    assay_parameter p{};
    p.struct_size = sizeof(assay_parameter);
    p.kind = kind;
    p.name = name;
    p.help = help;
    p.unit = unit;
    return p;
}

/// Static arrays of one parameter: default values and names. One specialisation per kind of axis;
/// `assign` converts a value of the interface to the field.
template <class Axis>
struct Columns;

template <class P, std::size_t N, std::size_t S>
struct Columns<SymbolicAxis<P, N, S>> {
    using Axis = SymbolicAxis<P, N, S>;
    static constexpr std::size_t defaults = N;
    static constexpr std::size_t names = S;
    static constexpr assay_value default_at(const Axis& a, std::size_t i) {
        return value_of(a.defaults[i]);
    }
    static constexpr const char* name_at(const Axis& a, std::size_t i) {
        return symbol_name(a.symbols[i]);
    }
    static constexpr assay_parameter head(const Axis& a) {
        auto p = parameter_of(ASSAY_INTEGER, a.name, a.help, a.unit);
        p.integer_low = a.range.low;
        p.integer_high = a.range.high;
        return p;
    }
    static void assign(const Axis& a, P& params, const assay_value& v) {
        if (v.kind == ASSAY_INTEGER) {
            params.*a.field = Symbolic{v.integer};
            return;
        }
        for (const auto& name : symbol_names)
            if (std::string_view{name.text} == v.text) params.*a.field = Symbolic{name.value};
    }
};

template <class P, std::size_t N>
struct Columns<IntegerAxis<P, N>> {
    using Axis = IntegerAxis<P, N>;
    static constexpr std::size_t defaults = N;
    static constexpr std::size_t names = 0;
    static constexpr assay_value default_at(const Axis& a, std::size_t i) {
        return value_of(a.defaults[i]);
    }
    static constexpr const char* name_at(const Axis&, std::size_t) { return ""; }
    static constexpr assay_parameter head(const Axis& a) {
        auto p = parameter_of(ASSAY_INTEGER, a.name, a.help, a.unit);
        p.integer_low = a.range.low;
        p.integer_high = a.range.high;
        return p;
    }
    static void assign(const Axis& a, P& params, const assay_value& v) {
        params.*a.field = v.integer;
    }
};

template <class P, std::size_t N>
struct Columns<RealAxis<P, N>> {
    using Axis = RealAxis<P, N>;
    static constexpr std::size_t defaults = N;
    static constexpr std::size_t names = 0;
    static constexpr assay_value default_at(const Axis& a, std::size_t i) {
        return value_of(a.defaults[i]);
    }
    static constexpr const char* name_at(const Axis&, std::size_t) { return ""; }
    static constexpr assay_parameter head(const Axis& a) {
        auto p = parameter_of(ASSAY_REAL, a.name, a.help, a.unit);
        p.real_low = a.range.low;
        p.real_high = a.range.high;
        return p;
    }
    static void assign(const Axis& a, P& params, const assay_value& v) { params.*a.field = v.real; }
};

template <class P, std::size_t N>
struct Columns<BooleanAxis<P, N>> {
    using Axis = BooleanAxis<P, N>;
    static constexpr std::size_t defaults = N;
    static constexpr std::size_t names = 0;
    static constexpr assay_value default_at(const Axis& a, std::size_t i) {
        return value_of(a.defaults[i]);
    }
    static constexpr const char* name_at(const Axis&, std::size_t) { return ""; }
    static constexpr assay_parameter head(const Axis& a) {
        return parameter_of(ASSAY_BOOLEAN, a.name, a.help, "");
    }
    static void assign(const Axis& a, P& params, const assay_value& v) {
        params.*a.field = v.integer != 0;
    }
};

template <class P, class E, std::size_t N, std::size_t D>
struct Columns<ChoiceAxis<P, E, N, D>> {
    using Axis = ChoiceAxis<P, E, N, D>;
    static constexpr std::size_t defaults = D;
    static constexpr std::size_t names = N;
    static constexpr assay_value default_at(const Axis& a, std::size_t i) {
        for (const auto& name : a.names)
            if (name.value == a.defaults[i]) return value_of_name(name.text);
        return value_of_name(nullptr);
    }
    static constexpr const char* name_at(const Axis& a, std::size_t i) { return a.names[i].text; }
    static constexpr assay_parameter head(const Axis& a) {
        auto p = parameter_of(ASSAY_NAME, a.name, a.help, "");
        p.variables = a.variables;
        p.variable_count = a.variable_count;
        return p;
    }
    static void assign(const Axis& a, P& params, const assay_value& v) {
        for (const auto& name : a.names)
            if (std::string_view{name.text} == v.text) params.*a.field = name.value;
    }
};

template <class P, std::size_t N>
struct Columns<TextAxis<P, N>> {
    using Axis = TextAxis<P, N>;
    static constexpr std::size_t defaults = N;
    static constexpr std::size_t names = 0;
    static constexpr assay_value default_at(const Axis& a, std::size_t i) {
        return value_of_text(a.defaults[i]);
    }
    static constexpr const char* name_at(const Axis&, std::size_t) { return ""; }
    static constexpr assay_parameter head(const Axis& a) {
        return parameter_of(ASSAY_STRING, a.name, a.help, "");
    }
    static void assign(const Axis& a, P& params, const assay_value& v) { params.*a.field = v.text; }
};

template <class B, std::size_t I>
struct Column {
    static constexpr const auto& axis = std::get<I>(B::axes);
    using Kind = Columns<std::remove_cvref_t<decltype(axis)>>;
    static constexpr auto default_values = [] {
        std::array<assay_value, Kind::defaults> values{};
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = Kind::default_at(axis, i);
        return values;
    }();
    // One element more than needed: an array of length 0 has no address.
    static constexpr auto names = [] {
        std::array<const char*, Kind::names + 1> texts{};
        for (std::size_t i = 0; i != Kind::names; ++i) texts[i] = Kind::name_at(axis, i);
        return texts;
    }();
    static constexpr assay_parameter parameter() {
        auto p = Kind::head(axis);
        p.defaults = default_values.data();
        p.default_count = default_values.size();
        p.names = names.data();
        p.name_count = Kind::names;
        return p;
    }
};

template <class B>
inline constexpr std::size_t axis_count = std::tuple_size_v<std::remove_cvref_t<decltype(B::axes)>>;

template <class B>
struct Table {
    static constexpr auto parameters = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<assay_parameter, sizeof...(I)>{Column<B, I>::parameter()...};
    }(std::make_index_sequence<axis_count<B>>{});
};

template <class B>
typename B::Params params_from(const assay_value* values) {
    typename B::Params params{};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (Column<B, I>::Kind::assign(Column<B, I>::axis, params, values[I]), ...);
    }(std::make_index_sequence<axis_count<B>>{});
    return params;
}

// --- the functions --------------------------------------------------------------------------------

template <class B>
struct Functions {
    static std::int32_t fit(const assay_services* services, const assay_value* values,
                            assay_text* why) {
        std::int32_t answer = 0;
        const auto fault = guarded(why, [&] {
            const auto decision = B::fit(params_from<B>(values), Machine{services});
            if (!decision) {
                write(*why, decision.why());
                answer = 1;
            }
        });
        return fault != 0 ? fault : answer;
    }
    static std::int32_t create(const assay_services* services, const assay_value* values,
                               void** state, assay_text* error) {
        return guarded(error, [&] {
            Context context{services};
            auto made = std::make_unique<B>(params_from<B>(values), context);
            if constexpr (requires { made->clock().describe(context); })
                made->clock().describe(context);
            *state = made.release();
        });
    }
    static void destroy(void* state) { delete static_cast<B*>(state); }

    static std::int32_t sample(void* state, std::uint64_t calls, double* seconds,
                               [[maybe_unused]] assay_text* error) {
        auto& bench = *static_cast<B*>(state);
        if constexpr (HasClock<B>) {
            return guarded(
                error, [&] { *seconds = bench.clock().seconds(calls, [&bench] { bench.run(); }); });
        } else {
            using Clock = std::chrono::steady_clock;
            const auto start = Clock::now();
            for (std::uint64_t i = 0; i < calls; ++i) bench.run();
            *seconds = std::chrono::duration<double>(Clock::now() - start).count();
            return 0;
        }
    }
    static std::int32_t work(const void* state, assay_work* to, assay_text* error) {
        return guarded(error, [&] {
            const Work w = static_cast<const B*>(state)->work();
            to->flops = w.flops;
            to->operations = w.operations;
            to->bytes = w.bytes;
            to->algorithm_bytes = w.algorithm_bytes;
            to->bus_bytes = w.bus_bytes;
            to->items = w.items;
            to->cells = w.cells;
            to->atom_steps = w.atom_steps;
            to->pairs = w.pairs;
            if (to->struct_size >= sizeof(assay_work)) to->steps = w.steps; // not an older program
        });
    }
    static std::int32_t verify(const void* state, assay_check* to, assay_text* error) {
        return guarded(error, [&] {
            const Check check = static_cast<const B*>(state)->verify();
            to->passed = check.passed ? 1 : 0;
            to->error = check.error;
            to->bound = check.bound;
            write(to->method, check.method);
            write(to->detail, check.detail);
        });
    }
    static std::int32_t poison(void* state, assay_text* error) {
        return guarded(error, [&] { static_cast<B*>(state)->poison(); });
    }
    static std::int32_t spoil(void* state, assay_text* error) {
        return guarded(error, [&] { static_cast<B*>(state)->spoil(); });
    }
    static std::int32_t rewind(void* state, assay_text* error) {
        return guarded(error, [&] {
            if constexpr (Rewinds<B>) static_cast<B*>(state)->rewind();
        });
    }
    static std::int32_t digest(const void* state, assay_digest* to, assay_text* error) {
        return guarded(error, [&] {
            if constexpr (HasOutputs<B>)
                detail::digest(static_cast<const B*>(state)->outputs(), *to);
        });
    }
    static std::int32_t metrics(const void* state, const assay_services* services,
                                assay_text* error) {
        return guarded(error, [&] {
            if constexpr (ReportsMetrics<B>) {
                Metrics sink{services};
                // The state was made by create(), so it is not const: a metric may be timed.
                static_cast<B*>(const_cast<void*>(state))->metrics(sink); // NOLINT
            }
        });
    }
};

template <class B>
consteval std::uint64_t flags() {
    std::uint64_t bits = Rewinds<B> ? ASSAY_REWINDS : 0;
    if constexpr (requires { B::single_call; }) bits |= B::single_call ? ASSAY_SINGLE_CALL : 0;
    if constexpr (requires { B::team; }) bits |= B::team ? ASSAY_TEAM : 0;
    if constexpr (requires { B::is_ceiling; }) bits |= B::is_ceiling ? ASSAY_IS_CEILING : 0;
    if constexpr (requires { B::all_devices; }) bits |= B::all_devices ? ASSAY_ALL_DEVICES : 0;
    static_assert(HasOutputs<B> || !B::info.reproducible, "reproducible needs outputs()");
    bits |= B::info.reproducible ? ASSAY_REPRODUCIBLE : 0;
    return bits;
}

template <class B>
consteval double clock_resolution() {
    if constexpr (HasClock<B>)
        return std::remove_cvref_t<decltype(std::declval<B&>().clock())>::resolution;
    else
        return 0;
}

template <class B>
consteval std::uint64_t safe_calls() {
    if constexpr (!Rewinds<B>)
        return 0;
    else if constexpr (requires { B::safe_calls; })
        return B::safe_calls;
    else
        return 1;
}

} // namespace assay::detail

namespace assay {

/// The table entry of benchmark B, once at the end of its file:
///   namespace assay::memory { extern constinit const assay_benchmark stream = define<Stream>(); }
template <Benchmark B>
ASSAY_CONSTEVAL assay_benchmark define() {
    assay_benchmark b{};
    b.struct_size = sizeof(assay_benchmark);
    b.version = B::info.version;
    b.id = B::info.id;
    b.place = B::info.place;
    b.question = B::info.question;
    b.method = B::info.method;
    b.caveats = B::info.caveats;
    b.headline = B::info.headline;
    b.ceiling = B::info.ceiling;
    b.flags = detail::flags<B>();
    b.safe_calls = detail::safe_calls<B>();
    b.parameters = detail::Table<B>::parameters.data();
    b.parameter_count = detail::Table<B>::parameters.size();
    b.fit = &detail::Functions<B>::fit;
    b.create = &detail::Functions<B>::create;
    b.destroy = &detail::Functions<B>::destroy;
    b.sample = &detail::Functions<B>::sample;
    b.work = &detail::Functions<B>::work;
    b.verify = &detail::Functions<B>::verify;
    b.poison = &detail::Functions<B>::poison;
    b.spoil = &detail::Functions<B>::spoil;
    b.rewind = Rewinds<B> ? &detail::Functions<B>::rewind : nullptr;
    b.metrics = ReportsMetrics<B> ? &detail::Functions<B>::metrics : nullptr;
    b.clock_resolution = detail::clock_resolution<B>();
    b.trial_bytes = B::info.trial_bytes;
    b.bound = static_cast<std::uint32_t>(B::info.bound);
    b.noise = static_cast<std::uint32_t>(B::info.noise);
    b.items = B::info.items;
    b.digest = HasOutputs<B> ? &detail::Functions<B>::digest : nullptr;
    return b;
}

/// For Module::facts: each function records settings; an exception becomes the module's error.
template <void (*... reports)(const Context&)>
std::int32_t facts(const assay_services* services, assay_text* error) {
    return detail::guarded(error, [&] { (reports(Context{services}), ...); });
}

/// Declarations of a module besides its benchmarks.
struct Module {
    const assay_tuning* tunings = nullptr;
    std::size_t tuning_count = 0;
    const char* launcher = "";
    std::int32_t (*facts)(const assay_services* services, assay_text* error) = nullptr;
    const assay_team* (*join)(assay_text* error) = nullptr;
    void (*leave)() = nullptr;
};

} // namespace assay
