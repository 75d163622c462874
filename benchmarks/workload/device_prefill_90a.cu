// SPDX-License-Identifier: Apache-2.0
//
// The attention of a prompt by wgmma. Compiled for compute capability 9.0a alone, which no other device runs.

#include "device/launch.cuh"
#include "device/wgmma.cuh"
#include "workload/device_prefill_kernels.cuh"

namespace assay::workload {
namespace {

/// Two warpgroups with 64 rows each pass over tiles of 128 keys. While the units for special functions turn scores of a
/// tile into weights, the matrix units multiply the weights of the tile before with its values: FlashAttention-3
/// (arXiv:2407.08608), with one barrier for each tile instead of a warp that copies.
struct ByWgmma {
    static constexpr unsigned threads = 256;
    static constexpr unsigned rows = 128;
    static constexpr unsigned keys = 128; ///< of a tile
    static constexpr unsigned alignment = 1024;
    static constexpr unsigned shared_bytes(unsigned size) {
        return (rows + 5 * keys) * size * 2 + alignment; // three of keys, two of values
    }
};

template <class T, unsigned size>
__global__ void __launch_bounds__(ByWgmma::threads, 1) prefill_by_wgmma(Prefill<T> of) {
    using By = ByWgmma;
    using QueryTile = device::Tile<By::rows, size>;
    using KeyTile = device::Tile<By::keys, size>;
    const PrefillBlock<T, By::rows, size> block{of};
    const unsigned shared =
        (device::shared_address(device::dynamic_shared<T>()) + By::alignment - 1) / By::alignment *
        By::alignment;
    const QueryTile q{shared};
    const auto k = [&](unsigned tile) {
        return KeyTile{shared + q.bytes + tile % 3 * KeyTile::bytes};
    };
    const auto v = [&](unsigned tile) {
        return KeyTile{shared + q.bytes + (3 + tile % 2) * KeyTile::bytes};
    };
    const auto copy_keys = [&](unsigned tile) {
        if (tile * By::keys < block.end)
            k(tile).template copy<By::threads>(block.keys, tile * By::keys, block.end);
    };
    const auto copy_values = [&](unsigned tile) {
        if (tile * By::keys < block.end)
            v(tile).template copy<By::threads>(block.values, tile * By::keys, block.end);
    };
    // Copies that this thread queued have ended, and all threads may read them.
    const auto receive = [] {
        device::fence_before_bulk();
        __syncthreads();
    };

    const unsigned row = block.first + threadIdx.x / warp * 16; // the warp's first
    const unsigned group_row = threadIdx.x / 128 * 64;          // the warpgroup's
    const auto queries = device::TileMatrix<By::rows, size>::along_rows(q, group_row);
    unsigned end[2]; // of the keys of each row
#pragma unroll
    for (unsigned half = 0; half < 2; ++half)
        end[half] = of.is_causal ? lower_of(row + threadIdx.x % warp / 4 + 8 * half + 1, of.tokens)
                                 : of.tokens;
    OnlineSoftmax softmax;
    float sums[size / 8][4] = {};
    float scores[By::keys / 8][4] = {};
    unsigned weights[By::keys / 16][4];
    const auto add_scores = [&](unsigned tile) {
        const auto keys = device::TileMatrix<By::keys, size>::along_rows(k(tile));
#pragma unroll
        for (unsigned step = 0; step < size / 16; ++step)
            device::multiply_rows<is_bf16<T>>(scores, queries.along(step), keys.along(step),
                                              step > 0);
        device::close_wgmma();
    };
    const auto add_values = [&](unsigned tile) {
        const auto values = device::TileMatrix<By::keys, size>::across_rows(v(tile));
#pragma unroll
        for (unsigned step = 0; step < By::keys / 16; ++step)
            device::multiply_columns<is_bf16<T>>(sums, weights[step], values.across(step));
        device::close_wgmma();
    };
    const auto weigh = [&](unsigned tile, float(&share)[2]) {
        const bool is_last =
            (tile + 1) * By::keys >= block.end; // the only one with keys to leave out
        softmax.weigh(scores, of.scale, is_last, tile * By::keys, end, share);
    };
    const auto pack = [&] {
#pragma unroll
        for (unsigned step = 0; step < By::keys / 16; ++step)
            pack_weights<T>(scores[2 * step], scores[2 * step + 1], weights[step]);
    };

    q.template copy<By::threads>(block.queries, block.first, of.tokens);
    copy_keys(0);
    device::close_copies();
    copy_values(0);
    copy_keys(1);
    device::close_copies();
    copy_keys(2);
    device::close_copies();
    device::wait_for_copies<2>();
    receive();
    device::begin_wgmma(scores);
    add_scores(0);
    device::wait_for_wgmma<0>(scores);
    float share[2];
    weigh(0, share);
    pack();
    const unsigned tiles = (block.end + By::keys - 1) / By::keys;
    for (unsigned tile = 0; tile + 1 < tiles; ++tile) {
        device::wait_for_copies<1>();
        receive(); // and the tiles before have been used
        copy_values(tile + 1);
        device::close_copies();
        device::begin_wgmma(sums, weights, scores);
        add_scores(tile + 1);
        add_values(tile);
        device::wait_for_wgmma<1>(scores);
        weigh(tile + 1, share);
        // A branch: without one the compiler waits for the sums before it computes the weights.
        copy_keys(tile + 3);
        device::close_copies();
        device::wait_for_wgmma<0>(sums);
        multiply_rows(sums, share);
        pack();
    }
    device::wait_for_copies<0>();
    receive();
    device::begin_wgmma(sums, weights);
    add_values(tiles - 1);
    device::wait_for_wgmma<0>(sums);
    store_rows(block.results, row, of.tokens, softmax, sums);
}

} // namespace

template <class T>
void launch_prefill_wgmma(const Prefill<T>& of, std::int64_t heads, std::int64_t head_size,
                          const device::Stream& stream) {
    using By = ByWgmma;
    const auto kernel = head_size == 64 ? prefill_by_wgmma<T, 64> : prefill_by_wgmma<T, 128>;
    const unsigned shared = By::shared_bytes(static_cast<unsigned>(head_size));
    device::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shared)));
    device::launch(kernel,
                   {static_cast<unsigned>(heads * of.blocks_of_head(By::rows)), By::threads,
                    stream.get(), shared},
                   of);
}
template void launch_prefill_wgmma(const Prefill<__nv_bfloat16>&, std::int64_t, std::int64_t,
                                   const device::Stream&);
template void launch_prefill_wgmma(const Prefill<__half>&, std::int64_t, std::int64_t,
                                   const device::Stream&);

} // namespace assay::workload
