// SPDX-License-Identifier: Apache-2.0

#include "check.hpp"
#include "lattice.hpp"
#include "simulation.hpp"

#include <assay/define.hpp>

namespace assay::md {
namespace {

template <class T>
const Kernels<T>& kernels_in(const KernelSet& set) {
    if constexpr (std::is_same_v<T, float>)
        return set.fp32;
    else
        return set.fp64;
}

/// A liquid of one precision, how it is run and how it is checked.
template <class T>
class Liquid {
public:
    Liquid(std::int64_t cells, Rebuild rebuild, int threads)
        : rebuild_{rebuild}, threads_{threads}, start_{make_lattice(cells, velocity_seed)} {
        choose_kernels();
        simulation_->run(melt_steps - trial_steps);
        simulation_->store(start_);
        simulation_->load(start_);
        totals_ = totals_of(start_, all_forces(start_, unit_roundoff<T>, threads_));
        count_pairs();
    }

    void run() noexcept { simulation_->run(run_steps); }
    void rewind() { simulation_->load(start_); }

    Work work() const {
        return {.atom_steps = static_cast<double>(start_.size()) * run_steps,
                .pairs = pairs_ * run_steps};
    }
    Check verify() const {
        return check_run(start_, totals_, state(), unit_roundoff<T>, is_complete(), threads_);
    }
    Outputs outputs() const {
        const Clusters<T>& clusters = simulation_->clusters();
        const auto all = [&](const T* values) { return std::span{values, clusters.elements()}; };
        return {all(clusters.position()), all(clusters.velocity()), all(clusters.force())};
    }
    void poison() {
        Clusters<T>& clusters = simulation_->clusters();
        for (T* values : {clusters.position(), clusters.velocity(), clusters.force()})
            std::fill_n(values, clusters.elements(), std::numeric_limits<T>::quiet_NaN());
    }
    /// In turns, a component of one force and one of one velocity: by a little more than twice its
    /// bound, so that the true value may be anywhere within it.
    void spoil() {
        constexpr double beyond = 2.1;
        const std::uint64_t pick = random_bits(spoil_seed, spoils_++);
        Clusters<T>& clusters = simulation_->clusters();
        std::size_t slot = pick % (clusters.count() * clusters.width());
        while (clusters.number()[slot] == Clusters<T>::nobody) slot = slot == 0 ? 1 : slot - 1;
        const std::size_t at = slot / clusters.width() * clusters.stride() +
                               slot % clusters.width() + (pick >> 40U) % 3 * clusters.width();
        if (spoils_ % 2 == 0) {
            const double bound =
                tolerance_of(start_.size(), unit_roundoff<T>, is_complete()).momentum;
            clusters.velocity()[at] += static_cast<T>(beyond * bound);
        } else {
            const ForceReference reference =
                force_on(state(), clusters.number()[slot], unit_roundoff<T>);
            clusters.force()[at] += static_cast<T>(beyond * reference.bound);
        }
    }

    void report(const Context& context) const {
        context.setting("atoms", start_.size());
        context.setting("steps", run_steps);
        context.setting("rebuilds", rebuilds_);
        context.setting("threads", threads_);
        context.setting("isa", isa_);
        context.setting("list", joined("clusters of ", simulation_->clusters().width(),
                                       " atoms around each atom"));
        context.setting("list_pairs",
                        simulation_->list_entries() * simulation_->clusters().width());
        context.setting("pairs", pairs_);
        context.setting("temperature", temperature(start_));
    }

private:
    // Steps until the crystal has become a liquid: its temperature falls from 1.44 to 0.75 within 100
    // steps and to 0.745 within 300; LAMMPS's does the same.
    static constexpr int melt_steps = 300;
    static constexpr int trial_steps = 20; // with one rebuild
    static constexpr std::uint64_t velocity_seed = 8;
    static constexpr std::uint64_t spoil_seed = 9;

    bool is_complete() const { return rebuild_ == Rebuild::half_skin; }
    Particles state() const {
        Particles particles;
        simulation_->store(particles);
        return particles;
    }

    /// The instruction set that is fastest here, by trial on this very system. Wider vectors are not
    /// always: wider clusters hold more atoms that are out of reach. Afterwards the simulation is
    /// that of the best and `trial_steps` further.
    void choose_kernels() {
        // Sets of the widest width or half of it, and the next older one; narrower ones have lost before.
        constexpr std::size_t most_tried = 3;
        constexpr double clearly =
            0.97; // of the time, so that the choice is the same in every process
        double best = std::numeric_limits<double>::infinity();
        std::size_t tried = 0;
        for (const KernelSet& set : kernel_sets()) {
            if (!is_supported(set) || tried == most_tried) continue;
            auto simulation =
                std::make_unique<Simulation<T>>(start_, kernels_in<T>(set), rebuild_, threads_);
            if (tried++ == 0) simulation->run(melt_steps / 2);
            if (tried == 1) simulation->store(start_);
            const double seconds = seconds_of(*simulation);
            if (!(seconds < clearly * best)) continue;
            best = seconds;
            simulation_ = std::move(simulation);
            isa_ = set.isa;
        }
        if (!simulation_) throw std::runtime_error{"no kernels for this machine"};
    }
    /// Seconds of the faster of two trials.
    double seconds_of(Simulation<T>& simulation) const {
        double best = std::numeric_limits<double>::infinity();
        for (int round = 0; round < 2; ++round) {
            simulation.load(start_);
            const Stopwatch watch;
            simulation.run(trial_steps);
            best = std::min(best, watch.seconds());
        }
        return best;
    }
    /// Interacting pairs: the mean of the start and the end of a run, which is the same in every call.
    void count_pairs() {
        run();
        rebuilds_ = simulation_->rebuilds();
        const Particles end = state();
        const Totals totals = totals_of(end, all_forces(end, unit_roundoff<T>, threads_));
        pairs_ = (totals_.pairs + totals.pairs) / 2;
        rewind();
    }

    Rebuild rebuild_;
    int threads_;
    Particles start_;
    std::unique_ptr<Simulation<T>> simulation_;
    const char* isa_ = "";
    Totals totals_; // of start_
    double pairs_ = 0;
    std::size_t rebuilds_ = 0;
    std::uint64_t spoils_ = 0;
};

class LennardJones : public OneOf<Liquid<double>, Liquid<float>> {
public:
    struct Params {
        std::int64_t atoms = 32000;
        Precision precision = Precision::fp64;
        Rebuild rebuild = Rebuild::every_20;
        Symbolic threads = Symbol::all;
    };
    static constexpr Info info{
        .id = "md.lennard_jones",
        .question = "How fast does this host simulate a Lennard-Jones liquid?",
        .method = "The liquid of LAMMPS's benchmark `melt`: a crystal of density 0.8442 at "
                  "temperature 1.44, melted for 300 steps before timing. A call is 100 steps of "
                  "velocity Verlet (dt 0.005) with cutoff 2.5, neighbour lists up to 2.8 and their "
                  "rebuilds. Atoms are sorted into clusters of one vector's width; a list holds "
                  "the clusters around one atom; a pair is computed once within a thread and twice "
                  "across threads. Checked after the run: every force against an fp64 sum, "
                  "conservation of energy and momentum, and that the atoms moved.",
        .caveats =
            "One short-range potential: no charges, bonds or constraints. Work is counted as the "
            "physics requires (atoms times steps; pairs within 2.5, once). With rebuild=every_20, "
            "as in LAMMPS, a fast atom may meet another before the list knows; rebuild=half_skin "
            "checks every step and misses none. fp32 rounds positions to about 1e-6 of a diameter.",
        .headline = "atom_step_rate",
        .noise = Noise::workload,
    };
    static constexpr std::tuple axes{
        integer("atoms", "atoms; the nearest number that fills a cubic lattice, 4 k^3, is taken",
                "", &Params::atoms, {32000, 256000}, {256, 100'000'000}),
        precision_axis("format of positions, velocities and forces", &Params::precision),
        choice("rebuild", "rebuild of the lists: every 20 steps, or when an atom has moved 0.15",
               &Params::rebuild,
               {{"every_20", Rebuild::every_20}, {"half_skin", Rebuild::half_skin}},
               {Rebuild::every_20}),
        threads_axis(&Params::threads, {Symbol::one, Symbol::all}),
    };
    static constexpr bool single_call = true;

    static Fit fit(const Params& p, const Machine& m) {
        // Lists, two copies of the state, its start and what verify() computes beside it.
        constexpr std::int64_t bytes_per_atom = 1000;
        return host::fits(p.threads, bytes_per_atom * lattice_atoms(lattice_cells(p.atoms)), m);
    }

    LennardJones(const Params& p, const Context& context)
        : OneOf{p.precision, lattice_cells(p.atoms), p.rebuild,
                static_cast<int>(context.machine().workers(p.threads))} {
        std::visit([&](const auto& liquid) { liquid.report(context); }, state());
    }
};

} // namespace

extern constinit const assay_benchmark lennard_jones = define<LennardJones>();

} // namespace assay::md
