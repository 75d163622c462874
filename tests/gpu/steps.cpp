// SPDX-License-Identifier: Apache-2.0
#include "steps.hpp"

#include "base/file.hpp"
#include "json/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <sstream>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

/// If these are wrong, no time of any other is worth anything.
constexpr std::array prove_the_clock{"latency.kernel", "memory.stream", "peak.fma"};
/// Their kernels work in shared memory.
constexpr std::array have_shared_memory{
    "memory.stream", "memory.latency", "memory.matrix",  "memory.banks", "md.lennard_jones",
    "peak.atomic",   "latency.atomic", "stencil.window", "sort.radix",   "montecarlo.option"};

constexpr double fact_seconds = 8; // a driver that hangs shall not take all 20

/// Searches for the fastest shape for 20 s each time that it is prepared.
constexpr std::string_view slow_contract = "gemm.shapes";

bool is_among(std::string_view id, std::span<const char* const> ids) {
    return std::ranges::find(ids, id) != ids.end();
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream{text};
    return {std::istream_iterator<std::string>{stream}, {}};
}

Step contract_of(const std::string& part, const Tried& tried, const Tree& tree, double seconds) {
    // The module's own test is there when it cannot be loaded, instead of its benchmarks'.
    return {.part = part,
            .name = tried.name(),
            .arguments = {tree.contract.string(),
                          fmt::format("--gtest_filter=*/{}:*/{}", tried.test(), tried.module)},
            .read = read_contract,
            .seconds = seconds,
            .variables = {"ASSAY_CONTRACT_MODULE=" + tried.module, "ASSAY_CONTRACT_CASES=few"},
            .test = tried.test()};
}

Step run_of(const std::string& part, const std::string& name, const Tree& tree,
            const std::vector<std::string>& what, const std::string& device, double seconds) {
    Step step{.part = part,
              .name = name,
              .arguments = {tree.assay.string(), "run"},
              .read = read_measurement,
              .seconds = seconds,
              .measures = true};
    step.arguments.insert(step.arguments.end(), what.begin(), what.end());
    step.arguments.insert(step.arguments.end(), {"--device", device});
    return step;
}

Step measurement(const std::string& part, const std::string& name, const Tree& tree,
                 const std::vector<std::string>& what, const std::string& device, double seconds) {
    auto step = run_of(part, name, tree, what, device, seconds);
    step.arguments.insert(step.arguments.end(), {"--patience", "0"});
    return step;
}

Step suite(const std::string& part, const Tree& tree, const std::string& device, double seconds) {
    return measurement(part, part + ".json", tree,
                       {(tree.data / (part + ".json")).string(), "--replicas", "1"}, device,
                       seconds);
}

std::string modules_of(const std::vector<Tried>& tried) {
    std::set<std::string> names;
    for (const auto& t : tried) names.insert(t.module);
    return fmt::format("{}", fmt::join(names, ","));
}

void add_users(Plan& plan, const std::string& device) {
    plan.steps.push_back(
        {.part = "facts",
         .name = "driver",
         .arguments = {"nvidia-smi",
                       // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one query
                       "--query-gpu=name,driver_version,memory.total,memory.used,"
                       "clocks.max.sm,power.limit,compute_mode,mig.mode.current,"
                       "ecc.mode.current",
                       "--format=csv,noheader", "-i", device},
         .read = read_fact,
         .seconds = fact_seconds});
    plan.steps.push_back(
        {.part = "facts",
         .name = "other processes",
         .arguments = {"nvidia-smi", "--query-compute-apps=pid,process_name,used_memory",
                       "--format=csv,noheader", "-i", device},
         .read = read_users,
         .seconds = fact_seconds});
}

void add_facts(Plan& plan, const Tree& tree, const std::vector<Tried>& tried,
               const std::string& device) {
    add_users(plan, device);
    const auto fact = [&](std::string name, std::vector<std::string> arguments,
                          Reader read = read_fact) {
        plan.steps.push_back({.part = "facts",
                              .name = std::move(name),
                              .arguments = std::move(arguments),
                              .read = read,
                              .seconds = fact_seconds});
    };
    fact("doctor", {tree.assay.string(), "doctor", "--json"});
    fact("PyTorch", {"python3", (tree.data / "torch_turns.py").string(), "--facts"});
    std::set<std::string> seen;
    for (const auto& t : tried)
        if (seen.insert(t.module).second)
            fact("libraries of " + t.module, {"ldd", (tree.modules / (t.module + ".so")).string()},
                 read_libraries);
    fact("nvcc", {"nvcc", "--version"});
    fact("compute-sanitizer", {"compute-sanitizer", "--version"});
    fact("ncu", {"ncu", "--version"});
    fact("all of nvidia-smi", {"nvidia-smi", "-q", "-i", device});
}

Plan first(const Tree& tree, std::vector<Tried> tried, const std::string& device) {
    Plan plan{.parts = {{"facts", 0.1, 20},
                        {"contract", 0.3, 1e9, true},
                        {"quick", 0.48},
                        {turns_part, 0.68},
                        {"device", 0.87},
                        {"precisions", 1}},
              .steps = {}};
    std::ranges::stable_partition(tried, [](const Tried& t) {
        return is_among(t.id, prove_the_clock) && t.module == "cuda";
    });
    add_facts(plan, tree, tried, device);
    for (const auto& t : tried)
        if (t.id != slow_contract) plan.steps.push_back(contract_of("contract", t, tree, 40));
    plan.steps.push_back(measurement("quick", "quick", tree,
                                     {"quick", "--only", modules_of(tried), "--replicas", "1"},
                                     device, 150));
    plan.steps.push_back(suite("device", tree, device, 200));
    plan.steps.push_back(suite("precisions", tree, device, 200));
    return plan;
}

Plan sanitizer(const Tree& tree, const std::vector<Tried>& tried) {
    Plan plan{.parts = {{"memcheck", 0.7, 1e9, true}, {"racecheck", 1, 1e9, true}}, .steps = {}};
    for (const std::string check : {"memcheck", "racecheck"})
        for (const auto& t : tried) {
            if (check == "racecheck" && !(t.module == "cuda" && is_among(t.id, have_shared_memory)))
                continue;
            auto step = contract_of(check, t, tree, 60);
            step.arguments = {
                "compute-sanitizer", "--tool", check, tree.contract.string(),
                fmt::format("--gtest_filter=*ComputesAndIsChecked/{}:*/{}", t.test(), t.module)};
            step.read = read_sanitizer;
            // It runs one kernel at a time: one that waits for the next to be queued would wait for ever.
            step.variables.emplace_back("ASSAY_HOLD_STREAMS=0");
            plan.steps.push_back(std::move(step));
        }
    return plan;
}

Step profile(const Tree& tree, const std::string& device, const std::string& kernels,
             const std::string& what, const std::vector<std::string>& settings) {
    auto arguments = settings;
    arguments.insert(arguments.begin(), {what, "--replicas", "1", "--budget", "2s"});
    auto step = measurement("profile", what, tree, arguments, device, 90);
    // The clocks stay as they are; launches after warming up; reports of one kernel are some pages.
    const auto around =
        words_of("ncu --target-processes all --clock-control none --kernel-name regex:" + kernels +
                 " --launch-skip 20 --launch-count 3 --set full --page details");
    step.arguments.insert(step.arguments.begin(), around.begin(), around.end());
    step.read = read_profile;
    step.variables = {"ASSAY_HOLD_STREAMS=0"}; // kernels are run again and again, one at a time
    return step;
}

Plan longer(const Tree& tree, const std::vector<Tried>& tried, const std::string& device) {
    Plan plan{
        .parts = {{"replicas", 0.35}, {"contract", 0.6, 1e9, true}, {"long", 0.8}, {"profile", 1}},
        .steps = {}};
    plan.steps.push_back(measurement("replicas", "quick, three replicas", tree,
                                     {"quick", "--only", modules_of(tried), "--replicas", "3"},
                                     device, 300));
    for (const auto& t : tried)
        if (t.id.starts_with("fft.") || t.id.starts_with("gemm.")) {
            auto step = contract_of("contract", t, tree, 180);
            if (t.id != slow_contract) step.variables.pop_back(); // every combination
            plan.steps.push_back(std::move(step));
        }
    plan.steps.push_back(suite("long", tree, device, 200));
    plan.steps.push_back(profile(
        tree, device, "march_kernel", "stencil.heat3d[cuda]",
        {"--set", "stencil.heat3d.stencil=7_point", "--set", "stencil.heat3d.precision=fp64"}));
    plan.steps.push_back(profile(
        tree, device, "forces_kernel|each_kernel", "md.lennard_jones[cuda]",
        {"--set", "md.lennard_jones.atoms=256000", "--set", "md.lennard_jones.precision=fp32"}));
    plan.steps.push_back(profile(tree, device, "moving|direct", "stencil.window[cuda]",
                                 {"--set", "stencil.window.precision=fp32"}));
    return plan;
}

/// Steps that read the results of other steps of their part: `assay VERB --json`.
Step reading(const std::string& part, const std::string& name, const Tree& tree,
             const std::string& verb, std::vector<std::string> results, Reader read) {
    return {.part = part,
            .name = name,
            .arguments = {tree.assay.string(), verb, "--json"},
            .read = read,
            .seconds = 20,
            .results = std::move(results)};
}

/// Two runs of one healthy device pass and do not differ; another process is named.
Plan decide(const Tree& tree, const std::vector<Tried>& tried, const std::string& device) {
    constexpr double most = 360;       // seconds, all of it
    constexpr double acceptance = 180; // each
    Plan plan{.parts = {{"facts", 1, 16}, {"acceptance", 1}, {"quick", 1}, {"shared", 1}},
              .steps = {},
              .seconds = most};
    add_users(plan, device);
    for (const auto* name : {"acceptance 1", "acceptance 2"}) {
        plan.steps.push_back(
            run_of("acceptance", name, tree, {"acceptance", "--check"}, device, acceptance));
        plan.steps.back().read = read_accepted;
    }
    for (const auto* name : {"quick 1", "quick 2"})
        plan.steps.push_back(
            run_of("quick", name, tree, {"quick", "--only", modules_of(tried)}, device, 90));
    plan.steps.push_back(
        reading("quick", "compared", tree, "compare", {"quick 1", "quick 2"}, read_compared));
    const std::string shared = "acceptance beside another process";
    plan.steps.push_back(run_of("shared", shared, tree,
                                {"acceptance", "--only", "gemm.*", "--only", "memory.*", "--check"},
                                device, 120));
    plan.steps.back().read = read_judged;
    plan.steps.back().beside = {tree.assay.string(),
                                "run",
                                "gemm.square[cublaslt]",
                                "--set",
                                "gemm.square.load=sustained",
                                "--set",
                                "gemm.square.precision=bf16",
                                "--set",
                                "gemm.square.size=8192",
                                "--for",
                                "3m",
                                "--device",
                                device};
    plan.steps.push_back(reading("shared", "its verdict", tree, "check", {shared}, read_shared));
    return plan;
}

} // namespace

std::string Tried::test() const {
    auto text = module + '_' + id;
    std::ranges::replace(text, '.', '_');
    return text;
}

std::vector<Tried> tried_of(const fs::path& modules) {
    std::vector<fs::path> manifests;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{modules, error})
        if (entry.path().extension() == ".json") manifests.push_back(entry.path());
    std::ranges::sort(manifests);
    std::vector<Tried> tried;
    for (const auto& path : manifests) {
        constexpr std::size_t most = std::size_t{4} << 20U;
        const auto manifest = json::parse(read_whole(path, most).value_or(""), path.string());
        if (!manifest || !manifest->is_object() || !manifest->contains("benchmarks")) continue;
        for (const auto& b : manifest->at("benchmarks"))
            if (b.is_object() && b.value("place", "host") != "host")
                tried.push_back({.id = b.value("id", ""), .module = path.stem().string()});
    }
    return tried;
}

std::vector<Turn> turns() {
    constexpr double gemm = 2.0 * 8192 * 8192 * 8192; // multiplications and additions
    constexpr double copied = 2.0 * (2UL << 30U);     // read and written
    constexpr double points = 256.0 * 256 * 256;
    constexpr double fft = 5 * points * 24;                         // 5 N log2 N
    constexpr double cached = 2.0 * 16 * 4096 * (32 / 8) * 128 * 2; // keys and values in bf16
    // Projections, MLP and attention of a token, as workload.transformer_layer counts them.
    constexpr double layer = 128 * (24.0 * 768 * 768 + 4.0 * 128 * 768); // of a sequence
    constexpr double convolution = 2.0 * 40 * 40 * 256 * 256 * 64; // without products with padding
    constexpr double moved = 1UL << 28U;
    const std::string grouped =
        "batch=16 context=4096 heads=32 head_size=128 group=8 precision=bf16";
    const std::string bert = "sequence=128 hidden=768 precision=bf16 batch=";
    constexpr double prompt = 4.0 * 4 * 32 * 4096 * 4096 * 128 / 2; // both products, half: causal
    const std::string causal =
        "batch=4 tokens=4096 heads=32 head_size=128 causal=true precision=bf16";
    const std::string pinned = "memory=pinned engine=copy_engine bytes=256MiB direction=";
    const std::string llama = "model=llama3_8b context=1536 ";
    const std::string square = "size=8192 load=sustained cache=hot data=normal precision=";
    return {
        {"gemm bf16 8192", gemm, "FLOP/s", "gemm.square[cublaslt]", square + "bf16"},
        {"gemm fp8_e4m3 8192", gemm, "FLOP/s", "gemm.square[cublaslt]",
         square + "fp8_e4m3 accumulation=fast"},
        {"copy 2147483648", copied, "B/s", "memory.stream[cuda]", "kernel=copy footprint=4GiB"},
        {"fft 256", fft, "FLOP/s", "fft.transform[cufft]",
         "dimensions=3d points=256 type=c2c precision=fp32"},
        {"attention cudnn 16 4096 8", cached, "B/s", "workload.attention[cudnn]", grouped},
        {"attention flash 16 4096 8", cached, "B/s", "workload.attention[cuda]", grouped},
        {"layer hand 8 128", 8 * layer, "FLOP/s", "workload.transformer_layer[cublaslt]",
         bert + "8"},
        {"layer hand 64 128", 64 * layer, "FLOP/s", "workload.transformer_layer[cublaslt]",
         bert + "64"},
        {"layer encoder 8 128", 8 * layer, "FLOP/s", "workload.transformer_layer[cublaslt]",
         bert + "8 gelu=tanh"},
        {"prompt cudnn 4 4096", prompt, "FLOP/s", "workload.prefill_attention[cudnn]", causal},
        {"prompt flash 4 4096", prompt, "FLOP/s", "workload.prefill_attention[cuda]", causal},
        {"convolution 64", convolution, "FLOP/s", "workload.convolution[cudnn]",
         "layer=res4_3x3 batch=64 precision=bf16"},
        {"to_device 268435456", moved, "B/s", "transfer.host[cuda]", pinned + "to_device"},
        {"to_host 268435456", moved, "B/s", "transfer.host[cuda]", pinned + "to_host"},
        {"gemm fp64 8192", gemm, "FLOP/s", "gemm.square[cublaslt]", square + "fp64"},
        {"decode 1 1536", 1, "tokens/s", "model.llm_decode[cublaslt]", llama + "batch=1"},
        {"decode 64 1536", 64, "tokens/s", "model.llm_decode[cublaslt]", llama + "batch=64"},
        {"prefill 2048", 2048, "tokens/s", "model.llm_prefill[cublaslt]",
         "model=llama3_8b batch=1 tokens=2048"},
        {"images 64", 64, "images/s", "model.image_classification[cudnn]",
         "model=resnet50 precision=bf16 batch=64"},
        {"train 32 1024", 32 * 1024, "tokens/s", "model.training_step[cublaslt]",
         "model=gpt2_124m batch=32 sequence=1024"},
    };
}

Step step_of(const Turn& turn, const Tree& tree, const std::string& device) {
    std::vector<std::string> what{turn.ours, "--replicas", "1", "--budget", "2s"};
    const auto id = turn.ours.substr(0, turn.ours.find('['));
    for (const auto& one : words_of(turn.setting))
        what.insert(what.end(), {"--set", fmt::format("{}.{}", id, one)});
    return measurement(std::string{turns_part}, turn.name, tree, what, device, 40);
}

Plan plan_of(std::string_view name, const Tree& tree, const std::vector<Tried>& tried,
             const std::string& device) {
    if (name == first_part) return first(tree, tried, device);
    if (name == "sanitizer") return sanitizer(tree, tried);
    if (name == "long") return longer(tree, tried, device);
    if (name == "decide") return decide(tree, tried, device);
    return {};
}

} // namespace assay::gpu
