// SPDX-License-Identifier: Apache-2.0
#include "worker/module.hpp"

#include "base/hash.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <fstream>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace assay::worker {
namespace {

constexpr const char* entry_symbol = "assay_module";
constexpr std::size_t most_entries = 10'000; // of any list; a larger count is a damaged table

/// By its first bytes; dlopen's own message for other files is unhelpful.
bool is_elf(const std::filesystem::path& file) {
    std::array<char, SELFMAG> magic{};
    std::ifstream stream{file, std::ios::binary};
    return stream.read(magic.data(), magic.size()) &&
           std::memcmp(magic.data(), ELFMAG, magic.size()) == 0;
}

/// Copies an array whose elements have the size that the module was built with.
template <class T>
Result<std::vector<T>> copies_of(const T* first, std::size_t count, const char* what) {
    std::vector<T> copies;
    if (count == 0) return copies;
    if (first == nullptr || count > most_entries)
        return fail(fmt::format("its list of {} is damaged", what));
    std::uint32_t stride = 0;
    std::memcpy(&stride, first, sizeof stride);
    if (stride < sizeof(std::uint64_t) || stride % alignof(T) != 0)
        return fail(fmt::format("its list of {} has entries of {} bytes", what, stride));
    const auto* bytes = reinterpret_cast<const std::byte*>(first);
    for (std::size_t i = 0; i < count; ++i) copies.push_back(copy_of<T>(bytes + i * stride));
    return copies;
}

} // namespace

struct Module::State {
    std::filesystem::path path;
    assay_module_v1 table{};
    std::vector<assay_tuning> tunings;
    std::vector<assay_benchmark> benchmarks;
    std::vector<std::vector<assay_parameter>> parameters; ///< of each benchmark
    std::vector<const assay_benchmark*> pointers;         ///< what table.benchmarks points to

    Result<void> adopt(const assay_module_v1& theirs);
};

Result<void> Module::State::adopt(const assay_module_v1& theirs) {
    table = copy_of<assay_module_v1>(&theirs);
    ASSAY_TRY(tunings, copies_of(table.tunings, table.tuning_count, "tunings"));
    if (table.benchmark_count > most_entries ||
        (table.benchmark_count != 0 && table.benchmarks == nullptr))
        return fail("its list of benchmarks is damaged");
    for (const auto* entry : std::span{table.benchmarks, table.benchmark_count}) {
        if (entry == nullptr) return fail("its list of benchmarks has a null entry");
        auto benchmark = copy_of<assay_benchmark>(entry);
        ASSAY_TRY(parameters.emplace_back(),
                  copies_of(benchmark.parameters, benchmark.parameter_count, "parameters"));
        benchmarks.push_back(benchmark);
    }
    for (std::size_t i = 0; i < benchmarks.size(); ++i) {
        benchmarks[i].parameters = parameters[i].data();
        pointers.push_back(&benchmarks[i]);
    }
    table.tunings = tunings.data();
    table.benchmarks = pointers.data();
    return {};
}

Module::Module(std::shared_ptr<const State> state) : state_{std::move(state)} {}

const assay_module_v1& Module::table() const { return state_->table; }

const std::filesystem::path& Module::path() const { return state_->path; }

const assay_benchmark* Module::find(std::string_view id) const {
    for (const auto& benchmark : state_->benchmarks)
        if (benchmark.id != nullptr && benchmark.id == id) return &benchmark;
    return nullptr;
}

Result<Module> Module::load(const std::filesystem::path& path) {
    std::error_code error;
    // Absolute, because dlopen searches the system's folders for a bare file name.
    const auto file = std::filesystem::absolute(path, error);
    if (error || !std::filesystem::is_regular_file(file, error))
        return fail(fmt::format("cannot load {}: no such file", path.string()));
    if (!is_elf(file))
        return fail(fmt::format("{} is not an assay module: not a shared library", path.string()));
    void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr)
        return fail(fmt::format("cannot load {}: {}", path.string(), ::dlerror()),
                    Fault::environment);
    const auto entry = reinterpret_cast<assay_module_function>(::dlsym(handle, entry_symbol));
    if (entry == nullptr)
        return fail(
            fmt::format("{} is not an assay module: no symbol {}", path.string(), entry_symbol));
    const assay_module_v1* theirs = entry();
    if (theirs == nullptr || theirs->struct_size < offsetof(assay_module_v1, name))
        return fail(fmt::format("{} is not an assay module: {} returned no table", path.string(),
                                entry_symbol));
    if (theirs->abi != ASSAY_MODULE_ABI)
        return fail(fmt::format("{} was built for interface {}, this assay has {}; rebuild it with "
                                "the headers of this version",
                                path.string(), theirs->abi, ASSAY_MODULE_ABI));
    auto state = std::make_shared<State>();
    state->path = file;
    if (auto adopted = state->adopt(*theirs); !adopted)
        return fail(fmt::format("{}: {}", path.string(), adopted.error().message));
    return Module{std::move(state)};
}

// --- its manifest ---------------------------------------------------------------------------------

namespace {

std::string text_of(const char* text) { return text == nullptr ? std::string{} : text; }

std::optional<std::string> optional_text(const char* text) {
    return text == nullptr || *text == '\0' ? std::nullopt : std::optional<std::string>{text};
}

std::optional<plan::ParameterKind> kind_of(std::uint32_t kind) {
    switch (kind) {
    case ASSAY_INTEGER:
        return plan::ParameterKind::integer;
    case ASSAY_REAL:
        return plan::ParameterKind::real;
    case ASSAY_BOOLEAN:
        return plan::ParameterKind::boolean;
    case ASSAY_NAME:
        return plan::ParameterKind::name;
    case ASSAY_STRING:
        return plan::ParameterKind::text;
    default:
        return std::nullopt;
    }
}

std::optional<record::Value> value_of(const assay_value& value) {
    switch (value.kind) {
    case ASSAY_INTEGER:
        return value.integer;
    case ASSAY_REAL:
        return value.real;
    case ASSAY_BOOLEAN:
        return value.integer != 0;
    case ASSAY_NAME:
    case ASSAY_STRING:
        return text_of(value.text);
    default:
        return std::nullopt;
    }
}

Result<plan::Parameter> parameter_of(const assay_parameter& from) {
    const auto kind = kind_of(from.kind);
    if (!kind) return fail(fmt::format("parameter {} has an unknown kind", text_of(from.name)));
    if ((from.names == nullptr && from.name_count != 0) || from.name_count > most_entries ||
        (from.defaults == nullptr && from.default_count != 0) || from.default_count > most_entries)
        return fail(fmt::format("parameter {} is damaged", text_of(from.name)));
    plan::Parameter to{.name = text_of(from.name),
                       .kind = *kind,
                       .help = text_of(from.help),
                       .unit = text_of(from.unit),
                       .integer_low = from.integer_low,
                       .integer_high = from.integer_high,
                       .real_low = from.real_low,
                       .real_high = from.real_high};
    for (const char* name : std::span{from.names, from.name_count})
        to.names.push_back(text_of(name));
    const auto variables = copies_of(from.variables, from.variable_count, "variables");
    if (!variables)
        return fail(fmt::format("parameter {}: {}", to.name, variables.error().message));
    for (const auto& variable : *variables)
        to.variables.push_back({.value = text_of(variable.value),
                                .name = text_of(variable.name),
                                .setting = text_of(variable.setting)});
    for (const auto& value : std::span{from.defaults, from.default_count}) {
        auto known = value_of(value);
        if (!known) return fail(fmt::format("a default of {} has an unknown kind", to.name));
        to.defaults.push_back(std::move(*known));
    }
    return to;
}

/// A table with a missing function would be a jump to address 0 in a worker.
Result<void> check_functions(const assay_benchmark& b) {
    const std::array<std::pair<const char*, bool>, 9> functions{
        {{"fit", b.fit != nullptr},
         {"create", b.create != nullptr},
         {"destroy", b.destroy != nullptr},
         {"sample", b.sample != nullptr},
         {"work", b.work != nullptr},
         {"verify", b.verify != nullptr},
         {"poison", b.poison != nullptr},
         {"spoil", b.spoil != nullptr},
         {"rewind", b.rewind != nullptr || (b.flags & ASSAY_REWINDS) == 0}}};
    for (const auto& [name, present] : functions)
        if (!present) return fail(fmt::format("{} has no function {}", text_of(b.id), name));
    return {};
}

Result<plan::Benchmark> benchmark_of(const assay_benchmark& from) {
    ASSAY_TRY(check_functions(from));
    const bool is_known = from.bound <= ASSAY_BOUND_NETWORK; // or of a later version
    plan::Benchmark to{
        .id = text_of(from.id),
        .version = from.version,
        .place = text_of(from.place),
        .question = text_of(from.question),
        .method = text_of(from.method),
        .caveats = text_of(from.caveats),
        .headline = text_of(from.headline),
        .ceiling = text_of(from.ceiling),
        .bound = is_known ? static_cast<plan::BoundBy>(from.bound) : plan::BoundBy::none,
        .noise = from.noise <= ASSAY_NOISE_LATENCY ? static_cast<plan::Noise>(from.noise)
                                                   : plan::Noise::unknown,
        .items = optional_text(from.items),
        .reproducible = from.digest != nullptr && (from.flags & ASSAY_REPRODUCIBLE) != 0,
        .rewinds = (from.flags & ASSAY_REWINDS) != 0,
        .single_call = (from.flags & ASSAY_SINGLE_CALL) != 0,
        .team = (from.flags & ASSAY_TEAM) != 0,
        .is_ceiling = (from.flags & ASSAY_IS_CEILING) != 0,
        .all_devices = (from.flags & ASSAY_ALL_DEVICES) != 0,
        .safe_calls = from.safe_calls,
        .metrics = optional_text(from.metrics_given),
        .packages = optional_text(from.packages)};
    if ((from.flags & ASSAY_LONG_CALLS) != 0) to.long_calls = true;
    for (const auto& parameter : std::span{from.parameters, from.parameter_count}) {
        auto known = parameter_of(parameter);
        if (!known) return fail(fmt::format("{}: {}", to.id, known.error().message));
        to.parameters.push_back(std::move(*known));
    }
    return to;
}

Result<void> check_alone(const plan::Manifest& manifest, const plan::Benchmark& benchmark) {
    plan::Manifest alone{.module = manifest.module, .build_id = manifest.build_id};
    alone.benchmarks.push_back(benchmark);
    return check_manifest(alone);
}

} // namespace

Result<std::string> build_id(const Module& module) {
    auto id = build_id(module.path(), module.table().name);
    const char* const table = module.table().table_id;
    if (id && table != nullptr && *table != '\0') *id += fmt::format("-{}", table);
    return id;
}

Result<plan::Manifest> describe(const Module& module) {
    const auto& table = module.table();
    ASSAY_TRY(auto id, build_id(module));
    plan::Manifest manifest{.module = text_of(table.name),
                            .build_id = std::move(id),
                            .library = module.path(),
                            .launcher = text_of(table.launcher),
                            .path_variable = optional_text(table.path_variable)};
    if (table.problem_count > most_entries ||
        (table.problem_count != 0 && table.problems == nullptr))
        return fail(
            fmt::format("module {}: its list of problems is damaged", module.path().string()));
    for (const char* problem : std::span{table.problems, table.problem_count})
        manifest.problems.push_back(text_of(problem));
    for (const auto& tuning : std::span{table.tunings, table.tuning_count})
        manifest.tunings.push_back({.variable = text_of(tuning.variable),
                                    .value = text_of(tuning.value),
                                    .requires_isa = text_of(tuning.requires_isa)});
    const auto wrong = [&](const Error& error) {
        return fail(fmt::format("module {}: {}", module.path().string(), error.message));
    };
    for (const auto* entry : std::span{table.benchmarks, table.benchmark_count}) {
        auto benchmark = benchmark_of(*entry);
        if (!benchmark) return wrong(benchmark.error());
        // If others wrote the files, one may be wrong and the rest right.
        if (const auto checked = check_alone(manifest, *benchmark);
            !checked && manifest.path_variable) {
            manifest.problems.push_back(checked.error().message);
            continue;
        }
        manifest.benchmarks.push_back(std::move(*benchmark));
    }
    if (auto checked = check_manifest(manifest); !checked) return wrong(checked.error());
    return manifest;
}

// --- build id ------------------------------------------------------------------------------------

namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; } // notes are words

/// The GNU build id among the notes of one segment; "" without.
std::string id_in_notes(Bytes notes) {
    ElfW(Nhdr) head{};
    while (notes.size() >= sizeof head) {
        std::memcpy(&head, notes.data(), sizeof head);
        const std::size_t whole =
            sizeof head + padded(head.n_namesz) + padded(std::size_t{head.n_descsz});
        if (whole > notes.size()) return {};
        const std::string_view name{
            reinterpret_cast<const char*>(notes.subspan(sizeof head).data()), head.n_namesz};
        if (head.n_type == NT_GNU_BUILD_ID && name == std::string_view{"GNU\0", 4}) {
            std::string id;
            const auto bytes = notes.subspan(sizeof head + padded(head.n_namesz), head.n_descsz);
            for (const unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
            return id;
        }
        notes = notes.subspan(whole);
    }
    return {};
}

struct Search {
    std::uintptr_t address;
    std::string id;
};

bool holds(const dl_phdr_info& library, std::uintptr_t address) {
    for (const auto& segment : std::span{library.dlpi_phdr, library.dlpi_phnum}) {
        const std::uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz)
            return true;
    }
    return false;
}

int visit(dl_phdr_info* library, std::size_t /*size*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    if (!holds(*library, search.address)) return 0;
    for (const auto& segment : std::span{library->dlpi_phdr, library->dlpi_phnum}) {
        if (segment.p_type != PT_NOTE || !search.id.empty()) continue;
        const auto* begin =
            reinterpret_cast<const unsigned char*>(library->dlpi_addr + segment.p_vaddr);
        search.id = id_in_notes(Bytes{begin, segment.p_memsz});
    }
    return 1;
}

} // namespace

Result<std::string> build_id(const std::filesystem::path& file, const void* address) {
    Search search{.address = reinterpret_cast<std::uintptr_t>(address), .id = {}};
    ::dl_iterate_phdr(&visit, &search);
    if (!search.id.empty()) return search.id;

    std::ifstream stream{file, std::ios::binary};
    std::vector<char> block(std::size_t{1} << 20U);
    Hash hash;
    while (stream) {
        stream.read(block.data(), static_cast<std::streamsize>(block.size()));
        hash.add({block.data(), static_cast<std::size_t>(stream.gcount())});
    }
    if (!stream.eof())
        return fail(fmt::format("cannot read {}", file.string()), Fault::environment);
    return hash.hex();
}

} // namespace assay::worker
