// SPDX-License-Identifier: Apache-2.0
#include "record/reader.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "json/words.hpp"
#include "record/convert.hpp"
#include "record/journal.hpp"
#include "record/layout.hpp"
#include "record/summary.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <span>
#include <type_traits>

namespace assay::record {
namespace {

namespace od = simdjson::ondemand;
using simdjson::error_code;

/// Walks the text once, in its own order. Every function returns false after the first problem, and each
/// level prepends its key to the path on return.
class Walk {
public:
    Walk(od::document& document, std::string_view text, const ReadOptions& options)
        : document_{document}, text_{text}, options_{options} {}

    bool read(Run& run) { return check_schema() && read_document(run); }

    std::string message(std::string_view source) const {
        return json::located(source, path_, text_of_problem_);
    }

private:
    // --- problems ----------------------------------------------------------------------------------

    bool refuse(std::string text) {
        text_of_problem_ = std::move(text);
        return false;
    }
    /// The text is invalid JSON from here on.
    bool broken(error_code error) {
        const char* here = nullptr;
        std::string place = "truncated or damaged";
        if (document_.current_location().get(here) == simdjson::SUCCESS)
            place += fmt::format(" at byte {}", here - text_.data());
        return refuse(fmt::format("{} ({})", place, simdjson::error_message(error)));
    }
    /// The value has another type.
    bool mismatch(error_code error, od::value& value, std::string_view expected) {
        if (error != simdjson::INCORRECT_TYPE && error != simdjson::NUMBER_ERROR &&
            error != simdjson::NUMBER_OUT_OF_RANGE)
            return broken(error);
        std::string_view token = value.raw_json_token();
        while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ')
            token.remove_suffix(1);
        return refuse(fmt::format("got {}, expected {}", shown(token), expected));
    }
    static std::string shown(std::string_view token) {
        if (token.starts_with('{')) return "an object";
        if (token.starts_with('[')) return "an array";
        if (token.size() >= 2 && token.starts_with('"'))
            return json::show_text(token.substr(1, token.size() - 2));
        const std::string text = json::show_text(token);
        return text.substr(1, text.size() - 2); // a number or a word needs no quotes
    }
    bool at(std::string_view key) {
        const bool element = path_.starts_with('[');
        path_ = path_.empty() ? json::join("", key)
                              : json::join("", key) + (element ? "" : ".") + path_;
        return false;
    }
    bool at(std::size_t index) {
        const bool key_follows = !path_.empty() && !path_.starts_with('[');
        path_ = fmt::format("[{}]{}{}", index, key_follows ? "." : "", path_);
        return false;
    }

    // --- plain values ------------------------------------------------------------------------------

    template <class T>
    bool plain(od::value& value, T& out, std::string_view expected) {
        if (const auto error = value.get(out)) return mismatch(error, value, expected);
        return true;
    }
    bool read(od::value value, double& out) { return plain(value, out, "a number"); }
    bool read(od::value value, bool& out) { return plain(value, out, "true or false"); }
    bool read(od::value value, std::uint64_t& out) {
        return plain(value, out, "an integer that is not negative");
    }
    bool read(od::value value, std::int64_t& out) { return plain(value, out, "a 64-bit integer"); }
    template <std::integral T>
    bool read(od::value value, T& out) {
        std::int64_t wide = 0;
        const auto error = value.get(wide);
        if (error || !std::in_range<T>(wide))
            return mismatch(error ? error : simdjson::NUMBER_OUT_OF_RANGE, value,
                            fmt::format("an integer from {} to {}",
                                        std::numeric_limits<T>::lowest(),
                                        std::numeric_limits<T>::max()));
        out = static_cast<T>(wide);
        return true;
    }
    bool read(od::value value, std::string& out) {
        std::string_view text;
        if (!plain(value, text, "a string")) return false;
        out = text;
        return true;
    }
    template <class Enum>
        requires std::is_enum_v<Enum>
    bool read(od::value value, Enum& out) {
        std::string_view text;
        if (!plain(value, text, expected_names(out))) return false;
        return from_text(text, out) ||
               refuse(
                   fmt::format("got {}, expected {}", json::show_text(text), expected_names(out)));
    }
    template <class T>
    bool read(od::value value, std::optional<T>& out) {
        bool null = false;
        if (const auto error = value.is_null().get(null)) return broken(error);
        if (null) return true;
        return read(value, out.emplace());
    }

    // --- lists -------------------------------------------------------------------------------------

    template <class T>
    bool read(od::value value, std::vector<T>& out) {
        od::array array;
        if (const auto error = value.get_array().get(array))
            return mismatch(error, value, "an array");
        for (auto item : array) {
            od::value element;
            const std::size_t index = out.size();
            if (const auto error = std::move(item).get(element)) {
                broken(error);
                return at(index);
            }
            if (!read(element, out.emplace_back())) return at(index);
        }
        return true;
    }
    /// `each` member, by key and value, says whether to go on.
    bool members(od::value& value, const auto& each) {
        od::object object;
        if (const auto error = value.get_object().get(object))
            return mismatch(error, value, "an object");
        for (auto entry : object) {
            od::field field;
            std::string_view key;
            if (const auto error = std::move(entry).get(field)) return broken(error);
            if (const auto error = field.unescaped_key().get(key)) return broken(error);
            if (!each(key, field.value())) return false;
        }
        return true;
    }
    bool read(od::value value, NamedList& out) {
        const auto take = [&](std::string_view key, od::value one) {
            return named(key, one, out) || at(key);
        };
        if (!members(value, take)) return false;
        std::vector<std::string_view> names;
        for (const auto& one : out) names.push_back(one.name);
        std::ranges::sort(names);
        const auto twice = std::ranges::adjacent_find(names);
        return twice == names.end() || duplicate(*twice);
    }
    bool named(std::string_view key, od::value value, NamedList& out) {
        od::json_type type{};
        if (const auto error = value.type().get(type)) return broken(error);
        switch (type) {
        case od::json_type::string: {
            std::string text;
            if (!read(value, text)) return false;
            out.push_back({std::string{key}, std::move(text)});
            return true;
        }
        case od::json_type::boolean: {
            bool flag = false;
            if (!read(value, flag)) return false;
            out.push_back({std::string{key}, flag});
            return true;
        }
        case od::json_type::number:
            return named_number(key, value, out);
        case od::json_type::null: {
            std::optional<double> nothing; // absent; reading checks that it says null and no more
            return read(value, nothing);
        }
        default:
            return mismatch(simdjson::INCORRECT_TYPE, value, named_value);
        }
    }
    bool named_number(std::string_view key, od::value value, NamedList& out) {
        od::number number;
        if (const auto error = value.get_number().get(number))
            return mismatch(error, value, named_value);
        if (number.is_uint64()) return mismatch(simdjson::NUMBER_OUT_OF_RANGE, value, named_value);
        if (number.is_int64())
            out.push_back({std::string{key}, number.get_int64()});
        else
            out.push_back({std::string{key}, number.get_double()});
        return true;
    }

    // --- records -----------------------------------------------------------------------------------

    bool duplicate(std::string_view key) {
        return refuse(fmt::format("the key {} occurs twice", json::show_text(key)));
    }

    template <json::Record T>
    bool read(od::value value, T& out) {
        std::size_t next = 0; // files of ours have the fields in this order: it is looked at first
        std::uint64_t seen = 0; // a bit for each field, in the order of each_field
        return members(value, [&](std::string_view key,
                                  od::value one) { return member(key, one, out, next, seen); }) &&
               complete(out, seen);
    }

    /// Members that the options may leave out; simdjson skips them without parsing.
    enum class Part : std::uint8_t { always, values, details };
    struct Field {
        std::string_view name;
        Part part;
    };
    template <json::Record T>
    static const std::vector<Field>& fields_of(const T& record) {
        static const auto fields = [&] {
            std::vector<Field> list;
            each_field(
                [&](const char* name, const auto&) { list.push_back({name, part_of<T>(name)}); },
                record);
            return list;
        }();
        return fields;
    }

    template <json::Record T>
    bool member(std::string_view key, od::value value, T& out, std::size_t& next,
                std::uint64_t& seen) {
        const auto& fields = fields_of(out);
        std::size_t place = next;
        for (std::size_t i = 0; i < fields.size(); ++i, ++place) {
            if (place >= fields.size()) place = 0;
            if (fields[place].name != key) continue;
            const auto bit = std::uint64_t{1} << place;
            if ((seen & bit) != 0) return duplicate(key);
            seen |= bit;
            next = place + 1;
            if (!is_wanted(fields[place].part)) return true;
            bool good = true;
            std::size_t at_field = 0;
            each_field(
                [&](const char*, auto& target) {
                    if (at_field++ == place) good = read(value, target);
                },
                out);
            return good || at(key);
        }
        if (json::is_closed<T>) return unknown(key, out);
        return skim(value, unknown_depth) || at(key);
    }

    bool is_wanted(Part part) const {
        return part == Part::always || (part == Part::values ? options_.values : options_.details);
    }
    template <json::Record T>
    static Part part_of(std::string_view key) {
        const auto is_one_of = [&](const auto& names) {
            return std::ranges::find(names, key) != names.end();
        };
        bool is_detail = false;
        if constexpr (std::same_as<T, Replica>) {
            if (key == "values") return Part::values;
            is_detail = is_one_of(std::array{"setup_seconds", "resident_bytes", "soak"});
        } else if constexpr (std::same_as<T, Metric>) {
            is_detail = is_one_of(std::array{"min", "p95", "count"});
        } else if constexpr (std::same_as<T, Case>) {
            is_detail = key == "warnings";
        } else if constexpr (std::same_as<T, Telemetry>) {
            is_detail = !is_one_of(std::array{"disturbances", "disturbed_by", "window_seconds",
                                              "energy_joules", "energy_scope",
                                              "core_latency_seconds", "device"});
        }
        return is_detail ? Part::details : Part::always;
    }

    template <json::Record T>
    bool complete(const T& out, std::uint64_t seen) {
        std::uint64_t bit = 1;
        const char* missing = nullptr;
        each_field(
            [&](const char* name, const auto& target) {
                const bool optional =
                    json::may_be_missing<std::decay_t<decltype(target)>> || json::is_lenient<T>;
                if (missing == nullptr && !optional && (seen & bit) == 0) missing = name;
                bit <<= 1U;
            },
            out);
        return missing == nullptr || refuse(fmt::format("`{}` is missing", missing));
    }

    template <json::Record T>
    bool unknown(std::string_view key, const T& record) {
        return unknown(key, json::keys_of(record));
    }
    bool unknown(std::string_view key, const std::vector<std::string>& known) {
        return refuse(fmt::format("unknown key {}{}", json::show_text(key),
                                  suggestion(std::string{key}, known)));
    }

    /// Reads unknown values, so that a file is valid JSON as a whole or is refused.
    // NOLINTNEXTLINE(misc-no-recursion): no deeper than `depth`
    bool skim(od::value value, int depth) {
        if (depth == 0) return refuse("nested deeper than a result ever is");
        od::json_type type{};
        if (const auto error = value.type().get(type)) return broken(error);
        switch (type) {
        case od::json_type::object:
            return skim_object(value, depth);
        case od::json_type::array:
            return skim_array(value, depth);
        case od::json_type::string: {
            std::string_view text;
            return plain(value, text, "a string");
        }
        case od::json_type::number: {
            double number = 0;
            return plain(value, number, "a number");
        }
        case od::json_type::boolean: {
            bool flag = false;
            return plain(value, flag, "true or false");
        }
        case od::json_type::null: {
            std::optional<double> nothing;
            return read(value, nothing);
        }
        }
        return broken(simdjson::TAPE_ERROR);
    }
    // NOLINTNEXTLINE(misc-no-recursion)
    bool skim_object(od::value& value, int depth) {
        return members(value, [&](std::string_view key, od::value one) {
            return skim(one, depth - 1) || at(key);
        });
    }
    // NOLINTNEXTLINE(misc-no-recursion)
    bool skim_array(od::value& value, int depth) {
        od::array array;
        if (const auto error = value.get_array().get(array)) return broken(error);
        std::size_t index = 0;
        for (auto item : array) {
            od::value element;
            if (const auto error = std::move(item).get(element)) return broken(error);
            if (!skim(element, depth - 1)) return at(index);
            ++index;
        }
        return true;
    }

    // --- the document ------------------------------------------------------------------------------

    /// Checked first: in a newer schema, everything else may have another shape.
    bool check_schema() {
        std::string_view name;
        od::value value;
        if (const auto error = document_.find_field_unordered("schema").get(value)) {
            if (error == simdjson::NO_SUCH_FIELD)
                return refuse(fmt::format(
                    "not a result of assay: `schema` is missing (expected \"{}\")", schema_name));
            if (error == simdjson::INCORRECT_TYPE)
                return refuse("not a result file (expected a JSON object)");
            return broken(error);
        }
        if (!plain(value, name, fmt::format("\"{}\"", schema_name))) return at("schema");
        if (name == schema_name || name == first_schema_name) return true;
        refuse(is_newer(name)
                   ? fmt::format("written as {}; this program reads up to {}; read it with a newer "
                                 "assay",
                                 json::show_text(name), schema_name)
                   : fmt::format("got {}, expected \"{}\"", json::show_text(name), schema_name));
        return at("schema");
    }
    static bool is_newer(std::string_view name) {
        constexpr std::string_view family = "assay.run/";
        if (!name.starts_with(family)) return false;
        name.remove_prefix(family.size());
        int version = 0;
        const std::span<const char> digits{name};
        const char* const past = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data(), past, version);
        return error == std::errc{} && end == past && version > 2;
    }

    bool read_document(Run& run) {
        document_.rewind();
        od::object object;
        if (const auto error = document_.get_object().get(object)) return broken(error);
        std::vector<std::string> missing{"schema", "run", "machine", "cases", "digests"};
        for (auto entry : object) {
            od::field field;
            std::string_view key;
            if (const auto error = std::move(entry).get(field)) return broken(error);
            if (const auto error = field.unescaped_key().get(key)) return broken(error);
            const bool known = key == "schema" || key == "run" || key == "machine" ||
                               key == "cases" || key == "digests";
            if (!known) return unknown(key, missing);
            if (std::erase(missing, key) == 0) return duplicate(key);
            if (!section(key, field.value(), run)) return at(key);
        }
        std::erase(missing, "digests"); // files of version 1 have none; `verify` checks them
        if (!missing.empty()) return refuse(fmt::format("`{}` is missing", missing.front()));
        const char* rest = nullptr; // there is a location only if text is left
        if (document_.current_location().get(rest) != simdjson::SUCCESS) return true;
        return refuse(fmt::format("something follows the end of the result, at byte {}",
                                  rest - text_.data()));
    }
    bool section(std::string_view key, od::value value, Run& run) {
        if (key == "run") return read(value, run);
        if (key == "machine") return read(value, run.machine);
        if (key == "cases") return read(value, run.cases);
        if (key == "digests") return skim(value, unknown_depth);
        std::string schema;
        return read(value, schema);
    }

    static constexpr std::string_view named_value = json::scalar_words;
    static constexpr int unknown_depth = 64; // as json::Limits

    od::document& document_;
    std::string_view text_;
    const ReadOptions& options_;
    std::string path_;
    std::string text_of_problem_;
};

/// `padded` has SIMDJSON_PADDING readable bytes after the text.
Result<Run> walk(simdjson::padded_string_view padded, std::string_view source,
                 const ReadOptions& options) {
    thread_local od::parser parser; // keeps its memory for the next of thousands
    od::document document;
    if (const auto error = parser.iterate(padded).get(document)) {
        if (error == simdjson::MEMALLOC)
            return fail(fmt::format("{}: not enough memory to read it", source),
                        Fault::environment);
        return fail(fmt::format("{}: not JSON ({})", source, simdjson::error_message(error)));
    }
    Run run;
    const std::string_view whole{padded.data(), padded.size()};
    Walk walk{document, whole, options};
    if (!walk.read(run)) return fail(walk.message(source));
    if (!options.as_stored) {
        judge_again(run);
        make_plain(run);
    }
    return run;
}

} // namespace

Result<Run> read_run(const std::filesystem::path& path, const ReadOptions& options) try {
    if (path.filename() == journal_file) {
        auto run = read_ended_run(path, options.bytes);
        if (run && !options.as_stored) make_plain(*run);
        return run;
    }
    ASSAY_TRY(auto text, read_text(path, options.bytes));
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
    auto run = walk(simdjson::padded_string_view{text.data(), text.size(), text.capacity()},
                    path.string(), options);
    if (run && options.stale != nullptr) *options.stale = stale_section(text).value_or("");
    return run;
} catch (const std::bad_alloc&) {
    return fail(fmt::format("{}: not enough memory to read it", path.string()), Fault::environment);
}

Result<Run> parse_run(std::string_view text, std::string_view source,
                      const ReadOptions& options) try {
    if (text.size() > options.bytes)
        return fail(fmt::format("{} is larger than {} bytes, the most that is read", source,
                                options.bytes));
    return walk(simdjson::padded_string{without_mark(text)}, source, options);
} catch (const std::bad_alloc&) {
    return fail(fmt::format("{}: not enough memory to read it", source), Fault::environment);
}

} // namespace assay::record
