// SPDX-License-Identifier: Apache-2.0

#include "store/load.hpp"

#include "base/console.hpp"
#include "base/on_all_cores.hpp"
#include "document/language.hpp"
#include "document/texts/store.hpp"
#include "record/reader.hpp"
#include "reference/sheet_bounds.hpp"

#include <algorithm>
#include <mutex>
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
    Loader(std::span<const std::filesystem::path> files, const MetricChoice& choice, Pools& pools)
        : files_{files}, choice_{choice}, pools_{pools}, loaded_(files.size()) {}

    std::vector<Loaded> run() {
        on_all_cores(
            files_.size(), [this](std::size_t i) { read(i); },
            std::min(most_threads, files_.size() / files_a_thread + 1));
        return std::move(loaded_);
    }

private:
    void read(std::size_t i) {
        std::string stale;
        auto run =
            record::read_run(files_[i], {.values = false, .details = false, .stale = &stale});
        if (!run) {
            loaded_[i].problem = reason_of(run.error(), files_[i]);
            return;
        }
        if (!stale.empty()) {
            loaded_[i].problem = say<text::store::stale>(stale);
            loaded_[i].is_stale = true;
            return;
        }
        harness::add_missing_bounds(*run);
        Digester digester{*std::move(run), choice_};
        const std::scoped_lock lock{mutex_};
        loaded_[i].digest = digester.finish(pools_);
    }

    std::span<const std::filesystem::path> files_;
    const MetricChoice& choice_;
    Pools& pools_;
    std::vector<Loaded> loaded_;
    std::mutex mutex_; ///< of pools_
};

} // namespace

std::vector<Loaded> load(std::span<const std::filesystem::path> files, const MetricChoice& choice,
                         Pools& pools) {
    return Loader{files, choice, pools}.run();
}

} // namespace assay::report
