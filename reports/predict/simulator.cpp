// SPDX-License-Identifier: Apache-2.0

#include "predict/simulator.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

namespace assay::report {
namespace {

/// A message that its receiver has not asked for yet.
struct Arrival {
    Rank from;
    double time;
};

/// Where one rank is in one program.
struct Lane {
    std::uint32_t index = 0;
    Rank waits_for = nobody;
    double sent = 0; ///< when what it sends in this operation is out
    std::vector<Arrival> inbox;
};

struct Event {
    double time;
    std::size_t lane;
    /// At one time the lower rank first, so that the order is the same everywhere.
    bool operator>(const Event& other) const {
        return time != other.time ? time > other.time : lane > other.lane;
    }
};

class Simulator {
public:
    Simulator(const std::vector<ProgramPointer>& programs, const Network& network, double bytes)
        : programs_{programs}, net_{network}, bytes_{bytes},
          lanes_(programs.size() * network.ranks), out_(network.ranks), in_(network.ranks),
          node_out_(network.ranks / network.ranks_per_node + 1), node_in_(node_out_.size()) {}

    std::optional<Simulated> run() {
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) events_.push({0, lane});
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            start(event.lane, event.time);
        }
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
            if (lanes_[lane].index < program_of(lane).count(rank_of(lane))) return std::nullopt;
        return result_;
    }

private:
    Rank rank_of(std::size_t lane) const { return static_cast<Rank>(lane % net_.ranks); }
    const Program& program_of(std::size_t lane) const { return *programs_[lane / net_.ranks]; }

    void start(std::size_t at, double now) {
        Lane& lane = lanes_[at];
        const Rank rank = rank_of(at);
        result_.seconds = std::max(result_.seconds, now);
        if (lane.index >= program_of(at).count(rank)) return;
        const Operation operation = program_of(at).at(rank, lane.index);
        lane.sent = now;
        if (operation.to != nobody) {
            const double arrival = send(rank, operation.to, operation.bytes * bytes_, now);
            lane.sent = arrival;
            deliver(at - rank + operation.to, rank, arrival);
        }
        lane.waits_for = operation.from;
        if (operation.from == nobody) {
            finish(at, lane.sent);
            return;
        }
        const auto there = std::ranges::find(lane.inbox, operation.from, &Arrival::from);
        if (there == lane.inbox.end()) return;
        const double time = std::max(lane.sent, there->time);
        lane.inbox.erase(there);
        finish(at, time);
    }

    /// When the last byte is there. Each port and each node's link carries one message at a time.
    double send(Rank from, Rank to, double bytes, double now) {
        ++result_.messages;
        const Rank from_node = from / net_.ranks_per_node;
        const Rank to_node = to / net_.ranks_per_node;
        const bool leaves = from_node != to_node;
        const LinkCost& link = leaves ? net_.between : net_.within;
        const double slower = from == net_.slow_rank ? net_.slow_factor : 1;
        const double carrying = bytes * link.seconds_per_byte * slower;
        double begin = std::max(now, out_[from]);
        if (leaves) begin = std::max(begin, node_out_[from_node]);
        out_[from] = begin + carrying;
        if (leaves) node_out_[from_node] = begin + carrying;
        double end = std::max(begin + link.latency * slower, in_[to]) + carrying;
        if (leaves) end = std::max(end, node_in_[to_node] + carrying);
        in_[to] = end;
        if (leaves) node_in_[to_node] = end;
        return end;
    }

    void deliver(std::size_t to, Rank from, double time) {
        Lane& lane = lanes_[to];
        if (lane.waits_for != from) {
            lane.inbox.push_back({.from = from, .time = time});
            return;
        }
        finish(to, std::max(lane.sent, time));
    }

    void finish(std::size_t at, double time) {
        lanes_[at].waits_for = nobody;
        ++lanes_[at].index;
        events_.push({time, at});
    }

    const std::vector<ProgramPointer>& programs_;
    const Network& net_;
    double bytes_;
    std::vector<Lane> lanes_;
    std::vector<double> out_; // when a rank's port is free again
    std::vector<double> in_;
    std::vector<double> node_out_;
    std::vector<double> node_in_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    Simulated result_;
};

/// One step of all ranks of a ring, each alone on its link: a rank is done when what it sends is out and
/// what it receives is there.
void step_alone(std::vector<double>& ready, const std::vector<double>& cost,
                std::vector<double>& out) {
    const std::size_t ranks = ready.size();
    const double* __restrict r = ready.data();
    const double* __restrict c = cost.data();
    double* __restrict o = out.data();
    o[0] = std::max(r[0] + c[0], r[ranks - 1] + c[ranks - 1]);
    for (std::size_t i = 1; i < ranks; ++i) o[i] = std::max(r[i] + c[i], r[i - 1] + c[i - 1]);
    ready.swap(out);
}

/// Ranks of a node share its link: who is ready first sends first.
class SharedStep {
public:
    SharedStep(const Network& network, double bytes)
        : per_node_{network.ranks_per_node}, nodes_{network.ranks / network.ranks_per_node},
          latency_{network.between.latency}, carrying_{bytes * network.between.seconds_per_byte},
          slow_rank_{network.slow_rank}, slow_factor_{network.slow_factor}, out_(nodes_),
          in_(nodes_), order_(per_node_) {}

    void run(std::vector<double>& ready, std::vector<double>& next) {
        next = ready;
        for (Rank node = 0; node < nodes_; ++node) {
            const Rank first = node * per_node_;
            const Rank to = (node + 1) % nodes_;
            for (Rank i = 0; i < per_node_; ++i) order_[i] = first + i;
            if (!std::is_sorted(&ready[first], &ready[first] + per_node_))
                std::ranges::stable_sort(order_, {}, [&](Rank r) { return ready[r]; });
            for (const Rank rank : order_) {
                const double slower = rank == slow_rank_ ? slow_factor_ : 1;
                const double carrying = carrying_ * slower;
                const double begin = std::max(ready[rank], out_[node]);
                out_[node] = begin + carrying;
                const double end =
                    std::max(begin + latency_ * slower + carrying, in_[to] + carrying);
                in_[to] = end;
                const Rank receiver = to * per_node_ + rank % per_node_;
                next[rank] = std::max(next[rank], end);
                next[receiver] = std::max(next[receiver], end);
            }
        }
        ready.swap(next);
    }
    /// Everything that the next step depends on besides the ranks.
    void add_state(std::vector<double>& state) const {
        state.insert(state.end(), out_.begin(), out_.end());
        state.insert(state.end(), in_.begin(), in_.end());
    }

private:
    Rank per_node_;
    Rank nodes_;
    double latency_;
    double carrying_;
    Rank slow_rank_;
    double slow_factor_;
    std::vector<double> out_;
    std::vector<double> in_;
    std::vector<Rank> order_;
};

/// By how much all moved, where all moved alike.
std::optional<double> common_move(const std::vector<double>& before,
                                  const std::vector<double>& after) {
    constexpr double alike = 1e-12; // relative: rounding
    const double move = after.front() - before.front();
    for (std::size_t i = 0; i < after.size(); ++i)
        if (std::fabs(after[i] - before[i] - move) > alike * after[i]) return std::nullopt;
    return move;
}

} // namespace

std::optional<Simulated> simulate(const std::vector<ProgramPointer>& programs,
                                  const Network& network, double bytes) {
    return Simulator{programs, network, bytes}.run();
}

Simulated simulate_ring(const Network& network, std::uint64_t steps, double bytes) {
    // Looking whether all move alike costs as much as a step.
    constexpr std::uint64_t look_every = 64;
    const bool shared = network.ranks_per_node > 1;
    std::vector<double> ready(network.ranks, 0);
    std::vector<double> next(network.ranks, 0);
    std::vector<double> cost(network.ranks, network.between.of(bytes));
    if (network.slow_rank < network.ranks) cost[network.slow_rank] *= network.slow_factor;
    SharedStep together{network, bytes};
    const auto state = [&] {
        auto all = ready;
        if (shared) together.add_state(all);
        return all;
    };
    for (std::uint64_t step = 0; step < steps; ++step) {
        const bool looks = step % look_every == 1;
        const auto before = looks ? state() : std::vector<double>{};
        if (shared)
            together.run(ready, next);
        else
            step_alone(ready, cost, next);
        if (!looks) continue;
        if (const auto move = common_move(before, state())) {
            const double rest = *move * static_cast<double>(steps - 1 - step);
            for (double& time : ready) time += rest;
            break;
        }
    }
    return {.seconds = std::ranges::max(ready), .messages = steps * network.ranks};
}

} // namespace assay::report
