// SPDX-License-Identifier: Apache-2.0
#include "external/tool_case.hpp"

#include "external/file_system.hpp"
#include "external/program.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

namespace assay::external {
namespace {

namespace fs = std::filesystem;

constexpr double server_patience = 10; // seconds
/// Seconds until a program has run on every host of a team: ssh and two daemons take one each.
constexpr double team_patience = 30;

std::string text_of(const Parameter& parameter, const assay_value& value, int all) {
    if (value.kind == ASSAY_INTEGER) return std::to_string(value.integer);
    std::string text{value.text};
    if (parameter.kind != Parameter::Kind::integer) return text;
    return std::to_string(text == "all" ? all : 1);
}

Team team_of(const Machine& machine) {
    return Team::of_environment(static_cast<int>(machine.cores()));
}

Fill fill_of(const Description& description, const assay_value* values, const Machine& machine) {
    const int cores = static_cast<int>(machine.cores());
    std::map<std::string, std::string> texts{{"cores", std::to_string(cores)}};
    for (const auto& parameter : description.parameters)
        texts[parameter.name] =
            text_of(parameter, *values++, // NOLINT: as many as parameters
                    parameter.name == description.team ? team_of(machine).slots() : cores);
    return {description, std::move(texts)};
}

/// The one that these values ask for.
const Server* server_of(const Description& description, const Fill& fill) {
    for (const auto& server : description.servers)
        if (!server.when || fill.value(server.when->parameter) == server.when->value)
            return &server;
    return nullptr;
}

/// Can the hosts of the team serve this case? Without --hosts there are none, and {launch} stays on this one.
Fit fits_team(const Description& description, const Fill& fill, const Machine& machine) {
    const auto team = team_of(machine);
    const auto* const server = server_of(description, fill);
    const bool has_partner = server != nullptr && server->on_partner;
    if (has_partner && team.size() < 2)
        return Fit::no("not applicable: needs a second host (--hosts)");
    if (description.team.empty() && !has_partner) return Fit::yes();
    if (find_program(team.launcher()).empty())
        return Fit::no("not applicable: ", team.launcher(), " is not installed");
    // Input and output are files of this host, and the first process reads and writes them.
    if (team.size() > 0 && !is_here(team.name(0)))
        return Fit::no("needs this host as the first of --hosts");
    if (!description.team.empty() && team.size() > 0)
        if (const auto ranks = number_of(fill.value(description.team), description.team);
            ranks > team.slots())
            return Fit::no("needs ", ranks, " slots, but the hosts have ", team.slots());
    return Fit::yes();
}

fs::path scratch_base(const Description& description, const Fill& fill) {
    if (!description.scratch_in.empty()) return fill.value(description.scratch_in);
    std::error_code error;
    auto folder = fs::temp_directory_path(error);
    return error ? fs::path{"/tmp"} : folder;
}

std::string shown(const Arguments& arguments, const std::string& scratch) {
    std::string text;
    for (const auto& argument : arguments) {
        text += (text.empty() ? "" : " ") + argument;
        for (auto at = text.find(scratch); at != text.npos; at = text.find(scratch))
            text.replace(at, scratch.size(), "SCRATCH");
    }
    constexpr std::size_t longest = 900; // bytes
    return text.substr(0, longest);
}

/// Names outside the files of the scratch folder.
bool is_stream(const std::string& name) {
    return name == "stdout" || name == "stderr" || name == "inspect";
}

} // namespace

int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    const bool is_bound =
        socket >= 0 && ::bind(socket, plain, size) == 0 && ::getsockname(socket, plain, &size) == 0;
    if (socket >= 0) ::close(socket);
    if (!is_bound) throw Problem{"no port of the loopback device is free"};
    return ntohs(address.sin_port);
}

/// Is there room for what it writes?
Fit fits_space(const Description& description, const Fill& fill) {
    if (description.space.empty()) return Fit::yes();
    const auto base = scratch_base(description, fill);
    struct statvfs space{};
    if (::statvfs(base.c_str(), &space) != 0)
        return Fit::no("cannot use ", base.string(), ": ", std::system_category().message(errno));
    const double wanted = number_of(fill.text(description.space), "space");
    const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
    constexpr double reserve = 1.05; // what the file system keeps for itself
    return Fit::needs(wanted * reserve <= free, wanted, " bytes in ", base.string(), ", which has ",
                      free);
}

Fit fits_version(const Description& description, const std::string& name,
                 const std::string& program) {
    const auto& least = description.program_version.least;
    if (least.empty()) return Fit::yes();
    const auto version = version_of(description, program);
    return Fit::needs(!is_below(version, least), name, " ", least, ", here is ", version);
}

Fit fits_direct_io(const Description& description, const Fill& fill) {
    if (!description.direct_io ||
        fill.value(description.direct_io->parameter) != description.direct_io->value)
        return Fit::yes();
    const auto why = why_no_direct_io(scratch_base(description, fill));
    return why.empty() ? Fit::yes() : Fit::no("not applicable: ", why);
}

/// "model" of "{model}"
std::string unbraced(std::string text) {
    std::erase_if(text, [](char c) { return c == '{' || c == '}'; });
    return text;
}

/// "vllm is not installed. See https://docs.vllm.ai"
std::string not_installed(const Description& description, const std::string& name) {
    return joined(name, " is not installed. ",
                  description.packages.empty()
                      ? joined("See ", description.homepage)
                      : joined("Run: assay describe ", description.id, " --install"));
}

Fit fits(const Description& description, const assay_value* values, const Machine& machine) {
    const auto fill = fill_of(description, values, machine);
    const auto name = fill.text(description.program);
    const auto program = find_program(name);
    if (name.empty()) return Fit::no("not applicable: needs the path of a program");
    if (program.empty()) return Fit::no("not applicable: ", not_installed(description, name));
    std::error_code error;
    if (!description.needs.empty())
        if (const auto needed = fill.text(description.needs); !fs::exists(needed, error))
            return Fit::no("not applicable: needs ",
                           needed.empty() ? "the path of a " + unbraced(description.needs)
                                          : needed);
    Arguments given; // the rest is looked at when the command is put together
    for (const auto& parameter : description.parameters)
        given.push_back(fill.value(parameter.name));
    if (const auto why = why_not_touched(given); !why.empty())
        return Fit::no("not applicable: ", why);
    if (auto fit = fits_version(description, name, program); !fit) return fit;
    if (auto fit = fits_team(description, fill, machine); !fit) return fit;
    if (auto fit = fits_direct_io(description, fill); !fit) return fit;
    return fits_space(description, fill);
}

ToolCase::ToolCase(const Description& description, const assay_value* values,
                   const Context& context)
    : description_{description}, team_{team_of(context.machine())},
      fill_{fill_of(description, values, context.machine())},
      scratch_{scratch_base(description, fill_)} {
    fill_.set("scratch", scratch_.folder().string());
    program_ = find_program(fill_.text(description.program));
    fill_.set("tool", program_);
    if (!description.servers.empty()) fill_.set("port", std::to_string(free_port()));
    for (const auto& metric : description.metrics) metrics_.push_back(fill_.metric(metric));
    if (description.failure) failure_ = fill_.where(*description.failure);
    for (const auto& check : description.checks) checks_.push_back(fill_.check(check));
    find_files();

    context.setting("program", program_);
    if (!description.program_version.command.empty())
        context.setting("program_version", version_of(description, program_));
    if (!description.scratch_in.empty())
        context.setting("file_system", file_system_of(scratch_.folder()));
    context.setting("licence", description.licence);
    join_team(context);
    for (const auto& parameter : description.parameters)
        if (!parameter.choices.empty() && parameter.kind == Parameter::Kind::integer)
            context.setting(parameter.name.c_str(),
                            number_of(fill_.value(parameter.name), parameter.name));
    prepare();
}

/// The files that values and checks are looked for in.
void ToolCase::find_files() {
    const auto add = [&](const Where& where) {
        if (!is_stream(where.in)) files_.push_back(where.in);
    };
    if (failure_) add(*failure_);
    for (const auto& metric : metrics_) {
        add(metric.where);
        if (metric.unit_at) add(*metric.unit_at);
    }
    for (const auto& check : checks_) {
        add(check.where);
        if (check.near) add(*check.near);
    }
    std::ranges::sort(files_);
    files_.erase(std::ranges::unique(files_).begin(), files_.end());
}

/// Every host answers, or it is said now and not after the limit of a run that takes hours.
void ToolCase::join_team(const Context& context) {
    const auto* const partner = server();
    const bool is_pair = partner != nullptr && partner->on_partner;
    const auto put = [&](Fill& fill, const Team& team) {
        fill.set("hosts", team.text());
        fill.set("other", team.size() > 1 ? team.name(1) : "localhost");
        if (!description_.team.empty()) fill.set("launch", launch_of(team).arguments);
    };
    fill_.set("hostfile", (scratch_.folder() / "hosts").string());
    auto in_results = fill_;
    put(in_results, team_.in_results());
    put(fill_, team_);
    context.setting("command",
                    shown(in_results.arguments(description_.command), scratch_.folder().string()));
    if (team_.size() == 0 || (description_.team.empty() && !is_pair)) return;

    std::ofstream file{scratch_.folder() / "hosts"};
    for (std::size_t i = 0; i < team_.size(); ++i)
        file << team_.name(i) << " slots=" << team_.slots_of(i) << '\n';
    file.close();
    const std::size_t hosts = is_pair ? 2 : team_.size();
    const auto one_each = team_.one_each(0, hosts);
    const int ranks = is_pair ? 2 : team_ranks();
    context.setting("job.launcher", team_.launcher());
    context.setting("job.hosts", (is_pair ? one_each : team_).in_results().text(' '));
    context.setting("machines", hosts);
    context.setting("ranks", ranks);
    context.tell({.machines = static_cast<int>(hosts), .ranks = ranks});
    try {
        run_well(launched(one_each.launch(static_cast<int>(hosts), scratch_.folder(), {}), {"true"},
                          team_patience));
    } catch (const Problem& problem) {
        throw Problem{joined("the hosts of the team cannot be used: ", problem.what())};
    }
}

int ToolCase::team_ranks() const {
    return static_cast<int>(number_of(fill_.value(description_.team), description_.team));
}

Launch ToolCase::launch_of(const Team& team) const {
    return team.launch(team_ranks(), scratch_.folder(), description_.environment);
}

Command ToolCase::main_command() const {
    auto command = command_of(description_.command);
    if (description_.team.empty()) return command;
    command.environment.merge(launch_of(team_).environment);
    command.launches = true;
    return command;
}

Command ToolCase::launched(const Launch& launch, const Arguments& arguments, double limit) const {
    auto all = launch.arguments;
    all.insert(all.end(), arguments.begin(), arguments.end());
    auto command = command_of(all);
    for (const auto& [name, value] : launch.environment) command.environment[name] = value;
    command.limit = limit;
    command.launches = true;
    return command;
}

Command ToolCase::command_of(const Arguments& arguments) const {
    Command command{.program = {},
                    .arguments = fill_.arguments(arguments),
                    .environment = {{"TMPDIR", scratch_.folder().string()}},
                    .folder = scratch_.folder(),
                    .limit = description_.time_limit};
    const auto& name = command.arguments.front();
    command.program = find_program(name);
    if (command.program.empty()) throw Problem{not_installed(description_, name)};
    if (const auto why = why_not_touched(command.arguments); !why.empty()) throw Problem{why};
    for (const auto& [variable, setting] : description_.environment)
        command.environment[variable] = fill_.text(setting);
    return command;
}

void ToolCase::prepare() {
    for (const auto& input : description_.inputs) {
        std::ofstream file{scratch_.folder() / input.name, std::ios::binary};
        file << fill_.file(input.text);
        file.close();
        if (!file)
            throw Problem{joined("cannot write ", input.name, " in ", scratch_.folder().string())};
    }
    for (const auto& command : description_.prepare) run_well(command_of(command));
    if (const auto* const one = server(); one != nullptr && !one->each_call) start_server();
}

const Server* ToolCase::server() const { return server_of(description_, fill_); }

void ToolCase::start_server() {
    const auto* const one = server();
    const auto log = scratch_.folder() / "server.log";
    const int port = std::stoi(fill_.value("port"));
    server_.reset(); // before the next one takes the port
    if (!one->on_partner) {
        auto command = command_of(one->command);
        command.limit = server_patience;
        server_.emplace(command, log, [port] { return is_listening_here(port); });
        return;
    }
    const auto launch = team_.one_each(1, 1).launch(1, scratch_.folder(), description_.environment);
    const auto look = launched(launch, {"cat", "/proc/net/tcp", "/proc/net/tcp6"}, team_patience);
    const auto is_ready = [&look, port] {
        try {
            std::istringstream table{external::run(look).output};
            return is_listening(table, port);
        } catch (const Problem&) {
            return false; // asked again, until the server itself is given up
        }
    };
    server_.emplace(launched(launch, one->command, team_patience), log, is_ready);
}

/// A file of the scratch folder, and none that a link leads to.
std::string ToolCase::file(const std::string& name) const {
    const auto path = scratch_.folder() / name;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) throw Problem{joined(description_.program, " wrote no ", name)};
    struct stat status{};
    const bool is_file = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    ::close(descriptor);
    if (!is_file) throw Problem{joined(name, " is not a file")};
    if (static_cast<std::size_t>(status.st_size) > most_output)
        throw Problem{joined(name, " is longer than ", most_output >> 20U, " MiB")};
    std::ifstream stream{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

std::string ToolCase::full_disk() const {
    constexpr double least = 1 << 16U; // bytes: less than any output
    struct statvfs space{};
    const auto& folder = scratch_.folder();
    if (::statvfs(folder.c_str(), &space) != 0 ||
        static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize) > least)
        return {};
    return joined("; no space is left in ", folder.parent_path().string());
}

double ToolCase::run_once() {
    outputs_.clear();
    values_.clear();
    std::error_code error;
    for (const auto& name : files_)
        fs::remove(scratch_.folder() / name, error); // of the call before
    if (const auto* const one = server(); one != nullptr && one->each_call) start_server();
    auto outcome = run_well(main_command(), description_.exit_codes);
    Outputs outputs{{"stdout", std::move(outcome.output)}, {"stderr", std::move(outcome.errors)}};
    for (const auto& command : description_.inspect) {
        const auto inspected = external::run(command_of(command)); // the checks say what is wrong
        outputs["inspect"] += inspected.output + inspected.errors;
    }
    for (const auto& name : files_) outputs[name] = file(name);
    if (failure_ && is_there(outputs, *failure_))
        throw Problem{
            joined(description_.program, " failed: ", line_of(find(outputs, *failure_), false))};
    for (const auto& metric : metrics_) {
        if (metric.is_optional && !is_there(outputs, metric.where)) continue;
        const bool is_rate = metric.where.kind == Where::Kind::elapsed;
        values_.emplace_back(metric.name, is_rate ? number_of(metric.where.text, metric.name) *
                                                        metric.unit.factor / outcome.seconds
                                                  : value_of(outputs, metric));
    }
    if (!(values_.front().second > 0)) throw Problem{joined(values_.front().first, " is zero")};
    outputs_ = std::move(outputs);
    see_checks_end();
    return outcome.seconds;
}

void ToolCase::see_checks_end() const {
    std::string unfinished;
    for (const auto& check : checks_)
        if (const auto finding = judge(outputs_, check); !finding.holds) {
            if (!check.completes) return; // something is wrong, which verify() says
            unfinished = check.notices + ": " + finding.said;
        }
    if (!unfinished.empty() && wrong_line(outputs_, description_.ignore).empty())
        throw Problem{"the check did not finish: " + unfinished};
}

assay::Check ToolCase::verify() const {
    assay::Check result{.passed = true, .error = 0, .bound = 1};
    if (const auto line = wrong_line(outputs_, description_.ignore); !line.empty())
        result = {
            .passed = false, .error = 2, .bound = 1, .detail = "it says " + line_of(line, false)};
    for (const auto& check : checks_) {
        result.method +=
            (result.method.empty() ? "what the program wrote excludes: " : "; ") + check.notices;
        const auto finding = judge(outputs_, check);
        result.error = std::max(result.error, finding.share);
        if (finding.holds) continue;
        result.passed = false;
        result.error = std::max(result.error, 2.0); // a check without a bound
        result.detail += (result.detail.empty() ? "" : "; ") + check.notices + ": " + finding.said;
        // Its own words in front of its values name the cause.
        const auto output = outputs_.find(check.where.in);
        if (output == outputs_.end()) continue;
        const auto words = line_of(words_before_json(output->second), true);
        if (!words.empty() && result.detail.find(words) == std::string::npos)
            result.detail += " (" + words + ")";
    }
    return result;
}

void ToolCase::spoil() { external::spoil(outputs_, checks_[spoiled_++ % checks_.size()]); }

void ToolCase::metrics(Metrics& to) const {
    for (const auto& [name, value] : values_) to.add(name.c_str(), value);
}

} // namespace assay::external
