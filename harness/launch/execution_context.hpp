// SPDX-License-Identifier: Apache-2.0
//
// What is around the workers of a variant: environment variables, a command that starts them.

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
};

/// `path`: the PATH to search for programs. A missing one is an environment error.
Result<ExecutionContext> context_of(const Variant& variant, std::string_view path);

/// Does `program worker` start in there? Fails with its error message if not.
Result<void> try_out(const ExecutionContext& context, const std::filesystem::path& program,
                     const std::vector<std::string>& environment);

} // namespace assay::harness
