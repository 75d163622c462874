// SPDX-License-Identifier: Apache-2.0
//
// Starts the jobs of peer_network, one for each transport, and reads their tables.
#include "children.hpp"
#include "process/start.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace assay::peers {
namespace {

struct Transport {
    const char* name; ///< as the module's parameter
    const char* tls;  ///< what it stands for
};
constexpr std::array transports{Transport{"shared_memory", "posix,sysv"}, Transport{"tcp", "tcp"}};

void add_rows(std::vector<Row>& rows, const Options& options, const Transport& transport) {
    std::vector<std::string> arguments{
        "--mca", "pml", "ob1", "--bind-to", "none", "-x", fmt::format("UCX_TLS={}", transport.tls)};
    if (std::string_view{transport.name} == "tcp")
        arguments.insert(arguments.end(), {"-x", "UCX_NET_DEVICES=lo"});
    arguments.insert(arguments.end(), {options.peer("peer_network"), options.module("ucx"),
                                       transport.name, std::to_string(options.plan.pairs),
                                       std::to_string(options.plan.turn_seconds)});
    Spawned job = start_job(2, arguments);
    for (std::string text = job.read_line(); !text.empty(); text = job.read_line()) {
        std::istringstream in{text};
        std::string what;
        Ratio ratio;
        in >> what >> ratio.a_seconds >> ratio.b_seconds >> ratio.value >> ratio.low >>
            ratio.high >> ratio.pairs >> ratio.repeated >> ratio.disturbed;
        if (!in) continue;
        // Only puts have a limit; the others say where the module stands.
        const bool judged = what.starts_with("network.put");
        rows.push_back(row_of(fmt::format("{} over {}, ours / ucx_perftest", what, transport.name),
                              ratio, judged ? std::optional{0.97} : std::nullopt,
                              fmt::format("a message: ours {:.4g} us, ucx_perftest {:.4g} us",
                                          ratio.a_seconds * 1e6, ratio.b_seconds * 1e6)));
    }
    if (job.wait() != 0) throw std::runtime_error{"mpirun failed"};
}

} // namespace

std::vector<Row> compare_network(const Options& options) {
    if (options.threads < 2) throw std::runtime_error{"needs two cores"};
    if (!std::filesystem::exists(options.peer("peer_network")))
        throw std::runtime_error{options.peer("peer_network") + " was not built"};
    if (process::find_program("ucx_perftest", std::getenv("PATH")).empty())
        return {Row{.name = "network", .not_measured = "ucx_perftest is not there (ucx-utils)"}};
    std::vector<Row> rows;
    for (const auto& transport : transports) add_rows(rows, options, transport);
    return rows;
}

} // namespace assay::peers
