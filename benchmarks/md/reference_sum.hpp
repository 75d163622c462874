// SPDX-License-Identifier: Apache-2.0
//
// The force on one atom as the reference has it, pair by pair in fp64, and how far a kernel's may be from
// it: for hosts and devices.

#pragma once

#include "model.hpp"
#include "pair.hpp"

#include <assay/host_device.hpp>

#include <cmath>
#include <numbers>

namespace assay::md {

/// A force, and how far a kernel's may be from it.
struct ForceReference {
    Vec3 force{};
    double bound = 0;  ///< of each component
    double energy = 0; ///< half of the atom's pairs, each less its value at the cutoff
    double pairs = 0;  ///< half of the atoms within the cutoff
};

/// A difference of coordinates, moved by edges to the nearest image.
ASSAY_HOST_DEVICE inline double to_nearest_image(double difference, double edge) {
    return difference - edge * std::nearbyint(difference / edge);
}

/// Adds up the pairs of one atom. `unit_roundoff` is that of the kernel's type.
class ReferenceSum {
public:
    ASSAY_HOST_DEVICE ReferenceSum(double edge, double unit_roundoff)
        : unit_roundoff_{unit_roundoff},
          // A coordinate is at most a few units outside of the box. Moving it by an edge and taking a
          // difference round once each.
          coordinate_error_{unit_roundoff * (edge + 6)} {}

    /// `d` points from the other atom, its nearest image, to this one.
    ASSAY_HOST_DEVICE void add(const Vec3& d) {
        const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        const double r = std::sqrt(squared);
        // 2 |d| . e <= 2 sqrt(3) r e, and three products and two sums.
        const double squared_error =
            2 * std::numbers::sqrt3 * r * coordinate_error_ + 4 * unit_roundoff_ * squared;
        if (std::fabs(squared - cutoff_squared) <= squared_error) {
            // The kernel may see it on the other side of the cutoff.
            const double jump = cutoff * force_over_distance(Plain<double>{}, cutoff_squared);
            result_.bound += 1.01 * std::fabs(jump);
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
    ASSAY_HOST_DEVICE ForceReference result() const {
        ForceReference result = result_;
        // n additions, in any order: n u times the sum of the sizes. A factor of two for the rounding
        // of this very sum, which in fp64 is of the same size.
        result.bound = 2 * (result.bound + (2 * result.pairs + 16) * unit_roundoff_ * sizes_);
        return result;
    }

private:
    static constexpr double cutoff_squared = cutoff * cutoff;

    ASSAY_HOST_DEVICE static double energy_at_cutoff() {
        return pair_energy(Plain<double>{}, cutoff_squared);
    }
    /// First order in the error of the squared distance, and the roundings of the formula.
    ASSAY_HOST_DEVICE void add_error(double squared, double squared_error, double r) {
        const double eighth = 1 / (squared * squared * squared * squared);
        const double fourteenth = eighth / (squared * squared * squared);
        const double slope =
            24 * (14 * fourteenth + 4 * eighth) / squared;  // bounds |d factor / d r^2|
        const double size = 24 * (2 * fourteenth + eighth); // bounds |factor|
        result_.bound +=
            r * (slope * squared_error + 12 * unit_roundoff_ * size) + size * coordinate_error_;
        sizes_ += r * size;
    }

    double unit_roundoff_;
    double coordinate_error_;
    double sizes_ = 0;
    ForceReference result_;
};

} // namespace assay::md
