// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "json/words.hpp"
#include "plan/device_choice.hpp"
#include "plan/filter.hpp"
#include "plan/parameter.hpp"
#include "plan/planner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace assay::plan {
namespace {

/// A benchmark and the values of each parameter whose combinations will be measured.
struct Draft {
    const Manifest* module = nullptr;
    const Benchmark* benchmark = nullptr;
    std::vector<std::vector<record::Value>> values; ///< in the order of benchmark->parameters
    record::Protocol protocol;
    std::string missing{};  ///< see PlannedCase
    std::string together{}; ///< see PlanRequest
    bool is_stress = false;
    DeviceUse devices = DeviceUse::usual;
};

std::string name_of(const Draft& draft) {
    return fmt::format("{}[{}]", draft.benchmark->id, draft.module->module);
}

Draft defaults_of(const Manifest& module, const Benchmark& benchmark) {
    Draft draft{.module = &module, .benchmark = &benchmark, .values = {}};
    for (const auto& parameter : benchmark.parameters) draft.values.push_back(parameter.defaults);
    return draft;
}

std::vector<Draft> matching(const Catalogue& catalogue, const Selector& selector) {
    std::vector<Draft> drafts;
    for (const auto& module : catalogue.modules)
        for (const auto& benchmark : module.benchmarks)
            if (selector.matches(module, benchmark))
                drafts.push_back(defaults_of(module, benchmark));
    return drafts;
}

/// How many values may still be made.
struct Room {
    std::size_t left = most_values;
    Result<void> take(std::size_t count, std::string_view where) {
        if (count > left)
            return fail(fmt::format("{}: more than {} values; give fewer, or shorter ranges", where,
                                    most_values));
        left -= count;
        return {};
    }
};

/// Values wanted for one parameter, from a suite (JSON) or from the command line (words).
struct Wanted {
    const record::Machine& machine;
    std::string where; ///< begins every message
    std::string parameter;
    std::vector<json::Value> values;
    bool words = false;
};

/// One value, or those of a range.
Result<std::vector<record::Value>> read(const Wanted& wanted, const Parameter& parameter,
                                        const json::Value& value) {
    const auto* text = value.get_ptr<const std::string*>();
    if (text != nullptr && parameter.kind == ParameterKind::integer && is_range(*text))
        return values_in_range(parameter, *text, wanted.machine);
    ASSAY_TRY(auto one,
              wanted.words ? parse_value(parameter, *text) : value_from_json(parameter, value));
    return std::vector<record::Value>{std::move(one)};
}

std::optional<std::size_t> index_of(const Benchmark& benchmark, std::string_view parameter) {
    const auto found = std::ranges::find(benchmark.parameters, parameter, &Parameter::name);
    if (found == benchmark.parameters.end()) return std::nullopt;
    return static_cast<std::size_t>(found - benchmark.parameters.begin());
}

tl::unexpected<Error> no_such_parameter(const Wanted& wanted, std::span<Draft* const> drafts) {
    std::vector<std::string> known;
    for (const auto* draft : drafts)
        for (const auto& parameter : draft->benchmark->parameters) known.push_back(parameter.name);
    std::ranges::sort(known);
    known.erase(std::ranges::unique(known).begin(), known.end());
    return fail(fmt::format("{}: {} has no parameter {}{}", wanted.where,
                            drafts.front()->benchmark->id, json::show_text(wanted.parameter),
                            suggestion(wanted.parameter, known)));
}

/// Replaces the values of one parameter in several drafts: the same benchmark by several libraries
/// need not know the same values (fp64, bf16), so each takes those it knows. A value that none knows is an
/// error. A draft that knows none of them measures nothing, with a note.
Result<void> restrict_to(const Wanted& wanted, std::span<Draft* const> drafts, Room& room,
                         std::vector<std::string>& notes) {
    std::vector<bool> taken(wanted.values.size(), false);
    std::optional<Error> refusal;
    bool known = false;
    for (auto* draft : drafts) {
        const auto index = index_of(*draft->benchmark, wanted.parameter);
        if (!index) continue;
        known = true;
        auto& values = draft->values[*index];
        values.clear();
        for (std::size_t i = 0; i < wanted.values.size(); ++i) {
            auto value = read(wanted, draft->benchmark->parameters[*index], wanted.values[i]);
            if (!value) {
                refusal = value.error();
                continue;
            }
            ASSAY_TRY(room.take(value->size(), wanted.where));
            taken[i] = true;
            std::ranges::move(*value, std::back_inserter(values));
        }
        if (values.empty())
            notes.push_back(fmt::format("{} left out: {}", name_of(*draft), refusal->message));
    }
    if (!known) return no_such_parameter(wanted, drafts);
    if (std::ranges::find(taken, false) != taken.end())
        return fail(fmt::format("{}: {}", wanted.where, refusal ? refusal->message : "no value"));
    return {};
}

std::vector<Draft*> pointers_to(std::span<Draft> drafts) {
    std::vector<Draft*> pointers;
    for (auto& draft : drafts) pointers.push_back(&draft);
    return pointers;
}

// --- what to measure ------------------------------------------------------------------------------

Result<std::vector<Draft>> drafts_of_ids(const Catalogue& catalogue,
                                         const std::vector<std::string>& what) {
    std::vector<Draft> drafts;
    for (const auto& item : what) {
        ASSAY_TRY(const auto selector, Selector::parse(item));
        auto matched = matching(catalogue, selector);
        if (matched.empty()) return tl::unexpected{no_such_benchmark(catalogue, item)};
        std::ranges::move(matched, std::back_inserter(drafts));
    }
    return drafts;
}

bool has_module(const Catalogue& catalogue, std::string_view name) {
    return std::ranges::find(catalogue.modules, name, &Manifest::module) != catalogue.modules.end();
}

/// A suite is for many machines, not all of which have every library.
bool is_of_no_module(const Catalogue& catalogue, const SuiteCase& entry) {
    return !entry.library.empty() && !has_module(catalogue, entry.library);
}

using Counts = std::vector<std::pair<std::string, std::size_t>>;

/// Could a module of this name measure anything here? Those of vendors need the vendor's devices.
bool may_be_of_use(std::string_view module, const record::Machine& machine) {
    constexpr std::array amd{"hip", "roc", "rccl"};
    constexpr std::array nvidia{"cuda", "cublas", "cudnn", "cufft", "nccl"};
    const auto begins = [&](const char* name) { return module.starts_with(name); };
    if (std::ranges::any_of(amd, begins)) return may_have_devices(machine, "hip");
    return std::ranges::none_of(nvidia, begins) || may_have_devices(machine, "cuda");
}

/// A note for all entries without their module: a build without nvcc lacks a dozen at once. Returns the sentence for
/// people, about those that this machine could use; the nearest name helps in suites of their own.
std::string note_modules(const Catalogue& catalogue, const Suite& suite,
                         const record::Machine& machine, std::vector<std::string>& notes) {
    std::map<std::string, std::size_t> missing;
    for (const auto& entry : suite.cases)
        if (is_of_no_module(catalogue, entry)) ++missing[entry.library];
    if (missing.empty()) return {};
    std::vector<std::string> words;
    for (const auto& [name, count] : missing) {
        const auto meant = nearest(name, module_names(catalogue));
        words.push_back(fmt::format("{} ({} {}{})", name, count, count == 1 ? "entry" : "entries",
                                    meant.empty() ? "" : fmt::format("; perhaps {}", meant)));
    }
    notes.push_back(fmt::format("left out of the suite, because their module is missing: {}",
                                fmt::join(words, ", ")));
    const bool is_installed = find_suite(suite.name) == suite.source;
    std::vector<std::string> names;
    std::size_t entries = 0;
    for (const auto& [name, count] : missing) {
        if (!may_be_of_use(name, machine)) continue;
        entries += count;
        const auto meant = is_installed ? "" : nearest(name, module_names(catalogue));
        names.push_back(meant.empty() ? name : fmt::format("{} (perhaps {})", name, meant));
    }
    if (names.empty()) return {};
    return fmt::format("{} {} of the suite need{} module{} that {} not installed: {}", entries,
                       entries == 1 ? "entry" : "entries", entries == 1 ? "s" : "",
                       names.size() == 1 ? "" : "s", names.size() == 1 ? "is" : "are",
                       fmt::join(names, ", "));
}

/// The missing requirement of the entry; empty if all are met.
std::string missing_for(const SuiteCase& entry, const PlanRequest& request) {
    const auto has = [&](Need need) {
        const auto& machine = request.machine;
        const auto hosts = std::max<std::size_t>(request.job.hosts.size(), 1);
        if (need == Need::hosts) return hosts > 1;
        if (need == Need::devices) return machine.devices.size() * hosts > 1;
        // A port of an RDMA device has a number behind its name.
        return std::ranges::any_of(machine.platform.network, [](const auto& card) {
            return card.name.find(':') != std::string::npos;
        });
    };
    const auto lacking = std::ranges::find_if_not(entry.needs, has);
    if (lacking == entry.needs.end()) return {};
    if (*lacking == Need::hosts) return "several hosts (--hosts)";
    return *lacking == Need::devices ? "several devices" : "an RDMA device";
}

Result<std::vector<Draft>> drafts_of_case(const Catalogue& catalogue, const SuiteCase& entry,
                                          const std::string& where, const PlanRequest& request,
                                          Room& room, std::vector<std::string>& notes) {
    if (is_of_no_module(catalogue, entry)) return std::vector<Draft>{};
    std::vector<Draft> drafts;
    for (const auto& module : catalogue.modules)
        for (const auto& benchmark : module.benchmarks)
            if (benchmark.id == entry.benchmark &&
                (entry.library.empty() || entry.library == module.module))
                drafts.push_back(defaults_of(module, benchmark));
    if (drafts.empty()) {
        auto error = no_such_benchmark(catalogue, entry.benchmark);
        error.message = fmt::format("{}: {}", where, error.message);
        if (!entry.library.empty())
            error.message += fmt::format(" (asked of module {})", entry.library);
        return tl::unexpected{std::move(error)};
    }
    for (auto& draft : drafts) {
        for (const auto& defaults : draft.values) ASSAY_TRY(room.take(defaults.size(), where));
        draft.protocol = entry.protocol;
        draft.is_stress = entry.is_stress;
        draft.missing = missing_for(entry, request);
        draft.together = entry.together;
        draft.devices = entry.devices;
    }
    for (const auto& parameter : entry.parameters) {
        const Wanted wanted{.machine = request.machine,
                            .where = fmt::format("{}.parameters", where),
                            .parameter = parameter.name,
                            .values = parameter.values};
        ASSAY_TRY(restrict_to(wanted, pointers_to(drafts), room, notes));
    }
    return drafts;
}

Result<std::vector<Draft>> drafts_of_suite(const Catalogue& catalogue, const Suite& suite,
                                           const PlanRequest& request,
                                           std::vector<std::string>& notes) {
    std::vector<Draft> drafts;
    Room room;
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
        const auto where = fmt::format("{}: cases[{}]", suite.source, i);
        ASSAY_TRY(auto some,
                  drafts_of_case(catalogue, suite.cases[i], where, request, room, notes));
        std::ranges::move(some, std::back_inserter(drafts));
    }
    return drafts;
}

// --- --set, --only, --exclude -----------------------------------------------------------------------------

std::vector<json::Value> words_of(std::string_view list) {
    std::vector<json::Value> words;
    for (;;) {
        const auto comma = list.find(',');
        words.emplace_back(std::string{list.substr(0, comma)});
        if (comma == std::string_view::npos) return words;
        list.remove_prefix(comma + 1);
    }
}

/// "gemm.square.size=1024,2048"
Result<void> apply_set(const Catalogue& catalogue, const std::string& text,
                       const record::Machine& machine, std::vector<Draft>& drafts, Room& room,
                       std::vector<std::string>& notes) {
    const auto equals = text.find('=');
    const auto left = std::string_view{text}.substr(0, equals);
    const auto dot = left.rfind('.');
    if (equals == std::string::npos || dot == std::string_view::npos)
        return fail(fmt::format("--set {}: write benchmark.parameter=value, as in "
                                "gemm.square.size=1024,2048",
                                json::show_text(text)));
    ASSAY_TRY(const auto selector, Selector::parse(left.substr(0, dot)));
    std::vector<Draft*> matched;
    for (auto& draft : drafts)
        if (selector.matches(*draft.module, *draft.benchmark)) matched.push_back(&draft);
    if (matched.empty()) {
        const auto name = left.substr(0, dot);
        if (matching(catalogue, selector).empty())
            return tl::unexpected{no_such_benchmark(catalogue, name)};
        return fail(fmt::format("--set {}: this plan does not measure {}", text, name));
    }
    constexpr std::size_t longest = 100; // in a message
    const Wanted wanted{.machine = machine,
                        .where = fmt::format("--set {}", text.size() < longest ? text : left),
                        .parameter = std::string{left.substr(dot + 1)},
                        .values = words_of(std::string_view{text}.substr(equals + 1)),
                        .words = true};
    return restrict_to(wanted, matched, room, notes);
}

/// --only and --exclude.
struct Filters {
    std::vector<Filter> only;
    std::vector<Filter> exclude;

    static Result<Filters> parse(const Catalogue& catalogue, const PlanRequest& request) {
        Filters filters;
        for (const auto& [texts, option, into] :
             {std::tuple{&request.only, "--only", &filters.only},
              std::tuple{&request.exclude, "--exclude", &filters.exclude}})
            for (const auto& text : *texts) {
                ASSAY_TRY(auto filter, Filter::parse(catalogue, option, text, request.machine));
                into->push_back(std::move(filter));
            }
        return filters;
    }
    /// Benchmarks that are left with no case, before --set speaks of them.
    bool drops(const Draft& draft) const {
        const auto matches = [&](const Filter& filter) {
            return filter.matches(*draft.module, *draft.benchmark);
        };
        return (!only.empty() && std::ranges::none_of(only, matches)) ||
               std::ranges::any_of(exclude, [&](const Filter& filter) {
                   return filter.is_whole() && matches(filter);
               });
    }
    bool drops(const PlannedCase& planned) const {
        const auto matches = [&](const Filter& filter) { return filter.matches(planned); };
        return (!only.empty() && std::ranges::none_of(only, matches)) ||
               std::ranges::any_of(exclude, matches);
    }
};

// --- combinations ---------------------------------------------------------------------------------

/// How many cases a draft makes; saturates just above the most that is allowed.
std::size_t count_of(const Draft& draft) {
    std::size_t count = 1;
    for (const auto& values : draft.values) count = std::min(count * values.size(), most_cases + 1);
    return count;
}

/// Adds every combination of values; the last parameter changes fastest.
void expand(const Draft& draft, std::vector<PlannedCase>& cases, std::set<std::string>& seen) {
    const auto& parameters = draft.benchmark->parameters;
    const std::size_t count = count_of(draft);
    for (std::size_t number = 0; number < count; ++number) {
        PlannedCase planned{.module = draft.module,
                            .benchmark = draft.benchmark,
                            .protocol = draft.protocol,
                            .missing = draft.missing,
                            .is_stress = draft.is_stress,
                            .devices_used = draft.devices};
        if (!draft.together.empty()) planned.together = {{"together", draft.together}};
        // Other values than those of the same cases otherwise.
        if (draft.devices == DeviceUse::alone) planned.together.push_back({"alone", true});
        if (draft.is_stress) planned.together.push_back({"stress", true});
        planned.parameters.resize(parameters.size());
        std::size_t rest = number;
        for (std::size_t p = parameters.size(); p-- > 0;) {
            const auto& values = draft.values[p];
            planned.parameters[p] = {parameters[p].name, values[rest % values.size()]};
            rest /= values.size();
        }
        if (seen.insert(record::identity(empty_case(planned))).second)
            cases.push_back(std::move(planned));
    }
}

/// The missing thing where there is no such device: a text of the plan's document.
std::string no_device(std::string_view place) {
    return place == "hip" ? "an AMD device" : "a CUDA device";
}

/// "22 cases cannot run on this machine: 19 need a CUDA device, 3 need several hosts (--hosts)".
std::string missing_in_words(const Counts& counts) {
    std::size_t all = 0;
    std::string list;
    for (const auto& [missing, count] : counts) {
        all += count;
        list += fmt::format("{}{} need{} {}", list.empty() ? "" : ", ", count,
                            count == 1 ? "s" : "", missing);
    }
    if (counts.size() == 1)
        list = fmt::format("{} {}", all == 1 ? "it needs" : "they need", counts.front().first);
    return fmt::format("{} case{} cannot run on this machine: {}", all, all == 1 ? "" : "s", list);
}

/// A note for everything that is missing, in the order of its first case.
void note_missing(Selection& selection) {
    Counts counts;
    for (const auto& planned : selection.not_here) {
        const auto known = std::ranges::find(counts, planned.missing, &Counts::value_type::first);
        if (known == counts.end())
            counts.emplace_back(planned.missing, 1);
        else
            ++known->second;
    }
    if (!counts.empty()) selection.no_hardware = missing_in_words(counts);
    for (const auto& [missing, count] : counts)
        selection.left_out.push_back(
            missing == no_device("cuda") || missing == no_device("hip")
                ? fmt::format("{} case{} on {} devices left out: this machine has none", count,
                              count == 1 ? "" : "s", missing == no_device("hip") ? "AMD" : "CUDA")
                : fmt::format("cases of the suite left out that need {}: {}", missing, count));
}

/// Suites are for machines with and without devices: cases on devices are left out if there can be none.
/// If nothing else was requested by name, or a device lacks its driver, a case is tried and
/// reports why it cannot run.
Result<void> place_cases(Selection& selection, const PlanRequest& request, bool by_suite) {
    ASSAY_TRY(const auto chosen, choose_devices(request.machine, request.devices));
    const auto on_device = [](const PlannedCase& planned) {
        return planned.benchmark->place != "host";
    };
    auto& cases = selection.cases;
    const bool others = by_suite || !std::ranges::all_of(cases, on_device);
    for (auto& planned : cases)
        if (others && !may_run_here(*planned.benchmark, request.machine))
            planned.missing = no_device(planned.benchmark->place);
    const auto here = std::ranges::stable_partition(
        cases, [](const PlannedCase& planned) { return planned.missing.empty(); });
    selection.not_here.assign(std::make_move_iterator(here.begin()),
                              std::make_move_iterator(here.end()));
    cases.erase(here.begin(), here.end());
    note_missing(selection);
    cases = put_on_devices(std::move(cases), chosen);
    return {};
}

} // namespace

Result<Selection> select_cases(const Catalogue& catalogue, const PlanRequest& request,
                               const Suite* suite) {
    Selection selection;
    if (suite != nullptr)
        selection.not_installed =
            note_modules(catalogue, *suite, request.machine, selection.left_out);
    ASSAY_TRY(auto drafts, suite != nullptr
                               ? drafts_of_suite(catalogue, *suite, request, selection.notes)
                               : drafts_of_ids(catalogue, request.what));
    if (!request.together.empty())
        for (auto& draft : drafts) draft.together = request.together;
    ASSAY_TRY(const auto filters, Filters::parse(catalogue, request));
    std::erase_if(drafts, [&](const Draft& draft) { return filters.drops(draft); });
    Room room;
    for (const auto& text : request.set)
        if (auto done = apply_set(catalogue, text, request.machine, drafts, room, selection.notes);
            !done)
            return tl::unexpected{done.error()};
    std::size_t total = 0;
    for (const auto& draft : drafts) total += count_of(draft);
    if (total > most_cases)
        return fail(fmt::format("this would be more than {} cases: give fewer values with --set, "
                                "or fewer benchmarks with --only or --exclude",
                                most_cases));
    // Cases that can run come first, so that of two equal entries the runnable one is kept.
    std::ranges::stable_partition(drafts, [](const Draft& draft) { return draft.missing.empty(); });
    std::set<std::string> seen;
    for (const auto& draft : drafts) expand(draft, selection.cases, seen);
    std::erase_if(selection.cases,
                  [&](const PlannedCase& planned) { return filters.drops(planned); });
    ASSAY_TRY(place_cases(selection, request, suite != nullptr));
    return selection;
}

} // namespace assay::plan
