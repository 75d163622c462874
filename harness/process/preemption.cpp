// SPDX-License-Identifier: Apache-2.0
#include "process/preemption.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "base/utc.hpp"
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

enum class Service : std::uint8_t { ec2, gce, azure, alibaba, tencent };
enum class Notice : std::uint8_t { none, given, no_answer };

struct KnownService {
    Service service;
    std::string_view name;
    std::string_view path;
    std::string_view authority = "169.254.169.254";
    milliseconds first_patience{2000};
    std::string_view token_header{}; ///< of services that hand out a token first
};
constexpr std::array known_services{
    KnownService{.service = Service::ec2,
                 .name = "ec2",
                 .path = "/latest/meta-data/spot/instance-action",
                 .token_header = "X-aws-ec2-metadata-token"},
    KnownService{
        .service = Service::gce, .name = "gce", .path = "/computeMetadata/v1/instance/preempted"},
    KnownService{.service = Service::azure,
                 .name = "azure",
                 .path = "/metadata/scheduledevents?api-version=2020-07-01",
                 .first_patience =
                     milliseconds{130'000}}, // it begins to look when it is first asked
    KnownService{.service = Service::alibaba,
                 .name = "alibaba",
                 .path = "/latest/meta-data/instance/spot/termination-time",
                 .authority = "100.100.100.200",
                 .token_header = "X-aliyun-ecs-metadata-token"},
    KnownService{.service = Service::tencent,
                 .name = "tencent",
                 .path = "/latest/meta-data/spot/termination-time",
                 .authority = "metadata.tencentyun.com"}};
constexpr milliseconds patience{2000}; ///< for one answer
constexpr int most_unanswered = 3;     ///< in a row; then nobody watches any more

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
    std::string_view authority;
    std::string_view path;
    const bool is_named = !what.starts_with(scheme);
    if (!is_named) {
        what.remove_prefix(scheme.size());
        const auto slash = std::min(what.find('/'), what.size());
        authority = what.substr(0, slash);
        path = what.substr(slash);
    }
    const auto known = std::ranges::find_if(known_services, [&](const KnownService& one) {
        return is_named ? one.name == what : one.path == path;
    });
    if (known == known_services.end() || (!is_named && authority.empty())) {
        std::string names;
        std::string paths;
        for (const auto& one : known_services) {
            names += fmt::format("{}, ", one.name);
            paths += fmt::format("{}{}", paths.empty() ? "" : ", ", one.path);
        }
        return fail(fmt::format("--watch-preemption: invalid service \"{}\" (expected {}or an "
                                "http:// URL that ends in one of {})",
                                what, names, paths));
    }
    if (is_named) authority = known->authority;
    Endpoint endpoint{.known = *known, .authority = std::string{authority}};
    const auto [host, port] = host_and_port(authority);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0 || found == nullptr)
        return fail(fmt::format("--watch-preemption: unknown host \"{}\"", authority),
                    is_named ? Fault::environment : Fault::usage);
    std::copy_n(reinterpret_cast<const char*>(found->ai_addr), found->ai_addrlen,
                reinterpret_cast<char*>(&endpoint.address));
    endpoint.size = found->ai_addrlen;
    ::freeaddrinfo(found);
    return endpoint;
}

struct Reply {
    int status = 0;
    std::string head; ///< lower case
    std::string body;
};

/// The whole answer, once it is there: it ends with its connection, or after as many bytes as it says.
std::optional<Reply> reply_in(const std::string& answer, bool is_over) {
    constexpr std::size_t status_at = std::string_view{"HTTP/1.1 "}.size();
    constexpr std::string_view end_of_head = "\r\n\r\n";
    const auto blank = answer.find(end_of_head);
    if (!answer.starts_with("HTTP/1.") || blank == std::string::npos || blank < status_at + 3)
        return {};
    Reply reply{.head = lower(answer.substr(0, blank + 2)), .body = answer.substr(blank + 4)};
    const auto* const status = answer.data() + status_at;
    if (std::from_chars(status, status + 3, reply.status).ptr != status + 3) return {};
    constexpr std::string_view length = "\r\ncontent-length: ";
    if (const auto at = reply.head.find(length); at != std::string::npos) {
        std::size_t bytes = 0;
        const auto* const from = reply.head.data() + at + length.size();
        std::from_chars(from, reply.head.data() + reply.head.size(), bytes);
        if (reply.body.size() < bytes) return {};
        reply.body.resize(bytes);
        return reply;
    }
    return is_over ? std::optional{std::move(reply)} : std::nullopt;
}

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

/// HTTP 1.0, which knows no chunks.
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
    constexpr std::size_t most = std::size_t{256} << 10U; // events of a large scale set are less
    std::string answer;
    for (std::array<char, 4096> piece{}; answer.size() <= most;) {
        if (!socket.wait(POLLIN, until)) return {};
        const auto got = ::recv(socket.descriptor, piece.data(), piece.size(), 0);
        if (got < 0) return {};
        answer.append(piece.data(), static_cast<std::size_t>(got));
        if (auto reply = reply_in(answer, got == 0); reply || got == 0) return reply;
    }
    return {};
}

/// A token that goes into a header: letters, digits and `-._~+/=` (RFC 9110).
bool is_token(std::string_view text) {
    constexpr std::size_t most = 1024;
    return !text.empty() && text.size() <= most &&
           text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                  "-._~+/=") == std::string_view::npos;
}

json::Value object_in(const std::string& body) {
    auto read = json::parse(body, "metadata service");
    return read && read->is_object() ? *std::move(read) : json::Value::object();
}
std::string text_in(const json::Value& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// {"action": "terminate", "time": "2026-01-31T12:00:00Z"}
Notice of_ec2(const std::string& body) {
    const auto said = object_in(body);
    const auto action = text_in(said, "action");
    const bool is_known = action == "terminate" || action == "stop" || action == "hibernate";
    return is_known && seconds_of(text_in(said, "time")) ? Notice::given : Notice::no_answer;
}

/// {"DocumentIncarnation": 2, "Events": [{"EventType": "Preempt", ...}]}
Notice of_azure(const std::string& body) {
    const auto said = object_in(body);
    const auto events = said.find("Events");
    const auto incarnation = said.find("DocumentIncarnation");
    if (events == said.end() || !events->is_array() || incarnation == said.end() ||
        !incarnation->is_number_integer())
        return Notice::no_answer;
    return std::ranges::any_of(*events,
                               [](const json::Value& event) {
                                   return event.is_object() &&
                                          text_in(event, "EventType") == "Preempt";
                               })
               ? Notice::given
               : Notice::none;
}

/// "2026-01-31T12:00:00Z" (Alibaba Cloud), "2026-01-31 20:00:00" (Tencent Cloud, UTC+8): when the machine goes.
Notice of_time(std::string body, char between) {
    const std::string text{trim(body)};
    constexpr std::size_t day = 10;
    if (text.size() <= day || text[day] != between) return Notice::no_answer;
    auto utc = text;
    utc[day] = 'T';
    if (between == ' ') utc += 'Z';
    return seconds_of(utc) ? Notice::given : Notice::no_answer;
}

/// Only the documented answer is a notice, and only the documented absence of one is none.
Notice look(const Endpoint& at, milliseconds limit) {
    const auto& known = at.known;
    std::string header = known.service == Service::gce     ? "Metadata-Flavor: Google"
                         : known.service == Service::azure ? "Metadata: true"
                                                           : "Accept: */*";
    if (!known.token_header.empty()) {
        const auto token =
            ask(at, "PUT /latest/api/token",
                fmt::format("{}-ttl-seconds: 60\r\nContent-Length: 0", known.token_header), limit);
        if (!token || token->status != 200 || !is_token(token->body)) return Notice::no_answer;
        header = fmt::format("{}: {}", known.token_header, token->body);
    }
    const auto reply = ask(at, fmt::format("GET {}", known.path), header, limit);
    const bool says_404 = known.service != Service::gce && known.service != Service::azure;
    if (reply && reply->status == 404 && says_404) return Notice::none;
    if (!reply || reply->status != 200) return Notice::no_answer;
    switch (known.service) {
    case Service::ec2:
        return of_ec2(reply->body);
    case Service::azure:
        return of_azure(reply->body);
    case Service::alibaba:
        return of_time(reply->body, 'T');
    case Service::tencent:
        return of_time(reply->body, ' ');
    case Service::gce:
        break;
    }
    if (reply->head.find("\r\nmetadata-flavor: google\r\n") == std::string::npos)
        return Notice::no_answer;
    const auto said = trim(reply->body);
    return said == "TRUE" ? Notice::given : said == "FALSE" ? Notice::none : Notice::no_answer;
}

} // namespace

struct PreemptionWatch::Watch {
    Endpoint endpoint;
    std::function<void()> on_notice;
    milliseconds every;
    std::mutex mutex{};
    std::condition_variable changed{};
    bool over = false;
    std::string answered = utc_now(); ///< the last time
    int unanswered = 0;               ///< since then
    std::thread thread{};

    void keep_asking() {
        std::unique_lock lock{mutex};
        while (!changed.wait_for(lock, every, [this] { return over; })) {
            lock.unlock();
            const auto notice = look(endpoint, patience);
            lock.lock();
            unanswered = notice == Notice::no_answer ? unanswered + 1 : 0;
            if (unanswered == 0) answered = utc_now();
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

std::string PreemptionWatch::silent_since() const {
    const std::scoped_lock lock{watch_->mutex};
    return watch_->unanswered < most_unanswered ? "" : watch_->answered;
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
