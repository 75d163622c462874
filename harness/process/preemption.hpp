// SPDX-License-Identifier: Apache-2.0
//
// Will the cloud provider take this machine back? Asks its metadata service over plain HTTP, every five seconds: EC2
// says so two minutes ahead, Alibaba Cloud five, GCE and Azure 30 seconds. Only an answer in the documented form is a
// notice. The thread sleeps in between and holds no CPU of a case.

#pragma once

#include "base/result.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace assay::process {

class PreemptionWatch {
public:
    /// Is it ec2, gce, azure, alibaba, tencent, or an http:// URL whose path is that of one of them? Nothing is asked.
    static Result<void> check(std::string_view what);
    /// `what`: as above. The first question is asked here: a
    /// service that does not answer is an error of the environment, another text one of usage. `on_notice` is
    /// called once, by this call or by another thread. Later questions without an answer are asked again.
    static Result<std::unique_ptr<PreemptionWatch>>
    begin(std::string_view what, std::function<void()> on_notice,
          std::chrono::milliseconds every = std::chrono::seconds{5});
    PreemptionWatch(const PreemptionWatch&) = delete;
    PreemptionWatch& operator=(const PreemptionWatch&) = delete;
    PreemptionWatch(PreemptionWatch&&) = delete;
    PreemptionWatch& operator=(PreemptionWatch&&) = delete;
    ~PreemptionWatch(); ///< asks no more

    /// UTC time of the last answer, if none of the three questions since then got one; otherwise empty.
    std::string silent_since() const;

private:
    struct Watch;
    explicit PreemptionWatch(std::unique_ptr<Watch> watch);
    std::unique_ptr<Watch> watch_;
};

// --- signals -------------------------------------------------------------------------------------
// SIGINT, SIGTERM and SIGHUP (the terminal is gone) during a run: the first one ends it in order, a second one ends
// this process at once, as without a handler. Those that were ignored before (nohup) remain so. One object at a time.

class Signals {
public:
    /// `limit_seconds`: after which SIGALRM counts as such a signal; never unless given.
    explicit Signals(std::optional<double> limit_seconds = {});
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    Signals(Signals&&) = delete;
    Signals& operator=(Signals&&) = delete;
    ~Signals(); ///< restores the previous handlers

    /// Acts like the first signal, from any thread; caught() is `preempted` then.
    void preempt();
    static constexpr int preempted = -1;

    int caught() const;                            ///< the first signal, or 0
    int descriptor() const { return descriptor_; } ///< readable after a signal

private:
    int descriptor_;
};

} // namespace assay::process
