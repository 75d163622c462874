// SPDX-License-Identifier: Apache-2.0
//
// A struct that is written to files or sent names its fields once, in each_field(visit, record); readers,
// writers and cleaners follow that list (json/codec.hpp). In the namespace of Limit,
//
//     ASSAY_FIELDS(Limit, id, title, (record.cases, "case"))
//
// makes it: visit("id", record.id), visit("title", record.title), visit("case", record.cases).

#pragma once

#include <concepts>
#include <type_traits>

namespace assay {

/// M is T or const T.
template <class M, class T>
concept Maybe = std::same_as<std::remove_const_t<M>, T>;

template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);

} // namespace assay

/// A field is a member, whose name is the key, or a pair of a value and its key. A key that is only written may have
/// any value that follows from `record`: (total_of(record), "total"). At most 64 fields.
#define ASSAY_FIELDS(T, ...)                                                                       \
    template <class Visit>                                                                         \
    void each_field([[maybe_unused]] Visit&& visit,                                                \
                    [[maybe_unused]] ::assay::Maybe<T> auto& record) {                             \
        __VA_OPT__(ASSAY_EXPAND(ASSAY_FIELDS_8(__VA_ARGS__)))                                      \
    }

// Eight fields for each time the text is expanded, so that long lists take few times.
#define ASSAY_FIELDS_8(a, ...) ASSAY_FIELD(a) __VA_OPT__(ASSAY_FIELDS_7(__VA_ARGS__))
#define ASSAY_FIELDS_7(a, ...) ASSAY_FIELD(a) __VA_OPT__(ASSAY_FIELDS_6(__VA_ARGS__))
#define ASSAY_FIELDS_6(a, ...) ASSAY_FIELD(a) __VA_OPT__(ASSAY_FIELDS_5(__VA_ARGS__))
#define ASSAY_FIELDS_5(a, ...) ASSAY_FIELD(a) __VA_OPT__(ASSAY_FIELDS_4(__VA_ARGS__))
#define ASSAY_FIELDS_4(a, ...) ASSAY_FIELD(a) __VA_OPT__(ASSAY_FIELDS_3(__VA_ARGS__))
#define ASSAY_FIELDS_3(a, ...) ASSAY_FIELD(a) __VA_OPT__(ASSAY_FIELDS_2(__VA_ARGS__))
#define ASSAY_FIELDS_2(a, ...) ASSAY_FIELD(a) __VA_OPT__(ASSAY_FIELDS_1(__VA_ARGS__))
#define ASSAY_FIELDS_1(a, ...)                                                                     \
    ASSAY_FIELD(a) __VA_OPT__(ASSAY_FIELDS_NEXT ASSAY_PARENTHESES(__VA_ARGS__))
#define ASSAY_FIELDS_NEXT() ASSAY_FIELDS_8
#define ASSAY_PARENTHESES ()
#define ASSAY_EXPAND(...) ASSAY_EXPAND_4(ASSAY_EXPAND_4(__VA_ARGS__))
#define ASSAY_EXPAND_4(...) ASSAY_EXPAND_2(ASSAY_EXPAND_2(__VA_ARGS__))
#define ASSAY_EXPAND_2(...) ASSAY_EXPAND_1(ASSAY_EXPAND_1(__VA_ARGS__))
#define ASSAY_EXPAND_1(...) __VA_ARGS__

#define ASSAY_FIELD(field)                                                                         \
    ASSAY_THIRD(ASSAY_IF_PAIR field, ASSAY_VISIT_PAIR, ASSAY_VISIT_NAME, )(field)
#define ASSAY_THIRD(...) ASSAY_THIRD_OF(__VA_ARGS__)
#define ASSAY_THIRD_OF(a, b, c, ...) c
#define ASSAY_IF_PAIR(...) ,
#define ASSAY_VISIT_NAME(name) visit(#name, record.name);
#define ASSAY_VISIT_PAIR(pair) ASSAY_VISIT_AS pair
#define ASSAY_VISIT_AS(value, key) visit(key, value);
