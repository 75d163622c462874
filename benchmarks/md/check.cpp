// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"

#include <assay/random.hpp>
#include <assay/verify.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace assay::md {
namespace {

/// The largest deviation so far, on the scale of its bound.
struct Worst {
    double error = 0;
    std::string what;

    void take(double deviation, double bound, const std::string& name) {
        // Written so that a deviation of NaN counts.
        const double ratio = std::abs(deviation) / bound;
        if (ratio <= error) return;
        error = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
        what = joined(name, " is off by ", std::abs(deviation), ", allowed is ", bound);
    }
};

bool is_finite(const Particles& particles) {
    const auto all = [](const std::vector<Vec3>& vectors) {
        return std::ranges::all_of(vectors, [](const Vec3& v) {
            return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
        });
    };
    return all(particles.position) && all(particles.velocity) && all(particles.force);
}

void compare_forces(const Particles& particles, const std::vector<ForceReference>& expected,
                    Worst& worst) {
    std::size_t at = 0;
    double largest = -1;
    for (std::size_t i = 0; i < particles.size(); ++i)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double off = particles.force[i][axis] - expected[i].force[axis];
            const double ratio = std::abs(off) / expected[i].bound;
            if (ratio <= largest) continue;
            largest = ratio;
            at = 3 * i + axis;
        }
    const ForceReference& reference = expected[at / 3];
    worst.take(particles.force[at / 3][at % 3] - reference.force[at % 3], reference.bound,
               joined("a component of the force on atom ", at / 3));
}

/// The cells of the reference might hide an atom from it, so a few atoms are compared with all others.
void compare_with_all(const Particles& particles, const std::vector<ForceReference>& expected,
                      double unit_roundoff, int threads, Worst& worst) {
    // Fewer samples for a million atoms: 2^28 pairs take about a second.
    constexpr std::size_t most_pairs = 1U << 28U;
    const std::size_t samples = std::clamp<std::size_t>(most_pairs / particles.size(), 16, 256);
    constexpr std::uint64_t sample_seed = 7;
    std::vector<double> off(samples);
    on_each_slice(threads, samples, 1, [&](Slice slice) {
        for (std::size_t i = slice.first; i < slice.last; ++i) {
            const std::size_t atom = random_bits(sample_seed, i) % particles.size();
            const ForceReference direct = force_on(particles, atom, unit_roundoff);
            for (std::size_t axis = 0; axis < 3; ++axis)
                off[i] =
                    std::max(off[i], std::abs(direct.force[axis] - expected[atom].force[axis]) /
                                         direct.bound);
        }
    });
    worst.take(*std::ranges::max_element(off), 1, "the reference for one of up to 256 atoms");
}

} // namespace

Tolerance tolerance_of(std::size_t atoms, double unit_roundoff, bool complete) {
    const double root = std::sqrt(static_cast<double>(atoms));
    // Velocity Verlet conserves an energy that differs from this one by dt^2 (v K v / 12 - F^2 / 24)
    // per atom, which comes and goes, and every pair that crosses the cutoff within a step leaves up
    // to F dt v of work undone. Both are random and grow with the root of the atoms. Measured over
    // 320 runs of 256 to 32,000 atoms: standard deviation 0.0016 to 0.0046 / sqrt(atoms); LAMMPS on
    // the same system drifts alike (decisions/checks.md 0111). The bound is six of the larger, and 2e-5 for
    // a trend.
    const double energy = 0.03 / root + 2e-5;
    // Rounding: 30 to 200 u sqrt(atoms) were measured. A pair that is on the list of one of two workers alone pushes
    // one atom by up to F dt = 2e-4 in a step and not the other one; this cannot happen if lists are complete.
    const double momentum = (2000 * unit_roundoff + (complete ? 0 : 2.5e-4)) * root;
    return {.energy = energy, .momentum = momentum};
}

Check check_run(const Particles& start, const Totals& totals, const Particles& end,
                double unit_roundoff, bool complete, int threads) {
    // Positions that are not finite have no cell.
    const auto expected = is_finite(end) ? all_forces(end, unit_roundoff, threads)
                                         : std::vector<ForceReference>(end.size());
    return check_run(start, totals, end, expected, unit_roundoff, complete, threads);
}

Check check_run(const Particles& start, const Totals& totals, const Particles& end,
                const std::vector<ForceReference>& expected, double unit_roundoff, bool complete,
                int threads) {
    const std::string method =
        "the force on every atom against its sum in fp64, by the error bound of each (that sum, "
        "for up to 256 atoms, over all others); energy per atom kept to 0.03/sqrt(atoms) + 2e-5 "
        "and momentum to " +
        std::string{complete ? "2000 u sqrt(atoms)" : "(2000 u + 2.5e-4) sqrt(atoms)"} +
        "; atoms moved by 0.25 to 0.42; the error is the worst of these over its bound";
    if (!is_finite(end))
        return check_value(std::numeric_limits<double>::infinity(), 1, method,
                           "a position, velocity or force is not finite");

    const Totals now = totals_of(end, expected);
    const Tolerance tolerance = tolerance_of(end.size(), unit_roundoff, complete);
    Worst worst;
    compare_forces(end, expected, worst);
    compare_with_all(end, expected, unit_roundoff, threads, worst);
    worst.take(now.energy - totals.energy, tolerance.energy, "the energy per atom");
    for (std::size_t axis = 0; axis < 3; ++axis)
        worst.take(now.momentum[axis] - totals.momentum[axis], tolerance.momentum,
                   "the total momentum");
    // In 0.5 time units atoms of this liquid move by 0.29 to 0.35 (root mean square; 256 atoms spread
    // most). Nothing run, or half of the steps, or steps of another length are outside.
    constexpr double middle = 0.335;
    constexpr double spread = 0.085;
    worst.take(distance_moved(start, end) - middle, spread, "the distance that atoms moved");
    return check_value(worst.error, 1, method, worst.what);
}

} // namespace assay::md
