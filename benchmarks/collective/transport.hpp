// SPDX-License-Identifier: Apache-2.0
//
// The way that messages take, asked for and then proved. Asked for: each transport stands for variables
// that leave Open MPI no other way, so that a job which cannot go there does not start. Proved: by what
// the kernel counted on this process' TCP connections, or the ports of the RDMA devices, while the
// benchmark ran.

#pragma once

#include "traffic.hpp"

#include <assay/axes.hpp>
#include <assay/benchmark.hpp>

#include <array>

namespace assay::collective {

inline constexpr std::array transport_names{
    Name<Transport>{"default", Transport::any},
    Name<Transport>{"shared_memory", Transport::shared_memory},
    Name<Transport>{"tcp", Transport::tcp},
    Name<Transport>{"rdma", Transport::rdma},
};

/// `self` is a rank's way to itself. UCX calls everything over InfiniBand's verbs, RoCE too, `ib`.
inline constexpr std::array transport_variables{
    variable("shared_memory", "OMPI_MCA_pml", "ob1"),
    variable("shared_memory", "OMPI_MCA_btl", "self,vader"),
    variable("tcp", "OMPI_MCA_pml", "ob1"),
    variable("tcp", "OMPI_MCA_btl", "self,tcp"),
    variable("rdma", "OMPI_MCA_pml", "ucx"),
    variable("rdma", "UCX_TLS", "ib,self"),
};

template <class Params>
consteval auto transport_axis() {
    return choice("transport", "transport of the messages; default: the library's choice",
                  &Params::transport, transport_names, {Transport::any}, transport_variables);
}

/// Can ranks on so many machines meet there?
Fit fit_transport(Transport transport, const Machine& machine);

/// Watches the path from its construction on.
class Path {
public:
    Path(Transport asked, Context& context, int machines);
    /// Fails the check of a call, which moves at least so many bytes to or from this rank, if the path is another
    /// one, and records it.
    Check prove(Check check, double least_bytes) const;

private:
    Transport asked_;
    Context context_;
    int machines_;
    Traffic before_;
};

} // namespace assay::collective
