// SPDX-License-Identifier: Apache-2.0
//
// md.lennard_jones against LAMMPS on the same liquid: as many MPI ranks as we have threads, the same
// atoms, cutoff, skin, time step and rebuilds, 300 steps from a melted state. LAMMPS is started anew
// for every turn and says itself how long its loop took, so that its start-up does not count.
#include "children.hpp"
#include "process/start.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::peers {
namespace {

constexpr int lammps_steps = 300;
constexpr int steps_per_call = 100; // of md.lennard_jones
constexpr int cells = 20;           // along an edge: 32,000 atoms

std::string on_path(const char* name) {
    const char* path = std::getenv("PATH");
    return process::find_program(name, path == nullptr ? "" : path).string();
}

/// LAMMPS on the liquid, and what it needs on disk.
class Lammps {
public:
    explicit Lammps(int ranks) : ranks_{ranks} {
        const std::string lattice = fmt::format(
            "units lj\natom_style atomic\nlattice fcc 0.8442\nregion box block 0 {0} 0 {0} 0 {0}\n"
            "create_box 1 box\ncreate_atoms 1 box\nmass 1 1.0\n"
            "velocity all create 1.44 87287 loop geom\n",
            cells);
        const std::string state = (folder_.path() / "melted").string();
        folder_.write("melt", lattice + rules() + "write_restart " + state + "\n");
        folder_.write("run", "read_restart " + state + "\n" + rules());
        run("melt");
    }
    /// Seconds per step of so many steps.
    double seconds_per_step() { return run("run") / lammps_steps; }

private:
    static std::string rules() {
        return fmt::format("pair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0 2.5\nneighbor 0.3 bin\n"
                           "neigh_modify delay 0 every 20 check no\nfix 1 all nve\n"
                           "timestep 0.005\nrun {}\n",
                           lammps_steps);
    }
    double run(const std::string& name) const {
        Spawned job = start_job(ranks_, {"--bind-to", "core", "-x", "OMP_NUM_THREADS=1", "lmp",
                                         "-log", "none", "-in", (folder_.path() / name).string()});
        double seconds = 0;
        std::string last;
        for (std::string line = job.read_line(); !line.empty(); line = job.read_line()) {
            // "Loop time of 2.23 on 2 procs for 300 steps with 32000 atoms"
            constexpr std::string_view loop = "Loop time of ";
            if (line.starts_with(loop)) seconds = std::strtod(line.c_str() + loop.size(), nullptr);
            last = line;
        }
        if (job.wait() != 0 || !(seconds > 0))
            throw std::runtime_error{"LAMMPS did not run: " + last};
        return seconds;
    }

    made::TemporaryFolder folder_;
    int ranks_;
};

} // namespace

std::vector<Row> compare_md(const Options& options) {
    const std::string name = "md fp64, 32000 atoms, steps/s, ours / LAMMPS";
    if (on_path("lmp").empty() || on_path("mpirun").empty())
        return {Row{.name = name,
                    .note = "not measured: needs lmp and mpirun (Debian packages lammps and "
                            "openmpi-bin)"}};
    Lammps lammps{options.threads};
    const auto ours = start_ours(
        options, "host", {"md.lennard_jones", "atoms=32000", "precision=fp64", "rebuild=every_20"});
    Plan plan = options.plan;
    plan.pairs = std::max<std::size_t>(2, plan.pairs / 3); // LAMMPS's turns last seconds
    constexpr double turn = 1.0;                           // seconds; LAMMPS's takes two
    const Turn our_turn = [&ours, per_step = 0.0](double /*seconds*/) mutable {
        const auto calls =
            per_step > 0 ? static_cast<std::size_t>(turn / per_step / steps_per_call) + 1 : 1;
        per_step = ours->sample(calls) / static_cast<double>(calls * steps_per_call);
        return per_step;
    };
    const Ratio ratio = take_turns(
        our_turn, [&](double /*seconds*/) { return lammps.seconds_per_step(); }, plan,
        [&] { return cpu_seconds_with_ended() + cpu_seconds_of(ours->pid()); });
    constexpr double wanted = 3.5;
    return {row_of(name, ratio, wanted,
                   fmt::format("ours {:.1f} steps/s ({}), LAMMPS {:.1f}", 1 / ratio.a_seconds,
                               ours->words(), 1 / ratio.b_seconds))};
}

} // namespace assay::peers
