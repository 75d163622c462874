// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace assay::machine {

/// What `ask()` returns, or nothing where that takes longer: who asks a driver that hangs, hangs with it.
/// Then a thread is left behind that waits for ever, so `ask` owns all that it uses. Throws what it throws.
template <class Ask>
std::optional<std::invoke_result_t<Ask&>> answer_within(std::chrono::milliseconds patience,
                                                        Ask ask) {
    std::promise<std::invoke_result_t<Ask&>> promise;
    auto answer = promise.get_future();
    std::thread{[promise = std::move(promise), ask = std::move(ask)]() mutable {
        try {
            promise.set_value(ask());
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    }}.detach();
    if (answer.wait_for(patience) != std::future_status::ready) return {};
    return answer.get();
}

} // namespace assay::machine
