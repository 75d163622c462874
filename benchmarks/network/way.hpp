// SPDX-License-Identifier: Apache-2.0
//
// The way that messages take, asked for and then proved. Asked for: each way stands for UCX_TLS, which leaves UCX no
// other, or for one provider of libfabric. Proved: by the lanes that were opened to the partner, and by what the kernel
// counted meanwhile.

#pragma once

#include "collective/traffic.hpp"
#include "lanes.hpp"
#include "where.hpp"

#include <assay/axes.hpp>
#include <assay/benchmark.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::network {

enum class Way : std::uint8_t { any, tcp, shared_memory, cma, rc, dc, ud, cuda_ipc, efa };

#ifdef ASSAY_OFI
inline constexpr bool on_ofi = true;
#else
inline constexpr bool on_ofi = false;
#endif
inline constexpr const char* library_name = on_ofi ? "libfabric" : "UCX";

/// With the names of all but those that only some have.
template <class... More>
consteval auto names_of_ways(More... more) {
    return std::array{Name<Way>{"default", Way::any},
                      Name<Way>{"tcp", Way::tcp},
                      Name<Way>{"shared_memory", Way::shared_memory},
                      Name<Way>{"rc", Way::rc},
                      Name<Way>{"dc", Way::dc},
                      Name<Way>{"ud", Way::ud},
                      more...};
}
/// Open MPI only brings the ranks together: were it to use UCX as well, it would read the same variable.
/// Data of devices comes and goes by UCX's copies, whatever carries it.
template <class... More>
consteval auto variables_of_ways(More... more) {
    return std::array{
        variable("default", "OMPI_MCA_pml", "ob1"),
        variable("tcp", "OMPI_MCA_pml", "ob1"),
        variable("tcp", "UCX_TLS", on_device ? "tcp,cuda_copy" : "tcp"),
        variable("shared_memory", "OMPI_MCA_pml", "ob1"),
        variable("shared_memory", "UCX_TLS", on_device ? "posix,sysv,cuda_copy" : "posix,sysv"),
        variable("rc", "OMPI_MCA_pml", "ob1"),
        variable("rc", "UCX_TLS", on_device ? "rc,cuda_copy,gdr_copy" : "rc"),
        variable("dc", "OMPI_MCA_pml", "ob1"),
        variable("dc", "UCX_TLS", on_device ? "dc,cuda_copy,gdr_copy" : "dc"),
        variable("ud", "OMPI_MCA_pml", "ob1"),
        variable("ud", "UCX_TLS", on_device ? "ud,cuda_copy,gdr_copy" : "ud"),
        more...};
}
/// Ways of libfabric: rc is its provider verbs, efa Amazon's. Open MPI would use libfabric as well.
inline constexpr std::array ofi_way_names{Name<Way>{"default", Way::any},
                                          Name<Way>{"tcp", Way::tcp},
                                          Name<Way>{"shared_memory", Way::shared_memory},
                                          Name<Way>{"rc", Way::rc}, Name<Way>{"efa", Way::efa}};
inline constexpr std::array ofi_way_variables{
    variable("default", "OMPI_MCA_pml", "ob1"), variable("tcp", "OMPI_MCA_pml", "ob1"),
    variable("shared_memory", "OMPI_MCA_pml", "ob1"), variable("rc", "OMPI_MCA_pml", "ob1"),
    variable("efa", "OMPI_MCA_pml", "ob1")};
/// cuda_ipc: one process opens the memory of the other's device, over NVLink or PCIe.
inline constexpr auto way_names = [] {
    if constexpr (on_device)
        return names_of_ways(Name<Way>{"cuda_ipc", Way::cuda_ipc});
    else if constexpr (on_ofi)
        return ofi_way_names;
    else
        return names_of_ways();
}();
inline constexpr auto way_variables = [] {
    if constexpr (on_device)
        return variables_of_ways(variable("cuda_ipc", "OMPI_MCA_pml", "ob1"),
                                 variable("cuda_ipc", "UCX_TLS", "cuda_ipc,cuda_copy,posix,sysv"));
    else if constexpr (on_ofi)
        return ofi_way_variables;
    else
        return variables_of_ways();
}();
/// cma moves the data of large tagged messages between hosts' memories alone: UCX puts and gets through mapped
/// memory.
inline constexpr auto tag_way_names = [] {
    if constexpr (on_device || on_ofi)
        return way_names;
    else
        return names_of_ways(Name<Way>{"cma", Way::cma});
}();
inline constexpr auto tag_way_variables = [] {
    if constexpr (on_device || on_ofi)
        return way_variables;
    else
        return variables_of_ways(variable("cma", "OMPI_MCA_pml", "ob1"),
                                 variable("cma", "UCX_TLS", "posix,cma"));
}();

template <class Params>
consteval auto way_axis() {
    return choice("transport",
                  on_ofi ? "default: libfabric's choice" : "UCX's name; default: its choice",
                  &Params::transport, way_names, {Way::any}, way_variables);
}
template <class Params>
consteval auto tag_way_axis() {
    return choice("transport",
                  on_ofi ? "default: libfabric's choice"
                         : "UCX's name; cma moves large messages only; default: its choice",
                  &Params::transport, tag_way_names, {Way::any}, tag_way_variables);
}

const char* name_of(Way way);
/// The libfabric provider that a way stands for; nullptr: any.
const char* provider_of(Way way);
/// With what the environment chose: "... (UCX_TLS=tcp UCX_NET_DEVICES=eth0)", as far as it did.
std::string with_choices(const std::string& text);

/// Does the library find it here, and can it reach the ranks of this job?
Fit fit_way(Way way, const Machine& machine);

/// Empty, or how the lanes contradict what was asked for.
std::string contradiction(Way asked, const std::vector<Lane>& lanes);
/// Traffic that the kernel's counters can show.
collective::Transport transport_of(Way way);

} // namespace assay::network
