// SPDX-License-Identifier: Apache-2.0
#include "subject.hpp"

#include "machine/inventory.hpp"
#include "plan/manifest.hpp"

#include <array>
#include <stdexcept>
#include <utility>
#include <variant>

namespace assay::peers {
namespace {

template <class T>
T value_or_throw(Result<T> result) {
    if (!result) throw std::runtime_error{result.error().message};
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

const assay_benchmark& find(const worker::Module& module, const std::string& id) {
    const assay_benchmark* found = module.find(id);
    if (found == nullptr)
        throw std::runtime_error{module.path().string() + " has no benchmark " + id};
    return *found;
}

record::NamedList complete(const worker::Module& module, const std::string& id,
                           const record::NamedList& given) {
    const auto manifest = value_or_throw(worker::describe(module));
    record::NamedList parameters;
    for (const auto& benchmark : manifest.benchmarks) {
        if (benchmark.id != id) continue;
        for (const auto& parameter : benchmark.parameters) {
            const auto* value = record::find(given, parameter.name);
            parameters.push_back(
                {parameter.name, value != nullptr ? *value : parameter.defaults.front()});
        }
    }
    return parameters;
}

const assay_team* joined(const worker::Module& module) {
    std::array<char, 1024> text{};
    assay_text error{.data = text.data(), .capacity = text.size()};
    const assay_team* team = module.table().join(&error);
    if (team == nullptr) throw std::runtime_error{text.data()};
    return team;
}

} // namespace

Subject::Subject(const std::string& module_path, const std::string& benchmark,
                 const record::NamedList& given, bool join, const std::string& state)
    : machine_{machine::inspect()}, module_{value_or_throw(worker::Module::load(module_path))},
      services_{machine_, 0, [](const std::string&) {}, state},
      parameters_{complete(module_, benchmark, given)},
      values_{value_or_throw(worker::module_values(find(module_, benchmark), parameters_))} {
    if (join) {
        team_ = joined(module_);
        services_.set_team(team_);
    }
    case_ = std::make_unique<worker::LoadedCase>(find(module_, benchmark), *services_.table(),
                                                 values_, [](const char*) {});
    if (const std::string why = case_->misfit(); !why.empty())
        throw std::runtime_error{benchmark + ": " + why};
    value_or_throw(case_->create());
}

Subject::~Subject() = default;

double Subject::sample(std::uint64_t calls) { return value_or_throw(case_->sample(calls)); }

double Subject::work(const std::string& name) const {
    const auto list = value_or_throw(case_->work());
    const auto* value = record::find(list, name);
    return value == nullptr ? 0 : std::get<double>(*value);
}

std::string Subject::setting(const std::string& name) const {
    const auto* value = record::find(services_.settings, name);
    return value == nullptr ? "" : record::to_string(*value);
}

void Subject::prove() {
    value_or_throw(case_->rewind());
    sample(1);
    const auto verification = value_or_throw(case_->verify());
    if (!verification.passed) throw std::runtime_error{"wrong result: " + verification.detail};
}

void leave_team(const std::string& module_path) {
    const auto module = value_or_throw(worker::Module::load(module_path));
    if (module.table().leave != nullptr) module.table().leave();
}

} // namespace assay::peers
