// SPDX-License-Identifier: Apache-2.0
//
// A struct that is written to files or sent names its fields once, in each_field(visit, record); readers,
// writers and cleaners follow that list (json/codec.hpp).

#pragma once

#include <concepts>
#include <type_traits>

namespace assay {

/// M is T or const T.
template <class M, class T>
concept Maybe = std::same_as<std::remove_const_t<M>, T>;

} // namespace assay
