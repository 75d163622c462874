// SPDX-License-Identifier: Apache-2.0
//
// A liquid in the memory of a device, and its run as one graph.

#pragma once

#include "device/clock.hpp"
#include "device/graph.hpp"
#include "device_kernels.hpp"
#include "model.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace assay::md {

template <class T>
class DeviceSimulation {
public:
    DeviceSimulation(double edge, std::size_t atoms, const device::Stream& stream)
        : stream_{stream}, edge_{edge}, atoms_{atoms}, box_{CellBox<T>::of(edge)},
          vectors_{5 * atoms}, start_{2 * atoms}, by_atom_{5 * atoms}, in_cell_{box_.cells()},
          first_{box_.cells() + 1}, list_{atoms * list_capacity}, overflow_{1} {}

    /// Takes over positions and velocities, which rewind() goes back to, makes the list and computes
    /// the forces.
    void load(const Particles& particles) {
        for (std::size_t which = 0; which < 2; ++which) {
            const auto& from = which == 0 ? particles.position : particles.velocity;
            std::vector<Four<T>> values(atoms_);
            for (std::size_t i = 0; i < atoms_; ++i)
                values[i] = {static_cast<T>(from[i][0]), static_cast<T>(from[i][1]),
                             static_cast<T>(from[i][2]), T{0}};
            device::to_device(std::span<const Four<T>>{values}, start_.data() + which * atoms_,
                              stream_);
        }
        rewind();
    }
    void rewind() {
        LiquidWork<T>::load(arrays(), start_.data(), start_.data() + atoms_, stream_);
        stream_.wait();
    }
    /// The number of threads for an atom that computes forces fastest, by trial.
    void choose_lanes(device::EventClock& clock) {
        constexpr double clearly = 0.98; // of the time, so that the choice is the same everywhere
        double best = std::numeric_limits<double>::infinity();
        std::uint32_t chosen = 1;
        for (const std::uint32_t lanes : {1U, 2U, 4U, 8U}) {
            lanes_ = lanes;
            rewind(); // the list is laid out for them
            double seconds = std::numeric_limits<double>::infinity();
            for (int round = 0; round < 5; ++round)
                seconds = std::min(seconds, clock.seconds(20, [this] {
                    LiquidWork<T>::forces(arrays(), stream_);
                }));
            if (!(seconds < clearly * best)) continue;
            best = seconds;
            chosen = lanes;
        }
        lanes_ = chosen;
        rewind();
    }
    void run(int steps) {
        LiquidWork<T>::steps(arrays(), steps, stream_);
        stream_.wait();
    }
    /// From now on launch() queues so many steps as one operation.
    void record(int steps) {
        graph_.emplace(stream_, [&] { LiquidWork<T>::steps(arrays(), steps, stream_); });
    }
    void launch() const { graph_->launch(stream_); }

    /// By number.
    Particles state() const {
        const auto number = device::to_host(by_atom_.data(), atoms_, stream_);
        Particles p;
        p.edge = edge_;
        const auto take = [&](std::size_t which, std::vector<Vec3>& to) {
            const auto from = device::to_host(vectors_.data() + which * atoms_, atoms_, stream_);
            to.resize(atoms_);
            for (std::size_t i = 0; i < atoms_; ++i)
                to.at(number[i]) = {static_cast<double>(from[i].x), static_cast<double>(from[i].y),
                                    static_cast<double>(from[i].z)};
        };
        take(0, p.position);
        take(1, p.velocity);
        take(2, p.force);
        return p;
    }
    /// What the forces should be, by number.
    std::vector<ForceReference> reference() const {
        const device::Buffer<ForceReference> on_device{atoms_};
        LiquidWork<T>::reference(arrays(), edge_, on_device.data(), stream_);
        const auto sorted = device::to_host(on_device, stream_);
        const auto number = device::to_host(by_atom_.data(), atoms_, stream_);
        std::vector<ForceReference> by_number(atoms_);
        for (std::size_t i = 0; i < atoms_; ++i) by_number.at(number[i]) = sorted[i];
        return by_number;
    }
    /// A cell or a list had no room since the last load.
    bool has_overflown() const { return device::to_host(overflow_, stream_).front() != 0; }
    /// Entries of all lists: each pair within cutoff and skin is there twice.
    double list_entries() const {
        double entries = 0;
        for (const std::uint32_t count :
             device::to_host(by_atom_.data() + 4 * atoms_, atoms_, stream_))
            entries += count;
        return entries;
    }
    std::uint32_t lanes() const { return lanes_; }
    std::size_t operations() const { return graph_->operations(); }
    const CellBox<T>& box() const { return box_; }

    /// Not a number, everywhere in the state.
    void poison() {
        device::check(
            cudaMemsetAsync(vectors_.data(), 0xff, 3 * atoms_ * sizeof(Four<T>), stream_.get()));
        stream_.wait();
    }
    /// Adds to a component of the velocity, or the force, of the atom that stands at `at`.
    void add(bool to_force, std::size_t at, std::size_t axis, double value) {
        T* const component = &vectors_.data()[(to_force ? 2 : 1) * atoms_ + at].x + axis;
        const T before = device::get(component, stream_);
        device::put(static_cast<T>(static_cast<double>(before) + value), component, stream_);
    }
    std::uint32_t number_at(std::size_t at) const {
        return device::get(by_atom_.data() + at, stream_);
    }

private:
    LiquidArrays<T> arrays() const {
        const auto vectors = [this](std::size_t i) { return vectors_.data() + i * atoms_; };
        const auto by_atom = [this](std::size_t i) { return by_atom_.data() + i * atoms_; };
        return {.atoms = static_cast<std::uint32_t>(atoms_),
                .lanes = lanes_,
                .box = box_,
                .position = vectors(0),
                .velocity = vectors(1),
                .force = vectors(2),
                .number = by_atom(0),
                .sorted_position = vectors(3),
                .sorted_velocity = vectors(4),
                .sorted_number = by_atom(1),
                .cell = by_atom(2),
                .order = by_atom(3),
                .in_cell = in_cell_.data(),
                .first = first_.data(),
                .neighbours = list_.data(),
                .neighbour_count = by_atom(4),
                .overflow = overflow_.data()};
    }

    const device::Stream& stream_;
    double edge_;
    std::size_t atoms_;
    CellBox<T> box_;
    std::uint32_t lanes_ = 1;
    device::Buffer<Four<T>> vectors_; // position, velocity, force, and both sorted
    device::Buffer<Four<T>> start_;   // position and velocity by number
    device::Buffer<std::uint32_t> by_atom_;
    device::Buffer<std::uint32_t> in_cell_;
    device::Buffer<std::uint32_t> first_;
    device::Buffer<std::uint32_t> list_;
    device::Buffer<std::uint32_t> overflow_;
    std::optional<device::Graph> graph_;
};

} // namespace assay::md
