// SPDX-License-Identifier: Apache-2.0
//
// Who may include whom, in the harness and the reports: between rooms by a table that has an order, between
// units (x.hpp with x.cpp) never in a circle.

#include "sources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace assay::rules {
namespace {

using testing::IsEmpty;

using Names = std::set<std::string>;

/// The files that each room may include, or that file of it alone; its own files always.
const std::map<std::string, Names> allowed{
    {"harness/include", {}},
    {"harness/base", {}},
    {"harness/stats", {}},
    {"harness/json", {"base"}},
    {"harness/extract", {"base"}},
    {"harness/record", {"base", "stats", "json"}},
    {"harness/decide", {"base", "stats", "json", "record"}},
    {"harness/machine", {"base", "json", "record"}},
    {"harness/plan", {"assay/machine.hpp", "base", "stats", "json", "record", "machine"}},
    {"harness/reference",
     {"base", "json", "record", "machine/cpu.hpp", "machine/files.hpp", "plan/manifest.hpp"}},
    {"harness/telemetry", {"base", "record", "machine"}},
    {"harness/process", {"base", "json", "record"}},
    {"harness/launch", {"base", "record", "plan", "process"}},
    {"harness/worker",
     {"assay/module.h", "assay/team.hpp", "base", "stats", "record", "machine", "plan", "telemetry",
      "process"}},
    {"harness/run",
     {"base", "stats", "json", "record", "decide", "machine", "plan", "reference", "telemetry",
      "process", "launch"}},
    {"harness/cli",
     {"base", "json", "record", "decide", "machine", "plan", "reference", "telemetry", "process",
      "launch", "worker", "run"}},
    {"reports/document", {"base", "json", "record"}},
    {"reports/store", {"base", "stats", "record", "decide", "reference", "document"}},
    {"reports/report", {"base", "stats", "json", "record", "decide", "reference", "document"}},
    {"reports/compare", {"base", "stats", "json", "record", "document", "store", "report"}},
    {"reports/judge",
     {"base", "stats", "json", "record", "decide", "reference", "document", "store", "report"}},
    {"reports/purchase", {"base", "stats", "json", "record", "reference", "document", "store"}},
    {"reports/import", {"base", "stats", "json", "extract", "record"}},
    {"reports/write", {"base", "json", "document"}},
    {"reports/history",
     {"base", "stats", "json", "record", "document", "store", "report", "write"}},
    {"reports/fleet",
     {"base", "stats", "json", "record", "decide", "document", "store", "report", "judge",
      "write"}},
    {"reports/predict", {"base", "stats", "json", "record", "document", "store", "write"}},
    {"reports/exchange",
     {"base", "stats", "json", "record", "decide", "document", "store", "compare", "judge",
      "write"}},
    {"reports/cli",
     {"base", "json", "record", "decide", "reference", "document", "store", "report", "compare",
      "judge", "purchase", "import", "write", "history", "fleet", "predict", "exchange"}},
};

/// How others name a room: "record", or "assay" for what benchmarks include.
std::string short_name(const std::string& room) {
    return room == "harness/include" ? "assay" : room.substr(room.find('/') + 1);
}

struct Include {
    Line line;
    std::string name;   ///< as written: "record/model.hpp"
    std::string target; ///< the file, relative to the root
};

/// Includes of our files, in quotes or angle brackets.
const std::vector<Include>& includes() {
    static const auto all = [] {
        static const std::regex pattern{R"(^\s*#\s*include\s+["<]([a-z_]+/[^">]+)[">])"};
        std::vector<Include> found;
        for (const auto& line : source_lines({"harness", "reports"})) {
            std::smatch match;
            if (!std::regex_search(line.text, match, pattern)) continue;
            const bool reports = line.file.starts_with("reports/");
            for (const auto* const top : {"reports/", "harness/", "harness/include/"}) {
                const auto target = top + match[1].str();
                if ((top == std::string_view{"reports/"} && !reports) || !fs::exists(root / target))
                    continue;
                found.push_back({line, match[1], target});
                break;
            }
        }
        return found;
    }();
    return all;
}

TEST(Rooms, IncludeOnlyWhatTheTableAllows) {
    std::vector<std::string> broken;
    for (const auto& include : includes()) {
        const auto room = room_of(include.line.file);
        const auto target = room_of(include.target);
        const auto entry = allowed.find(room);
        if (room == target) continue;
        if (entry == allowed.end() ||
            (!entry->second.contains(short_name(target)) && !entry->second.contains(include.name)))
            broken.push_back(at(include.line) + ": " + room + " may not include " + include.name);
    }
    EXPECT_THAT(broken, IsEmpty());
    EXPECT_GT(includes().size(), 1000U) << "a rule that reads nothing passes for ever";
}

TEST(Rooms, HaveAnOrder) {
    Names below;
    auto left = allowed;
    const auto stands = [&](const auto& room) {
        return std::ranges::all_of(room.second, [&](const std::string& name) {
            return below.contains(name.substr(0, name.find('/')));
        });
    };
    while (true) {
        const auto next = std::ranges::find_if(left, stands);
        if (next == left.end()) break;
        below.insert(short_name(next->first));
        left.erase(next);
    }
    Names circle;
    for (const auto& [room, targets] : left) circle.insert(room);
    EXPECT_THAT(circle, IsEmpty()) << "each of them needs another one of them";
}

/// "judge": the namespace of a room. The foundation is `assay` itself, and two rooms cannot have their folder's name:
/// one is a word of C++, of the other there are two.
std::string namespace_of(const std::string& room) {
    static const std::map<std::string, std::string> others{{"harness/include", ""},
                                                           {"harness/base", ""},
                                                           {"reports/import", "imports"},
                                                           {"reports/cli", "reports_cli"}};
    const auto other = others.find(room);
    return other == others.end() ? short_name(room) : other->second;
}

TEST(Rooms, AreNamespaces) {
    // Lists of the fields of other rooms' types are in the namespace of the type, where JSON looks for them.
    const Names lists{"harness/record/layout.hpp json",
                      "reports/exchange/comparison_json.cpp compare",
                      "reports/fleet/data.cpp decide",
                      "reports/history/history_csv.cpp store",
                      "reports/predict/prediction_data.cpp stats",
                      "reports/purchase/catalog_document.cpp reference",
                      "reports/purchase/procurement.cpp stats",
                      "reports/purchase/usage.cpp stats",
                      "reports/report/json.cpp document"};
    static const std::regex pattern{R"(^namespace assay(::([a-z_]+))?.* \{$)"};
    std::vector<std::string> broken;
    std::size_t found = 0;
    for (const auto& line : source_lines({"harness", "reports"})) {
        std::smatch match;
        if (!std::regex_search(line.text, match, pattern)) continue;
        const auto name = namespace_of(room_of(line.file));
        ++found;
        if (!name.empty() && match[2] != name && !lists.contains(line.file + " " + match[2].str()))
            broken.push_back(at(line) + ": " + match[2].str() + " instead of " + name);
    }
    EXPECT_THAT(broken, IsEmpty());
    EXPECT_GT(found, 400U);
}

TEST(Rooms, AreHeldInOnesHead) {
    constexpr std::size_t most = 30; // sources; about 25, more where they are short
    for (const auto* const top : {"harness", "reports"})
        for (const auto& entry : fs::directory_iterator{root / top}) {
            if (!entry.is_directory()) continue;
            const auto room = fs::relative(entry.path(), root).string();
            const auto count = std::ranges::count_if(files_below(room), is_source);
            EXPECT_LE(static_cast<std::size_t>(count), most) << room;
            EXPECT_TRUE(count == 0 || allowed.contains(room)) << room << " is not in the table";
        }
}

// --- units ----------------------------------------------------------------------------------------

/// "harness/machine/nvml": a file without its ending; the files of nvml* are one.
std::string unit_of(const std::string& file) {
    const auto unit = fs::path{file}.replace_extension().string();
    const auto name = unit.find("/nvml_");
    return name == std::string::npos ? unit : unit.substr(0, name) + "/nvml";
}

using Needs = std::map<std::string, Names>;

Names reached_from(const Needs& needs, const std::string& unit) {
    Names reached;
    std::vector<std::string> open{unit};
    while (!open.empty()) {
        const auto found = needs.find(open.back());
        open.pop_back();
        if (found == needs.end()) continue;
        for (const auto& next : found->second)
            if (reached.insert(next).second) open.push_back(next);
    }
    return reached;
}

TEST(Units, NeedEachOtherInNoCircle) {
    // A circle comes of a header that holds both the types of a room and the way in: split it. Of these, units
    // only leave.
    const std::map<std::string, Names> known{
        {"reports/store", {"collection", "digest", "find"}},
        {"reports/compare", {"arrange", "comparison", "contrast", "sides", "units"}},
        {"reports/history",
         {"attribution", "change_points", "facts", "history", "tracks", "trends", "words"}},
    };
    Needs needs;
    for (const auto& include : includes())
        if (unit_of(include.line.file) != unit_of(include.target))
            needs[unit_of(include.line.file)].insert(unit_of(include.target));
    std::map<std::string, Names> circles;
    for (const auto& [unit, targets] : needs)
        if (reached_from(needs, unit).contains(unit))
            circles[room_of(unit)].insert(fs::path{unit}.filename().string());
    EXPECT_EQ(circles, known);
}

} // namespace
} // namespace assay::rules
