// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "base/text.hpp"
#include "json/json.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace assay::json {
namespace {

/// Reads characters and counts them, because the parser does not report its position.
class Feed {
public:
    // NOLINTBEGIN(readability-identifier-naming): names that std::iterator_traits looks for
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;
    // NOLINTEND(readability-identifier-naming)

    Feed(const char* at, const char** reached) : at_{at}, reached_{reached} {}
    reference operator*() const { return *at_; }
    Feed& operator++() {
        *reached_ = ++at_;
        return *this;
    }
    Feed operator++(int) {
        Feed before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Feed& other) const { return at_ == other.at_; }
    bool operator!=(const Feed& other) const { return at_ != other.at_; }

private:
    const char* at_;
    const char** reached_;
};

/// Builds the value, and stops at the first violation.
class Builder {
public:
    explicit Builder(const Limits& limits)
        : depth_limit_{limits.depth}, repeated_keys_{limits.repeated_keys} {}

    bool null() { return add(nullptr); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(Value::number_integer_t value) { return add(value); }
    bool number_unsigned(Value::number_unsigned_t value) { return add(value); }
    bool number_float(double value, const std::string& /*text*/) { return add(value); }
    bool string(std::string& value) { return add(std::move(value)); }
    bool binary(Value::binary_t& /*value*/) { return false; } // JSON text has none
    bool start_object(std::size_t /*count*/) { return open(Value::object()); }
    bool start_array(std::size_t /*count*/) { return open(Value::array()); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }

    bool key(std::string& name) {
        Level& level = open_.back();
        if (is_known(level, name)) {
            if (repeated_keys_) {
                slot_ = &*level.value->find(name);
                return true;
            }
            problem_ = fmt::format("the key {} occurs twice in one object", show_text(name));
            return false;
        }
        // Straight into the underlying vector: the map's own insertion searches all keys each time,
        // which a hostile file could make take hours.
        auto& members = level.value->get_ref<Value::object_t&>();
        members.emplace_back(std::move(name), nullptr);
        slot_ = &members.back().second;
        return true;
    }

    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const nlohmann::detail::exception& error) {
        problem_ = plain_words(error.what());
        position_ = position;
        return false;
    }

    const std::string& problem() const { return problem_; }
    /// Where it is, if the parser said so: bytes from the start, the offending one included.
    std::optional<std::size_t> position() const { return position_; }
    Value take() { return std::move(root_); }

private:
    struct Level {
        Value* value;
        std::unordered_set<std::string> keys; ///< filled only in objects with many keys
    };
    /// Below this many keys, looking through them is faster than hashing.
    static constexpr std::size_t few_keys = 16;

    static bool is_known(Level& level, const std::string& name) {
        const auto& members = level.value->get_ref<const Value::object_t&>();
        if (members.size() < few_keys)
            return std::ranges::any_of(members, [&](const auto& m) { return m.first == name; });
        if (level.keys.empty())
            for (const auto& member : members) level.keys.insert(member.first);
        return !level.keys.insert(name).second;
    }

    Value* place(Value&& value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        if (open_.back().value->is_array()) {
            auto& items = open_.back().value->get_ref<Value::array_t&>();
            items.push_back(std::move(value));
            return &items.back();
        }
        *slot_ = std::move(value);
        return slot_;
    }
    template <class T>
    bool add(T&& value) {
        place(Value(std::forward<T>(value)));
        return true;
    }
    bool open(Value&& container) {
        if (open_.size() >= depth_limit_) {
            problem_ =
                fmt::format("nested deeper than {} levels, the most that is read", depth_limit_);
            return false;
        }
        // A parent never grows while its child is open, so the pointers stay good.
        open_.push_back({place(std::move(container)), {}});
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    /// Leaves the cause of "[json.exception.parse_error.101] parse error at line 1, column 2: syntax
    /// error while parsing value - unexpected end of input; expected ...".
    static std::string plain_words(std::string_view text) {
        if (const auto end = text.find("] "); end != text.npos) text.remove_prefix(end + 2);
        if (text.starts_with("parse error at ")) {
            if (const auto end = text.find(": "); end != text.npos) text.remove_prefix(end + 2);
        }
        if (text.starts_with("syntax error while parsing ")) {
            if (const auto end = text.find(" - "); end != text.npos) text.remove_prefix(end + 3);
        }
        // The parser quotes what it read last, which may be long and may be no UTF-8.
        constexpr std::size_t most = 200;
        std::string shown = show_text(text, most);
        shown = shown.substr(1, shown.size() - 2);
        for (auto at = shown.find("\\\""); at != shown.npos; at = shown.find("\\\"", at))
            shown.erase(at, 1);
        return shown;
    }

    std::size_t depth_limit_;
    bool repeated_keys_;
    Value root_;
    std::vector<Level> open_;
    Value* slot_ = nullptr; ///< where the value of the key just read goes
    std::string problem_;
    std::optional<std::size_t> position_;
};

/// Line and column of the last of the first `count` bytes.
std::string place_of(std::string_view text, std::size_t count) {
    const std::size_t last = std::min(std::max<std::size_t>(count, 1) - 1, text.size());
    const std::string_view before = text.substr(0, last);
    const auto lines = std::ranges::count(before, '\n');
    const auto newline = before.rfind('\n');
    const auto column = newline == before.npos ? last : last - newline - 1;
    return fmt::format("{}:{}", lines + 1, column + 1);
}

} // namespace

Result<Value> parse(std::string_view text, std::string_view source, const Limits& limits) try {
    if (text.size() > limits.bytes)
        return fail(fmt::format("{}: {} bytes long, {} is the most that is read", source,
                                text.size(), limits.bytes));
    text = without_mark(text);
    Builder builder{limits};
    const std::span<const char> bytes{text};
    const char* reached = bytes.data();
    if (Value::sax_parse(Feed{bytes.data(), &reached}, Feed{bytes.data() + bytes.size(), &reached},
                         &builder))
        return builder.take();
    const auto here = static_cast<std::size_t>(reached - bytes.data());
    return fail(fmt::format("{}:{}: {}", source, place_of(text, builder.position().value_or(here)),
                            builder.problem()));
} catch (const std::bad_alloc&) {
    return fail(fmt::format("{}: not enough memory to read it", source), Fault::environment);
}

Result<Value> read_file(const std::filesystem::path& path, const Limits& limits) {
    ASSAY_TRY(const auto content, read_whole(path, limits.bytes));
    return parse(content, path.string(), limits);
}

} // namespace assay::json
