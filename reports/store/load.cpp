// SPDX-License-Identifier: Apache-2.0

#include "store/load.hpp"

#include "record/reader.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace assay::report {
namespace {

/// Reading is half waiting for memory: more threads than this gain nothing.
constexpr std::size_t most_threads = 16;
/// Files that are worth another thread: starting one takes about as long as reading one.
constexpr std::size_t files_a_thread = 4;

/// The reader's message without the file's name in front, which a Problem has apart.
std::string reason_of(const Error& error, const std::filesystem::path& file) {
    std::string_view text = error.message;
    const std::string name = file.string() + ": ";
    if (text.starts_with(name)) text.remove_prefix(name.size());
    return plain(text);
}

class Loader {
public:
    Loader(std::span<const std::filesystem::path> files, Pools& pools)
        : files_{files}, pools_{pools}, loaded_(files.size()) {}

    std::vector<Loaded> run() {
        const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
        const std::size_t threads =
            std::min({cores, most_threads, files_.size() / files_a_thread + 1});
        {
            std::vector<std::jthread> others;
            for (std::size_t i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
            work();
        }
        if (broken_) std::rethrow_exception(broken_);
        return std::move(loaded_);
    }

private:
    void work() noexcept {
        for (std::size_t i = next_++; i < files_.size(); i = next_++) {
            try {
                read(i);
            } catch (...) { // out of memory: told to whoever asked, in their thread
                const std::scoped_lock lock{mutex_};
                broken_ = std::current_exception();
                next_ = files_.size();
            }
        }
    }

    void read(std::size_t i) {
        auto run = record::read_run(files_[i], {.values = false, .details = false});
        if (!run) {
            loaded_[i].problem = reason_of(run.error(), files_[i]);
            return;
        }
        Digester digester{*std::move(run)};
        const std::scoped_lock lock{mutex_};
        loaded_[i].digest = digester.finish(pools_);
    }

    std::span<const std::filesystem::path> files_;
    Pools& pools_;
    std::vector<Loaded> loaded_;
    std::atomic<std::size_t> next_ = 0;
    std::mutex mutex_; ///< of pools_ and broken_
    std::exception_ptr broken_;
};

} // namespace

std::vector<Loaded> load(std::span<const std::filesystem::path> files, Pools& pools) {
    return Loader{files, pools}.run();
}

} // namespace assay::report
