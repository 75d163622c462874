// SPDX-License-Identifier: Apache-2.0

#include "store/keys.hpp"

#include "base/text.hpp"
#include "document/text.hpp"
#include "document/words.hpp"
#include "record/conditions.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <unordered_map>

namespace assay::store {
namespace {

using RunText = std::string (*)(const RunInfo&, const record::Machine&);
using SeriesText = std::string (*)(const decide::Series&);

struct RunKey {
    const char* name;
    RunText text;
};
struct SeriesKey {
    const char* name;
    SeriesText text;
};

std::string day_of(std::string_view started) {
    return std::string{quarter_of(started).empty() ? "" : started.substr(0, 10)};
}

constexpr std::array series_keys{
    SeriesKey{"family", [](const decide::Series& s) { return document::family_of(s.benchmark); }},
    SeriesKey{"benchmark", [](const decide::Series& s) { return s.benchmark; }},
    SeriesKey{"library", [](const decide::Series& s) { return s.library; }},
    SeriesKey{"metric", [](const decide::Series& s) { return s.metric; }},
    SeriesKey{"place", [](const decide::Series& s) { return s.place; }},
};
constexpr std::array run_keys{
    RunKey{"label", [](const RunInfo& r, const record::Machine&) { return r.label; }},
    RunKey{"machine", [](const RunInfo&, const record::Machine& m) { return m.id; }},
    RunKey{"instance", [](const RunInfo&, const record::Machine& m) { return m.instance; }},
    RunKey{"provider", [](const RunInfo&, const record::Machine& m) { return m.provider; }},
    RunKey{"cpu", [](const RunInfo&, const record::Machine& m) { return m.cpu_model; }},
    RunKey{"kernel", [](const RunInfo&, const record::Machine& m) { return m.kernel; }},
    RunKey{"os", [](const RunInfo&, const record::Machine& m) { return m.os; }},
    RunKey{"suite", [](const RunInfo& r, const record::Machine&) { return r.suite; }},
    RunKey{"version", [](const RunInfo& r, const record::Machine&) { return r.version; }},
    RunKey{"campaign", [](const RunInfo& r, const record::Machine&) { return r.campaign; }},
    RunKey{"run", [](const RunInfo& r, const record::Machine&) { return r.id; }},
    RunKey{"setting",
           [](const RunInfo& r, const record::Machine&) {
               return r.pairing ? r.pairing->setting : std::string{};
           }},
    RunKey{"quarter",
           [](const RunInfo& r, const record::Machine&) { return quarter_of(r.started); }},
    RunKey{"date", [](const RunInfo& r, const record::Machine&) { return day_of(r.started); }},
};

/// Gives every text a number, "" the number 0.
class Texts {
public:
    explicit Texts(Key& key) : key_{key} { number(""); }
    void add(const std::string& text) { key_.values.push_back(number(plain(text))); }

private:
    std::uint32_t number(const std::string& text) {
        const auto [entry, fresh] =
            numbers_.try_emplace(text, static_cast<std::uint32_t>(key_.texts.size()));
        if (fresh) key_.texts.push_back(text);
        return entry->second;
    }
    Key& key_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
};

Key key_of_runs(const Collection& collection, std::string name,
                const std::function<std::string(const RunInfo&, const record::Machine&)>& text) {
    Key key{.name = std::move(name)};
    Texts texts{key};
    for (const auto& run : collection.runs) texts.add(text(run, collection.machines[run.machine]));
    return key;
}

Key key_of_series(const Collection& collection, std::string name,
                  const std::function<std::string(const decide::Series&)>& text) {
    Key key{.name = std::move(name), .of_series = true};
    Texts texts{key};
    for (const auto& series : collection.series) texts.add(text(series));
    return key;
}

bool is_parameter(const Collection& collection, std::string_view name) {
    return std::ranges::any_of(collection.series, [&](const decide::Series& series) {
        return record::find(series.parameters, name) != nullptr;
    });
}
/// "rack" of "tag.rack".
std::string_view tag_of(std::string_view name) {
    constexpr std::string_view prefix = "tag.";
    return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view{};
}
bool is_tag(const Collection& collection, std::string_view tag) {
    return std::ranges::any_of(collection.runs, [&](const RunInfo& run) {
        return record::find(run.tags, tag) != nullptr;
    });
}
bool is_software(const Collection& collection, std::string_view name) {
    return std::ranges::any_of(collection.machines, [&](const record::Machine& machine) {
        return record::find(machine.software, name) != nullptr;
    });
}

std::vector<std::string> all_names(const Collection& collection) {
    std::set<std::string> more;
    for (const auto& series : collection.series)
        for (const auto& parameter : series.parameters) more.insert(plain(parameter.name));
    for (const auto& run : collection.runs)
        for (const auto& tag : run.tags) more.insert("tag." + tag.name);
    for (const auto& machine : collection.machines)
        for (const auto& entry : machine.software) more.insert(plain(entry.name));
    std::vector<std::string> names = key_names();
    for (const auto& condition : record::condition_table()) more.emplace(condition.name);
    names.insert(names.end(), more.begin(), more.end());
    return names;
}

} // namespace

std::size_t Key::distinct() const { return std::set(values.begin(), values.end()).size(); }

const std::vector<std::string>& key_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const auto& key : series_keys) list.emplace_back(key.name);
        for (const auto& key : run_keys) list.emplace_back(key.name);
        return list;
    }();
    return names;
}

std::string quarter_of(std::string_view started) {
    const auto digit = [&](std::size_t i) { return started[i] >= '0' && started[i] <= '9'; };
    if (started.size() < 10 || started[4] != '-' || started[7] != '-') return "";
    for (const std::size_t i : {0U, 1U, 2U, 3U, 5U, 6U, 8U, 9U})
        if (!digit(i)) return "";
    const int month = (started[5] - '0') * 10 + (started[6] - '0');
    if (month < 1 || month > 12) return "";
    return fmt::format("{}Q{}", started.substr(0, 4), (month - 1) / 3 + 1);
}

Result<Key> make_key(const Collection& collection, std::string_view name) {
    const std::string own{name};
    for (const auto& key : series_keys)
        if (name == key.name) return key_of_series(collection, own, key.text);
    for (const auto& key : run_keys)
        if (name == key.name) return key_of_runs(collection, own, key.text);
    if (const auto tag = tag_of(name); is_tag(collection, tag))
        return key_of_runs(collection, own, [&](const RunInfo& run, const record::Machine&) {
            return record::text(run.tags, tag);
        });
    const std::string_view parameter = name.starts_with('.') ? name.substr(1) : name;
    if (is_parameter(collection, parameter)) {
        auto key =
            key_of_series(collection, std::string{parameter}, [&](const decide::Series& series) {
                return record::text(series.parameters, parameter);
            });
        key.is_parameter = true;
        return key;
    }
    if (record::find_condition(name) != nullptr)
        return key_of_series(collection, std::string{name}, [&](const decide::Series& series) {
            return record::text(series.conditions, name);
        });
    if (is_software(collection, name))
        return key_of_runs(collection, own, [&](const RunInfo&, const record::Machine& machine) {
            return record::text(machine.software, name);
        });
    const auto names = all_names(collection);
    const auto best = nearest(name, names);
    return fail(fmt::format("unknown key \"{}\"{} (expected one of {})", plain(name),
                            best.empty() ? "" : fmt::format("; did you mean \"{}\"?", best),
                            fmt::join(names, ", ")));
}

Result<std::vector<Key>> make_keys(const Collection& collection,
                                   const std::vector<std::string>& names) {
    std::vector<Key> keys;
    for (const auto& name : names) {
        ASSAY_TRY(auto key, make_key(collection, name));
        keys.push_back(std::move(key));
    }
    return keys;
}

Result<Filter> make_filter(const Collection& collection, std::string_view expression) {
    const auto equals = expression.find('=');
    if (equals == std::string_view::npos || equals == 0)
        return fail(fmt::format(
            "--filter: invalid filter \"{}\" (expected KEY=VALUE, KEY=A|B or KEY!=VALUE)",
            plain(expression)));
    const bool negated = expression[equals - 1] == '!';
    ASSAY_TRY(auto key, make_key(collection, expression.substr(0, equals - (negated ? 1 : 0))));
    std::vector<std::string> patterns;
    for (std::string_view rest = expression.substr(equals + 1);;) {
        const auto bar = rest.find('|');
        patterns.emplace_back(rest.substr(0, bar));
        if (bar == std::string_view::npos) break;
        rest.remove_prefix(bar + 1);
    }
    Filter filter{.key = std::move(key)};
    for (const auto& text : filter.key.texts) {
        const bool matches = std::ranges::any_of(patterns, [&](const std::string& pattern) {
            return pattern == text || fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
        });
        filter.passes.push_back(matches != negated);
    }
    return filter;
}

Result<std::vector<Filter>> make_filters(const Collection& collection,
                                         const std::vector<std::string>& expressions) {
    std::vector<Filter> filters;
    for (const auto& expression : expressions) {
        ASSAY_TRY(auto filter, make_filter(collection, expression));
        filters.push_back(std::move(filter));
    }
    return filters;
}

Result<void> apply_filters(Collection& collection, const std::vector<std::string>& expressions) {
    ASSAY_TRY(const auto filters, make_filters(collection, expressions));
    std::erase_if(collection.observations, [&](const decide::Observation& seen) {
        return !std::ranges::all_of(filters, [&](const Filter& f) { return f.admits(seen); });
    });
    return {};
}

} // namespace assay::store
