// SPDX-License-Identifier: Apache-2.0

#include "reference.hpp"

#include <assay/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace assay::md {
namespace {

Vec3 nearest_image(const Particles& particles, std::size_t from, std::size_t to) {
    Vec3 difference{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const double d = particles.position[from][axis] - particles.position[to][axis];
        difference[axis] = to_nearest_image(d, particles.edge);
    }
    return difference;
}

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
    // NOLINTNEXTLINE(readability-function-cognitive-complexity): four loops
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
    ReferenceSum sum{particles.edge, unit_roundoff};
    for (std::size_t other = 0; other < particles.size(); ++other)
        if (other != atom) sum.add(nearest_image(particles, atom, other));
    return sum.result();
}

std::vector<ForceReference> all_forces(const Particles& particles, double unit_roundoff,
                                       int threads) {
    const CellTable cells{particles};
    std::vector<ForceReference> forces(particles.size());
    on_each_slice(threads, particles.size(), 64, [&](Slice slice) {
        for (std::size_t atom = slice.first; atom < slice.last; ++atom) {
            ReferenceSum sum{particles.edge, unit_roundoff};
            cells.around(
                atom, [&](std::size_t other) { sum.add(nearest_image(particles, atom, other)); });
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
            const double nearest = to_nearest_image(d, from.edge);
            squares += nearest * nearest;
        }
    return std::sqrt(squares / static_cast<double>(from.size()));
}

} // namespace assay::md
