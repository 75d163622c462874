// SPDX-License-Identifier: Apache-2.0
#include "launch/siblings.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace assay::harness {
namespace {

/// Have all whose window counts reached this point, or come to an end?
bool have_all(const std::vector<Sibling>& siblings, std::string_view point) {
    return std::ranges::all_of(siblings, [&](const Sibling& sibling) {
        const auto& session = *sibling.session;
        const bool counts = point == message::ready || !sibling.request.only_load;
        return !counts || session.is_over() || session.reached() == point;
    });
}

} // namespace

std::vector<message::Result> measure_together(const std::vector<Sibling>& siblings,
                                              const Watch& watch) {
    std::vector<Session*> sessions;
    for (const auto& sibling : siblings) {
        sibling.session->begin(sibling.request, watch);
        sessions.push_back(sibling.session);
    }
    const auto let_all_proceed = [&](std::string_view point) {
        for (const auto& sibling : siblings)
            if (!sibling.session->is_over())
                // A load has no window: it works until its siblings have measured.
                sibling.session->proceed(point,
                                         point == message::measured || !sibling.request.only_load);
    };
    const auto over = [](const Session* session) { return session->is_over(); };
    for (bool gone = false, finished = false; !std::ranges::all_of(sessions, over);) {
        std::vector<Session*> open;
        std::ranges::copy_if(sessions, std::back_inserter(open),
                             [&](const Session* session) { return !over(session); });
        if (!wait_for_any(open, watch))
            for (auto* session : open) session->interrupt();
        for (auto* session : open) session->step();
        if (!gone && have_all(siblings, message::ready)) {
            gone = true;
            let_all_proceed(message::ready);
        }
        if (gone && !finished && have_all(siblings, message::measured)) {
            finished = true;
            let_all_proceed(message::measured);
        }
    }
    std::vector<message::Result> answers;
    for (auto* session : sessions) answers.push_back(session->answer());
    return answers;
}

} // namespace assay::harness
