// SPDX-License-Identifier: Apache-2.0
//
// What the module `openblas` says beside its benchmarks: which OpenBLAS was loaded, and the core
// types worth trying. OpenBLAS chooses its kernels by CPU model when it is loaded, and takes a model
// newer than itself for an old one: half of the machine can stay unused.

#include <assay/define.hpp>

#include <cblas.h>

#include <array>
#include <sstream>
#include <string>

namespace {

constexpr assay_tuning core_type(const char* name, const char* isa) {
    return {sizeof(assay_tuning), 0, "OPENBLAS_CORETYPE", name, isa};
}

// A core type asked for is used even where the CPU lacks its instructions, so each names them. A
// name that this build of OpenBLAS does not know falls back to its own choice without a word; the
// setting `core_type` of each case says what was used.
constexpr std::array core_types{
    core_type("Haswell", "avx2 fma"),
    core_type("Zen", "avx2 fma"),
    core_type("SkylakeX", "avx512f avx512bw avx512cd avx512dq avx512vl"),
    core_type("Cooperlake", "avx512f avx512bw avx512cd avx512dq avx512vl avx512_bf16"),
    core_type("SapphireRapids", "avx512f avx512bw avx512cd avx512dq avx512vl avx512_bf16 amx_bf16"),
    core_type("NEOVERSEN1", "asimd asimddp"),
    core_type("NEOVERSEV1", "sve"),
    core_type("NEOVERSEN2", "sve2"),
};

/// "OpenBLAS 0.3.21 NO_LAPACKE ..." begins with name and version.
std::string version_of(const char* config) {
    std::istringstream words{config};
    std::string name;
    std::string version;
    words >> name >> version;
    return version;
}

std::int32_t facts(const assay_services* services, assay_text* error) {
    return assay::detail::guarded(error, [&] {
        const auto say = [&](const char* name, const std::string& value) {
            services->setting_text(services->context, name, value.c_str());
        };
        say("openblas.version", version_of(openblas_get_config()));
        say("openblas.config", openblas_get_config());
        say("openblas.corename", openblas_get_corename());
    });
}

} // namespace

extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{
    .tunings = core_types.data(),
    .tuning_count = core_types.size(),
    .facts = facts,
};
