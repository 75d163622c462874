// SPDX-License-Identifier: Apache-2.0
//
// Where the ranks of a communicator of nccl.cpp meet, in one process or in several of this machine: a table that they
// wait at, and a file for each rank, for what it sends.

#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace assay::device_on_cpu {

using Bytes = std::vector<char>;

/// In memory that all processes of a communicator share.
struct Table {
    std::atomic<int> joined;
    std::atomic<int> arrived;
    std::atomic<int> round;
    std::atomic<int> failed;
};

/// A file in memory that the ranks of this machine reach by its name.
class SharedFile {
public:
    explicit SharedFile(std::string name)
        : name_{std::move(name)}, file_{::shm_open(name_.c_str(), O_RDWR | O_CREAT, 0600)} {}
    ~SharedFile() { ::close(file_); }
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;

    void forget_name() const { ::shm_unlink(name_.c_str()); }
    bool write(const Bytes& all) const {
        return ::pwrite(file_, all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()) &&
               ::ftruncate(file_, static_cast<off_t>(all.size())) == 0;
    }
    Bytes read() const {
        struct stat status{};
        ::fstat(file_, &status);
        Bytes all(static_cast<std::size_t>(status.st_size));
        if (::pread(file_, all.data(), all.size(), 0) != status.st_size) all.clear();
        return all;
    }
    Table* map() const {
        if (::ftruncate(file_, sizeof(Table)) != 0) return nullptr;
        void* const at =
            ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        return at == MAP_FAILED ? nullptr : static_cast<Table*>(at);
    }

private:
    std::string name_;
    int file_;
};

/// State shared by the ranks of a communicator in this process.
class Meeting {
public:
    Meeting(const std::string& name, int ranks)
        : ranks_{ranks}, table_file_{name}, table_{table_file_.map()} {
        for (int rank = 0; rank < ranks; ++rank)
            boxes_.push_back(std::make_unique<SharedFile>(name + '-' + std::to_string(rank)));
    }
    ~Meeting() {
        if (table_ != nullptr) ::munmap(table_, sizeof *table_);
    }
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;

    int ranks() const { return ranks_; }
    const SharedFile& box(int rank) const { return *boxes_[static_cast<std::size_t>(rank)]; }
    void fail() const { table_->failed = 1; }

    /// Waits until all have the files open; then nobody needs their names.
    bool join(int count) {
        local_ += count;
        table_->joined += count;
        const bool together = until([&] { return table_->joined >= ranks_; });
        table_file_.forget_name();
        for (const auto& box : boxes_) box->forget_name();
        return together;
    }
    /// `count` ranks of this process are here. false: a rank of this process is missing, or another process has failed.
    bool wait(int count) const {
        const int round = table_->round;
        if (table_->arrived.fetch_add(count) + count == ranks_) {
            table_->arrived = 0;
            ++table_->round;
            return true;
        }
        if (count < local_) return false;
        return until([&] { return table_->round != round; });
    }

private:
    template <class Done>
    bool until(const Done& done) const {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (!done()) {
            if (table_->failed != 0 || std::chrono::steady_clock::now() > end) return false;
            std::this_thread::yield();
        }
        return true;
    }
    int ranks_;
    int local_ = 0;
    SharedFile table_file_;
    Table* table_;
    std::vector<std::unique_ptr<SharedFile>> boxes_;
};

} // namespace assay::device_on_cpu
