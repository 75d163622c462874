// SPDX-License-Identifier: Apache-2.0
#include "worker/loaded_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace assay::worker {
namespace {

/// Room for a sentence or two from the module.
class Text {
public:
    assay_text* to() { return &text_; }
    std::string_view words(std::string_view fallback) const {
        return bytes_[0] == '\0' ? fallback : std::string_view{bytes_.data()};
    }
    assay_text view() { return text_; }

private:
    std::array<char, 1024> bytes_{};
    assay_text text_{.data = bytes_.data(), .capacity = bytes_.size()};
};

bool is_symbol_of(const assay_parameter& parameter, const std::string& text) {
    const std::span names{parameter.names, parameter.name_count};
    return std::ranges::any_of(names, [&](const char* name) { return text == name; });
}

/// The value as the parameter takes it; nothing when it is of another type.
struct ToModule {
    const assay_parameter& parameter;

    std::optional<assay_value> operator()(std::int64_t value) const {
        if (parameter.kind == ASSAY_INTEGER)
            return assay_value{ASSAY_INTEGER, 0, value, 0, nullptr};
        if (parameter.kind == ASSAY_REAL)
            return assay_value{ASSAY_REAL, 0, 0, static_cast<double>(value), nullptr};
        return std::nullopt;
    }
    std::optional<assay_value> operator()(double value) const {
        if (parameter.kind != ASSAY_REAL) return std::nullopt;
        return assay_value{ASSAY_REAL, 0, 0, value, nullptr};
    }
    std::optional<assay_value> operator()(bool value) const {
        if (parameter.kind != ASSAY_BOOLEAN) return std::nullopt;
        return assay_value{ASSAY_BOOLEAN, 0, value ? 1 : 0, 0, nullptr};
    }
    std::optional<assay_value> operator()(const std::string& value) const {
        if (parameter.kind == ASSAY_STRING)
            return assay_value{ASSAY_STRING, 0, 0, 0, value.c_str()};
        const bool takes_names = parameter.kind == ASSAY_NAME || parameter.kind == ASSAY_INTEGER;
        if (!takes_names || !is_symbol_of(parameter, value)) return std::nullopt;
        return assay_value{ASSAY_NAME, 0, 0, 0, value.c_str()};
    }
};

} // namespace

Result<std::vector<assay_value>> module_values(const assay_benchmark& benchmark,
                                               const record::NamedList& from) {
    std::vector<assay_value> values;
    for (const auto& parameter : std::span{benchmark.parameters, benchmark.parameter_count}) {
        const auto* value = record::find(from, parameter.name);
        if (value == nullptr)
            return fail(fmt::format("{}: parameter {} has no value", benchmark.id, parameter.name));
        const auto converted = std::visit(ToModule{parameter}, *value);
        if (!converted)
            return fail(fmt::format("{}: parameter {} does not take {}", benchmark.id,
                                    parameter.name, record::to_string(*value)));
        values.push_back(*converted);
    }
    if (values.size() != from.size())
        return fail(
            fmt::format("{}: has {} parameters, got {}", benchmark.id, values.size(), from.size()));
    return values;
}

LoadedCase::LoadedCase(const assay_benchmark& benchmark, const assay_services& services,
                       const std::vector<assay_value>& values,
                       std::function<void(const char*)> phase)
    : benchmark_{benchmark}, services_{services}, values_{values}, phase_{std::move(phase)} {
    rewinds = (benchmark.flags & ASSAY_REWINDS) != 0;
    long_calls = (benchmark.flags & ASSAY_LONG_CALLS) != 0;
    single_call = long_calls || (benchmark.flags & ASSAY_SINGLE_CALL) != 0;
    safe_calls = benchmark.safe_calls;
    has_digest = benchmark.digest != nullptr;
    reproducible = has_digest && (benchmark.flags & ASSAY_REPRODUCIBLE) != 0;
}

LoadedCase::~LoadedCase() {
    if (state_ != nullptr) benchmark_.destroy(state_);
}

/// Calls a function of the module.
template <class Function, class... Arguments>
Result<void> LoadedCase::call(const char* what, Function function, Arguments... arguments) {
    Text error;
    if (function(arguments..., error.to()) == 0) return {};
    std::string words{error.words("failed without a message")};
    auto message = fmt::format("{}: {}", what, words);
    failure_ = {{"function", std::string{what}}, {"message", std::move(words)}};
    return fail(std::move(message), Fault::benchmark);
}

void LoadedCase::enter(const char* phase, bool checking) {
    if (checking || checking_) phase_(phase);
    checking_ = checking;
}

std::string LoadedCase::misfit() const {
    Text why;
    if (benchmark_.fit(&services_, values_.data(), why.to()) == 0) return {};
    return std::string{why.words("the benchmark gave no reason")};
}

Result<void> LoadedCase::create() {
    return call("set-up", benchmark_.create, &services_, values_.data(), &state_);
}

Result<record::NamedList> LoadedCase::work() {
    assay_work work{};
    work.struct_size = sizeof work;
    ASSAY_TRY(call("work", benchmark_.work, state_, &work));
    record::NamedList list;
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, double>>{
             {"flops", work.flops},
             {"operations", work.operations},
             {"bytes", work.bytes},
             {"algorithm_bytes", work.algorithm_bytes},
             {"bus_bytes", work.bus_bytes},
             {"items", work.items},
             {"cells", work.cells},
             {"atom_steps", work.atom_steps},
             {"pairs", work.pairs},
             {"steps", work.steps}})
        if (value != 0) list.push_back({name, value});
    return list;
}

Result<void> LoadedCase::report_metrics() {
    if (benchmark_.metrics == nullptr) return {};
    return call("metrics", benchmark_.metrics, state_, &services_);
}

Result<double> LoadedCase::sample(std::uint64_t calls) {
    enter("running", false);
    double seconds = 0;
    ASSAY_TRY(call("run", benchmark_.sample, state_, calls, &seconds));
    return seconds;
}

Result<record::Verification> LoadedCase::verify() {
    enter("verifying", true);
    Text method;
    Text detail;
    assay_check check{};
    check.struct_size = sizeof check;
    check.method = method.view();
    check.detail = detail.view();
    ASSAY_TRY(call("verify", benchmark_.verify, state_, &check));
    return record::Verification{.passed = check.passed != 0,
                                .method = std::string{method.words("")},
                                .bound = check.bound,
                                .error = check.error,
                                .detail = std::string{detail.words("")}};
}

Result<void> LoadedCase::poison() {
    enter("poisoning", true);
    return call("poison", benchmark_.poison, state_);
}

Result<void> LoadedCase::spoil() {
    enter("spoiling", true);
    return call("spoil", benchmark_.spoil, state_);
}

Result<void> LoadedCase::rewind() {
    return rewinds ? call("rewind", benchmark_.rewind, state_) : Result<void>{};
}

Result<worker::Digest> LoadedCase::digest() {
    worker::Digest digest(ASSAY_MOST_BLOCKS);
    assay_digest to{};
    to.struct_size = sizeof to;
    to.hashes = digest.data();
    to.capacity = digest.size();
    ASSAY_TRY(call("digest", benchmark_.digest, state_, &to));
    if (to.count == 0 || to.count > digest.size())
        return fail(fmt::format("{}: its digest has {} blocks, expected 1 to {}", benchmark_.id,
                                to.count, digest.size()),
                    Fault::benchmark);
    digest.resize(to.count);
    return digest;
}

Result<worker::OutputBlock> LoadedCase::block(std::size_t index) {
    worker::OutputBlock block;
    assay_digest to{};
    to.struct_size = sizeof to;
    to.wanted = index;
    ASSAY_TRY(call("digest", benchmark_.digest, state_, &to));
    block.bytes.resize(to.byte_count);
    to.bytes = block.bytes.data();
    to.byte_capacity = block.bytes.size();
    ASSAY_TRY(call("digest", benchmark_.digest, state_, &to));
    block.output = to.output;
    block.first_element = to.first_element;
    block.element_bytes = to.element_bytes;
    return block;
}

Result<void> LoadedCase::renew() {
    enter("setting up", true);
    benchmark_.destroy(std::exchange(state_, nullptr));
    return create();
}

} // namespace assay::worker
