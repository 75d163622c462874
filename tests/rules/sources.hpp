// SPDX-License-Identifier: Apache-2.0
//
// The sources of the tree, line by line.

#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::rules {

namespace fs = std::filesystem;

inline const fs::path root{ASSAY_SOURCE_DIR};

struct Line {
    std::string file; ///< relative to the root
    std::size_t number;
    std::string text;
};

inline bool is_source(const fs::path& path) {
    static const std::set<std::string> endings{".cpp", ".hpp", ".h", ".cu", ".cuh"};
    return endings.contains(path.extension().string());
}

inline std::vector<fs::path> files_below(std::string_view folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator{root / folder})
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

inline std::vector<Line> lines_of(const fs::path& path) {
    std::ifstream in{path};
    const auto file = fs::relative(path, root).string(); // asks for every folder above
    std::vector<Line> lines;
    std::string text;
    while (std::getline(in, text)) lines.push_back({file, lines.size() + 1, text});
    return lines;
}

inline std::vector<Line> source_lines(std::initializer_list<std::string_view> folders) {
    std::vector<Line> all;
    for (const auto folder : folders)
        for (const auto& file : files_below(folder))
            if (is_source(file)) std::ranges::move(lines_of(file), std::back_inserter(all));
    return all;
}

inline std::string at(const Line& line) { return line.file + ":" + std::to_string(line.number); }

/// The room of a file: the first two folders, as "harness/record".
inline std::string room_of(const std::string& file) {
    return file.substr(0, file.find('/', file.find('/') + 1));
}

} // namespace assay::rules
