// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "device/graph.hpp"
#include "md/check.hpp"
#include "md/device_steps.hpp"
#include "md/lattice.hpp"

namespace assay::md {
namespace {

constexpr unsigned force_threads = 256;

/// Division by an approximate reciprocal, within the 12 u of (48 + 24 r^6) / r^14 that the check allows any kernel
/// (ReferenceSum::add_error). From r^2, the powers r^6, r^8 and r^14 are off by 2, 3 and 6 u. The numerator 48 - 24 r^6
/// is off by 3 u with a fused multiply-add, the reciprocal by 1 ulp or 2 u, and their product by 1 u: 12 u in all. The
/// products with x, y and z are fused with sums, whose roundings the bound counts separately.
template <class T>
struct Fast : Plain<T> {
    ASSAY_HOST_DEVICE static T divide(T x, T y) {
#ifdef ASSAY_ON_DEVICE
        return x * device::reciprocal(y);
#else
        return x / y;
#endif
    }
};

/// Computes the force on every atom and moves it. An atom's threads are neighbours in a warp and add up their shares.
template <class T>
__global__ void __launch_bounds__(force_threads) forces_kernel(MoveAtom<T> move) {
    const LiquidArrays<T>& a = move.a;
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t atom = thread >> a.lane_bits();
    const std::uint32_t lane = thread & (a.lanes - 1);
    Four<T> force{};
    // Threads behind the last atom stay, because the whole warp takes part in the sum.
    if (atom < a.atoms) force = ShareOfForce<T, Fast<T>>{a}(atom, lane);
    for (unsigned distance = a.lanes / 2; distance > 0; distance /= 2) {
        force.x += __shfl_xor_sync(device::every_lane, force.x, distance);
        force.y += __shfl_xor_sync(device::every_lane, force.y, distance);
        force.z += __shfl_xor_sync(device::every_lane, force.z, distance);
    }
    if (atom < a.atoms && lane == 0) move(atom, force);
}

constexpr unsigned sum_threads = 256;
constexpr unsigned sum_each = 4; // cells of a thread
constexpr unsigned sum_tile = sum_threads * sum_each;

/// Tiles of all cells and one more, where the last sum is written.
constexpr std::size_t sum_tiles(std::size_t cells) { return cells / sum_tile + 1; }

struct BlockSum {
    std::uint32_t before; ///< over the threads before this one
    std::uint32_t all;
};
__device__ BlockSum sum_over_block(std::uint32_t own) {
    __shared__ std::uint32_t warps[sum_threads / device::warp_lanes];
    const std::uint32_t up_to_own = device::sum_up_to_lane(own);
    if (device::lane() == device::warp_lanes - 1) warps[device::warp()] = up_to_own;
    __syncthreads();
    BlockSum sum{up_to_own - own, 0};
    for (unsigned warp = 0; warp < sum_threads / device::warp_lanes; ++warp) {
        if (warp < device::warp()) sum.before += warps[warp];
        sum.all += warps[warp];
    }
    __syncthreads(); // before another sum is written
    return sum;
}

/// A block for each tile of cells: the sum of its counts.
__global__ void __launch_bounds__(sum_threads)
    sum_tiles_kernel(const std::uint32_t* counts, std::uint64_t cells, std::uint32_t* sums) {
    const std::uint64_t first = std::uint64_t{blockIdx.x} * sum_tile + threadIdx.x;
    std::uint32_t own = 0;
    for (unsigned i = 0; i < sum_each; ++i)
        if (first + i * sum_threads < cells) own += counts[first + i * sum_threads];
    const std::uint32_t all = sum_over_block(own).all;
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}
/// first[i] becomes the sum of the counts before i, and first[cells] of all. A block adds up the tiles before its own.
__global__ void __launch_bounds__(sum_threads)
    sum_up_kernel(const std::uint32_t* counts, std::uint64_t cells, const std::uint32_t* sums,
                  std::uint32_t* first) {
    std::uint32_t earlier = 0;
    for (unsigned tile = threadIdx.x; tile < blockIdx.x; tile += sum_threads) earlier += sums[tile];
    earlier = sum_over_block(earlier).all;
    const std::uint64_t begin = (std::uint64_t{blockIdx.x} * sum_threads + threadIdx.x) * sum_each;
    std::uint32_t own[sum_each];
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < sum_each; ++i) {
        own[i] = begin + i < cells ? counts[begin + i] : 0;
        sum += own[i];
    }
    std::uint32_t next = earlier + sum_over_block(sum).before;
    for (unsigned i = 0; i < sum_each && begin + i <= cells; ++i) {
        first[begin + i] = next;
        next += own[i];
    }
}

/// Runs the steps as kernels on a stream.
struct OnDevice {
    const device::Stream& stream;

    template <class Body>
    void each(std::uint64_t count, const Body& body) const {
        device::on_each(stream, count, body, {.threads = 128});
    }
    /// Behind `first` there is room for the sums of the tiles.
    void sum_up(const std::uint32_t* counts, std::uint32_t* first, std::uint64_t cells) const {
        std::uint32_t* const sums = first + cells + 1;
        const auto tiles = static_cast<unsigned>(sum_tiles(cells));
        device::launch(sum_tiles_kernel, {tiles, sum_threads, stream.get()}, counts, cells, sums);
        device::launch(sum_up_kernel, {tiles, sum_threads, stream.get()}, counts, cells, sums,
                       first);
    }
    template <class T>
    void forces(const MoveAtom<T>& move) const {
        const std::uint64_t threads = std::uint64_t{move.a.atoms} * move.a.lanes;
        const auto blocks = static_cast<unsigned>((threads + force_threads - 1) / force_threads);
        device::launch(forces_kernel<T>, {blocks, force_threads, stream.get()}, move);
    }
};

template <class T>
struct LoadAtom {
    LiquidArrays<T> a;
    const Four<T>* position;
    const Four<T>* velocity;
    ASSAY_HOST_DEVICE void operator()(std::uint64_t i) const {
        a.next_position[i] = position[i];
        a.next_velocity[i] = velocity[i];
        a.next_number[i] = static_cast<std::uint32_t>(i);
    }
};

/// Takes over positions and velocities by number, makes the list and computes the forces.
template <class T>
void queue_load(const LiquidArrays<T>& a, const Four<T>* position, const Four<T>* velocity,
                const device::Stream& stream) {
    const OnDevice on{stream};
    device::check(cudaMemsetAsync(a.overflow, 0, sizeof(*a.overflow), stream.get()));
    device::check(cudaMemsetAsync(a.in_cell, 0, a.box.cells() * sizeof(*a.in_cell), stream.get()));
    on.each(a.atoms, LoadAtom<T>{a, position, velocity});
    start_from_next(a, on);
    device::check_launches();
}
/// Steps of velocity Verlet with their rebuilds.
template <class T>
void queue_steps(const LiquidArrays<T>& a, int count, const device::Stream& stream) {
    run_steps_of(a, count, OnDevice{stream});
    device::check_launches();
}
/// A step's kernel with steps of no length.
template <class T>
void queue_forces(const LiquidArrays<T>& a, const device::Stream& stream) {
    OnDevice{stream}.forces(MoveAtom<T>{a, 0, 0});
}
/// Expected force on every atom, in the order of the atoms.
template <class T>
void queue_reference(const LiquidArrays<T>& a, double edge, ForceReference* out,
                     const device::Stream& stream) {
    OnDevice{stream}.each(a.atoms, ReferenceOfAtom<T>{a, edge, unit_roundoff<T>, out});
    device::check_launches();
}

/// A liquid in the memory of a device, and its run as one graph.
template <class T>
class DeviceSimulation {
public:
    DeviceSimulation(double edge, std::size_t atoms, const device::Stream& stream)
        : stream_{stream}, edge_{edge}, atoms_{atoms}, box_{CellBox<T>::of(edge)},
          vectors_{5 * atoms}, start_{2 * atoms}, by_atom_{5 * atoms}, in_cell_{box_.cells()},
          first_{box_.cells() + 1 + sum_tiles(box_.cells())}, list_{atoms * list_capacity},
          overflow_{1} {}

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
        queue_load(arrays(), start_.data(), start_.data() + atoms_, stream_);
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
                seconds = std::min(seconds,
                                   clock.seconds(20, [this] { queue_forces(arrays(), stream_); }));
            if (!(seconds < clearly * best)) continue;
            best = seconds;
            chosen = lanes;
        }
        lanes_ = chosen;
        rewind();
    }
    void run(int steps) {
        queue_steps(arrays(), steps, stream_);
        stream_.wait();
    }
    /// From now on launch() queues so many steps as one operation.
    void record(int steps) {
        graph_.emplace(stream_, [&] { queue_steps(arrays(), steps, stream_); });
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
    /// Expected forces, by number.
    std::vector<ForceReference> reference() const {
        const device::Buffer<ForceReference> on_device{atoms_};
        queue_reference(arrays(), edge_, on_device.data(), stream_);
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

    /// Position, velocity and force of the atoms as they are sorted, and their numbers.
    Outputs outputs() const {
        return {device::output(vectors_.data(), 3 * atoms_ * sizeof(Four<T>), sizeof(T), stream_),
                device::output(by_atom_.data(), atoms_ * sizeof(std::uint32_t),
                               sizeof(std::uint32_t), stream_)};
    }
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
                .next_position = vectors(3),
                .next_velocity = vectors(4),
                .next_number = by_atom(1),
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
    device::Buffer<Four<T>> vectors_; // position, velocity, force; next position and velocity
    device::Buffer<Four<T>> start_;   // position and velocity by number
    device::Buffer<std::uint32_t> by_atom_;
    device::Buffer<std::uint32_t> in_cell_;
    device::Buffer<std::uint32_t> first_;
    device::Buffer<std::uint32_t> list_;
    device::Buffer<std::uint32_t> overflow_;
    std::optional<device::Graph> graph_;
};

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
    Outputs outputs() const { return simulation_.outputs(); }
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
    // The same as on a host: steps until the crystal has become a liquid.
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
                   "the list knows. Small systems are bound by the 1.4 kernels per step, not by "
                   "arithmetic. fp32 rounds positions to about 1e-6 of a diameter.",
        .headline = "atom_step_rate",
        .place = device::place_kind,
        .noise = Noise::workload,
    };
    static constexpr std::tuple axes{
        integer("atoms", "atoms; the nearest number that fills a cubic lattice, 4 k^3, is taken",
                "", &Params::atoms, {32000, 256000, 2048000}, {256, 100'000'000}),
        precision_axis("format of positions, velocities and forces", &Params::precision),
        choice("rebuild", "rebuild of the lists: every 20 steps", &Params::rebuild,
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
