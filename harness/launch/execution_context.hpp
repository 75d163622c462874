// SPDX-License-Identifier: Apache-2.0
//
// Where the workers of a variant run: environment variables, a command that starts them, the root of a
// container image. In an image the host's files are below another path, and the libraries
// under test are the image's.

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
    std::vector<std::string> prefix; ///< a program's path and arguments that start the worker
    std::filesystem::path host;      ///< path of the host's root for a worker; empty: /

    /// A worker's path of this file of the host.
    std::string inside(const std::filesystem::path& path) const;
};

/// `results`: the only folder of the host that a worker in an image may write to. `path`: the PATH to
/// search for programs. A missing program or image is an environment error.
Result<ExecutionContext> context_of(const Variant& variant, const std::filesystem::path& results,
                                    std::string_view path);

/// Does `program worker` start in there? Fails with its error message if not.
Result<void> try_out(const ExecutionContext& context, const std::filesystem::path& program,
                     const std::vector<std::string>& environment);

} // namespace assay::harness
