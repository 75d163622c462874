// SPDX-License-Identifier: Apache-2.0
//
// The primitives of ResNet-50's convolutions or of a transformer layer, each with memory of its own,
// one after the other; takes turns, see pipe.hpp.
#include "pipe.hpp"
#include "workload/resnet50.hpp"

#include <assay/random.hpp>

#include <dnnl.hpp>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using dnnl::memory;
using Type = memory::data_type;
using Layout = memory::format_tag;

class Program {
public:
    explicit Program(std::string_view precision)
        : type_{precision == "bf16" ? Type::bf16 : Type::f32} {}

    Type type() const { return type_; }
    const dnnl::engine& engine() const { return engine_; }
    const std::string& words() const { return words_; }
    double flops() const { return flops_; }

    /// Random numbers between -1 and 1.
    memory filled(const memory::desc& desc) {
        const auto dims = desc.dims();
        memory::dims strides(dims.size(), 1);
        for (std::size_t d = dims.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * dims[d];
        memory plain{{dims, Type::f32, strides}, engine_};
        const std::size_t count = plain.get_desc().get_size() / sizeof(float);
        assay::fill_uniform<float>({static_cast<float*>(plain.get_data_handle()), count}, 1, -1, 1);
        memory result{desc, engine_};
        dnnl::reorder{plain, result}.execute(stream_, plain, result);
        stream_.wait();
        return result;
    }
    template <class Plan, class Primitive>
    void add(const Plan& plan, const Primitive& primitive, double flops,
             std::unordered_map<int, memory> arguments) {
        if (words_.empty()) words_ = plan.impl_info_str();
        flops_ += flops;
        steps_.emplace_back(primitive, std::move(arguments));
    }
    double sample(std::size_t calls) {
        return assay::peers::seconds_of(calls, [this] {
            for (const auto& [primitive, arguments] : steps_) primitive.execute(stream_, arguments);
            stream_.wait();
        });
    }

private:
    Type type_;
    dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream_{engine_};
    std::string words_;
    double flops_ = 0;
    std::vector<std::pair<dnnl::primitive, std::unordered_map<int, memory>>> steps_;
};

void add_convolution(Program& program, const assay::workload::Layer& layer, std::int64_t batch) {
    const std::int64_t out = layer.output_size();
    const std::int64_t right =
        (out - 1) * layer.stride + layer.kernel - layer.size - layer.padding();
    dnnl::primitive_attr attributes;
    dnnl::post_ops relu;
    relu.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    attributes.set_post_ops(relu);
    const dnnl::convolution_forward::primitive_desc plan{
        {dnnl::prop_kind::forward_inference,
         dnnl::algorithm::convolution_direct,
         {{batch, layer.inputs, layer.size, layer.size}, program.type(), Layout::any},
         {{layer.outputs, layer.inputs, layer.kernel, layer.kernel}, program.type(), Layout::any},
         {{layer.outputs}, Type::f32, Layout::x},
         {{batch, layer.outputs, out, out}, program.type(), Layout::any},
         {layer.stride, layer.stride},
         {layer.padding(), layer.padding()},
         {right, right}},
        attributes,
        program.engine()};
    program.add(plan, dnnl::convolution_forward{plan},
                2 * static_cast<double>(batch * layer.products()),
                {{DNNL_ARG_SRC, program.filled(plan.src_desc())},
                 {DNNL_ARG_WEIGHTS, program.filled(plan.weights_desc())},
                 {DNNL_ARG_BIAS, program.filled(plan.bias_desc())},
                 {DNNL_ARG_DST, program.filled(plan.dst_desc())}});
}

/// The operation after a product.
enum class After : std::uint8_t { nothing, gelu, addition };

void add_dense(Program& program, std::int64_t rows, std::int64_t from, std::int64_t to,
               After after) {
    const memory::desc result{{rows, to}, program.type(), Layout::ab};
    dnnl::post_ops ops;
    if (after == After::gelu) ops.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
    if (after == After::addition) ops.append_binary(dnnl::algorithm::binary_add, result);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(ops);
    const dnnl::matmul::primitive_desc plan{{{{rows, from}, program.type(), Layout::ab},
                                             {{from, to}, program.type(), Layout::any},
                                             {{1, to}, Type::f32, Layout::ab},
                                             result},
                                            attributes,
                                            program.engine()};
    std::unordered_map<int, memory> arguments{
        {DNNL_ARG_SRC, program.filled(plan.src_desc())},
        {DNNL_ARG_WEIGHTS, program.filled(plan.weights_desc())},
        {DNNL_ARG_BIAS, program.filled({{1, to}, Type::f32, Layout::ab})},
        {DNNL_ARG_DST, program.filled(result)}};
    if (after == After::addition)
        arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1,
                          program.filled(result));
    program.add(plan, dnnl::matmul{plan}, 2.0 * static_cast<double>(rows * from * to),
                std::move(arguments));
}

void add_batched(Program& program, const memory::desc& a, const memory::desc& b,
                 const memory::desc& c) {
    const dnnl::matmul::primitive_desc plan{{a, b, c}, program.engine()};
    const auto d = a.dims();
    program.add(plan, dnnl::matmul{plan},
                2.0 * static_cast<double>(d[0] * d[1] * d[2] * d[3] * b.dims()[3]),
                {{DNNL_ARG_SRC, program.filled(a)},
                 {DNNL_ARG_WEIGHTS, program.filled(b)},
                 {DNNL_ARG_DST, program.filled(c)}});
}

void add_norm(Program& program, std::int64_t rows, std::int64_t width) {
    const memory::desc desc{{rows, width}, program.type(), Layout::ab};
    const memory::desc row{{width}, Type::f32, Layout::a};
    const dnnl::layer_normalization_forward::primitive_desc plan{
        {dnnl::prop_kind::forward_inference, desc, 1e-5F,
         dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift},
        program.engine()};
    program.add(plan, dnnl::layer_normalization_forward{plan}, 0,
                {{DNNL_ARG_SRC, program.filled(desc)},
                 {DNNL_ARG_SCALE, program.filled(row)},
                 {DNNL_ARG_SHIFT, program.filled(row)},
                 {DNNL_ARG_DST, program.filled(desc)}});
}

/// Heads lie densely, one after the other, which is the order that suits the products best; bringing
/// them into it is not done here.
void add_attention(Program& program, std::int64_t batch, std::int64_t sequence,
                   std::int64_t hidden) {
    const std::int64_t heads = hidden / 64;
    const Type type = program.type();
    const memory::desc scores{{batch, heads, sequence, sequence}, type, Layout::abcd};
    const memory::desc rows{{batch, heads, sequence, 64}, type, Layout::abcd};
    add_batched(program, rows, {{batch, heads, 64, sequence}, type, Layout::abdc}, scores);
    const dnnl::softmax_v2_forward::primitive_desc plan{
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, scores, scores, 3},
        program.engine()};
    program.add(plan, dnnl::softmax_v2_forward{plan}, 0,
                {{DNNL_ARG_SRC, program.filled(scores)}, {DNNL_ARG_DST, program.filled(scores)}});
    add_batched(program, scores, rows, rows);
}

int run(std::span<char*> arguments) {
    const std::string_view what = arguments[1];
    const auto number = [&](std::size_t i) {
        return std::int64_t{std::strtol(arguments[i], nullptr, 10)};
    };
    Program program{arguments.back()};
    if (what == "convolution") {
        for (const auto& layer : assay::workload::resnet50)
            for (std::int64_t i = 0; i < layer.count; ++i)
                add_convolution(program, layer, number(2));
    } else {
        const std::int64_t rows = number(2) * number(3);
        const std::int64_t hidden = number(4);
        const bool is_layer = what == "transformer";
        add_dense(program, rows, hidden, 3 * hidden, After::nothing);
        if (is_layer) add_attention(program, number(2), number(3), hidden);
        add_dense(program, rows, hidden, hidden, is_layer ? After::addition : After::nothing);
        if (is_layer) add_norm(program, rows, hidden);
        add_dense(program, rows, hidden, 4 * hidden, is_layer ? After::gelu : After::nothing);
        add_dense(program, rows, 4 * hidden, hidden, is_layer ? After::addition : After::nothing);
        if (is_layer) add_norm(program, rows, hidden);
    }
    return assay::peers::answer_turns(program.flops(), program.words(),
                                      [&](std::size_t calls) { return program.sample(calls); });
}

} // namespace

int main(int argc, char** argv) {
    const std::span arguments{argv, static_cast<std::size_t>(argc)};
    if (argc != 4 && argc != 6) {
        std::cerr << "usage: peer_onednn_workload convolution BATCH fp32|bf16\n"
                     "       peer_onednn_workload transformer|products BATCH SEQUENCE HIDDEN "
                     "fp32|bf16\n";
        return 2;
    }
    return run(arguments);
}
