// SPDX-License-Identifier: Apache-2.0
//
// The state of a benchmark that is one of several types, usually a template in several precisions:
// all calls of the harness are forwarded to it.

#pragma once

#include "assay/benchmark.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace assay {

/// A base class. A benchmark may hide members with its own.
template <class... States>
class OneOf {
public:
    void run() noexcept((noexcept(std::declval<States&>().run()) && ...)) {
        // std::visit throws only if the variant is valueless, which it never is.
        (run_if<States>(), ...);
    }
    Work work() const {
        return std::visit([](const auto& state) { return state.work(); }, state_);
    }
    Check verify() const {
        return std::visit([](const auto& state) { return state.verify(); }, state_);
    }
    void poison() {
        std::visit([](auto& state) { state.poison(); }, state_);
    }
    void spoil() {
        std::visit([](auto& state) { state.spoil(); }, state_);
    }
    Outputs outputs() const
        requires(HasOutputs<States> && ...)
    {
        return std::visit([](const auto& state) { return state.outputs(); }, state_);
    }
    void rewind()
        requires(Rewinds<States> && ...)
    {
        std::visit([](auto& state) { state.rewind(); }, state_);
    }

protected:
    using State = std::variant<States...>;
    /// `make()` returns the State, which is not moved.
    template <class Make>
    explicit OneOf(const Make& make) : state_{make()} {}
    /// State number `which` of <States...>, constructed from `arguments`.
    template <class Which, class... Arguments>
        requires std::is_enum_v<Which>
    explicit OneOf(Which which, Arguments&&... arguments)
        : state_{made(static_cast<std::size_t>(which), arguments...)} {}

    State& state() { return state_; }
    const State& state() const { return state_; }

private:
    template <class Present>
    void run_if() noexcept(noexcept(std::declval<Present&>().run())) {
        if (auto* state = std::get_if<Present>(&state_)) state->run();
    }
    template <std::size_t number = 0, class... Arguments>
    static State made(std::size_t which, Arguments&... arguments) {
        if constexpr (number + 1 < sizeof...(States))
            if (which != number) return made<number + 1>(which, arguments...);
        return State{std::in_place_index<number>, arguments...};
    }
    State state_;
};

} // namespace assay
