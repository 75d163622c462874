// SPDX-License-Identifier: Apache-2.0
//
// workload.* against the same oneDNN primitives one after the other, against bare matrix products, and
// against a loop that reads the same bytes.
#include "children.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace assay::peers {
namespace {

class Workload {
public:
    explicit Workload(const Options& options) : options_{options} {}

    ChildPtr ours(const std::string& library, const std::vector<std::string>& words) const {
        return start_ours(options_, library, words);
    }
    ChildPtr bare(std::vector<std::string> words) const {
        words.insert(words.begin(), options_.peer("peer_onednn_workload"));
        return start_child(options_, words);
    }
    Row compare(std::string name, Child& ours, Child& peer, std::optional<double> at_least) const {
        const Ratio ratio = compare_children(ours, peer, options_);
        return row_of(std::move(name), ratio, at_least,
                      rate_words("ours", ratio.a_seconds, ours.words()));
    }

private:
    const Options& options_;
};

void compare_convolutions(const Workload& workload, std::vector<Row>& rows) {
    for (const std::string precision : {"fp32", "bf16"}) {
        const ChildPtr ours = workload.ours(
            "onednn", {"workload.convolution", "layer=all", "batch=1", "precision=" + precision});
        const ChildPtr bare = workload.bare({"convolution", "1", precision});
        rows.push_back(
            workload.compare("ResNet-50, " + precision + ", our 53 convolutions / bare primitives",
                             *ours, *bare, 0.95));
    }
}

void compare_transformers(const Workload& workload, std::vector<Row>& rows) {
    for (const std::string precision : {"fp32", "bf16"}) {
        const ChildPtr ours =
            workload.ours("onednn", {"workload.transformer_layer", "batch=4", "sequence=128",
                                     "hidden=768", "precision=" + precision});
        const ChildPtr bare = workload.bare({"transformer", "4", "128", "768", precision});
        rows.push_back(workload.compare(
            "transformer layer, " + precision + ", ours / bare primitives", *ours, *bare, 0.95));
        const ChildPtr products = workload.bare({"products", "4", "128", "768", precision});
        rows.push_back(workload.compare("transformer layer, " + precision +
                                            ", our rate / that of its four matrix products",
                                        *ours, *products, std::nullopt));
    }
}

/// 128 MiB of keys and values, and a dot product over as many bytes.
void compare_attention(const Workload& workload, std::vector<Row>& rows) {
    struct Cache {
        const char* precision;
        const char* context; // tokens that fill so many bytes
        double bytes;        // of a number, and its share of the scale of a row
    };
    for (const Cache& cache : {Cache{"fp32", "4096", 4}, Cache{"int8", "16384", 1 + 4.0 / 128}}) {
        const ChildPtr ours = workload.ours(
            "host", {"workload.attention", "batch=1", std::string{"context="} + cache.context,
                     "heads=32", "head_size=128", std::string{"precision="} + cache.precision});
        const ChildPtr read = workload.ours(
            "host", {"memory.stream", "kernel=dot", "stores=plain", "footprint=134217728"});
        Row row = workload.compare(std::string{"attention, "} + cache.precision +
                                       " cache, ours / memory.stream dot",
                                   *ours, *read, 0.9);
        // Rows are per floating point operation: two for each of our numbers, 8 bytes for each of the dot
        // product's.
        const double per_byte = cache.bytes / 2 / 8;
        row.value *= per_byte;
        *row.low *= per_byte;
        *row.high *= per_byte;
        rows.push_back(row);
    }
}

/// 64 MiB of keys and values that heads share, and the multiply-adds that they are bound by.
void compare_grouped(const Workload& workload, std::vector<Row>& rows) {
    const ChildPtr peak = workload.ours("host", {"peak.fma", "precision=fp32", "isa=best"});
    for (const std::string group : {"4", "8"}) {
        const ChildPtr ours =
            workload.ours("host", {"workload.attention", "batch=1",
                                   "context=" + std::to_string(4096 * std::stoi(group)), "heads=32",
                                   "head_size=128", "precision=bf16", "group=" + group});
        rows.push_back(workload.compare("attention, bf16 cache, groups of " + group +
                                            ", our rate / peak.fma fp32",
                                        *ours, *peak, std::nullopt));
    }
}

} // namespace

std::vector<Row> compare_workload(const Options& options) {
    const Workload workload{options};
    std::vector<Row> rows;
    compare_convolutions(workload, rows);
    compare_transformers(workload, rows);
    compare_attention(workload, rows);
    compare_grouped(workload, rows);
    return rows;
}

} // namespace assay::peers
