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

/// The cause of an error; decides the exit code of the program (see ExitCode).
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

/// Hands an error on to the caller:
///
///     ASSAY_TRY(auto text, read_file(path)); // `text` is the value
///     ASSAY_TRY(write_file(path, text));     // there is no value, or it does not matter
///
/// The first is two statements: it stands in braces. In the second, commas stand in parentheses.
#define ASSAY_TRY(first, ...)                                                                      \
    ASSAY_TRY_CHOICE(__VA_OPT__(, ) ASSAY_TRY_VALUE, ASSAY_TRY_VOID, )(first, __VA_ARGS__)
#define ASSAY_TRY_CHOICE(...) ASSAY_TRY_SECOND(__VA_ARGS__)
#define ASSAY_TRY_SECOND(a, b, ...) b
#define ASSAY_TRY_VOID(expression, ...)                                                            \
    do {                                                                                           \
        if (auto&& outcome_ = expression; !outcome_)                                               \
            return tl::unexpected{std::forward<decltype(outcome_)>(outcome_).error()};             \
    } while (false)
#define ASSAY_TRY_VALUE(declaration, ...)                                                          \
    ASSAY_TRY_NAMED(ASSAY_TRY_NAME(outcome_, __LINE__), declaration, __VA_ARGS__)
#define ASSAY_TRY_NAMED(tried, declaration, ...)                                                   \
    auto&& tried = __VA_ARGS__;                                                                    \
    if (!tried) return tl::unexpected{std::forward<decltype(tried)>(tried).error()};               \
    declaration = *std::forward<decltype(tried)>(tried)
#define ASSAY_TRY_NAME(name, line) ASSAY_TRY_PASTED(name, line)
#define ASSAY_TRY_PASTED(name, line) name##line

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
