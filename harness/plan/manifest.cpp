// SPDX-License-Identifier: Apache-2.0

#include "plan/manifest.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "json/codec.hpp"
#include "json/words.hpp"
#include "record/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

namespace assay::plan {

ASSAY_FIELDS(ParameterVariable, value, name, setting)
template <class Visit>
void each_field(Visit&& visit, Maybe<Parameter> auto& parameter) {
    visit("name", parameter.name);
    visit("kind", parameter.kind);
    visit("help", parameter.help);
    visit("unit", parameter.unit);
    if (parameter.kind == ParameterKind::integer) {
        visit("low", parameter.integer_low);
        visit("high", parameter.integer_high);
    }
    if (parameter.kind == ParameterKind::real) {
        visit("low", parameter.real_low);
        visit("high", parameter.real_high);
    }
    visit("names", parameter.names);
    visit("defaults", parameter.defaults);
    visit("variables", parameter.variables);
}
ASSAY_FIELDS(Benchmark, id, version, place, question, method, caveats, headline, ceiling, bound,
             noise, items, reproducible, rewinds, single_call, long_calls, team, is_ceiling,
             all_devices, safe_calls, metrics, packages, parameters)
ASSAY_FIELDS(Tuning, variable, value, requires_isa)
/// In addition to the schema and the library's file name.
ASSAY_FIELDS(Manifest, module, build_id, launcher, path_variable, tunings, benchmarks)

template <OneOf<std::vector<ParameterVariable>, BoundBy, Noise> T>
void json_sparse(const T&);

template <OneOf<ParameterVariable, Parameter, Benchmark, Tuning> T>
void json_closed(const T&);

} // namespace assay::plan

namespace assay::plan {
namespace {

/// Units that limits of this kind have.
std::vector<std::string_view> units_of(BoundBy bound) {
    switch (bound) {
    case BoundBy::none:
        return {};
    case BoundBy::vector_units:
    case BoundBy::matrix_units:
        return {"FLOP/s", "OP/s"};
    default:
        return {"B/s"};
    }
}

} // namespace

std::string unknown_metric(std::string_view name) {
    std::vector<std::string> known;
    for (const auto& metric : record::metric_table) known.emplace_back(metric.name);
    return fmt::format("{} is an unknown metric{}; `assay list --metrics` shows all",
                       json::show_text(name), suggestion(name, known));
}

json::Value to_json(const Benchmark& benchmark) { return json::encode(benchmark); }

namespace {

constexpr std::string_view schema_name = "assay.manifest/1";

json::Value to_json(const Manifest& manifest) {
    json::Value json{{"schema", schema_name}, {"library", manifest.library.filename().string()}};
    json.update(json::encode(manifest));
    return json;
}

Result<Manifest> manifest_from(const json::Value& value, std::string_view source) {
    json::Document document{value, source};
    const auto root = document.root();
    Manifest m;
    std::string schema;
    std::string library;
    root.read("schema", schema);
    if (schema != schema_name)
        root.expected("schema",
                      fmt::format("\"{}\": not a manifest, or written by another version of "
                                  "assay",
                                  schema_name));
    root.read("library", library);
    json::decode(root, m);
    auto keys = json::keys_of(m);
    keys.insert(keys.end(), {"schema", "library"});
    root.only(keys);
    m.library = library;
    // A manifest must not refer to a library in another folder.
    if (!m.library.has_filename() || m.library.has_parent_path())
        root.expected("library", "the name of a file in the folder of the manifest");
    ASSAY_TRY(document.result());
    // JSON has one kind of number: 1 is accepted as a real number.
    for (auto& benchmark : m.benchmarks)
        for (auto& parameter : benchmark.parameters)
            for (auto& number : parameter.defaults)
                if (const auto* whole = std::get_if<std::int64_t>(&number);
                    whole != nullptr && parameter.kind == ParameterKind::real)
                    number = static_cast<double>(*whole);
    return m;
}

// --- checking -------------------------------------------------------------------------------------

bool is_plain(std::string_view name) {
    const auto plain = [](char c) { return is_word(c) && !(c >= 'A' && c <= 'Z'); };
    return !name.empty() && std::ranges::all_of(name, plain);
}

/// "latency_p99=s": a metric that the benchmark reports, in the unit of the table.
Result<void> check_reported(const std::string& text) {
    const auto equals = std::min(text.find('='), text.size());
    const auto name = text.substr(0, equals);
    const auto* metric = record::find_metric(name);
    if (metric == nullptr) return fail(fmt::format("its metric {}", unknown_metric(name)));
    if (text.substr(std::min(equals + 1, text.size())) == metric->unit) return {};
    return fail(fmt::format("its metric {} has the unit {}, not {}", name, metric->unit,
                            json::show_text(text.substr(std::min(equals + 1, text.size())))));
}

/// A name that a package manager takes, and no option of one.
bool is_package(std::string_view name) {
    return is_word(name.front()) &&
           std::ranges::all_of(name, [](char c) { return is_word(c, "+.-"); });
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
            return fail(fmt::format("{} has control characters", json::show_text(text)));
    return {};
}

/// Variables are for libraries under test, not for the loader or the harness.
Result<void> check_variable(const ParameterVariable& v) {
    if (v.name.empty() || !std::ranges::all_of(v.name, [](char c) { return is_word(c); }))
        return fail(
            fmt::format("invalid name {} of an environment variable", json::show_text(v.name)));
    if (v.name.starts_with("LD_") || v.name.starts_with("ASSAY_") || v.name == "PATH")
        return fail(fmt::format("it may not set {}", v.name));
    return check_clean({v.value, v.setting});
}

Result<void> check_parameter(const Parameter& p) {
    if (!is_plain(p.name))
        return fail(fmt::format("invalid parameter name \"{}\" (expected snake_case)", p.name));
    const auto wrong = [&](std::string_view what) {
        return fail(fmt::format("parameter {}: {}", p.name, what));
    };
    if (p.help.empty()) return wrong("its help is empty");
    std::vector<std::string_view> texts{p.help, p.unit};
    texts.insert(texts.end(), p.names.begin(), p.names.end());
    if (auto clean = check_clean(texts); !clean) return wrong(clean.error().message);
    if (p.integer_low > p.integer_high || p.real_low > p.real_high)
        return wrong("the upper end of its range is below the lower");
    if (p.kind == ParameterKind::name && p.names.empty()) return wrong("it has no names");
    if (std::ranges::any_of(p.names, [](const auto& name) { return name.empty(); }))
        return wrong("one of its names is empty");
    for (const auto& variable : p.variables) {
        if (auto checked = check_variable(variable); !checked)
            return wrong(checked.error().message);
        if (p.kind == ParameterKind::name &&
            std::ranges::find(p.names, variable.value) == p.names.end())
            return wrong(fmt::format("it sets {} for {}, which is not one of its values",
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
        return fail(
            fmt::format("invalid id \"{}\" (expected <family>.<name> in lower case)", b.id));
    const std::pair<const char*, const std::string&> texts[] = {
        {"place", b.place}, {"question", b.question}, {"method", b.method}, {"caveats", b.caveats}};
    for (const auto& [name, text] : texts)
        if (text.empty()) return fail(fmt::format("{}: its {} is empty", b.id, name));
    if (auto clean = check_clean({b.place, b.question, b.method, b.caveats}); !clean)
        return fail(fmt::format("{}: {}", b.id, clean.error().message));
    if (record::find_metric(b.headline) == nullptr)
        return fail(fmt::format("{}: its headline {}", b.id, unknown_metric(b.headline)));
    if (b.items && !record::is_item_name(*b.items))
        return fail(fmt::format("{}: invalid items {} (expected a word in lower case, as in keys)",
                                b.id, json::show_text(*b.items)));
    const auto units = units_of(b.bound);
    if (!units.empty() && b.headline != "item_rate" && // bounded by its work: sheet_bounds.hpp
        std::ranges::find(units, record::find_metric(b.headline)->unit) == units.end())
        return fail(fmt::format("{}: its bound {} does not fit its headline \"{}\"", b.id,
                                to_string(b.bound), b.headline));
    for (const auto& id : ceiling_ids(b))
        if (!is_id(id))
            return fail(fmt::format("{}: invalid ceiling \"{}\" (expected an id)", b.id, id));
    for (const auto& word : words_of(b.ceiling))
        if (const auto colon = word.find(':'); colon != word.npos) {
            const auto equals = word.find('=', colon);
            if (equals == word.npos || equals + 1 == word.size() ||
                !is_plain(word.substr(colon + 1, equals - colon - 1)))
                return fail(fmt::format(
                    "{}: invalid ceiling \"{}\" (expected ID or ID:PARAMETER=VALUE)", b.id, word));
        }
    for (const auto& reported : words_of(b.metrics.value_or("")))
        if (auto checked = check_reported(reported); !checked)
            return fail(fmt::format("{}: {}", b.id, checked.error().message));
    for (const auto& package : words_of(b.packages.value_or("")))
        if (!is_package(package))
            return fail(fmt::format("{}: invalid package name {}", b.id, json::show_text(package)));
    std::set<std::string_view> names;
    for (const auto& parameter : b.parameters) {
        if (auto checked = check_parameter(parameter); !checked)
            return fail(fmt::format("{}: {}", b.id, checked.error().message));
        if (!names.insert(parameter.name).second)
            return fail(fmt::format("{}: parameter {} is given twice", b.id, parameter.name));
    }
    if (b.team && !names.contains("ranks"))
        return fail(fmt::format("{}: a benchmark of a team needs a parameter ranks", b.id));
    return {};
}

} // namespace

std::vector<std::string> words_of(const std::string& list) {
    std::istringstream words{list};
    return {std::istream_iterator<std::string>{words}, {}};
}

std::vector<std::string> ceiling_ids(const Benchmark& benchmark) {
    auto ids = words_of(benchmark.ceiling);
    for (auto& id : ids) id.resize(std::min(id.find(':'), id.size()));
    return ids;
}
std::optional<std::string> ceiling_value(const Benchmark& benchmark, std::string_view id,
                                         std::string_view parameter) {
    const auto start = fmt::format("{}:{}=", id, parameter);
    for (const auto& word : words_of(benchmark.ceiling))
        if (word.starts_with(start)) return word.substr(start.size());
    return std::nullopt;
}

Result<void> check_manifest(const Manifest& manifest) {
    if (!is_plain(manifest.module))
        return fail(
            fmt::format("invalid module name \"{}\" (expected lower case letters, digits and _)",
                        manifest.module));
    if (manifest.build_id.empty()) return fail("its build id is empty");
    ASSAY_TRY(check_clean({manifest.build_id, manifest.launcher}));
    ASSAY_TRY(check_clean({manifest.path_variable.value_or("")}));
    for (const auto& t : manifest.tunings)
        ASSAY_TRY(check_clean({t.variable, t.value, t.requires_isa}));
    if (manifest.benchmarks.empty()) return fail("it has no benchmarks");
    std::set<std::string_view> ids;
    for (const auto& benchmark : manifest.benchmarks) {
        ASSAY_TRY(check_benchmark(benchmark));
        if (!ids.insert(benchmark.id).second)
            return fail(fmt::format("benchmark {} is given twice", benchmark.id));
    }
    return {};
}

Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& path) {
    ASSAY_TRY(const auto value, json::parse(text, path.string()));
    auto manifest = manifest_from(value, path.string());
    if (!manifest) return manifest;
    if (auto checked = check_manifest(*manifest); !checked)
        return fail(fmt::format("{}: {}", path.string(), checked.error().message));
    manifest->library = path.parent_path() / manifest->library;
    return manifest;
}

Result<Manifest> read_manifest(const std::filesystem::path& path) {
    ASSAY_TRY(const auto text, read_whole(path, json::Limits{}.bytes));
    return parse_manifest(text, path);
}

Result<void> write_manifest(const Manifest& manifest, const std::filesystem::path& path) {
    return write_atomically(path, json::to_text(to_json(manifest)));
}

namespace {

std::vector<std::filesystem::path> module_folders() {
    std::vector<std::filesystem::path> folders{layout().modules};
    // Read once, before any thread of ours is started.
    const char* variable = std::getenv("ASSAY_MODULE_PATH"); // NOLINT(concurrency-mt-unsafe)
    std::string_view rest = variable == nullptr ? "" : variable;
    while (!rest.empty()) {
        const auto colon = std::min(rest.find(':'), rest.size());
        if (colon != 0) folders.emplace_back(rest.substr(0, colon));
        rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
    return folders;
}

/// The manifests of one folder, in order of their names.
Result<std::vector<std::filesystem::path>> manifests_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::directory_iterator item{folder, error}, end; !error && item != end;
         item.increment(error))
        if (item->path().extension() == ".json") files.push_back(item->path());
    if (error)
        return fail(
            fmt::format("cannot read the module folder {}: {}", folder.string(), error.message()),
            error == std::errc::no_such_file_or_directory ? Fault::usage : Fault::environment);
    std::ranges::sort(files);
    return files;
}

void add(Catalogue& catalogue, const std::filesystem::path& file) {
    auto manifest = read_manifest(file);
    if (!manifest) {
        catalogue.problems.push_back(std::move(manifest.error()));
        return;
    }
    const auto same = std::ranges::find(catalogue.modules, manifest->module, &Manifest::module);
    if (same != catalogue.modules.end()) {
        catalogue.problems.push_back(
            {fmt::format("module {} of {} is not used: {} comes first", manifest->module,
                         file.parent_path().string(), same->library.string())});
        return;
    }
    catalogue.modules.push_back(std::move(*manifest));
}

} // namespace

Catalogue read_catalogue() {
    Catalogue catalogue;
    for (const auto& folder : module_folders()) {
        const auto files = manifests_in(folder);
        if (!files) {
            catalogue.problems.push_back(files.error());
            continue;
        }
        for (const auto& file : *files) add(catalogue, file);
    }
    std::ranges::sort(catalogue.modules, {}, &Manifest::module);
    return catalogue;
}

} // namespace assay::plan
