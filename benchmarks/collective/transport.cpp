// SPDX-License-Identifier: Apache-2.0
#include "transport.hpp"

#include "world.hpp"

#include <assay/verify.hpp>

#include <limits>
#include <string>

namespace assay::collective {
namespace {

const char* name_of(Transport transport) {
    for (const auto& name : transport_names)
        if (name.value == transport) return name.text;
    return "";
}

} // namespace

Fit fit_transport(Transport transport, const Machine& machine) {
    if (transport == Transport::rdma && !has_rdma())
        return Fit::no("not applicable: no RDMA device here");
    if (transport == Transport::shared_memory && machine.count("job.hosts") > 1)
        return Fit::no("not applicable: shared memory does not reach another host");
    return Fit::yes();
}

Path::Path(Transport asked, Context& context, int machines)
    : asked_{asked}, context_{context}, machines_{machines}, before_{traffic_now()} {
    for (const char* control : {"pml", "btl"})
        if (const auto value = mpi::control(control); !value.empty())
            context.setting((std::string{"mpi."} + control).c_str(), value);
}

Check Path::prove(Check check, double least_bytes) const {
    if (least_bytes <= 0) return check; // nothing was called yet
    const auto now = traffic_now();
    const Traffic seen{.tcp = now.tcp - before_.tcp, .rdma = now.rdma - before_.rdma};
    const auto wrong = contradiction(asked_, seen, least_bytes);
    if (wrong.empty()) {
        const auto path = asked_ == Transport::any
                              ? path_of(seen, least_bytes, machines_, context_.team().size())
                              : name_of(asked_);
        if (!path.empty()) context_.setting("path", path);
        return check;
    }
    return check_value(std::numeric_limits<double>::infinity(), check.bound,
                       std::move(check.method),
                       joined("asked for ", name_of(asked_), ", but ", wrong));
}

} // namespace assay::collective
