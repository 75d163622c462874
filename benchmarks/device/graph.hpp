// SPDX-License-Identifier: Apache-2.0
//
// A CUDA graph of what a function queues on a stream: many operations that are launched as one.

#pragma once

#include "device/handles.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>

namespace assay::device {

class Graph {
public:
    /// Captures what `queue` queues on `stream`. Its kernels have been
    /// launched before: a graph cannot contain loading one.
    template <class Queue>
    Graph(const Stream& stream, Queue&& queue) {
        check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
        cudaGraph_t raw = nullptr;
        try {
            queue();
        } catch (...) {
            cudaStreamEndCapture(stream.get(), &raw);
            if (raw != nullptr) cudaGraphDestroy(raw);
            throw;
        }
        check(cudaStreamEndCapture(stream.get(), &raw));
        const std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, Destroy> graph{raw};
        check(cudaGraphGetNodes(raw, nullptr, &operations_));
        cudaGraphExec_t made = nullptr;
        check(cudaGraphInstantiate(&made, raw, 0));
        made_.reset(made);
        check(cudaGraphUpload(made, stream.get()));
        stream.wait();
    }
    void launch(const Stream& stream) const { check(cudaGraphLaunch(made_.get(), stream.get())); }
    /// Kernels and copies in it.
    std::size_t operations() const { return operations_; }

private:
    struct Destroy {
        void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
        void operator()(cudaGraphExec_t made) const { cudaGraphExecDestroy(made); }
    };
    std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy> made_;
    std::size_t operations_ = 0;
};

} // namespace assay::device
