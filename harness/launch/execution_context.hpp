// SPDX-License-Identifier: Apache-2.0
//
// Where the workers of a variant run: variables of the environment, a command that starts them, the root
// of a container image. Where the image's root is not the host's, the host's files are seen below
// another path, and the libraries under measurement are the image's.

#pragma once

#include "base/result.hpp"
#include "plan/variant.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::harness {

struct ExecutionContext {
    record::NamedList variables;
    std::vector<std::string> prefix; ///< a program's path and arguments: it starts what comes after
    std::filesystem::path host;      ///< where a worker sees the host's root; empty: at /

    /// What a worker calls this file of the host.
    std::string inside(const std::filesystem::path& path) const;
};

/// `results`: the one folder of the host that a worker in an image may write to. `path`: the PATH that
/// programs are looked for on. A program or an image that is not there is an error of the environment.
Result<ExecutionContext> context_of(const Variant& variant, const std::filesystem::path& results,
                                    std::string_view path);

/// Does `program worker` start in there? Fails with what it said where it does not.
Result<void> try_out(const ExecutionContext& context, const std::filesystem::path& program,
                     const std::vector<std::string>& environment);

} // namespace assay::harness
