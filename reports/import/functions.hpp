// SPDX-License-Identifier: Apache-2.0
//
// What a description cannot say: a function for it, by name. Each completes a reading that the rules have begun.

#pragma once

#include "import/draft.hpp"
#include "import/output.hpp"

#include <string>
#include <string_view>

namespace assay::imports {

/// A case in the making.
struct Making {
    Output& output;
    Record& record;
    Reading& reading;
    Draft& draft;
    std::string_view source; ///< the file's name

    std::string_view text(std::string_view field) const { return text_of(record.fields, field); }
    /// False: there is no case.
    bool skip(std::string reason) const {
        draft.skip(record.where, record.text, std::move(reason));
        return false;
    }
};
/// True: the reading is complete, and becomes a case. Otherwise the function has said why not, or has added cases itself.
using Function = Result<bool> (*)(Making&);
/// One of function_names.
Function function_named(std::string_view name);

// applications.cpp
Result<bool> make_gbench(Making& making);
Result<bool> make_llama(Making& making);
// nccl.cpp
Result<bool> make_nccl(Making& making);

} // namespace assay::imports
