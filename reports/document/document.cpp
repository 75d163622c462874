// SPDX-License-Identifier: Apache-2.0

#include "document/document.hpp"

namespace assay::document {

const char* to_string(Tone tone) {
    switch (tone) {
    case Tone::good:
        return "good";
    case Tone::weak:
        return "weak";
    case Tone::bad:
        return "bad";
    case Tone::quiet:
        return "quiet";
    case Tone::plain:
        break;
    }
    return "plain";
}

const char* to_string(Severity severity) {
    switch (severity) {
    case Severity::note:
        return "note";
    case Severity::caution:
        return "caution";
    case Severity::serious:
        break;
    }
    return "serious";
}

} // namespace assay::document
