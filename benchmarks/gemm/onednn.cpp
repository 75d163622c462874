// SPDX-License-Identifier: Apache-2.0
#include "square.hpp"

#include <assay/define.hpp>

#include <dnnl.hpp>

#include <array>
#include <variant>

namespace assay::gemm {

namespace {

using Data = dnnl::memory::data_type;
using Layout = dnnl::memory::format_tag;

enum class Weights : std::uint8_t { packed, plain };

struct Types {
    Data source;
    Data weights;
    Data destination;
};
constexpr Types types_of(Precision precision) {
    switch (precision) {
    case Precision::bf16:
        return {.source = Data::bf16, .weights = Data::bf16, .destination = Data::f32};
    case Precision::int8:
        return {.source = Data::u8, .weights = Data::s8, .destination = Data::s32};
    case Precision::fp64: // oneDNN has none, and the axis does not offer it
    case Precision::fp32:
        break;
    }
    return {.source = Data::f32, .weights = Data::f32, .destination = Data::f32};
}

dnnl::engine cpu() { return {dnnl::engine::kind::cpu, 0}; }

dnnl::memory::desc square_of(std::int64_t size, Data type, Layout layout) {
    return {{size, size}, type, layout};
}

/// The kernel that oneDNN would use. Throws dnnl::error where it has none.
dnnl::matmul::primitive_desc plan_for(Precision precision, std::int64_t size, Weights weights,
                                      const dnnl::engine& engine) {
    const Types types = types_of(precision);
    return {{square_of(size, types.source, Layout::ab),
             square_of(size, types.weights, weights == Weights::packed ? Layout::any : Layout::ab),
             square_of(size, types.destination, Layout::ab)},
            engine};
}

const char* isa_name(dnnl::cpu_isa isa) {
    using enum dnnl::cpu_isa;
    constexpr std::array<std::pair<dnnl::cpu_isa, const char*>, 8> names{
        {{sse41, "sse41"},
         {avx, "avx"},
         {avx2, "avx2"},
         {avx2_vnni, "avx2_vnni"},
         {avx512_core, "avx512_core"},
         {avx512_core_vnni, "avx512_core_vnni"},
         {avx512_core_bf16, "avx512_core_bf16"},
         {avx512_core_amx, "avx512_core_amx"}}};
    for (const auto& [value, name] : names)
        if (value == isa) return name;
    return "other";
}

/// Bytes of one element of A, of B twice where it is also kept packed, and of C.
std::int64_t bytes_per_element(Precision precision, Weights weights) {
    const std::int64_t input = precision == Precision::fp32   ? 4
                               : precision == Precision::bf16 ? 2
                                                              : 1;
    return input * (weights == Weights::packed ? 3 : 2) + 4;
}

} // namespace

class OnednnSquare {
public:
    struct Params {
        Precision precision = Precision::fp32;
        std::int64_t size = 0;
        Symbolic threads;
        Weights weights = Weights::packed;
    };
    static constexpr Info info = square_info;
    static constexpr std::tuple axes{
        choice("precision", "type of the inputs; results are fp32, or int32 for int8",
               &Params::precision,
               {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}, {"int8", Precision::int8}}),
        size_axis<Params>(),
        threads_axis(&Params::threads, {Symbol::all}),
        choice("weights", "B in the order the kernel prefers (packed, not timed), or row by row",
               &Params::weights, {{"packed", Weights::packed}, {"plain", Weights::plain}},
               {Weights::packed}),
    };

    static Fit fit(const Params& params, const Machine& machine) {
        std::string kernel;
        try {
            kernel = plan_for(params.precision, params.size, params.weights, cpu()).impl_info_str();
        } catch (const dnnl::error& e) {
            return Fit::no(
                std::string{"not applicable: oneDNN has no kernel for this on this CPU: "} +
                e.what());
        }
        // Loops that exist to compare results with. A rate of theirs says nothing about a machine.
        if (kernel.starts_with("ref"))
            return Fit::no("not applicable: needs instructions this CPU lacks: oneDNN has only its "
                           "reference loops (" +
                           kernel + ") for this precision here");
        return fits(machine, params.threads, params.size,
                    bytes_per_element(params.precision, params.weights));
    }

    OnednnSquare(const Params& params, Context& context)
        : precision_{params.precision},
          threads_{host::use_threads(context.machine(), params.threads)}, matrices_{make(params)},
          engine_{cpu()}, stream_{engine_},
          plan_{plan_for(params.precision, params.size, params.weights, engine_)},
          primitive_{plan_}, weights_{plan_.weights_desc(), engine_, DNNL_MEMORY_NONE} {
        std::visit([this](auto& m) { bind(m); }, matrices_);
        context.setting("implementation", plan_.impl_info_str());
        context.setting("isa", isa_name(dnnl::get_effective_cpu_isa()));
        context.setting("threads", threads_);
        const bool has_bf16 = context.machine().has("avx512_bf16") ||
                              context.machine().has("amx_bf16") || context.machine().has("bf16");
        if (precision_ == Precision::bf16 && !has_bf16)
            context.warn("this CPU has no bf16 instructions: oneDNN converts to fp32 as it goes, "
                         "so the rate is one of fp32 arithmetic");
    }

    // NOLINTNEXTLINE(bugprone-exception-escape): get() throws where there is no primitive
    void run() noexcept {
        const auto status =
            dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                   static_cast<int>(arguments_.size()), arguments_.data());
        const auto waited = dnnl_stream_wait(stream_.get());
        if (status != dnnl_success) status_ = status;
        if (waited != dnnl_success) status_ = waited;
    }
    Work work() const { return square_work(precision_, plan_.src_desc().dims()[0]); }
    Check verify() const {
        if (status_ != dnnl_success)
            throw dnnl::error{status_, "oneDNN could not run the matrix product"};
        return std::visit([](const auto& m) { return m.check(); }, matrices_);
    }
    Outputs outputs() const {
        return std::visit([](const auto& m) { return Outputs{m.c}; }, matrices_);
    }
    void poison() {
        std::visit([](auto& m) { m.poison(); }, matrices_);
    }
    void spoil() {
        if (auto* fp32 = std::get_if<Single>(&matrices_)) {
            constexpr int bf16_digits = 8;
            fp32->narrow_inputs(bf16_digits);
            pack();
            run();
            fp32->fill_inputs();
            pack();
        } else if (auto* bf16 = std::get_if<Brain>(&matrices_)) {
            bf16->narrow_result();
        } else if (auto* int8 = std::get_if<Byte>(&matrices_)) {
            int8->damage_one();
        }
    }

private:
    using Single = Matrices<float, float, float>;
    using Brain = Matrices<Bfloat16, Bfloat16, float>;
    using Byte = Matrices<std::uint8_t, std::int8_t, std::int32_t>;
    using Any = std::variant<Single, Brain, Byte>;

    static Any make(const Params& params) {
        if (params.precision == Precision::bf16) return Any{std::in_place_type<Brain>, params.size};
        if (params.precision == Precision::int8) return Any{std::in_place_type<Byte>, params.size};
        return Any{std::in_place_type<Single>, params.size};
    }

    template <class M>
    void bind(M& m) {
        source_ = {plan_.src_desc(), engine_, m.a.data()};
        destination_ = {plan_.dst_desc(), engine_, m.c.data()};
        plain_ = {
            square_of(static_cast<std::int64_t>(m.size), types_of(precision_).weights, Layout::ab),
            engine_, m.b.data()};
        packs_ = plan_.weights_desc() != plain_.get_desc();
        if (packs_) {
            packed_ = HostBuffer<std::byte>{plan_.weights_desc().get_size()};
            weights_.set_data_handle(packed_.data());
            pack();
        } else {
            weights_.set_data_handle(m.b.data());
        }
        arguments_ = {dnnl_exec_arg_t{DNNL_ARG_SRC, source_.get()},
                      {DNNL_ARG_WEIGHTS, weights_.get()},
                      {DNNL_ARG_DST, destination_.get()}};
    }
    void pack() {
        if (!packs_) return;
        dnnl::reorder{plain_, weights_}.execute(stream_, plain_, weights_);
        stream_.wait();
    }

    Precision precision_;
    int threads_;
    Any matrices_;
    dnnl::engine engine_;
    dnnl::stream stream_;
    dnnl::matmul::primitive_desc plan_;
    dnnl::matmul primitive_;
    dnnl::memory source_;
    dnnl::memory plain_;
    dnnl::memory weights_;
    dnnl::memory destination_;
    HostBuffer<std::byte> packed_;
    bool packs_ = false;
    std::array<dnnl_exec_arg_t, 3> arguments_{};
    dnnl_status_t status_ = dnnl_success;
};

extern constinit const assay_benchmark onednn_square = define<OnednnSquare>();

} // namespace assay::gemm

namespace {

void report(const assay::Context& context) {
    const dnnl_version_t& version = *dnnl::version();
    context.setting("onednn.version",
                    assay::joined(version.major, '.', version.minor, '.', version.patch));
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{.facts = assay::facts<report>};
