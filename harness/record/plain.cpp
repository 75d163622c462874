// SPDX-License-Identifier: Apache-2.0
#include "record/plain.hpp"

#include "base/console.hpp"
#include "record/layout.hpp"

#include <cmath>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

namespace assay::record {
namespace {

template <class T>
void clean(std::optional<T>& member);
template <class T>
void clean(std::vector<T>& list);
void clean(std::optional<double>& number) {
    if (number && !std::isfinite(*number)) number.reset();
}
void clean(Named& named);

/// Makes plain what a text anywhere in a record says, and takes out optional numbers that are not finite.
template <class T>
void clean(T& member) {
    if constexpr (json::Record<T>)
        each_field([](const char*, auto& field) { clean(field); }, member);
    else if constexpr (std::is_same_v<T, Values>)
        clean(static_cast<NamedList&>(member));
    else if constexpr (std::is_base_of_v<std::string, T>) {
        if (!is_plain(member)) member = T{plain(member)};
    }
}
void clean(Named& named) {
    clean(named.name);
    std::visit([](auto& value) { clean(value); }, named.value);
}
template <class T>
void clean(std::optional<T>& member) {
    if (member) clean(*member);
}
template <class T>
void clean(std::vector<T>& list) {
    for (auto& item : list) clean(item);
}

} // namespace

void make_plain(Run& run) {
    clean(run);
    clean(run.machine);
    clean(run.cases);
}

} // namespace assay::record
