// SPDX-License-Identifier: Apache-2.0
#include "worker/worker.hpp"

#include "base/result.hpp"
#include "base/version.hpp"
#include "machine/inventory.hpp"
#include "machine/system.hpp"
#include "machine/topology.hpp"
#include "process/channel.hpp"
#include "process/listing.hpp"
#include "process/message.hpp"
#include "process/start.hpp"
#include "worker/case_worker.hpp"
#include "worker/module.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace assay::worker {
namespace {

std::string_view variable(const char* name) {
    // Before there is a second thread.
    const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::string_view{} : std::string_view{value};
}

void say(std::string_view text) {
    const auto line = fmt::format("assay worker: {}\n", text);
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

// --- limits ---------------------------------------------------------------------------------------

void bind_to(int cpu) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    ::sched_setaffinity(0, sizeof set, &set);
}

/// A rank runs on the CPU that the parent chose. For other hosts the parent knows the number of ranks, and
/// each chooses by the same rule.
void bind_rank(const process::Start& start, int rank) {
    if (rank < 0 || start.unbound) return;
    auto cpus = start.cpus;
    auto index = static_cast<std::size_t>(rank);
    if (!start.host_ranks.empty()) {
        const auto place = process::place_of(start.host_ranks, rank);
        if (!place) return;
        cpus = machine::choose_cpus(start.host_ranks[place->host]);
        index = static_cast<std::size_t>(place->local_rank);
    }
    if (index < cpus.size()) bind_to(cpus[index]);
}

/// A benchmark that allocates too much must cost one case, not the machine: it reaches its own limit first,
/// and if the kernel must kill a process, this is the first.
void limit_memory(std::int64_t data_limit) {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) {
        [[maybe_unused]] const auto written = ::write(file, "1000", 4);
        ::close(file);
    }
    const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__) // its shadow memory counts as data: terabytes
    if (data_limit > 0) {
        const auto limit = static_cast<rlim_t>(data_limit);
        const rlimit data{.rlim_cur = limit, .rlim_max = limit};
        ::setrlimit(RLIMIT_DATA, &data);
    }
#else
    (void)data_limit;
#endif
}

/// Redirects the output of the process to this file.
void print_to(const std::string& path) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) return;
    std::fflush(nullptr); // earlier output belongs to the previous case
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
}

// --- siblings -------------------------------------------------------------------------------------

/// How far the parent lets the present case go.
class Gate {
public:
    void open(const process::message::Proceed& proceed) {
        {
            const std::scoped_lock lock{mutex_};
            // The finish may overtake a go that nobody waited for.
            (proceed.point == process::message::measured ? finished_ : gone_) = proceed.id;
        }
        opened_.notify_all();
    }
    bool may_proceed(const process::message::Reached& reached) {
        std::unique_lock lock{mutex_};
        if (reached.point == process::message::measured) return finished_ >= reached.id;
        opened_.wait(lock, [&] { return gone_ >= reached.id; });
        return true;
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    std::uint64_t gone_ = 0; ///< the last request that was let go
    std::uint64_t finished_ = 0;
};

// --- the socket -----------------------------------------------------------------------------------

/// Owns the receiving side. The process ends when the parent is gone, whatever the main thread does.
class Inbox {
public:
    Inbox(process::Connection& connection, Gate& gate, std::function<void()> answer_ping)
        : connection_{connection}, gate_{gate}, answer_ping_{std::move(answer_ping)},
          reader_{[this] { read(); }} {}
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;
    Inbox(Inbox&&) = delete;
    Inbox& operator=(Inbox&&) = delete;
    ~Inbox() {
        leaving_ = true;
        connection_.shut();
        reader_.join();
    }

    process::message::ToWorker next() {
        std::unique_lock lock{mutex_};
        filled_.wait(lock, [&] { return !messages_.empty(); });
        auto message = std::move(messages_.front());
        messages_.pop_front();
        return message;
    }

private:
    void read() {
        std::vector<std::string> lines;
        while (connection_.receive(lines).value_or(false)) {
            for (const auto& line : lines) take(line);
            lines.clear();
        }
        // The parent is gone or sends invalid messages. The main thread may hang in a benchmark, so
        // nothing is cleaned up here.
        if (!leaving_) ::_exit(static_cast<int>(ExitCode::interrupted));
    }

    void take(const std::string& line) {
        auto message = process::message::parse_to_worker(line);
        if (!message) {
            say(message.error().message);
            ::_exit(static_cast<int>(ExitCode::failed));
        }
        if (std::holds_alternative<process::message::Ping>(*message)) return answer_ping_();
        if (const auto* go = std::get_if<process::message::Proceed>(&*message))
            return gate_.open(*go);
        {
            const std::scoped_lock lock{mutex_};
            messages_.push_back(std::move(*message));
        }
        filled_.notify_one();
    }

    process::Connection& connection_;
    Gate& gate_;
    std::function<void()> answer_ping_;
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<process::message::ToWorker> messages_;
    std::atomic<bool> leaving_{false};
    std::thread reader_;
};

/// Sends from any thread.
class Outbox {
public:
    explicit Outbox(process::Connection& connection) : connection_{connection} {}
    void send(const process::message::FromWorker& message) {
        const auto line = process::message::to_line(message);
        const std::scoped_lock lock{mutex_};
        // A failure means that the parent is gone: the inbox notices and ends the process.
        (void)connection_.send(line);
    }

private:
    process::Connection& connection_;
    std::mutex mutex_;
};

// --- the loop -------------------------------------------------------------------------------------

class Loop {
public:
    /// `cpus`: those of this process before it was bound to one; nothing for a rank that is not the first of its host.
    Loop(Outbox& outbox, Gate& gate, int rank, const process::Start& start,
         std::optional<cpu_set_t> cpus)
        : outbox_{outbox}, gate_{gate}, rank_{rank}, data_limit_{start.data_limit}, cpus_{cpus},
          run_{process::living(start.run).value_or(0)} {}

    /// False: stop.
    bool handle(const process::message::ToWorker& message) {
        return std::visit([this](const auto& request) { return take(request); }, message);
    }

private:
    bool take(const process::message::Welcome& welcome) {
        if (welcome.describe && cpus_) describe(!welcome.machine.hostname.empty());
        worker_.emplace(welcome.machine, data_limit_, welcome.state_folder, reports(),
                        JobFacts{.ranks = welcome.ranks, .hosts = welcome.hosts}, run_);
        return true;
    }

    bool take(const process::message::Measure& request) {
        if (!worker_) return false;
        if (!request.log.empty()) print_to(request.log);
        auto result = worker_->measure(request);
        if (rank_ == 0)
            outbox_.send(std::move(result));
        else
            outbox_.send(process::message::Done{.id = request.id,
                                                .reason = result.replica().reason,
                                                .reason_code = result.replica().reason_code,
                                                .reason_values = result.replica().reason_values});
        return true;
    }

    bool take(const process::message::AskFacts& request) {
        if (!worker_) return false;
        if (rank_ == 0) outbox_.send(worker_->facts(request));
        return true;
    }

    bool take(const process::message::Stop& /*stop*/) { return false; }
    // The inbox has answered.
    bool take(const process::message::Ping& /*ping*/) { return true; }
    bool take(const process::message::Proceed& /*proceed*/) { return true; }

    /// In a thread of its own: the machine is more than the CPU that a rank is bound to.
    void describe(bool hostname) {
        std::thread{[&] {
            ::sched_setaffinity(0, sizeof *cpus_, &*cpus_);
            outbox_.send(process::message::Described{
                .machine = machine::inspect({.hostname = hostname, .core_clock = false})});
        }}.join();
    }

    /// Only rank 0 reports.
    CaseWorker::Reports reports() {
        if (rank_ != 0) return {.phase = [](const auto&) {}, .log = [](const auto&) {}};
        return {
            .phase = [this](const process::message::Phase& phase) { outbox_.send(phase); },
            .log = [this](const process::message::Log& log) { outbox_.send(log); },
            .reached = [this](const process::message::Reached& reached) { outbox_.send(reached); },
            .may_proceed = [this](const auto& reached) { return gate_.may_proceed(reached); }};
    }

    Outbox& outbox_;
    Gate& gate_;
    int rank_;
    std::int64_t data_limit_;
    std::optional<cpu_set_t> cpus_;
    int run_; ///< the process `assay run`; 0: it is on another host
    std::optional<CaseWorker> worker_;
};

int own_rank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"})
        if (const auto text = variable(name); !text.empty()) {
            int rank = 0;
            std::from_chars(text.data(), text.data() + text.size(), rank);
            return rank;
        }
    return 0;
}

/// The kernel's letter for the main thread: "R" when it runs, "S" when it waits for something.
std::string own_state() {
    std::string text;
    if (std::ifstream file{"/proc/self/stat"}; file) std::getline(file, text, '\0');
    const auto name_ends = text.rfind(") ");
    return name_ends == std::string::npos ? "?" : text.substr(name_ends + 2, 1);
}

process::message::Hello hello(const process::Start& start, int rank) {
    const auto build = build_id("/proc/self/exe", reinterpret_cast<const void*>(&worker_main));
    return {.token = start.token,
            .rank = rank,
            .pid = ::getpid(),
            .version = std::string{version()},
            .build = build ? *build : "",
            .machine = machine::boot_identity()};
}

} // namespace

int worker_main() {
    const auto start = process::own_start();
    if (start.socket.empty() || start.token.empty()) {
        say("is started by `assay run`, not by hand");
        return static_cast<int>(ExitCode::usage);
    }
    // Also for ranks, whose parent is the launcher. Should the parent have died already, connecting
    // or reading fails.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A plain worker inside a user's job is not a rank of it: the parent removed those
    // variables.
    const int rank = own_rank();
    std::optional<cpu_set_t> cpus{std::in_place};
    if (::sched_getaffinity(0, sizeof *cpus, &*cpus) != 0) cpus.reset();
    bind_rank(start, rank);
    limit_memory(start.data_limit);

    auto connection = process::Connection::open(start.socket);
    if (!connection) {
        say(connection.error().message);
        return static_cast<int>(ExitCode::environment);
    }
    Outbox outbox{*connection};
    Gate gate;
    Inbox inbox{*connection, gate,
                [&] { outbox.send(process::message::Pong{.state = own_state()}); }};
    outbox.send(hello(start, rank)); // now that it has all it needs
    const auto place = process::place_of(start.host_ranks, rank);
    Loop loop{outbox, gate, rank, start, place && place->local_rank == 0 ? cpus : std::nullopt};
    while (loop.handle(inbox.next())) {
    }
    return static_cast<int>(ExitCode::done);
}

} // namespace assay::worker
