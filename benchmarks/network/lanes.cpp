// SPDX-License-Identifier: Apache-2.0
#include "lanes.hpp"

#include <algorithm>

namespace assay::network {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view next_word(std::string_view& text) {
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return text = {};
    text.remove_prefix(begin);
    const auto end = std::min(text.find_first_of(blanks), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

/// "0:tcp/lo.0": the number of the resource before, that of its path behind.
bool read_resource(std::string_view word, Lane& lane) {
    const auto colon = word.find(':');
    const auto slash = word.find('/');
    const auto dot = word.rfind('.');
    if (colon == std::string_view::npos || slash == std::string_view::npos || slash < colon)
        return false;
    const auto end = dot == std::string_view::npos || dot < slash ? word.size() : dot;
    lane.transport = word.substr(colon + 1, slash - colon - 1);
    lane.device = word.substr(slash + 1, end - slash - 1);
    return !lane.transport.empty() && !lane.device.empty();
}

template <class Member>
std::string each_once(const std::vector<Lane>& lanes, Member member) {
    std::vector<std::string_view> seen;
    std::string text;
    for (const auto& lane : lanes) {
        const std::string& value = lane.*member;
        if (std::ranges::find(seen, value) != seen.end()) continue;
        seen.push_back(value);
        if (!text.empty()) text += ", ";
        text += value;
    }
    return text;
}

} // namespace

std::vector<Lane> lanes_of(std::string_view info) {
    std::vector<Lane> lanes;
    while (!info.empty()) {
        const auto end = std::min(info.find('\n'), info.size());
        std::string_view line = info.substr(0, end);
        info.remove_prefix(std::min(end + 1, info.size()));
        const auto at = line.find("lane[");
        const auto colon = line.find("]:", at == std::string_view::npos ? line.size() : at);
        const auto arrow = line.find("->");
        if (at == std::string_view::npos || colon == std::string_view::npos ||
            arrow == std::string_view::npos || arrow < colon)
            continue;
        Lane lane;
        auto resource = line.substr(colon + 2);
        if (!read_resource(next_word(resource), lane)) continue;
        auto rest = line.substr(arrow + 2);
        next_word(rest); // the partner's end
        for (auto word = next_word(rest); !word.empty(); word = next_word(rest)) {
            if (!lane.uses.empty()) lane.uses += ' ';
            lane.uses += word;
        }
        lanes.push_back(std::move(lane));
    }
    return lanes;
}

std::string transports_of(const std::vector<Lane>& lanes) {
    return each_once(lanes, &Lane::transport);
}

std::string devices_of(const std::vector<Lane>& lanes) { return each_once(lanes, &Lane::device); }

std::string words_of(const std::vector<Lane>& lanes) {
    std::string text;
    for (const auto& lane : lanes) {
        if (!text.empty()) text += "; ";
        text += lane.transport + '/' + lane.device;
        if (!lane.uses.empty()) text += " (" + lane.uses + ')';
    }
    return text;
}

} // namespace assay::network
