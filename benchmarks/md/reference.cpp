// SPDX-License-Identifier: Apache-2.0

#include "reference.hpp"

#include "pair.hpp"

#include <assay/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace assay::md {
namespace {

constexpr double cutoff_squared = cutoff * cutoff;

double energy_at_cutoff() { return pair_energy(Plain<double>{}, cutoff_squared); }

Vec3 nearest_image(const Particles& particles, std::size_t from, std::size_t to) {
    Vec3 difference{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double d = particles.position[from][axis] - particles.position[to][axis];
        difference[axis] = d - particles.edge * std::nearbyint(d / particles.edge);
    }
    return difference;
}

/// Adds up the pairs of one atom.
class Sum {
public:
    Sum(const Particles& particles, double unit_roundoff)
        : particles_{particles}, unit_roundoff_{unit_roundoff},
          // A coordinate is at most a few units outside of the box. Moving it by an edge and taking a
          // difference round once each.
          coordinate_error_{unit_roundoff * (particles.edge + 6)} {}

    void add(std::size_t atom, std::size_t other) {
        const Vec3 d = nearest_image(particles_, atom, other);
        const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        const double r = std::sqrt(squared);
        // 2 |d| . e <= 2 sqrt(3) r e, and three products and two sums.
        const double squared_error =
            2 * std::sqrt(3.0) * r * coordinate_error_ + 4 * unit_roundoff_ * squared;
        if (std::abs(squared - cutoff_squared) <= squared_error) {
            // The kernel may see it on the other side of the cutoff.
            const double jump = cutoff * force_over_distance(Plain<double>{}, cutoff_squared);
            result_.bound += 1.01 * std::abs(jump);
        }
        if (!(squared < cutoff_squared + squared_error)) return;
        if (squared < cutoff_squared) {
            const double factor = force_over_distance(Plain<double>{}, squared);
            for (std::size_t axis = 0; axis < 3; ++axis) result_.force[axis] += factor * d[axis];
            result_.energy += (pair_energy(Plain<double>{}, squared) - energy_at_cutoff()) / 2;
            result_.pairs += 0.5;
        }
        add_error(squared, squared_error, r);
    }
    ForceReference result() const {
        ForceReference result = result_;
        // n additions, in any order: n u times the sum of the sizes. A factor of two for the rounding
        // of this very sum, which in fp64 is of the same size.
        result.bound = 2 * (result.bound + (2 * result.pairs + 16) * unit_roundoff_ * sizes_);
        return result;
    }

private:
    /// First order in the error of the squared distance, and the roundings of the formula.
    void add_error(double squared, double squared_error, double r) {
        const double eighth = 1 / (squared * squared * squared * squared);
        const double fourteenth = eighth / (squared * squared * squared);
        const double slope =
            24 * (14 * fourteenth + 4 * eighth) / squared;  // bounds |d factor / d r^2|
        const double size = 24 * (2 * fourteenth + eighth); // bounds |factor|
        result_.bound +=
            r * (slope * squared_error + 12 * unit_roundoff_ * size) + size * coordinate_error_;
        sizes_ += r * size;
    }

    const Particles& particles_;
    double unit_roundoff_;
    double coordinate_error_;
    double sizes_ = 0;
    ForceReference result_;
};

/// Atoms by cells that are at least a cutoff wide, as far as three fit along an edge.
class CellTable {
public:
    explicit CellTable(const Particles& particles)
        : particles_{particles},
          along_{std::max<std::int64_t>(1, static_cast<std::int64_t>(particles.edge / cutoff))},
          first_(static_cast<std::size_t>(along_ * along_ * along_) + 1), atoms_(particles.size()) {
        std::vector<std::size_t> cells(particles.size());
        for (std::size_t i = 0; i < particles.size(); ++i) {
            cells[i] = static_cast<std::size_t>(index(cell(i, 0), cell(i, 1), cell(i, 2)));
            ++first_[cells[i] + 1];
        }
        for (std::size_t c = 1; c < first_.size(); ++c) first_[c] += first_[c - 1];
        std::vector<std::size_t> next{first_.begin(), first_.end() - 1};
        for (std::size_t i = 0; i < particles.size(); ++i) atoms_[next[cells[i]]++] = i;
    }

    /// Calls visit(other) for every other atom in the cells around.
    template <class Visit>
    void around(std::size_t atom, Visit&& visit) const {
        // With fewer than three cells along an edge, left and right would be the same one.
        const std::int64_t reach = along_ < 3 ? 0 : 1;
        const std::int64_t extra = along_ < 3 ? along_ - 1 : 0;
        for (std::int64_t x = -reach; x <= reach + extra; ++x)
            for (std::int64_t y = -reach; y <= reach + extra; ++y)
                for (std::int64_t z = -reach; z <= reach + extra; ++z) {
                    const auto at = static_cast<std::size_t>(
                        index(cell(atom, 0) + x, cell(atom, 1) + y, cell(atom, 2) + z));
                    for (std::size_t i = first_[at]; i < first_[at + 1]; ++i)
                        if (atoms_[i] != atom) visit(atoms_[i]);
                }
    }

private:
    std::int64_t cell(std::size_t atom, std::size_t axis) const {
        const double x = particles_.position[atom][axis] / particles_.edge;
        const auto cell =
            static_cast<std::int64_t>((x - std::floor(x)) * static_cast<double>(along_));
        return std::min(cell, along_ - 1);
    }
    std::int64_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
        const auto wrapped = [this](std::int64_t c) { return (c + along_) % along_; };
        return (wrapped(x) * along_ + wrapped(y)) * along_ + wrapped(z);
    }

    const Particles& particles_;
    std::int64_t along_;
    std::vector<std::size_t> first_;
    std::vector<std::size_t> atoms_;
};

} // namespace

ForceReference force_on(const Particles& particles, std::size_t atom, double unit_roundoff) {
    Sum sum{particles, unit_roundoff};
    for (std::size_t other = 0; other < particles.size(); ++other)
        if (other != atom) sum.add(atom, other);
    return sum.result();
}

std::vector<ForceReference> all_forces(const Particles& particles, double unit_roundoff,
                                       int threads) {
    const CellTable cells{particles};
    std::vector<ForceReference> forces(particles.size());
    on_each_slice(threads, particles.size(), 64, [&](Slice slice) {
        for (std::size_t atom = slice.first; atom < slice.last; ++atom) {
            Sum sum{particles, unit_roundoff};
            cells.around(atom, [&](std::size_t other) { sum.add(atom, other); });
            forces[atom] = sum.result();
        }
    });
    return forces;
}

Totals totals_of(const Particles& particles, const std::vector<ForceReference>& forces) {
    Totals totals;
    for (const ForceReference& force : forces) {
        totals.energy += force.energy;
        totals.pairs += force.pairs;
    }
    for (const Vec3& v : particles.velocity)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            totals.energy += v[axis] * v[axis] / 2;
            totals.momentum[axis] += v[axis];
        }
    totals.energy /= static_cast<double>(particles.size());
    return totals;
}

double distance_moved(const Particles& from, const Particles& to) {
    double squares = 0;
    for (std::size_t i = 0; i < from.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double d = to.position[i][axis] - from.position[i][axis];
            const double nearest = d - from.edge * std::nearbyint(d / from.edge);
            squares += nearest * nearest;
        }
    return std::sqrt(squares / static_cast<double>(from.size()));
}

} // namespace assay::md
