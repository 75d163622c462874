// SPDX-License-Identifier: Apache-2.0
//
// Benchmarks of the module `ucx` against ucx_perftest, on the same two cores and the same transport:
//   UCX_TLS=... mpirun -n 2 peer_network MODULE TRANSPORT PAIRS SECONDS
// In a turn of ours the ranks play; in one of the peer's they sleep until their children, server and
// client, have played. Rank 0 prints a line per row:
//   <words for the row, no blanks> <ours s> <peer s> <ratio> <low> <high> <pairs> <repeated> <disturbed>
#include "job.hpp"
#include "subject.hpp"
#include "turns.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace assay;
using peers::Job;

/// The same case in the words of each side.
struct Race {
    const char* benchmark;
    const char* test; ///< of ucx_perftest
    std::int64_t bytes;
    bool has_window;
};
constexpr std::int64_t window = 64; // messages under way at once, on both sides
constexpr std::array races{
    Race{"network.put", "ucp_put_bw", 8, true},
    Race{"network.put", "ucp_put_bw", 4 << 10, true},
    Race{"network.put", "ucp_put_bw", 64 << 10, true},
    Race{"network.put", "ucp_put_bw", 1 << 20, true},
    Race{"network.put", "ucp_put_bw", 4 << 20, true},
    Race{"network.ping_pong", "tag_lat", 8, false},
    Race{"network.ping_pong", "tag_lat", 64 << 10, false},
    Race{"network.message_rate", "tag_bw", 8, true},
};

class Ours {
public:
    Ours(const std::string& module, const Race& race, const std::string& transport)
        : subject_{module, race.benchmark, parameters(race, transport), true} {
        subject_.prove();
    }
    double sample(std::size_t calls) { return subject_.sample(calls); }
    /// Messages one way, or ways of a message to and fro.
    double messages() const { return std::max(subject_.work("items"), subject_.work("steps")); }

private:
    static record::NamedList parameters(const Race& race, const std::string& transport) {
        record::NamedList all{{"bytes", race.bytes}, {"transport", transport}};
        if (race.has_window) all.push_back({"window", window});
        return all;
    }
    peers::Subject subject_;
};

class Perftest {
public:
    Perftest(const Job& job, const Race& race) : job_{job}, race_{race} {}

    /// Seconds of a message. Collective.
    double turn(std::uint64_t messages) const {
        // The ranks' own variables would make children believe that they are ranks.
        const auto variable = [](const char* name) {
            const char* value = std::getenv(name);
            return value == nullptr ? std::string{} : fmt::format("{}={} ", name, value);
        };
        const std::string common = fmt::format(
            "env -i PATH=/usr/bin:/bin {}{}ucx_perftest {{}} -p {} -f -v -t {} -s {} -n {} -w {} "
            "-O {}",
            variable("UCX_TLS"), variable("UCX_NET_DEVICES"), port, race_.test, race_.bytes,
            messages, std::min<std::uint64_t>(messages / 10 + 1, 1000), window);
        MPI_Barrier(job_.comm());
        double seconds = 0;
        if (job_.rank() == 0)
            seconds = client(fmt::format(fmt::runtime(common), "localhost") + " 2>/dev/null");
        else if (std::system(
                     (fmt::format(fmt::runtime(common), "") + " >/dev/null 2>&1").c_str()) != 0)
            throw std::runtime_error{"ucx_perftest's server failed"};
        return job_.reduce(seconds, MPI_MAX);
    }

private:
    static constexpr int port = 13399;

    /// Until the server listens.
    static double client(const std::string& command) {
        constexpr int attempts = 200;
        constexpr useconds_t pause = 20'000; // us
        for (int i = 0; i < attempts; ++i, ::usleep(pause)) {
            std::FILE* out = ::popen(command.c_str(), "r");
            if (out == nullptr) break;
            std::string text;
            for (int c = std::fgetc(out); c != EOF; c = std::fgetc(out))
                text.push_back(static_cast<char>(c));
            if (::pclose(out) == 0) return seconds_in(text);
        }
        throw std::runtime_error{"ucx_perftest's client failed (Debian package ucx-utils)"};
    }
    /// The last column of the last line is the overall rate of messages.
    static double seconds_in(const std::string& text) {
        const auto comma = text.rfind(',');
        const double rate =
            comma == std::string::npos ? 0 : std::strtod(text.c_str() + comma + 1, nullptr);
        if (!(rate > 0)) throw std::runtime_error{"ucx_perftest printed no rate: " + text};
        return 1 / rate;
    }

    const Job& job_;
    const Race& race_;
};

/// Calls of ours that last so long.
std::size_t calls_for(const Job& job, Ours& ours, double seconds) {
    for (std::size_t calls = 1;; calls *= 2) {
        const double once = job.turn(ours, calls);
        if (once * static_cast<double>(calls) >= seconds / 4)
            return static_cast<std::size_t>(std::max(1.0, seconds / once));
    }
}

void compare(const Job& job, const std::string& module, const std::string& transport,
             const Race& race, const peers::Plan& plan) {
    Ours ours{module, race, transport};
    const Perftest peer{job, race};
    const std::size_t calls = calls_for(job, ours, plan.turn_seconds);
    const auto messages = static_cast<std::uint64_t>(static_cast<double>(calls) * ours.messages());
    const auto own = [&] { return job.reduce(peers::cpu_seconds_with_ended(), MPI_SUM); };
    const auto one_pair = [&] {
        peers::ForeignUse foreign{own};
        foreign.begin();
        peers::Pair pair;
        for (const bool is_ours : {true, false, false, true})
            (is_ours ? pair.a : pair.b) +=
                (is_ours ? job.turn(ours, calls) / ours.messages() : peer.turn(messages)) / 2;
        pair.foreign = job.reduce(foreign.end(), MPI_MAX);
        return pair;
    };
    const auto ratio = peers::ratio_of_pairs(one_pair, plan);
    if (job.rank() != 0) return;
    std::cout << std::setprecision(9) << race.benchmark << ':' << race.bytes << "_B "
              << ratio.a_seconds << ' ' << ratio.b_seconds << ' ' << ratio.value << ' ' << ratio.low
              << ' ' << ratio.high << ' ' << plan.pairs << ' ' << ratio.repeated << ' '
              << ratio.disturbed << '\n'
              << std::flush;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: UCX_TLS=... mpirun -n 2 peer_network MODULE TRANSPORT PAIRS SECONDS\n";
        return 2;
    }
    const std::string module = argv[1];
    const peers::Plan plan{.pairs = std::strtoul(argv[3], nullptr, 10),
                           .turn_seconds = std::strtod(argv[4], nullptr)};
    return peers::run_job(module, [&](const Job& job) {
        for (const Race& race : races) compare(job, module, argv[2], race, plan);
    });
}
