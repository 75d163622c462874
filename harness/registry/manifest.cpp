// SPDX-License-Identifier: Apache-2.0
#include "registry/manifest.hpp"

#include "base/file.hpp"
#include "json/fields.hpp"
#include "json/json.hpp"
#include "json/words.hpp"
#include "record/metrics.hpp"
#include "registry/parameter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace assay::harness {
namespace {

constexpr std::string_view schema_name = "assay.manifest/1";

// --- writing --------------------------------------------------------------------------------------

json::Value to_json(const Parameter& p) {
    json::Value json{
        {"name", p.name}, {"kind", to_string(p.kind)}, {"help", p.help}, {"unit", p.unit}};
    if (p.kind == ParameterKind::integer) {
        json["low"] = p.integer_low;
        json["high"] = p.integer_high;
    }
    if (p.kind == ParameterKind::real) {
        json["low"] = p.real_low;
        json["high"] = p.real_high;
    }
    json["names"] = p.names;
    auto& defaults = json["defaults"] = json::Value::array();
    for (const auto& value : p.defaults) defaults.push_back(value_to_json(value));
    for (const auto& v : p.variables)
        json["variables"].push_back({{"value", v.value}, {"name", v.name}, {"setting", v.setting}});
    return json;
}

} // namespace

json::Value to_json(const Benchmark& b) {
    json::Value json{{"id", b.id},
                     {"version", b.version},
                     {"place", b.place},
                     {"question", b.question},
                     {"method", b.method},
                     {"caveats", b.caveats},
                     {"headline", b.headline},
                     {"ceiling", b.ceiling},
                     {"rewinds", b.rewinds},
                     {"single_call", b.single_call},
                     {"team", b.team},
                     {"is_ceiling", b.is_ceiling},
                     {"all_devices", b.all_devices},
                     {"safe_calls", b.safe_calls}};
    auto& parameters = json["parameters"] = json::Value::array();
    for (const auto& parameter : b.parameters) parameters.push_back(to_json(parameter));
    return json;
}

namespace {

json::Value to_json(const Manifest& m) {
    json::Value json{{"schema", schema_name},
                     {"module", m.module},
                     {"build_id", m.build_id},
                     {"library", m.library.filename().string()},
                     {"launcher", m.launcher}};
    auto& tunings = json["tunings"] = json::Value::array();
    for (const auto& t : m.tunings)
        tunings.push_back(
            {{"variable", t.variable}, {"value", t.value}, {"requires_isa", t.requires_isa}});
    auto& benchmarks = json["benchmarks"] = json::Value::array();
    for (const auto& benchmark : m.benchmarks) benchmarks.push_back(to_json(benchmark));
    return json;
}

// --- reading --------------------------------------------------------------------------------------

void read_variable(const json::Object& object, ParameterVariable& variable) {
    object.read("value", variable.value);
    object.read("name", variable.name);
    object.read("setting", variable.setting);
    object.only({"value", "name", "setting"});
}

void read_parameter(const json::Object& object, Parameter& p) {
    std::string kind;
    object.read("name", p.name);
    object.read("kind", kind);
    object.read("help", p.help);
    object.read("unit", p.unit);
    object.read("names", p.names);
    p.kind = parameter_kind_from(kind).value_or(ParameterKind::text);
    if (to_string(p.kind) != kind) object.expected("kind", "integer, real, boolean, name or text");
    if (p.kind == ParameterKind::integer) {
        object.read("low", p.integer_low);
        object.read("high", p.integer_high);
    }
    if (p.kind == ParameterKind::real) {
        object.read("low", p.real_low);
        object.read("high", p.real_high);
    }
    object.only({"name", "kind", "help", "unit", "names", "low", "high", "defaults", "variables"});
    if (object.has("variables"))
        object.each("variables", [&](const json::Object& variable) {
            read_variable(variable, p.variables.emplace_back());
        });
    const auto* defaults = object.find("defaults");
    if (defaults == nullptr || !defaults->is_array())
        return object.expected("defaults", "an array");
    for (const auto& item : *defaults) {
        auto value = value_from_json(p, item);
        if (!value) return object.problem("defaults", value.error().message);
        p.defaults.push_back(std::move(*value));
    }
}

void read_benchmark(const json::Object& object, Benchmark& b) {
    object.read("id", b.id);
    object.read("version", b.version);
    object.read("place", b.place);
    object.read("question", b.question);
    object.read("method", b.method);
    object.read("caveats", b.caveats);
    object.read("headline", b.headline);
    object.read("ceiling", b.ceiling);
    object.read("rewinds", b.rewinds);
    object.read("single_call", b.single_call);
    object.read("team", b.team);
    object.read("is_ceiling", b.is_ceiling);
    object.read("all_devices", b.all_devices);
    object.read("safe_calls", b.safe_calls);
    object.each("parameters", [&](const json::Object& parameter) {
        read_parameter(parameter, b.parameters.emplace_back());
    });
    object.only({"id", "version", "place", "question", "method", "caveats", "headline", "ceiling",
                 "rewinds", "single_call", "team", "is_ceiling", "all_devices", "safe_calls",
                 "parameters"});
}

void read_tuning(const json::Object& object, Tuning& tuning) {
    object.read("variable", tuning.variable);
    object.read("value", tuning.value);
    object.read("requires_isa", tuning.requires_isa);
    object.only({"variable", "value", "requires_isa"});
}

Result<Manifest> manifest_from(const json::Value& value, std::string_view source) {
    json::Document document{value, source};
    const auto root = document.root();
    Manifest m;
    std::string schema;
    std::string library;
    root.read("schema", schema);
    if (schema != schema_name)
        root.expected("schema", fmt::format("\"{}\": it is no manifest, or one of another version "
                                            "of assay",
                                            schema_name));
    root.read("module", m.module);
    root.read("build_id", m.build_id);
    root.read("library", library);
    root.read("launcher", m.launcher);
    root.each("tunings",
              [&](const json::Object& item) { read_tuning(item, m.tunings.emplace_back()); });
    root.each("benchmarks",
              [&](const json::Object& item) { read_benchmark(item, m.benchmarks.emplace_back()); });
    root.only({"schema", "module", "build_id", "library", "launcher", "tunings", "benchmarks"});
    m.library = library;
    // A manifest must not send us to a library elsewhere.
    if (!m.library.has_filename() || m.library.has_parent_path())
        root.expected("library", "the name of a file beside the manifest");
    if (auto read = document.result(); !read) return tl::unexpected{read.error()};
    return m;
}

// --- checking -------------------------------------------------------------------------------------

bool is_plain(std::string_view name) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !name.empty() && std::ranges::all_of(name, plain);
}

/// <family>.<name>, lower case.
bool is_id(std::string_view id) {
    const auto dot = id.find('.');
    return dot != std::string_view::npos && is_plain(id.substr(0, dot)) &&
           is_plain(id.substr(dot + 1));
}

/// Texts are shown on terminals: no escape sequences, no other control characters.
bool is_clean(std::string_view text) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20U || c == 0x7f; };
    return std::ranges::none_of(text, control);
}

Result<void> check_clean(const std::vector<std::string_view>& texts) {
    for (const auto text : texts)
        if (!is_clean(text))
            return fail(fmt::format("{} holds control characters", json::show_text(text)));
    return {};
}

/// Variables are for libraries under measurement, not for the loader or for us.
Result<void> check_variable(const ParameterVariable& v) {
    const auto plain = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    if (v.name.empty() || !std::ranges::all_of(v.name, plain))
        return fail(fmt::format("{} is no name of a variable", json::show_text(v.name)));
    if (v.name.starts_with("LD_") || v.name.starts_with("ASSAY_") || v.name == "PATH")
        return fail(fmt::format("it may not set {}", v.name));
    return check_clean({v.value, v.setting});
}

Result<void> check_parameter(const Parameter& p) {
    if (!is_plain(p.name))
        return fail(fmt::format("parameter name \"{}\" should be snake_case", p.name));
    const auto wrong = [&](std::string_view what) {
        return fail(fmt::format("parameter {}: {}", p.name, what));
    };
    if (p.help.empty()) return wrong("its help is empty");
    std::vector<std::string_view> texts{p.help, p.unit};
    texts.insert(texts.end(), p.names.begin(), p.names.end());
    if (auto clean = check_clean(texts); !clean) return wrong(clean.error().message);
    if (p.integer_low > p.integer_high || p.real_low > p.real_high)
        return wrong("its range ends before it begins");
    if (p.kind == ParameterKind::name && p.names.empty()) return wrong("it has no names");
    if (std::ranges::any_of(p.names, [](const auto& name) { return name.empty(); }))
        return wrong("one of its names is empty");
    for (const auto& variable : p.variables) {
        if (auto checked = check_variable(variable); !checked)
            return wrong(checked.error().message);
        if (p.kind == ParameterKind::name &&
            std::ranges::find(p.names, variable.value) == p.names.end())
            return wrong(fmt::format("it sets {} for {}, which is none of its values",
                                     variable.name, json::show_text(variable.value)));
    }
    if (p.defaults.empty()) return wrong("it has no default");
    for (const auto& value : p.defaults)
        if (auto checked = check_value(p, value); !checked)
            return fail(fmt::format("default out of range: {}", checked.error().message));
    return {};
}

Result<void> check_benchmark(const Benchmark& b) {
    if (!is_id(b.id))
        return fail(fmt::format("id \"{}\" should be <family>.<name> in lower case", b.id));
    const std::pair<const char*, const std::string&> texts[] = {
        {"place", b.place}, {"question", b.question}, {"method", b.method}, {"caveats", b.caveats}};
    for (const auto& [name, text] : texts)
        if (text.empty()) return fail(fmt::format("{}: its {} is empty", b.id, name));
    if (auto clean = check_clean({b.place, b.question, b.method, b.caveats}); !clean)
        return fail(fmt::format("{}: {}", b.id, clean.error().message));
    if (record::find_metric(b.headline) == nullptr)
        return fail(fmt::format("{}: its headline \"{}\" is not in the table of metrics", b.id,
                                b.headline));
    for (const auto& id : ceiling_ids(b))
        if (!is_id(id)) return fail(fmt::format("{}: its ceiling \"{}\" is no id", b.id, id));
    std::set<std::string_view> names;
    for (const auto& parameter : b.parameters) {
        if (auto checked = check_parameter(parameter); !checked)
            return fail(fmt::format("{}: {}", b.id, checked.error().message));
        if (!names.insert(parameter.name).second)
            return fail(fmt::format("{}: parameter {} is there twice", b.id, parameter.name));
    }
    if (b.team && !names.contains("ranks"))
        return fail(fmt::format("{}: measured by a team, but without a parameter ranks", b.id));
    return {};
}

} // namespace

std::vector<std::string> ceiling_ids(const Benchmark& benchmark) {
    std::istringstream words{benchmark.ceiling};
    return {std::istream_iterator<std::string>{words}, {}};
}

Result<void> check_manifest(const Manifest& manifest) {
    if (!is_plain(manifest.module))
        return fail(fmt::format("module name \"{}\" should be lower case letters, digits and _",
                                manifest.module));
    if (manifest.build_id.empty()) return fail("its build id is empty");
    if (auto clean = check_clean({manifest.build_id, manifest.launcher}); !clean) return clean;
    for (const auto& t : manifest.tunings)
        if (auto clean = check_clean({t.variable, t.value, t.requires_isa}); !clean) return clean;
    if (manifest.benchmarks.empty()) return fail("it has no benchmark");
    std::set<std::string_view> ids;
    for (const auto& benchmark : manifest.benchmarks) {
        if (auto checked = check_benchmark(benchmark); !checked) return checked;
        if (!ids.insert(benchmark.id).second)
            return fail(fmt::format("benchmark {} is there twice", benchmark.id));
    }
    return {};
}

Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& path) {
    const auto value = json::parse(text, path.string());
    if (!value) return tl::unexpected{value.error()};
    auto manifest = manifest_from(*value, path.string());
    if (!manifest) return manifest;
    if (auto checked = check_manifest(*manifest); !checked)
        return fail(fmt::format("{}: {}", path.string(), checked.error().message));
    manifest->library = path.parent_path() / manifest->library;
    return manifest;
}

Result<Manifest> read_manifest(const std::filesystem::path& path) {
    const auto text = read_whole(path, json::Limits{}.bytes);
    if (!text) return tl::unexpected{text.error()};
    return parse_manifest(*text, path);
}

Result<void> write_manifest(const Manifest& manifest, const std::filesystem::path& path) {
    return write_atomically(path, json::to_text(to_json(manifest)));
}

} // namespace assay::harness
