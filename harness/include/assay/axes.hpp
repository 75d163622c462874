// SPDX-License-Identifier: Apache-2.0
//
// Parameters of a benchmark: fields of its Params, each with a name, a type, a range and the values
// default values. Axes are pointers to members, so a misspelt name does not compile.

#pragma once

#include "assay/machine.hpp"
#include "assay/module.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>

namespace assay {

/// Inclusive bounds.
template <class T>
struct Range {
    T low;
    T high;
};

/// A value of an enumeration and its name on the command line and in results.
template <class Enum>
struct Name {
    const char* text;
    Enum value;
};

inline constexpr std::array<Name<Symbol>, 7> symbol_names{{{"one", Symbol::one},
                                                           {"all", Symbol::all},
                                                           {"beyond_cache", Symbol::beyond_cache},
                                                           {"per_socket", Symbol::per_socket},
                                                           {"per_node", Symbol::per_node},
                                                           {"l1", Symbol::l1},
                                                           {"l2", Symbol::l2}}};

/// The environment variable that a parameter value is set through, see assay/module.h:
/// `variable("tcp", "OMPI_MCA_btl", "self,tcp")`
constexpr assay_variable variable(const char* value, const char* name, const char* setting) {
    return {sizeof(assay_variable), 0, value, name, setting};
}

/// An integer axis that also accepts symbols: threads, ranks, bytes.
template <class Params, std::size_t N, std::size_t S>
struct SymbolicAxis {
    const char* name;
    const char* help;
    const char* unit;
    Symbolic Params::* field;
    std::array<Symbolic, N> defaults;
    Range<std::int64_t> range;
    std::array<Symbol, S> symbols; ///< accepted symbols
};

template <class Params, std::size_t N>
struct IntegerAxis {
    const char* name;
    const char* help;
    const char* unit;
    std::int64_t Params::* field;
    std::array<std::int64_t, N> defaults;
    Range<std::int64_t> range;
};

template <class Params, std::size_t N>
struct RealAxis {
    const char* name;
    const char* help;
    const char* unit;
    double Params::* field;
    std::array<double, N> defaults;
    Range<double> range;
};

template <class Params, std::size_t N>
struct BooleanAxis {
    const char* name;
    const char* help;
    bool Params::* field;
    std::array<bool, N> defaults;
};

template <class Params, class Enum, std::size_t N, std::size_t D>
struct ChoiceAxis {
    const char* name;
    const char* help;
    Enum Params::* field;
    std::array<Name<Enum>, N> names;
    std::array<Enum, D> defaults;
    const assay_variable* variables =
        nullptr; ///< environment variables of the values, set before the process starts
    std::size_t variable_count = 0;
};

template <class Params, std::size_t N>
struct TextAxis {
    const char* name;
    const char* help;
    std::string Params::* field;
    std::array<const char*, N> defaults;
};

/// threads, ranks, bytes: `symbolic("threads", "cores used", "", &Params::threads, {one, all}, {1, 4096}, {one, all})`
template <class Params, std::size_t N, std::size_t S>
consteval auto symbolic(const char* name, const char* help, const char* unit,
                        Symbolic Params::* field, const Symbolic (&defaults)[N],
                        Range<std::int64_t> range, const Symbol (&symbols)[S]) {
    return SymbolicAxis<Params, N, S>{
        name, help, unit, field, std::to_array(defaults), range, std::to_array(symbols)};
}

template <class Params, std::size_t N>
consteval auto integer(const char* name, const char* help, const char* unit,
                       std::int64_t Params::* field, const std::int64_t (&defaults)[N],
                       Range<std::int64_t> range) {
    return IntegerAxis<Params, N>{name, help, unit, field, std::to_array(defaults), range};
}

template <class Params, std::size_t N>
consteval auto real(const char* name, const char* help, const char* unit, double Params::* field,
                    const double (&defaults)[N], Range<double> range) {
    return RealAxis<Params, N>{name, help, unit, field, std::to_array(defaults), range};
}

template <class Params, std::size_t N>
consteval auto boolean(const char* name, const char* help, bool Params::* field,
                       const bool (&defaults)[N]) {
    return BooleanAxis<Params, N>{name, help, field, std::to_array(defaults)};
}

/// An enumeration: all names, and the default ones.
template <class Params, class Enum, std::size_t N, std::size_t D>
consteval auto choice(const char* name, const char* help, Enum Params::* field,
                      const Name<Enum> (&names)[N], const Enum (&defaults)[D]) {
    return ChoiceAxis<Params, Enum, N, D>{name, help, field, std::to_array(names),
                                          std::to_array(defaults)};
}

/// An enumeration; all names are defaults.
template <class Params, class Enum, std::size_t N>
consteval auto choice(const char* name, const char* help, Enum Params::* field,
                      const Name<Enum> (&names)[N]) {
    ChoiceAxis<Params, Enum, N, N> axis{name, help, field, std::to_array(names), {}};
    for (std::size_t i = 0; i < N; ++i) axis.defaults[i] = names[i].value;
    return axis;
}

/// An enumeration whose values set environment variables; `variables` must have static storage.
template <class Params, class Enum, std::size_t N, std::size_t D, std::size_t V>
consteval auto choice(const char* name, const char* help, Enum Params::* field,
                      const std::array<Name<Enum>, N>& names, const Enum (&defaults)[D],
                      const std::array<assay_variable, V>& variables) {
    return ChoiceAxis<Params, Enum, N, D>{
        name, help, field, names, std::to_array(defaults), variables.data(), V};
}

template <class Params, std::size_t N>
consteval auto text(const char* name, const char* help, std::string Params::* field,
                    const char* const (&defaults)[N]) {
    return TextAxis<Params, N>{name, help, field, std::to_array(defaults)};
}

/// Bytes of data, over all arrays of a benchmark.
template <class Params, std::size_t N>
consteval auto footprint_axis(const char* help, Symbolic Params::* field,
                              const Symbolic (&defaults)[N], Range<std::int64_t> range) {
    return symbolic("footprint", help, "B", field, defaults, range, {Symbol::beyond_cache});
}

/// Cores of the host.
template <class Params, std::size_t N>
consteval auto threads_axis(Symbolic Params::* field, const Symbolic (&defaults)[N]) {
    return symbolic("threads", "cores used", "", field, defaults, {1, 4096},
                    {Symbol::one, Symbol::all});
}

/// In the order of OneOf<State<double>, State<float>>.
enum class Precision : std::uint8_t { fp64, fp32 };
template <class Params>
consteval auto precision_axis(const char* help, Precision Params::* field) {
    return choice("precision", help, field, {{"fp64", Precision::fp64}, {"fp32", Precision::fp32}});
}
constexpr std::size_t size_of(Precision precision) {
    return precision == Precision::fp64 ? sizeof(double) : sizeof(float);
}

template <class B>
concept HasAxes = std::tuple_size_v<std::remove_cvref_t<decltype(B::axes)>> != 0;

} // namespace assay
