// SPDX-License-Identifier: Apache-2.0
//
// Which algorithm a collective uses, where the library lets one choose: Open MPI does, by variables of
// its component `tuned` that are read once. An operation lists the names that Open MPI knows, as
// `ompi_info --param coll tuned --level 9` prints them; other libraries keep to their own choice.

#pragma once

#include "world.hpp"

#include <assay/axes.hpp>
#include <assay/benchmark.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::collective {

/// By Open MPI's numbers; 0 is the library's choice.
enum class Algorithm : std::uint8_t {};
inline constexpr Algorithm own_choice{0};

/// The names of an operation's algorithms, in Open MPI's order from 1 on.
template <std::size_t N>
constexpr std::array<Name<Algorithm>, N + 1> algorithms(const char* const (&names)[N]) {
    std::array<Name<Algorithm>, N + 1> all{};
    all[0] = {.text = "default", .value = own_choice};
    for (std::size_t i = 0; i < N; ++i)
        all[i + 1] = {.text = names[i], .value = Algorithm{static_cast<std::uint8_t>(i + 1)}};
    return all;
}

template <class Operation>
concept HasAlgorithms = requires { Operation::algorithms.size(); };

/// Two variables for each name. Operation::algorithm_variable: OMPI_MCA_coll_tuned_bcast_algorithm
template <class Operation>
inline constexpr auto algorithm_variables = [] {
    constexpr std::size_t count = Operation::algorithms.size() - 1;
    std::array<assay_variable, 2 * count> all{};
    for (std::size_t i = 0; i < count; ++i) {
        const char* name = Operation::algorithms[i + 1].text;
        all[2 * i] = variable(name, "OMPI_MCA_coll_tuned_use_dynamic_rules", "1");
        all[2 * i + 1] = variable(name, Operation::algorithm_variable, name);
    }
    return all;
}();

template <class Params, class Operation>
consteval auto algorithm_axis() {
    return choice("algorithm", "Open MPI's name; default: the library's choice", &Params::algorithm,
                  Operation::algorithms, {own_choice}, algorithm_variables<Operation>);
}

/// Is there a choice, and can so many ranks use it?
template <class Operation>
Fit fit_algorithm(Algorithm algorithm, std::int64_t ranks) {
    if (algorithm == own_choice) return Fit::yes();
#if !defined(OPEN_MPI)
    return Fit::no("needs Open MPI: other libraries choose by themselves");
#else
    const std::string_view name = Operation::algorithms[static_cast<std::size_t>(algorithm)].text;
    return Fit::needs(name != "two_proc" || ranks == 2, "two ranks");
#endif
}

/// Records the algorithm that the library says it was told; throws where that is another one.
template <class Operation>
void join_algorithm(Algorithm algorithm, Context& context) {
    if (algorithm == own_choice) return;
    const std::string_view prefix = "OMPI_MCA_";
    const std::string wanted = Operation::algorithms[static_cast<std::size_t>(algorithm)].text;
    const auto told = mpi::control(
        std::string{std::string_view{Operation::algorithm_variable}.substr(prefix.size())}.c_str());
    if (told != wanted)
        throw std::runtime_error{"requested the algorithm " + wanted + ", but Open MPI uses " +
                                 (told.empty() ? "its own choice" : told)};
    context.setting("mpi.algorithm", told);
}

} // namespace assay::collective
