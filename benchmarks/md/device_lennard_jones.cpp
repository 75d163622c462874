// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"
#include "device/place.hpp"
#include "device/properties.hpp"
#include "device_simulation.hpp"
#include "lattice.hpp"

#include <assay/define.hpp>

namespace assay::md {
namespace {

enum class Rebuild : std::uint8_t { every_20 };

using device::Place;

/// A liquid of one precision, how it is run and how it is checked.
template <class T>
class Liquid {
public:
    Liquid(std::int64_t cells, Place& place)
        : start_{make_lattice(cells, velocity_seed)},
          simulation_{start_.edge, start_.size(), place.stream} {
        simulation_.load(start_);
        simulation_.run(melt_steps);
        start_ = simulation_.state();
        simulation_.load(start_);
        simulation_.choose_lanes(place.clock);
        totals_ = totals_of(start_, simulation_.reference());
        simulation_.record(run_steps);
        // Interacting pairs: the mean of the start and the end of a run, which is the same in every call.
        simulation_.run(run_steps);
        const Totals end = totals_of(simulation_.state(), simulation_.reference());
        pairs_ = (totals_.pairs + end.pairs) / 2;
        rewind();
    }

    void run() { simulation_.launch(); }
    void rewind() { simulation_.rewind(); }

    Work work() const {
        return {.atom_steps = static_cast<double>(start_.size()) * run_steps,
                .pairs = pairs_ * run_steps};
    }
    Check verify() const {
        if (simulation_.has_overflown())
            return check_value(std::numeric_limits<double>::infinity(), 1,
                               "cells and lists had room for all atoms",
                               joined("a cell held more than ", cell_capacity,
                                      " atoms, or an atom had more than ", list_capacity,
                                      " neighbours"));
        return check_run(start_, totals_, simulation_.state(), simulation_.reference(),
                         unit_roundoff<T>, is_mutual, 1);
    }
    void poison() { simulation_.poison(); }
    /// In turns, a component of one force and one of one velocity: by a little more than twice its
    /// bound, so that the true value may be anywhere within it.
    void spoil() {
        constexpr double beyond = 2.1;
        const std::uint64_t pick = random_bits(spoil_seed, spoils_++);
        const std::size_t at = pick % start_.size();
        const std::size_t axis = (pick >> 40U) % 3;
        const bool is_force = spoils_ % 2 == 1;
        const double bound =
            is_force ? simulation_.reference()[simulation_.number_at(at)].bound
                     : tolerance_of(start_.size(), unit_roundoff<T>, is_mutual).momentum;
        simulation_.add(is_force, at, axis, beyond * bound);
    }

    void report(const Context& context) const {
        context.setting("atoms", start_.size());
        context.setting("steps", run_steps);
        context.setting("rebuilds", run_steps / rebuild_interval);
        context.setting("list", "all neighbours of each atom");
        context.setting("list_pairs", simulation_.list_entries());
        context.setting("threads_per_atom", simulation_.lanes());
        context.setting("cells", simulation_.box().cells());
        context.setting("operations", simulation_.operations());
        context.setting("pairs", pairs_);
        context.setting("temperature", temperature(start_));
    }

private:
    // As on a host: steps until the crystal has become a liquid.
    static constexpr int melt_steps = 300;
    static constexpr std::uint64_t velocity_seed = 8;
    static constexpr std::uint64_t spoil_seed = 9;
    // Both atoms of a pair see the same distance, so that no pair is on one list alone, and what a late
    // list misses, it misses on both sides: momentum is kept as where lists are complete.
    static constexpr bool is_mutual = true;

    Particles start_;
    DeviceSimulation<T> simulation_;
    Totals totals_; // of start_
    double pairs_ = 0;
    std::uint64_t spoils_ = 0;
};

class DeviceLennardJones : private Place, public OneOf<Liquid<double>, Liquid<float>> {
public:
    struct Params {
        std::int64_t atoms = 32000;
        Precision precision = Precision::fp64;
        Rebuild rebuild = Rebuild::every_20;
    };
    static constexpr Info info{
        .id = "md.lennard_jones",
        .question = "How fast does this device simulate a Lennard-Jones liquid?",
        .method = "The liquid of LAMMPS's benchmark `melt`: a crystal of density 0.8442 at "
                  "temperature 1.44, melted for 300 steps before timing. A call is 100 steps of "
                  "velocity Verlet (dt 0.005) with cutoff 2.5 and five rebuilds of the neighbour "
                  "lists (up to 2.8), as one graph without host synchronisation. Atoms are sorted "
                  "by cells; every atom lists all its neighbours, shared by one to eight threads "
                  "(the fastest in a trial), and only its own threads write to it. Checked after "
                  "the run: every force against an fp64 sum over the neighbouring cells (up to 256 "
                  "atoms: over all others, on the host), conservation of energy and momentum, that "
                  "the atoms moved, and that cells and lists did not overflow.",
        .caveats = "One short-range potential: no charges, bonds or constraints. Work is counted "
                   "as the physics requires (atoms times steps; pairs within 2.5, once), though "
                   "each pair is computed twice. As in LAMMPS, a fast atom may meet another before "
                   "the list knows. Small systems are bound by the 2.4 kernels per step, not by "
                   "arithmetic. fp32 rounds positions to about 1e-6 of a diameter.",
        .headline = "atom_step_rate",
        .place = "cuda",
    };
    static constexpr std::tuple axes{
        integer("atoms", "atoms; the nearest number that fills a cubic lattice, 4 k^3, is taken",
                "", &Params::atoms, {32000, 256000, 2048000}, {256, 100'000'000}),
        precision_axis("format of positions, velocities and forces", &Params::precision),
        choice("rebuild", "when lists are rebuilt: every 20 steps", &Params::rebuild,
               {{"every_20", Rebuild::every_20}}),
    };
    static constexpr bool single_call = true;

    static Fit fit(const Params& p, const Machine& m) {
        const std::int64_t atoms = lattice_atoms(lattice_cells(p.atoms));
        // On the host: start, end, reference and copies, in fp64.
        constexpr std::int64_t host_bytes = 500;
        const std::int64_t available = m.memory_available();
        if (available != 0 && host_bytes * atoms > available)
            return Fit::no("needs ", host_bytes * atoms,
                           " bytes of the host's memory for its check, there are ", available);
        const auto size = static_cast<std::int64_t>(size_of(p.precision));
        return device::fits_device(liquid_bytes(atoms, size));
    }

    DeviceLennardJones(const Params& p, const Context& context)
        : OneOf{p.precision, lattice_cells(p.atoms), static_cast<Place&>(*this)} {
        std::visit([&](const auto& liquid) { liquid.report(context); }, state());
    }
    device::EventClock& clock() { return Place::clock; }
};

} // namespace

extern constinit const assay_benchmark device_lennard_jones = define<DeviceLennardJones>();

} // namespace assay::md
