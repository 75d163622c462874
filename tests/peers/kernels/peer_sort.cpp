// SPDX-License-Identifier: Apache-2.0
//
// The keys of sort.radix, sorted by others: peer_sort gnu|boost|spreadsort|vqsort uint32|uint64 uniform|skewed COUNT
// THREADS; takes turns, see pipe.hpp. They sort in place: what is timed is a copy of the keys and the sort, as
// sort.radix leaves its input as it is.
#include "pipe.hpp"
#include "sort/keys.hpp"

#include <assay/host.hpp>

#if __has_include(<boost/sort/sort.hpp>)
#include <boost/sort/sort.hpp>
#define ASSAY_HAS_BOOST_SORT
#endif
#ifdef ASSAY_HAS_VQSORT
#include <hwy/contrib/sort/vqsort.h>
#endif
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <parallel/algorithm>
#include <string>

namespace {

using namespace assay;
using assay::sort::Distribution;

template <class Key>
bool sort_by(const std::string& method, Key* first, std::size_t count, int threads) {
    if (method == "gnu") {
        __gnu_parallel::sort(first, first + count);
        return true;
    }
#ifdef ASSAY_HAS_BOOST_SORT
    if (method == "boost") {
        boost::sort::block_indirect_sort(first, first + count, static_cast<unsigned>(threads));
        return true;
    }
    if (method == "spreadsort") {
        boost::sort::spreadsort::integer_sort(first, first + count);
        return true;
    }
#endif
#ifdef ASSAY_HAS_VQSORT
    if (method == "vqsort") {
        hwy::Sorter{}(first, count, hwy::SortAscending{});
        return true;
    }
#endif
    static_cast<void>(threads);
    return false;
}

template <class Key>
int run(const std::string& method, Distribution distribution, std::size_t count, int threads) {
    HostBuffer<Key> in{count, {.threads = threads}};
    HostBuffer<Key> out{count, {.threads = threads, .offset = 17 * cache_line}};
    assay::detail::fill(in.view(), threads, [=](std::size_t i) {
        return assay::sort::keys::key_at<Key>(distribution, i);
    });
    const auto once = [&] {
        on_each_slice(threads, count, line_granule<Key>, [&](Slice slice) {
            std::copy_n(in.data() + slice.first, slice.size(), out.data() + slice.first);
        });
        return sort_by(method, out.data(), count, threads);
    };
    if (!once() || !std::ranges::is_sorted(out.view())) {
        std::cerr << method << " is not there, or does not sort\n";
        return 1;
    }
    return peers::answer_turns(static_cast<double>(count), method, [&](std::size_t calls) {
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < calls; ++i) once();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 6) {
        std::cerr << "usage: peer_sort METHOD uint32|uint64 uniform|skewed COUNT THREADS\n";
        return 2;
    }
    const auto distribution =
        std::string{argv[3]} == "uniform" ? Distribution::uniform : Distribution::skewed;
    const auto count = std::strtoul(argv[4], nullptr, 10);
    const auto threads = static_cast<int>(std::strtol(argv[5], nullptr, 10));
    omp_set_num_threads(threads);
    return std::string{argv[2]} == "uint32"
               ? run<std::uint32_t>(argv[1], distribution, count, threads)
               : run<std::uint64_t>(argv[1], distribution, count, threads);
}
