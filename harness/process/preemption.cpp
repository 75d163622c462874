// SPDX-License-Identifier: Apache-2.0
#include "process/preemption.hpp"

#include "json/json.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace assay::process {
namespace {

using Now = std::chrono::steady_clock;
using std::chrono::milliseconds;

enum class Service : std::uint8_t { ec2, gce, azure };
enum class Notice : std::uint8_t { none, given, no_answer };

struct KnownService {
    Service service;
    std::string_view name;
    std::string_view path;
    milliseconds first_patience; ///< Azure begins to look when it is first asked
};
constexpr std::array known_services{
    KnownService{Service::ec2, "ec2", "/latest/meta-data/spot/instance-action", milliseconds{2000}},
    KnownService{Service::gce, "gce", "/computeMetadata/v1/instance/preempted", milliseconds{2000}},
    KnownService{Service::azure, "azure", "/metadata/scheduledevents?api-version=2020-07-01",
                 milliseconds{130'000}}};
constexpr milliseconds patience{2000}; ///< for one answer

struct Endpoint {
    KnownService known;
    std::string authority; ///< as in the URL
    sockaddr_storage address{};
    socklen_t size = 0;
};

/// host and port of "169.254.169.254", "localhost:8080", "[fd00:ec2::254]:80".
std::pair<std::string, std::string> host_and_port(std::string_view authority) {
    const auto bracket = authority.find(']');
    const auto colon = authority.rfind(':');
    const bool has_port =
        colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
    auto host = authority.substr(0, has_port ? colon : authority.size());
    if (host.size() > 1 && host.front() == '[') host = host.substr(1, host.size() - 2);
    return {std::string{host}, std::string{has_port ? authority.substr(colon + 1) : "80"}};
}

Result<Endpoint> endpoint_of(std::string_view what) {
    constexpr std::string_view scheme = "http://";
    std::string_view authority = "169.254.169.254"; // of all three
    std::string_view path;
    if (what.starts_with(scheme)) {
        what.remove_prefix(scheme.size());
        const auto slash = std::min(what.find('/'), what.size());
        authority = what.substr(0, slash);
        path = what.substr(slash);
    }
    const auto known = std::ranges::find_if(known_services, [&](const KnownService& one) {
        return path.empty() ? one.name == what : one.path == path;
    });
    if (known == known_services.end() || authority.empty())
        return fail(fmt::format(
            "--watch-preemption: invalid service \"{}\" (expected ec2, gce, azure, "
            "or an http:// URL that ends in {}, {} or {})",
            what, known_services[0].path, known_services[1].path, known_services[2].path));
    Endpoint endpoint{.known = *known, .authority = std::string{authority}};
    const auto [host, port] = host_and_port(authority);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0 || found == nullptr)
        return fail(fmt::format("--watch-preemption: unknown host \"{}\"", authority));
    std::copy_n(reinterpret_cast<const char*>(found->ai_addr), found->ai_addrlen,
                reinterpret_cast<char*>(&endpoint.address));
    endpoint.size = found->ai_addrlen;
    ::freeaddrinfo(found);
    return endpoint;
}

struct Reply {
    int status = 0;
    std::string body;
};

/// Closes its descriptor.
struct Socket {
    int descriptor;
    explicit Socket(int opened) : descriptor{opened} {}
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() {
        if (descriptor >= 0) ::close(descriptor);
    }
    bool wait(short events, Now::time_point until) const {
        const auto left = std::chrono::ceil<milliseconds>(until - Now::now()).count();
        pollfd ready{.fd = descriptor, .events = events, .revents = 0};
        return left > 0 && ::poll(&ready, 1, static_cast<int>(left)) == 1;
    }
};

/// HTTP 1.0: the answer ends when the connection does.
std::optional<Reply> ask(const Endpoint& to, std::string_view request, std::string_view header,
                         milliseconds limit) {
    const auto until = Now::now() + limit;
    const Socket socket{
        ::socket(to.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    // An interrupted or pending connection shows in poll().
    static_cast<void>(
        ::connect(socket.descriptor, reinterpret_cast<const sockaddr*>(&to.address), to.size));
    const auto text =
        fmt::format("{} HTTP/1.0\r\nHost: {}\r\n{}\r\n\r\n", request, to.authority, header);
    if (!socket.wait(POLLOUT, until) || ::send(socket.descriptor, text.data(), text.size(),
                                               MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
        return {};
    constexpr std::size_t most = std::size_t{256} << 10U;
    std::string answer;
    for (std::array<char, 4096> piece{}; answer.size() < most;) {
        if (!socket.wait(POLLIN, until)) return {};
        const auto got = ::recv(socket.descriptor, piece.data(), piece.size(), 0);
        if (got < 0) return {};
        if (got == 0) break;
        answer.append(piece.data(), static_cast<std::size_t>(got));
    }
    Reply reply;
    const auto blank = answer.find(' ');
    const auto body = answer.find("\r\n\r\n");
    if (!answer.starts_with("HTTP/1.") || blank == std::string::npos || body == std::string::npos)
        return {};
    const auto* const end = answer.data() + answer.size();
    if (std::from_chars(answer.data() + blank + 1, end, reply.status).ec != std::errc{}) return {};
    reply.body = answer.substr(body + 4);
    return reply;
}

Notice of_azure(const std::string& body) {
    const auto read = json::parse(body, "scheduled events");
    if (!read || !read->is_object()) return Notice::no_answer;
    const auto events = read->find("Events");
    if (events == read->end() || !events->is_array()) return Notice::no_answer;
    return std::ranges::any_of(*events,
                               [](const json::Value& event) {
                                   return event.is_object() && event.contains("EventType") &&
                                          event["EventType"] == "Preempt";
                               })
               ? Notice::given
               : Notice::none;
}

Notice look(const Endpoint& at, milliseconds limit) {
    const auto get = fmt::format("GET {}", at.known.path);
    if (at.known.service == Service::ec2) {
        // Without a token where the service wants none.
        const auto token =
            ask(at, "PUT /latest/api/token",
                "X-aws-ec2-metadata-token-ttl-seconds: 60\r\nContent-Length: 0", limit);
        if (!token) return Notice::no_answer;
        const auto reply =
            ask(at, get,
                token->status == 200 ? "X-aws-ec2-metadata-token: " + token->body : "Accept: */*",
                limit);
        if (!reply || (reply->status != 200 && reply->status != 404)) return Notice::no_answer;
        return reply->status == 200 ? Notice::given : Notice::none;
    }
    const bool is_gce = at.known.service == Service::gce;
    const auto reply = ask(at, get, is_gce ? "Metadata-Flavor: Google" : "Metadata: true", limit);
    if (!reply || reply->status != 200) return Notice::no_answer;
    if (!is_gce) return of_azure(reply->body);
    if (reply->body.starts_with("TRUE")) return Notice::given;
    return reply->body.starts_with("FALSE") ? Notice::none : Notice::no_answer;
}

} // namespace

struct PreemptionWatch::Watch {
    Endpoint endpoint;
    std::function<void()> on_notice;
    milliseconds every;
    std::mutex mutex{};
    std::condition_variable changed{};
    bool over = false;
    std::thread thread{};

    void keep_asking() {
        std::unique_lock lock{mutex};
        while (!changed.wait_for(lock, every, [this] { return over; })) {
            lock.unlock();
            const auto notice = look(endpoint, patience);
            lock.lock();
            if (notice != Notice::given) continue;
            on_notice();
            return;
        }
    }
    /// Signals are for the thread that measures.
    void start() {
        sigset_t all;
        sigset_t before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        thread = std::thread{[this] { keep_asking(); }};
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
};

PreemptionWatch::PreemptionWatch(std::unique_ptr<Watch> watch) : watch_{std::move(watch)} {}

PreemptionWatch::~PreemptionWatch() {
    {
        const std::scoped_lock lock{watch_->mutex};
        watch_->over = true;
    }
    watch_->changed.notify_one();
    if (watch_->thread.joinable()) watch_->thread.join();
}

Result<void> PreemptionWatch::check(std::string_view what) {
    ASSAY_TRY(endpoint_of(what));
    return {};
}

Result<std::unique_ptr<PreemptionWatch>>
PreemptionWatch::begin(std::string_view what, std::function<void()> on_notice, milliseconds every) {
    ASSAY_TRY(auto endpoint, endpoint_of(what));
    const auto notice = look(endpoint, endpoint.known.first_patience);
    if (notice == Notice::no_answer)
        return fail(fmt::format("--watch-preemption {}: {} is not the metadata service of {}", what,
                                endpoint.authority, endpoint.known.name),
                    Fault::environment);
    // NOLINTNEXTLINE(modernize-make-unique): names of members say more
    std::unique_ptr<PreemptionWatch> made{new PreemptionWatch{std::unique_ptr<Watch>{new Watch{
        .endpoint = std::move(endpoint), .on_notice = std::move(on_notice), .every = every}}}};
    if (notice == Notice::given)
        made->watch_->on_notice();
    else
        made->watch_->start();
    return made;
}

// --- signals -------------------------------------------------------------------------------------

namespace {

constexpr std::array handled{SIGINT, SIGTERM, SIGHUP, SIGALRM};

/// The state of the handler. Lock-free atomics only: a handler may interrupt anything.
struct Reach {
    std::atomic<int> caught{0};
    std::atomic<int> descriptor{-1};
    std::array<struct sigaction, handled.size()> before{};
};

Reach& reach() {
    static constinit Reach instance; // no guard: the handler may run first
    return instance;
}

void on_signal(int number) {
    int none = 0;
    if (reach().caught.compare_exchange_strong(none, number)) {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(reach().descriptor, &one, sizeof one);
        return;
    }
    if (number == SIGALRM) return; // it ends already
    // Takes effect when this handler returns: until then the signal is blocked.
    ::signal(number, SIG_DFL);
    ::raise(number);
}

void set_timer(double seconds) {
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(seconds);
    timer.it_value.tv_usec =
        static_cast<suseconds_t>((seconds - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
    ::setitimer(ITIMER_REAL, &timer, nullptr);
}

} // namespace

Signals::Signals(std::optional<double> limit_seconds)
    : descriptor_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    reach().caught = 0;
    reach().descriptor = descriptor_;
    struct sigaction action{};
    action.sa_handler = &on_signal;
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < handled.size(); ++i) {
        ::sigaction(handled[i], nullptr, &reach().before[i]);
        // Ignored by the caller (nohup, a background job of a shell): remains so.
        if (reach().before[i].sa_handler != SIG_IGN || handled[i] == SIGALRM)
            ::sigaction(handled[i], &action, nullptr);
    }
    constexpr double soonest = 1e-3; // 0 would stop the timer
    if (limit_seconds) set_timer(std::max(*limit_seconds, soonest));
}

Signals::~Signals() {
    set_timer(0);
    for (std::size_t i = 0; i < handled.size(); ++i)
        ::sigaction(handled[i], &reach().before[i], nullptr);
    reach().descriptor = -1;
    ::close(descriptor_);
}

void Signals::preempt() {
    int none = 0;
    if (!reach().caught.compare_exchange_strong(none, preempted)) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
}

int Signals::caught() const { return reach().caught; }

} // namespace assay::process
