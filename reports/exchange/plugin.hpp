// SPDX-License-Identifier: Apache-2.0
//
// A judgement as one line for tools that run plugins on nodes, with the exit code that they expect.

#pragma once

#include "base/result.hpp"
#include "judge/judge.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::exchange {

enum class ExitStyle : std::uint8_t { assay, nagios, npd };
std::optional<ExitStyle> exit_style_from(std::string_view name);

/// assay: 0 PASS and WARN, 1 FAIL, 3 INCONCLUSIVE and SKIP (absence never passes), 4 ERROR. nagios: 0 OK, 1 WARNING,
/// 2 CRITICAL, 3 UNKNOWN. npd: 0 fine, 1 a problem, 2 unknown.
int exit_code_of(judge::Outcome outcome, ExitStyle style);

/// Formats for other programs on stdout: nagios "ASSAY OK - ... | perfdata" and a line for each finding; npd, the node
/// problem detector, one line of at most 80 characters that begins with [node_problem] or [user_problem].
std::string plugin_output(const judge::Judgement& judgement, ExitStyle style);
/// The same where there is no verdict.
std::string plugin_output(const Error& error, ExitStyle style);

} // namespace assay::exchange
