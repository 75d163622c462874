// SPDX-License-Identifier: Apache-2.0
#include "external/description.hpp"

#include "external/reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <span>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view schema_name = "assay.external/1";
constexpr std::size_t longest_input = std::size_t{4} << 20U; // bytes of a file beside a description
constexpr double longest_limit = 86'400;                     // seconds
constexpr std::size_t most_arguments = 256;

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, [](unsigned char c) {
        return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
    });
}

/// A file directly in a folder.
bool is_plain_file(std::string_view name) {
    return !name.empty() && name.size() <= 100 && name.front() != '.' && name.front() != '-' &&
           std::ranges::all_of(name, [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
           });
}

/// Words by which a shell would do something else with the line.
void refuse_shell(const Arguments& arguments, const std::string& at) {
    static constexpr std::array shells{"sh",   "bash", "dash", "zsh",  "ksh",
                                       "fish", "csh",  "env",  "xargs"};
    static constexpr std::array operators{"|",  "||", "&",  "&&", ";",   ">",
                                          ">>", "<",  "<<", "2>", "2>&1"};
    if (arguments.empty() || arguments.front().empty())
        throw Problem{joined(at, ": expected a command that begins with a program")};
    if (arguments.size() > most_arguments)
        throw Problem{joined(at, ": more than ", most_arguments, " arguments")};
    const auto program = fs::path{arguments.front()}.filename().string();
    if (std::ranges::find(shells, program) != shells.end())
        throw Problem{joined(at, ": ", program, " starts other programs; give the program itself")};
    for (const auto& argument : arguments)
        if (std::ranges::find(operators, argument) != operators.end() ||
            argument.find("$(") != argument.npos || argument.find('`') != argument.npos)
            throw Problem{joined(at, ": \"", argument,
                                 "\" needs a shell, but arguments are passed unchanged")};
}

/// Inside of the folder also when links are followed.
std::string read_beside(const fs::path& folder, const std::string& name, const std::string& at) {
    if (folder.empty()) throw Problem{joined(at, ": a built-in description cannot have files")};
    std::error_code error;
    const auto root = fs::canonical(folder, error);
    const auto file = error ? fs::path{} : fs::weakly_canonical(root / name, error);
    const auto inside = file.lexically_relative(root);
    if (error || fs::path{name}.is_absolute() || inside.empty() || *inside.begin() == "..")
        throw Problem{joined(at, ": \"", name, "\" is not in the folder of the description")};
    if (!fs::is_regular_file(file, error) || fs::file_size(file, error) > longest_input || error)
        throw Problem{joined(at, ": \"", name, "\" is not a file of at most 4 MiB")};
    std::ifstream stream{file, std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{stream}, {}};
    if (!stream) throw Problem{joined(at, ": cannot read \"", name, "\"")};
    return text;
}

void read_range(Reader& from, Parameter& p) {
    const auto& range = from.take("range");
    if (!range.is_array() || range.size() != 2 || !range[0].is_number_integer() ||
        !range[1].is_number_integer())
        throw Problem{joined(from.at("range"), ": expected two whole numbers")};
    p.kind = Parameter::Kind::integer;
    p.low = range[0].get<std::int64_t>();
    p.high = range[1].get<std::int64_t>();
    for (const auto& symbol : p.choices)
        if (symbol != "one" && symbol != "all")
            throw Problem{joined(from.at("choices"), ": expected only one and all beside a range")};
}

Parameter read_parameter(Reader& from) {
    Parameter p{.name = from.text("name"), .help = from.text("help")};
    if (!is_name(p.name))
        throw Problem{joined(from.at(), ": invalid name \"", p.name, "\" (expected snake_case)")};
    p.unit = from.text("unit", "");
    if (from.has("choices")) p.choices = from.texts("choices");
    if (from.has("range"))
        read_range(from, p);
    else if (p.choices.empty())
        p.kind = Parameter::Kind::text;
    const auto& defaults = from.take("defaults");
    if (!defaults.is_array() || defaults.empty())
        throw Problem{joined(from.at("defaults"), ": expected a list of values")};
    for (const auto& value : defaults) {
        const bool is_choice =
            value.is_string() && std::ranges::count(p.choices, value.get<std::string>()) == 1;
        if (value.is_number_integer() && p.kind == Parameter::Kind::integer)
            p.defaults.emplace_back(value.get<std::int64_t>());
        else if (value.is_string() && (is_choice || p.kind == Parameter::Kind::text))
            p.defaults.emplace_back(value.get<std::string>());
        else
            throw Problem{joined(from.at("defaults"), ": invalid value ", value.dump())};
    }
    return p;
}

Word read_word(const std::string& name, const Json& value, const std::string& at) {
    if (!is_name(name))
        throw Problem{joined(at, ": invalid name \"", name, "\" (expected snake_case)")};
    Reader from{value, at};
    Word word{.name = name, .of = from.text("of"), .values = {}};
    const auto& values = from.take("values");
    if (!values.is_object()) throw Problem{joined(at, "/values: expected an object")};
    for (const auto& item : values.items())
        word.values[item.key()] = item.value().is_array()
                                      ? Reader::texts_of(item.value(), at)
                                      : Arguments{Reader::text_of(item.value(), at)};
    from.done();
    return word;
}

Where read_where(Reader& from) {
    Where where;
    const int kinds = int{from.has("at")} + int{from.has("match")} + int{from.has("column")};
    if (kinds != 1)
        throw Problem{joined(from.at(), ": expected one of \"at\" (a JSON pointer), \"match\" (a "
                                        "pattern of a line) and \"column\" (of a table)")};
    if (from.has("at")) {
        where.kind = Where::Kind::pointer;
        where.text = from.text("at");
        try {
            static_cast<void>(Json::json_pointer{where.text});
        } catch (const Json::exception&) {
            throw Problem{joined(from.at("at"), ": invalid JSON pointer \"", where.text, "\"")};
        }
    } else if (from.has("match")) {
        where.text = from.text("match");
        check_pattern(where.text);
    } else {
        where.kind = Where::Kind::column;
        where.text = from.text("column");
        if (from.has("row")) {
            const auto row = from.texts("row");
            if (row.size() != 2)
                throw Problem{joined(from.at("row"), ": expected a column and its value")};
            where.row_column = row[0];
            where.row_value = row[1];
        }
    }
    where.in = from.text("in", "stdout");
    const auto take = from.text("take", "only");
    if (take == "first")
        where.take = Where::Take::first;
    else if (take == "last")
        where.take = Where::Take::last;
    else if (take != "only")
        throw Problem{joined(from.at("take"), ": expected only, first or last")};
    return where;
}

Metric read_metric(Reader& from) {
    Metric metric{.name = from.text("metric"), .where = {}, .unit = {}, .unit_at = {}};
    if (from.has("per_run"))
        metric.where = {.kind = Where::Kind::elapsed, .text = from.text("per_run"), .in = "stdout"};
    else
        metric.where = read_where(from);
    if (!is_name(metric.name))
        throw Problem{joined(from.at("metric"), ": \"", metric.name, "\" should be snake_case")};
    if (from.has("unit_at")) {
        auto unit = from.object("unit_at");
        metric.unit_at = read_where(unit);
        unit.done();
        metric.unit = unit_of("s");
    } else {
        metric.unit = unit_of(from.text("unit"));
    }
    metric.is_optional = from.flag("optional");
    return metric;
}

Check read_check(Reader& from) {
    Check check{.notices = from.text("notices"), .where = read_where(from)};
    if (from.has("equals")) {
        const auto& value = from.take("equals");
        check.equals = value.is_string() ? value.get<std::string>() : value.dump();
        if (!value.is_primitive()) throw Problem{joined(from.at("equals"), ": expected a value")};
    }
    if (from.has("at_least")) check.at_least = from.number("at_least");
    if (from.has("at_most")) check.at_most = from.number("at_most");
    if (from.has("near")) {
        auto other = from.object("near");
        check.near = read_where(other);
        other.done();
        check.within = from.number("within");
        if (check.within <= 0 || check.within >= 1)
            throw Problem{joined(from.at("within"), ": expected a share between 0 and 1")};
    }
    check.completes = from.flag("completes");
    const bool has_range = check.at_least || check.at_most;
    if (int{has_range} + int{check.equals.has_value()} + int{check.near.has_value()} != 1)
        throw Problem{joined(from.at(), ": expected \"equals\", \"near\", or \"at_least\" and "
                                        "\"at_most\"")};
    if (check.at_least && check.at_most && *check.at_least > *check.at_most)
        throw Problem{joined(from.at(), ": at_least is above at_most")};
    return check;
}

Input read_input(Reader& from, const fs::path& folder) {
    Input input{.name = from.text("name"), .text = {}};
    if (!is_plain_file(input.name))
        throw Problem{joined(from.at("name"), ": invalid file name \"", input.name, "\"")};
    if (from.has("copy")) {
        input.text = read_beside(folder, from.text("copy"), from.at("copy"));
        return input;
    }
    for (const auto& line : from.texts("lines")) input.text += line + '\n';
    return input;
}

std::optional<When> read_when(Reader& from, const std::string& key) {
    if (!from.has(key)) return {};
    const auto when = from.texts(key);
    if (when.size() != 2)
        throw Problem{joined(from.at(key), ": expected a parameter and its value")};
    return When{.parameter = when[0], .value = when[1]};
}

Server read_server(Reader from, bool on_partner) {
    Server server{.command = from.texts("command"), .on_partner = on_partner};
    refuse_shell(server.command, from.at("command"));
    server.when = read_when(from, "when");
    server.each_call = from.flag("each_call");
    from.done();
    return server;
}

void read_program(Reader from, Description& d) {
    d.program = from.text("name");
    d.licence = from.text("licence");
    for (const auto& package : from.texts("packages"))
        d.packages += (d.packages.empty() ? "" : " ") + package;
    d.homepage = from.text("homepage", "");
    if (d.packages.empty() && d.homepage.empty())
        throw Problem{joined(from.at("packages"), ": expected at least one, or a homepage")};
    if (from.has("version")) {
        auto version = from.object("version");
        d.program_version = {.command = version.texts("command"),
                             .pattern = version.text("match"),
                             .least = version.text("least", "")};
        refuse_shell(d.program_version.command, version.at("command"));
        check_pattern(d.program_version.pattern);
        version.done();
    }
    from.done();
}

std::vector<Arguments> read_commands(Reader& from, const std::string& key) {
    std::vector<Arguments> commands;
    if (!from.has(key)) return commands;
    const auto& list = from.take(key);
    if (!list.is_array()) throw Problem{joined(from.at(key), ": expected a list of commands")};
    for (const auto& command : list) {
        commands.push_back(Reader::texts_of(command, from.at(key)));
        refuse_shell(commands.back(), from.at(key));
    }
    return commands;
}

/// Each placeholder of every text stands for something.
class Placeholders {
public:
    explicit Placeholders(const Description& d) : names_{std::begin(built_in), std::end(built_in)} {
        for (const auto& parameter : d.parameters) add(parameter.name);
        for (const auto& word : d.words) add(word.name);
    }
    void check(std::string_view text, std::string_view where) const {
        for (auto begin = text.find('{'); begin != text.npos; begin = text.find('{', begin + 1)) {
            const auto end = text.find('}', begin);
            const auto name = text.substr(begin + 1, std::min(end, text.size()) - begin - 1);
            if (end == text.npos || !names_.contains(std::string{name}))
                throw Problem{joined(where, ": unknown placeholder {", name, "}")};
        }
    }
    void check(const Arguments& texts, std::string_view where) const {
        for (const auto& text : texts) check(text, where);
    }
    void check_where(const Where& where) const {
        if (where.kind != Where::Kind::pattern) check(where.text, "at");
        check(where.row_value, "row");
    }

private:
    void add(const std::string& name) {
        if (!names_.insert(name).second)
            throw Problem{joined("the name ", name, " is used twice, or reserved by assay")};
    }
    std::set<std::string> names_;
};

const Parameter& parameter_of(const Description& d, const std::string& name) {
    const auto found = std::ranges::find(d.parameters, name, &Parameter::name);
    if (found == d.parameters.end()) throw Problem{joined("there is no parameter ", name)};
    return *found;
}

void check_words(const Description& d, const Placeholders& known) {
    for (const auto& word : d.words) {
        const auto& of = parameter_of(d, word.of);
        for (const auto& choice : of.choices)
            if (!word.values.contains(choice) && !word.values.contains("*"))
                throw Problem{joined("words/", word.name, ": no entry for ", choice)};
        if (of.kind != Parameter::Kind::choice && !word.values.contains("*"))
            throw Problem{joined("words/", word.name, ": no entry for other values (\"*\")")};
        for (const auto& [value, texts] : word.values) known.check(texts, "words/" + word.name);
    }
}

void check_commands(const Description& d, const Placeholders& known) {
    for (const auto* commands : {&d.prepare, &d.inspect})
        for (const auto& command : *commands) known.check(command, "a command");
    known.check(d.command, "command");
    known.check(d.program, "program");
    known.check(d.needs, "needs");
    known.check(d.program_version.command, "version");
    known.check(d.space, "space");
    for (const auto& [name, setting] : d.environment) known.check(setting, "environment");
    for (const auto& server : d.servers) {
        known.check(server.command, "server");
        if (server.when) static_cast<void>(parameter_of(d, server.when->parameter));
    }
}

void check_references(const Description& d) {
    const Placeholders known{d};
    check_words(d, known);
    check_commands(d, known);
    if (!d.scratch_in.empty()) static_cast<void>(parameter_of(d, d.scratch_in));
    const bool launches = std::ranges::count(d.command, "{launch}") > 0;
    if (launches != !d.team.empty())
        throw Problem{
            "team: expected the parameter with the number of processes that {launch} starts"};
    if (launches && std::ranges::count(parameter_of(d, d.team).choices, "all") == 0)
        throw Problem{
            joined("team: invalid parameter ", d.team, " (expected a number that may be all)")};
    if (d.direct_io) {
        static_cast<void>(parameter_of(d, d.direct_io->parameter));
        if (d.scratch_in.empty()) throw Problem{"direct_io: needs scratch_in"};
    }
    if (d.failure) known.check_where(*d.failure);
    for (const auto& metric : d.metrics) {
        known.check_where(metric.where);
        if (metric.unit_at) known.check_where(*metric.unit_at);
    }
    for (const auto& check : d.checks) {
        known.check_where(check.where);
        if (check.near) known.check_where(*check.near);
        known.check(check.equals.value_or(""), "equals");
    }
}

void read_identity(Reader& root, Description& d) {
    d.id = root.text("id");
    const auto dot = d.id.find('.');
    if (dot == d.id.npos || !is_name(d.id.substr(0, dot)) || !is_name(d.id.substr(dot + 1)))
        throw Problem{joined("invalid id \"", d.id, "\" (expected <family>.<name> in lower case)")};
    const auto version = root.has("version") ? root.integer("version") : 1;
    if (version < 1 || version > 1'000'000) throw Problem{"version: expected a number from 1"};
    d.version = static_cast<std::uint32_t>(version);
    d.place = root.text("place", "host");
    if (d.place != "host" && d.place != "cuda") throw Problem{"place: expected host or cuda"};
}

void read_environment(Reader& root, Description& d) {
    if (!root.has("environment")) return;
    const auto& variables = root.take("environment");
    if (!variables.is_object()) throw Problem{"environment: expected an object"};
    for (const auto& item : variables.items()) {
        if (item.key().empty() || item.key().find('=') != std::string::npos)
            throw Problem{joined("environment: invalid variable name \"", item.key(), "\"")};
        d.environment[item.key()] = Reader::text_of(item.value(), "environment");
    }
}

void read_exit_codes(Reader& root, Description& d) {
    if (!root.has("exit_codes")) return;
    d.exit_codes.clear();
    const auto& codes = root.take("exit_codes");
    if (!codes.is_array() || codes.empty() ||
        !std::ranges::all_of(codes, [](const Json& code) { return code.is_number_integer(); }))
        throw Problem{"exit_codes: expected a list of numbers"};
    for (const auto& code : codes) d.exit_codes.push_back(code.get<int>());
}

void read_metrics(Reader& root, Description& d) {
    root.each("metrics", [&](Reader& one) { d.metrics.push_back(read_metric(one)); });
    if (d.metrics.empty() || d.metrics.front().is_optional)
        throw Problem{"metrics: the first is the primary one and must not be optional"};
    std::set<std::string_view> names;
    for (const auto& metric : d.metrics)
        if (!names.insert(metric.name).second)
            throw Problem{joined("metrics: ", metric.name, " is given twice")};
}

Description read(Reader& root, const fs::path& folder) {
    Description d;
    if (root.text("schema") != schema_name)
        throw Problem{joined("invalid schema (expected ", schema_name, ")")};
    read_identity(root, d);
    d.question = root.text("question");
    d.method = root.text("method");
    d.caveats = root.text("caveats");
    d.noise = root.text("noise", "");
    d.items = root.text("items", "");
    read_program(root.object("program"), d);
    root.each("parameters", [&](Reader& one) { d.parameters.push_back(read_parameter(one)); });
    if (root.has("words")) {
        const auto& words = root.take("words");
        if (!words.is_object()) throw Problem{"words: expected an object"};
        for (const auto& item : words.items())
            d.words.push_back(read_word(item.key(), item.value(), "words/" + item.key()));
    }
    root.each("inputs", [&](Reader& one) { d.inputs.push_back(read_input(one, folder)); });
    d.needs = root.text("needs", "");
    d.scratch_in = root.text("scratch_in", "");
    d.space = root.text("space", "");
    d.direct_io = read_when(root, "direct_io");
    d.prepare = read_commands(root, "prepare");
    d.inspect = read_commands(root, "inspect");
    d.command = root.texts("command");
    refuse_shell(d.command, "command");
    for (const std::string key : {"server", "partner"})
        if (root.has(key)) d.servers.push_back(read_server(root.object(key), key == "partner"));
    d.team = root.text("team", "");
    read_environment(root, d);
    d.time_limit = root.number("time_limit");
    if (d.time_limit <= 0 || d.time_limit > longest_limit)
        throw Problem{"time_limit: expected seconds, at most a day"};
    read_exit_codes(root, d);
    if (root.has("failure")) {
        auto failure = root.object("failure");
        d.failure = read_where(failure);
        failure.done();
    }
    if (root.has("ignore")) d.ignore = root.texts("ignore");
    for (const auto& pattern : d.ignore) check_pattern(pattern);
    read_metrics(root, d);
    root.each("checks", [&](Reader& one) { d.checks.push_back(read_check(one)); });
    if (d.checks.empty()) throw Problem{"checks: expected at least one"};
    root.done();
    check_references(d);
    return d;
}

} // namespace

Description parse_description(std::string_view text, const std::string& source,
                              const std::filesystem::path& folder) try {
    const auto json = Json::parse(text);
    Reader root{json, "/"};
    return read(root, folder);
} catch (const Json::exception& error) {
    throw Problem{joined(source, ": ", error.what())};
} catch (const Problem& problem) {
    throw Problem{joined(source, ": ", problem.what())};
}

} // namespace assay::external
