// SPDX-License-Identifier: Apache-2.0
//
// JSON by the rules of a dialect: one document or many, with text in front, between and behind, which is heard; numbers that are
// none (NaN, Infinity) as the programs of our time write them.

#include "extract/objects.hpp"

#include "extract/lines.hpp"
#include "extract/said.hpp"
#include "import/output.hpp"
#include "json/json.hpp"
#include "json/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::imports {
namespace {

using json::Value;

constexpr std::size_t largest = std::size_t{64} << 20U;     // bytes of a file
constexpr std::size_t longest_list = std::size_t{1} << 20U; // bytes of a list as text
constexpr std::size_t most_documents = 200'000;

std::string shown(const Value& value) {
    constexpr std::size_t most = 160; // bytes
    return json::to_line(value).substr(0, most);
}

std::string printed(const Value& value) {
    if (value.is_string()) return std::string{trimmed(value.get_ref<const std::string&>())};
    return value.is_primitive() && !value.is_null() ? value.dump() : "";
}

/// Members by their paths; a list of plain values as words, a list of those as lines.
void flatten(const Value& value, const std::string& path, Fields& fields, bool lists = true,
             int depth = 0) {
    constexpr int deepest = 8;
    constexpr std::size_t most = 2000; // fields
    if (depth > deepest || fields.size() > most) return;
    if (value.is_object()) {
        for (const auto& [key, member] : value.items())
            flatten(member, path.empty() ? key : path + "/" + key, fields, lists, depth + 1);
    } else if (value.is_array()) {
        if (!lists) return; // of what stands above, which every element would repeat
        std::string text;
        for (const auto& item : value) {
            if (item.is_object() || text.size() > longest_list) return;
            if (!text.empty()) text += item.is_array() ? '\n' : ' ';
            if (!item.is_array())
                text += printed(item);
            else
                for (const auto& inner : item) text += printed(inner) + ' ';
        }
        fields.try_emplace(path, std::move(text));
    } else if (auto text = printed(value); !text.empty()) {
        fields.try_emplace(path, std::move(text));
    }
}

const Value* member(const Value& value, std::string_view path) {
    const Value* at = &value;
    for (const auto part : split(path, "/")) {
        if (part.empty()) continue;
        if (at->is_array()) {
            const auto index = integer_of(part);
            if (!index || *index < 0 || static_cast<std::size_t>(*index) >= at->size())
                return nullptr;
            at = &(*at)[static_cast<std::size_t>(*index)];
            continue;
        }
        if (!at->is_object()) return nullptr;
        const auto found = at->find(std::string{part});
        if (found == at->end()) return nullptr;
        at = &*found;
    }
    return at->is_null() ? nullptr : at;
}

/// Every value at a path with * for each element, with the objects on the way to it.
struct Found {
    std::string where;
    const Value* value;
    std::vector<const Value*> above;
    std::string key{}; ///< of a member of an object
};
std::vector<Found> all_at(const Value& root, std::string_view path) {
    std::vector<Found> found{{"", &root, {}}};
    for (const auto part : split(path, "/")) {
        if (part.empty()) continue;
        std::vector<Found> next;
        for (const auto& [where, value, above, outer] : found) {
            if (part != "*") {
                if (const auto* inner = member(*value, part))
                    next.push_back({json::join(where, part), inner, above});
            } else if (value->is_object()) {
                for (const auto& [key, inner] : value->items())
                    next.push_back({json::join(where, key), &inner, above, key});
            } else if (value->is_array()) {
                for (std::size_t i = 0; i < value->size(); ++i) {
                    auto way = above;
                    if ((*value)[i].is_object()) way.push_back(&(*value)[i]);
                    next.push_back({json::join(where, i), &(*value)[i], std::move(way)});
                }
            }
        }
        found = std::move(next);
    }
    return found;
}

class Reader {
public:
    Reader(std::string_view source, const Dialect& dialect, Draft& draft, const Take& take)
        : source_{source}, dialect_{dialect}, draft_{draft}, take_{take} {}

    Result<void> read(std::string_view text) {
        std::size_t at = 0;
        while (at < text.size() && !draft_.is_full()) {
            const auto begin = json_begin(text.substr(at));
            if (begin == std::string_view::npos) break;
            hear(text.substr(at, begin));
            at += begin;
            const auto end = document_end(text, at);
            ASSAY_TRY(const auto value,
                      parse(text, at, std::min(end, text.size()), end == std::string_view::npos));
            if (value.is_array()) {
                for (const auto& item : value) ASSAY_TRY(document(item));
            } else {
                ASSAY_TRY(document(value));
            }
            at = std::min(end, text.size());
        }
        hear(text.substr(at));
        return take_(output_);
    }

private:
    Result<Value> parse(std::string_view text, std::size_t begin, std::size_t end, bool is_cut) {
        const auto part = text.substr(begin, end - begin);
        const json::Limits limits{.bytes = largest, .repeated_keys = dialect_.repeated_keys};
        auto value = json::parse(repaired(part, false), source_, limits);
        if (!value) value = json::parse(repaired(part, true), source_, limits);
        if (value) return value;
        // Again with as many lines in front as there are, for the place that the message names.
        const auto lines =
            static_cast<std::size_t>(std::ranges::count(text.substr(0, begin), '\n'));
        auto error = json::parse(std::string(lines, '\n') + std::string{part}, source_, limits);
        if (is_cut && documents_ > 0) {
            draft_.note("the last result is incomplete and was left out");
            return Value(nullptr);
        }
        return error ? value : error;
    }

    void hear(std::string_view text) {
        for (InputLines lines{text}; lines.next();) {
            const auto line = lines.content();
            constexpr std::size_t shown = 160; // bytes
            const auto said = json::show_text(line, shown);
            if (says_wrong(line) && output_.wrong.empty()) output_.wrong = said;
            draft_.note("outside the JSON it reports " + said, true);
        }
    }

    Result<void> document(const Value& root) {
        if (root.is_null() || ++documents_ > most_documents) return {};
        if (dialect_.documents && documents_ > 1) {
            ASSAY_TRY(take_(output_));
            output_ = {};
            draft_.begin_process(fmt::format("result {}", documents_));
        }
        for (const auto& [field, path] : dialect_.facts) {
            for (const auto& found : all_at(root, path)) {
                const auto text = printed(*found.value);
                if (text.empty()) continue;
                if (path.find('*') != std::string::npos)
                    output_.lists[field].push_back({{field, text}});
                else
                    output_.facts[field] = text;
            }
        }
        hear_errors(root);
        bool any = dialect_.lists.empty();
        for (const auto& list : dialect_.lists) {
            for (const auto& found : all_at(root, list.each)) {
                any = true;
                if (draft_.is_full()) return {};
                add(list, found);
            }
        }
        if (!any) {
            Fields fields;
            flatten(root, "", fields);
            const auto error = std::ranges::find_if(fields, [](const auto& field) {
                return field.first.ends_with("error") && field.second != "0";
            });
            auto path = dialect_.lists.front().each; // "/results/*"
            for (const std::string_view end : {"/*", "/*"})
                if (path.ends_with(end)) path.resize(path.size() - end.size());
            draft_.skip(fmt::format("document {}", documents_), shown(root),
                        error == fields.end()
                            ? fmt::format("`{}` is missing",
                                          path.substr(std::min<std::size_t>(path.size(), 1)))
                            : fmt::format("it reports {}", json::show_text(error->second)));
        }
        return {};
    }

    /// Members that name an error of the whole result: "runtime_error".
    void hear_errors(const Value& root, bool is_inner = false) {
        if (!root.is_object()) return;
        for (const auto& [key, member] : root.items()) {
            if (!is_inner) hear_errors(member, true);
            if (!key.ends_with("error") || !member.is_string() || printed(member).empty()) continue;
            constexpr std::size_t shown = 160; // bytes
            draft_.note("the output reports " + json::show_text(printed(member), shown), true);
        }
    }

    void add(const ListRule& rule, const Found& found) {
        Fields own;
        for (const auto& pattern : dialect_.ignore)
            if (pattern.matches(found.key)) return;
        for (const auto& [field, path] : rule.fields)
            if (const auto* value = member(*found.value, path)) flatten(*value, field, own);
        if (found.value->is_object())
            flatten(*found.value, "", own);
        else
            own = {{"value", printed(*found.value)}, {"key", found.key}};
        for (auto above = found.above.rbegin(); above != found.above.rend(); ++above)
            flatten(**above, "", own, false);
        if (!rule.kind.empty()) own["kind"] = rule.kind;
        if (!rule.list.empty()) return output_.lists[rule.list].push_back(std::move(own));
        const auto where = found.where.empty() ? fmt::format("result {}", documents_) : found.where;
        const auto text = shown(*found.value);
        if (rule.parts.empty()) return open(own, where, text);
        for (const auto& part : rule.parts) {
            const std::string at{value_in(part, "at")};
            const auto* value = member(*found.value, at);
            if (value == nullptr) continue; // this part was not run
            Fields fields;
            flatten(*value, "", fields);
            fields.insert(own.begin(), own.end());
            for (const auto& [name, said] : part)
                if (name != "at") fields[name] = filled(said, fields);
            open(std::move(fields), json::join(where, at), shown(*value));
        }
    }

    void open(Fields fields, std::string where, std::string text) {
        draft_.explain(where, "a record");
        fields.insert(output_.facts.begin(), output_.facts.end());
        output_.records.push_back(
            {.fields = std::move(fields), .where = std::move(where), .text = std::move(text)});
    }

    std::string_view source_;
    const Dialect& dialect_;
    Draft& draft_;
    const Take& take_;
    Output output_;
    std::size_t documents_ = 0;
};

} // namespace

Result<void> read_objects(std::string_view text, std::string_view source, const Dialect& dialect,
                          Draft& draft, const Take& take) {
    return Reader{source, dialect, draft, take}.read(text);
}

} // namespace assay::imports
