// SPDX-License-Identifier: Apache-2.0
//
// The way that messages take, asked for and then proved. Asked for: each way stands for UCX_TLS, which leaves UCX no
// other. Proved: by the lanes that UCX opened to the partner, and by what the kernel counted meanwhile.

#pragma once

#include "collective/traffic.hpp"
#include "lanes.hpp"

#include <assay/axes.hpp>
#include <assay/benchmark.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::network {

enum class Way : std::uint8_t { any, tcp, shared_memory, cma, rc, dc, ud };

inline constexpr std::array way_names{
    Name<Way>{"default", Way::any},
    Name<Way>{"tcp", Way::tcp},
    Name<Way>{"shared_memory", Way::shared_memory},
    Name<Way>{"rc", Way::rc},
    Name<Way>{"dc", Way::dc},
    Name<Way>{"ud", Way::ud},
};
/// cma moves the data of large tagged messages alone: UCX puts and gets through mapped memory.
inline constexpr std::array tag_way_names{
    Name<Way>{"default", Way::any},
    Name<Way>{"tcp", Way::tcp},
    Name<Way>{"shared_memory", Way::shared_memory},
    Name<Way>{"cma", Way::cma},
    Name<Way>{"rc", Way::rc},
    Name<Way>{"dc", Way::dc},
    Name<Way>{"ud", Way::ud},
};

/// Open MPI only brings the ranks together: were it to use UCX as well, it would read the same variable.
inline constexpr std::array way_variables{
    variable("default", "OMPI_MCA_pml", "ob1"),
    variable("tcp", "OMPI_MCA_pml", "ob1"),
    variable("tcp", "UCX_TLS", "tcp"),
    variable("shared_memory", "OMPI_MCA_pml", "ob1"),
    variable("shared_memory", "UCX_TLS", "posix,sysv"),
    variable("rc", "OMPI_MCA_pml", "ob1"),
    variable("rc", "UCX_TLS", "rc"),
    variable("dc", "OMPI_MCA_pml", "ob1"),
    variable("dc", "UCX_TLS", "dc"),
    variable("ud", "OMPI_MCA_pml", "ob1"),
    variable("ud", "UCX_TLS", "ud"),
};
inline constexpr auto tag_way_variables = [] {
    std::array<assay_variable, way_variables.size() + 2> all{};
    for (std::size_t i = 0; i < way_variables.size(); ++i) all[i] = way_variables[i];
    all[way_variables.size()] = variable("cma", "OMPI_MCA_pml", "ob1");
    all[way_variables.size() + 1] = variable("cma", "UCX_TLS", "posix,cma");
    return all;
}();

template <class Params>
consteval auto way_axis() {
    return choice("transport", "as UCX names it; default: UCX's choice", &Params::transport,
                  way_names, {Way::any}, way_variables);
}
template <class Params>
consteval auto tag_way_axis() {
    return choice("transport",
                  "as UCX names it; cma moves large messages only; default: UCX's choice",
                  &Params::transport, tag_way_names, {Way::any}, tag_way_variables);
}

const char* name_of(Way way);

/// Does UCX find it here, and can it reach the ranks of this job?
Fit fit_way(Way way, const Machine& machine);

/// Empty, or how the lanes contradict what was asked for.
std::string contradiction(Way asked, const std::vector<Lane>& lanes);
/// What the kernel's counters can show of it.
collective::Transport transport_of(Way way);

} // namespace assay::network
