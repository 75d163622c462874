// SPDX-License-Identifier: Apache-2.0
//
// A library of NVIDIA's as it is found when it is first needed: a module that is linked to one loads with that version
// alone, and not at all where it is missing.

#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <span>
#include <string>

namespace assay::device {

class Opened {
public:
    /// The first of these names that can be loaded.
    Opened(const std::string& library, std::initializer_list<const char*> names) : name_{library} {
        for (const char* name : names) {
            // Never closed: the library's threads and its memory on the device outlive a module.
            library_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
            if (library_ != nullptr) {
                why_not_.clear();
                return;
            }
            why_not_ += why_not_.empty() ? library + " cannot be loaded: " : "; ";
            why_not_ += ::dlerror();
        }
    }
    /// Why the library was not loaded; empty if it was.
    const std::string& why_not() const { return why_not_; }
    /// The same, or which of these functions it lacks, all of which are there since that release.
    std::string why_not(std::span<const char* const> needed, const std::string& since) const {
        if (library_ == nullptr) return why_not_;
        for (const char* name : needed)
            if (function(name) == nullptr)
                return name_ + " has no " + name + ": it is older than " + since;
        return {};
    }
    /// Its function of that name, or null.
    void* function(const char* name) const {
        return library_ == nullptr ? nullptr : ::dlsym(library_, name);
    }

private:
    std::string name_;
    void* library_ = nullptr;
    std::string why_not_;
};

} // namespace assay::device
