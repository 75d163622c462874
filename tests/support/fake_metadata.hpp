// SPDX-License-Identifier: Apache-2.0
//
// A metadata service of a cloud on localhost. Answers by what it is asked, in the formats of EC2, GCE, Azure, Alibaba
// Cloud and Tencent Cloud, and refuses questions that lack the header which the real one wants; or answers as told.

#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace assay::test {

class FakeMetadata {
public:
    /// `quiet`: how many questions are answered with no notice.
    explicit FakeMetadata(int quiet) : FakeMetadata{{}, quiet} {}
    /// `answer`: the bytes for a request; none: the connection closes without an answer.
    using Answer = std::function<std::string(const std::string& request)>;
    explicit FakeMetadata(Answer answer, int quiet = 0) : quiet_{quiet}, told_{std::move(answer)} {
        sockaddr_in own{};
        own.sin_family = AF_INET;
        own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof own;
        static_cast<void>(::bind(listener_, reinterpret_cast<const sockaddr*>(&own), size));
        static_cast<void>(::listen(listener_, 8));
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size);
        port_ = ntohs(own.sin_port);
        thread_ = std::thread{[this] { serve(); }};
    }
    FakeMetadata(const FakeMetadata&) = delete;
    FakeMetadata& operator=(const FakeMetadata&) = delete;
    FakeMetadata(FakeMetadata&&) = delete;
    FakeMetadata& operator=(FakeMetadata&&) = delete;
    ~FakeMetadata() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    std::string url(std::string_view path) const {
        return "http://127.0.0.1:" + std::to_string(port_) + std::string{path};
    }
    int asked() const { return asked_; }
    std::string answer_to(const std::string& request) const {
        const auto has = [&](std::string_view words) {
            return request.find(words) != std::string::npos;
        };
        const auto ok = [](const std::string& body) { return "HTTP/1.1 200 OK\r\n\r\n" + body; };
        if (has("PUT /latest/api/token")) return ok("secret");
        const bool notice = asked_++ >= quiet_;
        if (has("/latest/meta-data/spot/instance-action") &&
            has("X-aws-ec2-metadata-token: secret"))
            return notice ? ok(R"({"action": "terminate", "time": "2026-11-24T15:00:00Z"})")
                          : "HTTP/1.1 404 Not Found\r\n\r\n";
        if (has("/computeMetadata/v1/instance/preempted") && has("Metadata-Flavor: Google"))
            return "HTTP/1.1 200 OK\r\nMetadata-Flavor: Google\r\n\r\n" +
                   std::string{notice ? "TRUE" : "FALSE"};
        if (has("/metadata/scheduledevents?api-version=2020-07-01") && has("Metadata: true"))
            return ok(
                notice
                    ? R"({"DocumentIncarnation": 2, "Events": [{"EventType": "Reboot"}, {"EventType": "Preempt"}]})"
                    : R"({"DocumentIncarnation": 1, "Events": [{"EventType": "Freeze"}]})");
        if (has("/latest/meta-data/instance/spot/termination-time") &&
            has("X-aliyun-ecs-metadata-token: secret"))
            return notice ? ok("2026-11-24T15:00:00Z") : "HTTP/1.1 404 Not Found\r\n\r\n";
        if (has("/latest/meta-data/spot/termination-time"))
            return notice ? ok("2026-11-24 23:00:00\n") : "HTTP/1.1 404 Not Found\r\n\r\n";
        return "HTTP/1.1 403 Forbidden\r\n\r\n";
    }

private:
    void serve() {
        for (int peer = -1; (peer = ::accept(listener_, nullptr, nullptr)) >= 0;) {
            std::string request;
            std::array<char, 1024> piece{};
            while (request.find("\r\n\r\n") == std::string::npos) {
                const auto got = ::recv(peer, piece.data(), piece.size(), 0);
                if (got <= 0) break;
                request.append(piece.data(), static_cast<std::size_t>(got));
            }
            const auto answer = told_ ? told_(request) : answer_to(request);
            ::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
            ::close(peer);
        }
    }
    int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int port_ = 0;
    int quiet_;
    Answer told_;
    mutable std::atomic<int> asked_ = 0;
    std::thread thread_;
};

} // namespace assay::test
