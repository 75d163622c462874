// SPDX-License-Identifier: Apache-2.0
#include "launch/execution_context.hpp"

#include "launch/environment.hpp"
#include "launch/placement.hpp"
#include "process/log.hpp"
#include "process/process.hpp"
#include "process/program.hpp"
#include "process/scratch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>
#include <system_error>
#include <utility>

namespace assay::harness {
namespace {

namespace fs = std::filesystem;

constexpr const char* host_root = "/run/host"; // as in desktop sandboxes

/// Not from the image: folders of the kernel and of the running machine.
constexpr std::array not_of_the_image{"dev", "proc", "run", "sys", "tmp"};

/// The image's folders, read only, in a separate root, so that nothing is created in them.
/// Processes, devices, network and users are the host's: only files are isolated.
Result<std::vector<std::string>> bubblewrap(const fs::path& program, const fs::path& image,
                                            const fs::path& results) {
    std::vector<std::string> arguments{program.string(), "--die-with-parent"};
    const auto add = [&](std::initializer_list<std::string> more) {
        arguments.insert(arguments.end(), more);
    };
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{image, error}) {
        const auto name = entry.path().filename().string();
        const auto place = "/" + name;
        if (std::ranges::find(not_of_the_image, name) != not_of_the_image.end()) continue;
        if (entry.is_symlink(error))
            add({"--symlink", fs::read_symlink(entry.path(), error).string(), place});
        else if (entry.is_directory(error))
            add({"--ro-bind", entry.path().string(), place});
    }
    if (error)
        return fail(fmt::format("cannot read {}: {}", image.string(), error.message()),
                    Fault::environment);
    add({"--dev-bind", "/dev", "/dev",    "--bind", "/proc",          "/proc",
         "--ro-bind",  "/sys", "/sys",    "--bind", "/tmp",           "/tmp",
         "--ro-bind",  "/",    host_root, "--bind", results.string(), host_root + results.string(),
         "--chdir",    "/"});
    return arguments;
}

std::vector<std::string> apptainer(const fs::path& program, const fs::path& image) {
    return {program.string(), "exec", "--bind", fmt::format("/:{}", host_root), image.string()};
}

tl::unexpected<Error> missing(std::string_view what, std::string_view package) {
    return fail(fmt::format("needs {} ({})", what, package), Fault::environment);
}

Result<std::vector<std::string>> enter(const fs::path& image, const fs::path& results,
                                       std::string_view path) {
    std::error_code error;
    if (image.extension() == ".sif") {
        if (!fs::is_regular_file(image, error))
            return fail(fmt::format("there is no image {}", image.string()), Fault::environment);
        const auto program = find_program("apptainer", path);
        if (program.empty()) return missing("apptainer", "apptainer.org");
        return apptainer(program, image);
    }
    if (!fs::is_directory(image, error))
        return fail(fmt::format("{} is neither the root folder of an image nor a .sif file",
                                image.string()),
                    Fault::environment);
    const auto program = find_program("bwrap", path);
    if (program.empty()) return missing("bwrap", "Debian package bubblewrap");
    return bubblewrap(program, image, results);
}

Error of_variant(const Variant& variant, Error error) {
    error.message = fmt::format("variant {}: {}", variant.label, error.message);
    return error;
}

} // namespace

std::string ExecutionContext::inside(const fs::path& path) const {
    if (host.empty() || path.empty()) return path.string();
    return (host / fs::absolute(path).relative_path()).string();
}

Result<ExecutionContext> context_of(const Variant& variant, const fs::path& results,
                                    std::string_view path) {
    ExecutionContext context{.variables = variant.variables, .prefix = {}, .host = {}};
    std::istringstream words{variant.via};
    for (std::string word; words >> word;) {
        if (context.prefix.empty() && word.find('/') == std::string::npos) {
            const auto program = find_program(word, path);
            if (program.empty())
                return tl::unexpected{
                    of_variant(variant, {fmt::format("there is no program {} on PATH", word),
                                         Fault::environment})};
            word = program.string();
        }
        context.prefix.push_back(std::move(word));
    }
    if (variant.image.empty()) return context;
    const auto entered = enter(fs::absolute(variant.image), fs::absolute(results), path);
    if (!entered) return tl::unexpected{of_variant(variant, entered.error())};
    context.prefix.insert(context.prefix.end(), entered->begin(), entered->end());
    context.host = host_root;
    return context;
}

Result<void> try_out(const ExecutionContext& context, const fs::path& program,
                     const std::vector<std::string>& environment) {
    if (context.prefix.empty()) return {};
    constexpr std::chrono::seconds patience{30}; // an image may come from a slow disk
    const auto scratch = Scratch::create();
    if (!scratch) return tl::unexpected{scratch.error()};
    Command command{.arguments = context.prefix,
                    .environment = worker_environment(environment, Placement{}, context.variables),
                    .log = scratch->folder() / "log"};
    command.arguments.insert(command.arguments.end(), {context.inside(program), "worker"});
    auto process = Process::start(command);
    if (!process) return tl::unexpected{process.error()};
    const auto& ending = process->wait(patience);
    // A worker without a socket reports that and exits with its usage code.
    if (ending && ending->signal == 0 && ending->code == static_cast<int>(ExitCode::usage))
        return {};
    const auto said = last_line_of(command.log);
    return fail(fmt::format("a worker could not be started with {}: {}", context.prefix.front(),
                            said.empty() ? "it printed nothing" : said),
                Fault::environment);
}

} // namespace assay::harness
