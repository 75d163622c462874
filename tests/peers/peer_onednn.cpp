// SPDX-License-Identifier: Apache-2.0
//
// Bare oneDNN matmul in fp32, weights packed or plain; takes turns, see pipe.hpp.
#include "pipe.hpp"

#include <assay/host.hpp>
#include <assay/random.hpp>

#include <dnnl.hpp>

#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: peer_onednn SIZE packed|plain\n";
        return 2;
    }
    const auto n = std::strtol(argv[1], nullptr, 10);
    const auto elements = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    assay::HostBuffer<float> a{elements};
    assay::HostBuffer<float> b{elements};
    assay::HostBuffer<float> c{elements};
    assay::fill_uniform<float>(a.view(), 1, -1, 1);
    assay::fill_uniform<float>(b.view(), 2, -1, 1);

    using dnnl::memory;
    const dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    const memory::desc plain{{n, n}, memory::data_type::f32, memory::format_tag::ab};
    const memory::desc any{{n, n}, memory::data_type::f32, memory::format_tag::any};
    const bool packs = std::string{argv[2]} == "packed";
    const dnnl::matmul::primitive_desc plan{{plain, packs ? any : plain, plain}, engine};
    const dnnl::matmul product{plan};
    memory source{plain, engine, a.data()};
    memory rows{plain, engine, b.data()};
    memory weights{plan.weights_desc(), engine};
    memory result{plain, engine, c.data()};
    dnnl::reorder{rows, weights}.execute(stream, rows, weights);
    stream.wait();

    const auto size = static_cast<double>(n);
    return assay::peers::answer_turns(2 * size * size * size, plan.impl_info_str(),
                                      [&](std::size_t calls) {
                                          return assay::peers::seconds_of(calls, [&] {
                                              product.execute(stream, {{DNNL_ARG_SRC, source},
                                                                       {DNNL_ARG_WEIGHTS, weights},
                                                                       {DNNL_ARG_DST, result}});
                                              stream.wait();
                                          });
                                      });
}
