// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <assay/define.hpp>

#include <array>

namespace assay::mpi {

namespace {

struct World {
    MPI_Comm team = MPI_COMM_NULL; // the harness'
    MPI_Comm work = MPI_COMM_NULL; // the benchmarks'
    assay_team table{};
    std::string unlike; // which rank has another MPI library; "" where all have the same
};
World& world() {
    static World the_world;
    return the_world;
}

// The team's functions cannot report an error, so their communicator's handler ends the job. Going on would mean publishing one rank's clock as everybody's.
void barrier(void* /*context*/) { MPI_Barrier(world().team); }
void max(void* /*context*/, double* values, std::size_t count) {
    MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_DOUBLE, MPI_MAX, world().team);
}
void broadcast(void* /*context*/, void* data, std::size_t bytes) {
    MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, world().team);
}

std::string library_text() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0; // Open MPI 4 counts the NUL at the end
    check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
    return text.data();
}

/// "Open MPI v4.1.4, package: ..., ident: ..." says it all before the first comma.
std::string version_in(const std::string& whole) {
    return whole.substr(0, whole.find_first_of(",\n"));
}

/// With what its source fixes besides; the package is whoever compiled it, which may differ by host.
std::string library_release() {
    const auto whole = library_text();
    const auto ident = std::min(whole.find(", ident:"), whole.size());
    return version_in(whole) + whole.substr(ident, whole.find('\n', ident) - ident);
}

/// All ranks come to the same answer, so that none waits for one that has given up.
void compare_libraries(World& w) {
    constexpr std::size_t longest = 160; // characters of a release
    std::vector<char> all(longest * static_cast<std::size_t>(w.table.size));
    std::array<char, longest> own{};
    std::ranges::copy(library_release().substr(0, longest - 1), own.begin());
    check(MPI_Allgather(own.data(), longest, MPI_CHAR, all.data(), longest, MPI_CHAR, w.team),
          "MPI_Allgather");
    const std::string first{all.data()};
    const auto machines = machine_of_ranks();
    for (std::size_t rank = 0; rank < machines.size() && w.unlike.empty(); ++rank)
        if (const std::string text{all.data() + rank * longest}; text != first)
            w.unlike = joined("rank ", rank, " (node", machines[rank], ") has ", text,
                              ", rank 0 has ", first, ": install the same MPI on every host");
}

void open_world() {
    int is_initialised = 0;
    check(MPI_Initialized(&is_initialised), "MPI_Initialized");
    if (is_initialised == 0) {
        int provided = MPI_THREAD_SINGLE;
        // The worker talks to its parent from another thread, which makes no MPI calls.
        check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
        if (provided < MPI_THREAD_FUNNELED)
            throw std::runtime_error{"this MPI library cannot be used in a program with threads"};
    }
    World& w = world();
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &w.team), "MPI_Comm_dup");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &w.work), "MPI_Comm_dup"); // inherits the handler
    check(MPI_Comm_set_errhandler(w.team, MPI_ERRORS_ARE_FATAL), "MPI_Comm_set_errhandler");
    w.table.struct_size = sizeof(assay_team);
    check(MPI_Comm_rank(w.team, &w.table.rank), "MPI_Comm_rank");
    check(MPI_Comm_size(w.team, &w.table.size), "MPI_Comm_size");
    w.table.context = nullptr;
    w.table.barrier = barrier;
    w.table.max = max;
    w.table.broadcast = broadcast;
    compare_libraries(w);
}

} // namespace

const assay_team* join(assay_text* error) {
    if (world().team != MPI_COMM_NULL) return &world().table;
    const auto failed = assay::detail::guarded(error, open_world);
    return failed != 0 ? nullptr : &world().table;
}

void leave() {
    World& w = world();
    if (w.team == MPI_COMM_NULL) return;
    MPI_Comm_free(&w.work);
    MPI_Comm_free(&w.team);
    int is_finalised = 0;
    MPI_Finalized(&is_finalised);
    if (is_finalised == 0) MPI_Finalize();
}

void report_library(const Context& context) {
    context.setting("mpi.library", version_in(library_text()));
}

MPI_Comm communicator() { return world().work; }

std::string error_text(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS)
        return joined("MPI error ", code);
    return {text.data(), static_cast<std::size_t>(length)};
}

void check(int code, const char* call) {
    if (code != MPI_SUCCESS) throw std::runtime_error{std::string{call} + ": " + error_text(code)};
}

void check_library() {
    if (!world().unlike.empty()) throw std::runtime_error{world().unlike};
}

namespace {

/// The word that the library's own list has for a number.
std::string word_of(MPI_T_enum list, int number) {
    int count = 0;
    if (MPI_T_enum_get_info(list, &count, nullptr, nullptr) != MPI_SUCCESS) return {};
    for (int i = 0; i < count; ++i) {
        std::array<char, 256> word{};
        int value = 0;
        int length = word.size();
        if (MPI_T_enum_get_item(list, i, &value, word.data(), &length) == MPI_SUCCESS &&
            value == number)
            return word.data();
    }
    return {};
}

std::string read_control(int index) {
    std::array<char, 256> name{};
    int name_length = name.size();
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum list = MPI_T_ENUM_NULL;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    if (MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &type, &list, nullptr,
                            nullptr, &binding, &scope) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS)
        return {};
    std::string text;
    constexpr int longest = 4096; // a list of components; a longer one is not for people
    if (type == MPI_CHAR && count > 0 && count <= longest) {
        std::string buffer(static_cast<std::size_t>(count) + 1, '\0');
        if (MPI_T_cvar_read(handle, buffer.data()) == MPI_SUCCESS)
            text.assign(buffer, 0, buffer.find('\0'));
    } else if (type == MPI_INT && count == 1 && list != MPI_T_ENUM_NULL) {
        int number = 0;
        if (MPI_T_cvar_read(handle, &number) == MPI_SUCCESS) text = word_of(list, number);
    }
    MPI_T_cvar_handle_free(&handle);
    return text;
}

} // namespace

std::string control(const char* name) {
    int provided = MPI_THREAD_SINGLE;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return {};
    int index = 0;
    std::string text;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS) text = read_control(index);
    MPI_T_finalize();
    return text;
}

std::vector<int> machine_of_ranks() {
    MPI_Comm neighbours = MPI_COMM_NULL;
    check(MPI_Comm_split_type(world().work, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &neighbours),
          "MPI_Comm_split_type");
    // A machine's name is its first rank.
    int first = world().table.rank;
    check(MPI_Bcast(&first, 1, MPI_INT, 0, neighbours), "MPI_Bcast");
    check(MPI_Comm_free(&neighbours), "MPI_Comm_free");
    std::vector<int> machines(static_cast<std::size_t>(world().table.size));
    check(MPI_Allgather(&first, 1, MPI_INT, machines.data(), 1, MPI_INT, world().work),
          "MPI_Allgather");
    std::vector<int> names = machines;
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    for (int& machine : machines)
        machine = static_cast<int>(std::ranges::lower_bound(names, machine) - names.begin());
    return machines;
}

int machine_count() {
    const auto machines = machine_of_ranks();
    return 1 + *std::ranges::max_element(machines);
}

std::vector<std::string> rank_labels() {
    const auto machines = machine_of_ranks();
    const auto machine_count = static_cast<std::size_t>(1 + *std::ranges::max_element(machines));
    std::vector<std::string> labels;
    for (std::size_t rank = 0; rank < machines.size(); ++rank) {
        const auto node = joined("node", machines[rank]);
        const auto number = joined("rank ", rank);
        if (machine_count == 1)
            labels.push_back(number);
        else
            labels.push_back(machine_count == machines.size() ? node : joined(node, " ", number));
    }
    return labels;
}

} // namespace assay::mpi
