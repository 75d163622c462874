// SPDX-License-Identifier: Apache-2.0
//
// Reading parsed JSON into our types without exceptions: the Object of a Document is asked for its
// fields one after the other, the first problem is remembered with its place, and asked for once at
// the end. After a problem, targets hold what they held before.
//
//     json::Document document{value, "suites/x.json"};
//     json::Object suite = document.root();
//     suite.read("name", name);                  // must be there
//     suite.read_if("budget", budget);           // may be missing; nothing happens then
//     suite.each("cases", [&](json::Object entry) { entry.read("benchmark", ids.emplace_back()); });
//     suite.only({"name", "budget", "cases"});   // anything else is an error, with a suggestion
//     if (auto read = document.result(); !read) return tl::unexpected{read.error()};

#pragma once

#include "base/result.hpp"
#include "json/json.hpp"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::json {

class Document;

/// A JSON object inside a document, with the path that leads to it. Cheap to copy; refers to the
/// document, which must outlive it.
class Object {
public:
    /// The value at `key`, or nullptr. Never a problem.
    const Value* find(std::string_view key) const;
    bool has(std::string_view key) const { return find(key) != nullptr; }

    void read(std::string_view key, std::string& out) const;
    void read(std::string_view key, bool& out) const;
    void read(std::string_view key, double& out) const;
    void read(std::string_view key, std::vector<std::string>& out) const;
    void read(std::string_view key, std::vector<double>& out) const;
    /// Signed and unsigned integers that fit 64 bits; what does not fit the type is a problem.
    template <std::integral T>
    void read(std::string_view key, T& out) const {
        read_integer(key, out, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
    }
    /// Null and a missing key both read as nullopt: unknown is absent.
    template <class T>
    void read(std::string_view key, std::optional<T>& out) const {
        const Value* value = find(key);
        if (value == nullptr || value->is_null()) {
            out.reset();
            return;
        }
        T inner{};
        read(key, inner);
        out = std::move(inner);
    }

    /// Reads it if present; a missing key is not a problem and leaves `out` as it is.
    template <class T>
    void read_if(std::string_view key, T& out) const {
        if (has(key)) read(key, out);
    }

    /// Every element of the array at `key` by `take`, which has nothing of one that is not `what`.
    template <class T, class Take>
    void read_elements(std::string_view key, std::vector<T>& out, std::string_view what,
                       const Take& take) const {
        const Value* array = read_array(key);
        if (array == nullptr) return;
        std::vector<T> found;
        found.reserve(array->size());
        for (std::size_t i = 0; i < array->size(); ++i) {
            std::optional<T> one = take((*array)[i]);
            if (!one) return wrong_element(key, i, what);
            found.push_back(*std::move(one));
        }
        out = std::move(found);
    }

    /// The object at `key`; an empty one, and a problem, if missing.
    Object object(std::string_view key) const;
    /// Calls `visit(Object)` for every element of the array at `key`. Stops at the first problem.
    template <class Visit>
    void each(std::string_view key, Visit&& visit) const {
        const Value* array = read_array(key);
        if (array == nullptr) return;
        for (std::size_t i = 0; i < array->size() && !failed(); ++i)
            visit(element(key, (*array)[i], i));
    }

    /// Any other key is a problem; the nearest known one is suggested.
    void only(std::initializer_list<std::string_view> keys) const;
    void only(const std::vector<std::string>& keys) const;

    /// Records a problem of the caller's own with the value at `key`: "got 7, expected <expected>".
    void expected(std::string_view key, std::string_view what) const;
    /// Records a problem in the caller's words.
    void problem(std::string_view key, std::string_view text) const;
    bool failed() const;

    const Value& value() const { return *value_; }
    const std::string& path() const { return path_; }

private:
    friend class Document;
    Object(const Value& value, std::string path, Document& document)
        : value_{&value}, path_{std::move(path)}, document_{&document} {}
    const Value* required(std::string_view key) const;
    const Value* read_array(std::string_view key) const;
    Object element(std::string_view key, const Value& value, std::size_t index) const;
    void wrong_element(std::string_view key, std::size_t index, std::string_view what) const;
    template <std::integral T>
    void read_integer(std::string_view key, T& out, T low, T high) const;

    const Value* value_;
    std::string path_; ///< "cases[2]"; empty for the root
    Document* document_;
};

/// The value being read, by its name, and the first problem met. Refers to `value`.
class Document {
public:
    Document(const Value& value, std::string_view source) : value_{&value}, source_{source} {}
    Document(const Document&) = delete;
    Document(Document&&) = delete;
    Document& operator=(const Document&) = delete;
    Document& operator=(Document&&) = delete;
    ~Document() = default;

    /// The whole as an object; an empty one, and a problem, when it is something else.
    Object root();
    /// Records a problem at `path`; only the first one is kept.
    void problem(std::string_view path, std::string_view text);
    bool failed() const { return problem_.has_value(); }
    Result<void> result() const;

private:
    const Value* value_;
    std::string source_;
    std::optional<std::string> problem_;
};

template <std::integral T>
void Object::read_integer(std::string_view key, T& out, T low, T high) const {
    const Value* value = required(key);
    if (value == nullptr) return;
    if (value->is_number_unsigned() && std::in_range<T>(value->get<std::uint64_t>())) {
        out = static_cast<T>(value->get<std::uint64_t>());
    } else if (value->is_number_integer() && !value->is_number_unsigned() &&
               std::in_range<T>(value->get<std::int64_t>())) {
        out = static_cast<T>(value->get<std::int64_t>());
    } else {
        expected(key, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
    }
}

} // namespace assay::json
