// SPDX-License-Identifier: Apache-2.0

#include "store/index.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

namespace assay::report {
namespace {

namespace fs = std::filesystem;

/// Changed together with what digests mean, and with what is asked of a file before it is a row; how they are laid out is
/// in the shape anyway.
constexpr int format = 4;

/// Longer rows than any run has: a file that holds them is not ours.
constexpr int longest = 64 << 20U; // bytes

std::string shape() { return fmt::format("{} {}", format, hash_of(digest_shape())); }

std::int64_t checksum(std::string_view name, std::string_view bytes) {
    Hash hash;
    hash.add(name);
    hash.add(bytes);
    return static_cast<std::int64_t>(hash.value());
}

/// One prepared statement, used over and over. One that could not be prepared says no to everything.
class Statement {
public:
    Statement(sqlite3* database, std::string_view sql) {
        sqlite3_stmt* made = nullptr;
        sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &made, nullptr);
        statement_.reset(made);
    }
    template <class... Values>
    Statement& bind(const Values&... values) {
        sqlite3_reset(statement_.get());
        int column = 0;
        (bind_one(++column, values), ...);
        return *this;
    }
    bool row() { return step() == SQLITE_ROW; }
    bool done() { return step() == SQLITE_DONE; }
    /// There was no further row, rather than something wrong with it.
    bool ended() const { return outcome_ == SQLITE_DONE; }

    std::int64_t number(int column) { return sqlite3_column_int64(statement_.get(), column); }
    std::string_view bytes(int column) {
        const void* data = sqlite3_column_blob(statement_.get(), column);
        const auto size = sqlite3_column_bytes(statement_.get(), column);
        return {static_cast<const char*>(data),
                data == nullptr ? 0 : static_cast<std::size_t>(size)};
    }

private:
    int step() { return outcome_ = sqlite3_step(statement_.get()); }
    void bind_one(int column, std::int64_t value) {
        sqlite3_bind_int64(statement_.get(), column, value);
    }
    void bind_one(int column, std::string_view value) {
        sqlite3_bind_blob64(statement_.get(), column, value.data(), value.size(), SQLITE_STATIC);
    }

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int outcome_ = SQLITE_OK;
};

class Database {
public:
    Database(const fs::path& path, int flags) {
        sqlite3* opened = nullptr;
        const int outcome =
            sqlite3_open_v2(path.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
        database_.reset(opened); // there even where opening failed
        if (outcome != SQLITE_OK) {
            database_.reset();
            return;
        }
        constexpr int patience = 500; // milliseconds; a writer takes about 200
        sqlite3_busy_timeout(opened, patience);
        sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, longest);
        // What a schema that is not ours could do.
        for (const int option : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                                 SQLITE_DBCONFIG_TRUSTED_SCHEMA})
            sqlite3_db_config(opened, option, 0, nullptr);
        sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    }
    explicit operator bool() const { return database_ != nullptr; }
    bool run(const char* sql) {
        return sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
    }
    Statement prepare(std::string_view sql) { return {database_.get(), sql}; }
    bool is_damaged() const {
        const int code = sqlite3_errcode(database_.get());
        return code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
    }

private:
    struct Close {
        void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    };
    std::unique_ptr<sqlite3, Close> database_;
};

using PoolMember = Pool Pools::*;
constexpr std::array<PoolMember, 4> pool_members{&Pools::machines, &Pools::series, &Pools::settings,
                                                 &Pools::others};

bool makes_sense(std::size_t pool, std::string_view bytes) {
    switch (pool) {
    case 0:
        return unpacked<record::Machine>(bytes).has_value();
    case 1:
        return unpacked<Series>(bytes).has_value();
    case 2:
        return unpacked<record::NamedList>(bytes).has_value();
    default:
        return unpacked<std::vector<MetricKind>>(bytes).has_value();
    }
}

bool read_pools(Database& database, Pools& pools) {
    auto items =
        database.prepare("SELECT pool, number, checksum, bytes FROM shared ORDER BY pool, number");
    while (items.row()) {
        const auto which = static_cast<std::size_t>(items.number(0));
        const std::string_view bytes = items.bytes(3);
        if (which >= pool_members.size() || items.number(2) != checksum("", bytes) ||
            !makes_sense(which, bytes))
            return false;
        Pool& pool = pools.*pool_members.at(which);
        const auto expected = static_cast<std::int64_t>(pool.size());
        if (items.number(1) != expected || pool.add(bytes) != expected) return false;
    }
    return items.ended();
}

bool read_rows(Database& database, std::vector<IndexRow>& rows) {
    auto runs =
        database.prepare("SELECT path, inode, size, modified, changed, checksum, digest FROM run");
    while (runs.row()) {
        const std::string_view digest = runs.bytes(6);
        if (runs.number(5) != checksum(runs.bytes(0), digest)) return false;
        rows.push_back({.within = std::string{runs.bytes(0)},
                        .stamp = {.inode = static_cast<std::uint64_t>(runs.number(1)),
                                  .size = runs.number(2),
                                  .modified = runs.number(3),
                                  .changed = runs.number(4)},
                        .digest = std::string{digest}});
    }
    return runs.ended();
}

/// 0 where the tables are not there or of another shape.
std::int64_t generation_of(Database& database) {
    auto about = database.prepare("SELECT shape, generation FROM about");
    if (!about.row() || about.bytes(0) != shape()) return 0;
    return about.number(1);
}

bool make_tables(Database& database) {
    return database.run("DROP TABLE IF EXISTS about; DROP TABLE IF EXISTS shared;"
                        "DROP TABLE IF EXISTS run;"
                        "CREATE TABLE about(shape BLOB, generation INTEGER);"
                        "CREATE TABLE shared(pool INTEGER, number INTEGER, checksum INTEGER,"
                        " bytes BLOB, PRIMARY KEY(pool, number));"
                        "CREATE TABLE run(path BLOB PRIMARY KEY, inode INTEGER, size INTEGER,"
                        " modified INTEGER, changed INTEGER, checksum INTEGER, digest BLOB)");
}

bool write_pools(Database& database, const Pools& pools) {
    auto insert = database.prepare("INSERT OR IGNORE INTO shared VALUES(?, ?, ?, ?)");
    for (std::size_t which = 0; which < pool_members.size(); ++which) {
        const Pool& pool = pools.*pool_members.at(which);
        for (std::size_t i = 0; i < pool.size(); ++i)
            if (!insert
                     .bind(static_cast<std::int64_t>(which), static_cast<std::int64_t>(i),
                           checksum("", pool[i]), std::string_view{pool[i]})
                     .done())
                return false;
    }
    return true;
}

bool write_rows(Database& database, std::span<const IndexRow> rows,
                std::span<const std::string> gone) {
    auto insert = database.prepare("INSERT OR REPLACE INTO run VALUES(?, ?, ?, ?, ?, ?, ?)");
    for (const auto& row : rows)
        if (!insert
                 .bind(std::string_view{row.within}, static_cast<std::int64_t>(row.stamp.inode),
                       row.stamp.size, row.stamp.modified, row.stamp.changed,
                       checksum(row.within, row.digest), std::string_view{row.digest})
                 .done())
            return false;
    auto remove = database.prepare("DELETE FROM run WHERE path = ?");
    return std::ranges::all_of(
        gone, [&](const auto& path) { return remove.bind(std::string_view{path}).done(); });
}

enum class Written : std::uint8_t { yes, not_now, damaged };

/// `is_new`: whatever there is makes room.
Written write_all(Database& database, const Index& index, std::span<const IndexRow> rows,
                  std::span<const std::string> gone, bool is_new) {
    // A crash in between may leave half of it: the checksums tell. Waiting for the disk is for what
    // cannot be made again.
    if (!database.run("PRAGMA synchronous = OFF; BEGIN IMMEDIATE"))
        return database.is_damaged() ? Written::damaged : Written::not_now;
    const std::int64_t generation = generation_of(database);
    if (!is_new && generation != index.generation) return Written::not_now; // somebody was first
    if ((is_new || !index.usable) && !make_tables(database)) return Written::damaged;
    auto about = database.prepare("INSERT INTO about VALUES(?, ?)");
    const std::string now = shape();
    const bool done = database.run("DELETE FROM about") &&
                      about.bind(std::string_view{now}, generation + 1).done() &&
                      write_pools(database, index.pools) && write_rows(database, rows, gone) &&
                      database.run("COMMIT");
    return done ? Written::yes : Written::damaged;
}

} // namespace

fs::path index_path(const fs::path& folder) {
    fs::path cache;
    if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given == '/')
        cache = given;
    else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        cache = fs::path{home} / ".cache";
    std::error_code failed;
    const fs::path real = fs::canonical(folder, failed);
    if (cache.empty() || failed) return {};
    return cache / "assay" / (hash_of(real.native()) + ".sqlite");
}

Index read_index(const fs::path& path) {
    Index index;
    Database database{path, SQLITE_OPEN_READWRITE};
    if (!database || !database.run("BEGIN")) return index;
    index.generation = generation_of(database);
    index.usable = index.generation != 0 && read_pools(database, index.pools) &&
                   read_rows(database, index.rows);
    if (index.usable) return index;
    return {.generation = index.generation};
}

void write_index(const fs::path& path, const Index& index, std::span<const IndexRow> rows,
                 std::span<const std::string> gone) {
    std::error_code failed;
    if (fs::create_directories(path.parent_path(), failed))
        fs::permissions(path.parent_path(), fs::perms::owner_all, failed); // as XDG has it
    constexpr int create = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    {
        Database database{path, create};
        if (!database || write_all(database, index, rows, gone, false) != Written::damaged) return;
    }
    fs::remove(path, failed);
    fs::remove(path.string() + "-journal", failed);
    Database database{path, create};
    if (database) write_all(database, index, rows, gone, true);
}

} // namespace assay::report
