// SPDX-License-Identifier: Apache-2.0
//
// The manifest of a module: its benchmarks, known without loading it. Written by
// `assay manifest` from the module itself, read by list, describe, plan and --set.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "json/json.hpp"
#include "plan/parameter.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::plan {

/// The bound of the primary metric by the data sheets: assay_bound in assay/module.h, in its order.
ASSAY_ENUM(BoundBy, none, vector_units, matrix_units, memory, host_link, device_links, network)
inline std::string_view expected_text(BoundBy /*any*/) {
    return "vector_units, matrix_units, memory, host_link, device_links or network";
}

/// How its values spread by their nature: assay_noise in assay/module.h, in its order. By how much: record/noise.hpp.
ASSAY_ENUM(Noise, unknown, arithmetic, memory, workload, fft, messages, latency)
inline std::string_view expected_text(Noise /*any*/) {
    return "arithmetic, memory, workload, fft, messages or latency";
}

struct Benchmark {
    std::string id;
    std::uint32_t version = 1;
    std::string place;
    std::string question;
    std::string method;
    std::string caveats;
    std::string headline;
    std::string ceiling; ///< ids of the benchmarks that measure its bound, blank-separated
    BoundBy bound = BoundBy::none;
    Noise noise = Noise::unknown;
    std::optional<std::string> items; ///< what its work counts as items, in the plural: "keys"
    std::optional<bool> reproducible; ///< the same bits everywhere; older manifests do not say
    bool rewinds = false;
    bool single_call = false;
    std::optional<bool> long_calls; ///< a call takes seconds: one is a window
    bool team = false;
    bool is_ceiling = false;
    bool all_devices = false; ///< uses all devices at once
    std::uint64_t safe_calls = 0;
    std::optional<std::string> metrics; ///< what it reports itself: "latency_p99=s iops=1/s"
    std::optional<std::string>
        packages; ///< Debian packages of the programs that it starts, blank-separated
    std::vector<Parameter> parameters;
};

/// The words of a blank-separated list.
std::vector<std::string> words_of(const std::string& list);
/// The ids in `ceiling`.
std::vector<std::string> ceiling_ids(const Benchmark& benchmark);
/// "fp32" of "peak.fma:precision=fp32": what a parameter of that bound must be, whatever it is in the judged case.
std::optional<std::string> ceiling_value(const Benchmark& benchmark, std::string_view id,
                                         std::string_view parameter);

/// See assay_tuning in assay/module.h.
struct Tuning {
    std::string variable;
    std::string value;
    std::string requires_isa;
};

struct Manifest {
    std::string module;            ///< name, recorded as the library of its cases
    std::string build_id;          ///< of the module's file
    std::filesystem::path library; ///< the module itself, beside the manifest
    std::string launcher;
    std::optional<std::string>
        path_variable; ///< where it is set, the module itself says what it has
    std::vector<Tuning> tunings;
    std::vector<Benchmark> benchmarks;
    std::vector<std::string> problems; ///< files that the module could not use; not in the file
};

/// Why a benchmark may not name this metric: it is not in the table, which the sentence says where to find.
std::string unknown_metric(std::string_view name);

/// The benchmark as in its manifest, for all who print JSON.
json::Value to_json(const Benchmark& benchmark);

/// Checks that ids are <family>.<name> and unique, primary metrics in the table of metrics, defaults of
/// the right type and inside their ranges, and no text is missing. For manifests that are written and
/// for those that are read: both may be foreign.
Result<void> check_manifest(const Manifest& manifest);

Result<Manifest> read_manifest(const std::filesystem::path& path);
/// The same from text; `path`: its file.
Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& path);
Result<void> write_manifest(const Manifest& manifest, const std::filesystem::path& path);

// All modules, by their manifests.

/// Every manifest in the layout's module folder and in the folders of ASSAY_MODULE_PATH, ordered by module name. A
/// manifest that cannot be read is reported as a problem; the others are returned. If two modules share a name, the
/// first folder's is used, with a problem.
struct Catalogue {
    std::vector<Manifest> modules;
    std::vector<Error> problems;
};
Catalogue read_catalogue();

} // namespace assay::plan
