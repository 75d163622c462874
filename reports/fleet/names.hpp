// SPDX-License-Identifier: Apache-2.0
//
// What nodes are called, and which of them are expected.

#pragma once

#include "base/result.hpp"
#include "store/collection.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

/// "n1", "node[01-40,43]" as Slurm and ClusterShell write it: each name once, in this order.
Result<std::vector<std::string>> expand_nodes(std::string_view text);
/// A file of them, separated by blanks, commas or lines; # begins a comment.
Result<std::vector<std::string>> read_nodes(const std::filesystem::path& path);
Result<std::vector<std::string>> parse_nodes(std::string_view text, std::string_view source);

/// Where the name of a node is from.
enum class NameSource : std::uint8_t { tag, node, host, folder, machine };
struct NodeName {
    std::string name;
    NameSource source = NameSource::machine;
};

/// Names runs and files: by the tag `node` or --node, else by the host name, else by a folder that is called as an expected node,
/// else by the machine's id. Of "n1.cluster" and "n1" one is the other where only one of them is expected.
class NodeNames {
public:
    explicit NodeNames(std::vector<std::string> expected);

    const std::vector<std::string>& expected() const { return expected_; }
    bool is_expected(const std::string& name) const;
    NodeName of_run(const Collection& collection, const RunInfo& run) const;
    /// Of a file that says nothing; "" where no folder is called as a node. A node that is not expected has a folder with
    /// its name only if `also` has it.
    std::string of_path(const std::filesystem::path& path,
                        const std::vector<std::string>& also = {}) const;
    std::string of_host(std::string_view host) const;

private:
    std::vector<std::string> expected_;
    std::vector<std::string> sorted_;
};

} // namespace assay::report
