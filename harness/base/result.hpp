// SPDX-License-Identifier: Apache-2.0
//
// Expected failures are values: a Result is a value or an Error whose text a user can act on (what,
// where, what would be right). Exceptions are for broken things, assertions for impossible ones.

#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace assay {

/// Whose fault it is; decides the exit code of the program (see ExitCode).
enum class Fault : std::uint8_t {
    usage,       // an option, a config file, a result file: the user can correct it
    environment, // no permission, no space, no launcher, no driver
    benchmark,   // the thing under measurement failed
    another_rank // of the team failed; its own error says why
};

struct Error {
    std::string message;
    Fault fault = Fault::usage;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string message, Fault fault = Fault::usage) {
    return tl::unexpected<Error>{Error{.message = std::move(message), .fault = fault}};
}

/// The exit codes of both programs; the README and `--help` print them.
enum class ExitCode : std::uint8_t {
    done = 0,         // ok, unstable, skipped; or a verdict PASS
    failed = 1,       // a case incorrect, failed or crashed; a limit failed; a regression
    usage = 2,        // usage or config error
    inconclusive = 3, // no verdict possible
    environment = 4,  // the machine or the file system does not allow it
    interrupted = 5,  // stopped by a signal; --resume continues
};

inline ExitCode exit_code(const Error& error) {
    switch (error.fault) {
    case Fault::usage:
        return ExitCode::usage;
    case Fault::environment:
        return ExitCode::environment;
    case Fault::benchmark:
    case Fault::another_rank:
        break;
    }
    return ExitCode::failed;
}

} // namespace assay
