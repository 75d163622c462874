// SPDX-License-Identifier: Apache-2.0
#include "record/convert.hpp"

#include "base/console.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "json/json.hpp"
#include "record/layout.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>
#include <variant>

namespace assay::record {

json::Value encode_value(const NamedList& list) {
    json::Members members;
    for (const Named& named : list) {
        const auto* number = std::get_if<double>(&named.value);
        if (number == nullptr || std::isfinite(*number))
            members.set(named.name, json::encode(named.value));
    }
    return members.take();
}

void decode_value(const json::Object& object, std::string_view key, NamedList& out) {
    const json::Object inner = object.object(key);
    if (object.failed()) return;
    NamedList list;
    for (const auto& item : inner.value().items()) {
        if (item.value().is_null()) continue;
        auto value = json::scalar_from(item.value());
        if (!value) return inner.expected(item.key(), json::scalar_words);
        list.push_back({item.key(), *std::move(value)});
    }
    out = std::move(list);
}

json::Value to_json(const Run& run) {
    json::Value document{{"schema", schema_name},
                         {"run", json::encode(run)},
                         {"machine", json::encode(run.machine)},
                         {"cases", json::encode(run.cases)}};
    document["digests"] = json::encode(digests_of(document));
    return document;
}

std::string to_text(const Run& run) { return json::to_text(to_json(run)); }

Result<void> write_run(const std::filesystem::path& path, const Run& run) {
    return write_atomically(path, to_text(run));
}

namespace {

std::string digest_of(const json::Value& section) {
    return to_hex(sha256(json::to_canonical(section)));
}

} // namespace

Digests digests_of(const json::Value& document) {
    Digests digests{.algorithm = "sha256",
                    .run = digest_of(document.at("run")),
                    .machine = digest_of(document.at("machine"))};
    for (const auto& c : document.at("cases")) digests.cases.push_back(digest_of(c));
    digests.root = root_of(document, digests);
    return digests;
}

std::string root_of(const json::Value& document, const Digests& digests) {
    return digest_of({{"schema", document.at("schema")},
                      {"run", digests.run},
                      {"machine", digests.machine},
                      {"cases", digests.cases}});
}

namespace {

constexpr int most_levels = 64; // as json::Limits
/// Characters: 15 digits name a double in the only shortest way.
constexpr std::ptrdiff_t longest_kept = 16;

constexpr bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// Does it belong to a number, true, false or null?
constexpr auto is_of_word = [] {
    std::array<bool, 256> table{};
    for (const char c : std::string_view{"0123456789+-.abcdefghijklmnopqrstuvwxyzE"})
        table[static_cast<std::uint8_t>(c)] = true;
    return table;
}();

/// Walks the text once and writes what its canonical form most likely is: keys in order, no blanks, numbers and texts
/// as they stand, but for ".0". That is so in files as we write them, but for a number in a thousand, which the writer
/// gave a digit more than it needs. Where the digest is another one, it looks again with all numbers read; then parsed.
class Scan {
public:
    explicit Scan(std::string_view text)
        : at_{text.data()}, end_{text.data() + text.size()}, from_{at_} {
        out_.reserve(text.size());
    }

    std::optional<std::string> stale() {
        std::string key;
        skip_blanks();
        if (!take('{')) return "digests";
        do {
            skip_blanks();
            key = word_in_quotes();
            skip_blanks();
            if (key.empty() || !take(':')) return "digests";
            skip_blanks();
            if (!member(key)) return key;
            skip_blanks();
        } while (take(','));
        return at_ < end_ && *at_ == '}' ? compare() : "digests";
    }

private:
    struct Section {
        std::string_view text; ///< as it stands in the file
        std::string digest;
    };
    struct Member {
        std::uint64_t front; ///< the first eight bytes of the key, the first on top
        std::string_view key;
        std::size_t begin; ///< in out_
        std::size_t end;
        bool operator<(const Member& other) const {
            return front != other.front ? front < other.front : key < other.key;
        }
    };

    // --- the document ------------------------------------------------------------------------------

    bool member(std::string_view key) {
        if (key == "run") return section(run_);
        if (key == "machine") return section(machine_);
        if (key == "cases") return cases();
        if (key == "schema") {
            schema_ = word_in_quotes();
            return !schema_.empty();
        }
        Section other;
        if (!section(other)) return false;
        if (key == "digests") digests_ = other.text;
        return true; // the reader refuses any other key
    }
    bool cases() {
        if (!take('[')) return false;
        skip_blanks();
        if (take(']')) return true;
        do {
            skip_blanks();
            if (!section(cases_.emplace_back())) return false;
            skip_blanks();
        } while (take(','));
        return take(']');
    }
    bool section(Section& found) {
        const char* const begin = from_ = at_;
        out_.clear();
        if (!value(0)) return false;
        flush();
        found = {.text = {begin, at_}, .digest = to_hex(sha256(out_))};
        return true;
    }
    /// Without escapes: the keys and the schema's name have none.
    std::string word_in_quotes() {
        const char* const begin = at_;
        if (!string()) return {};
        return {begin + 1, at_ - 1};
    }

    std::optional<std::string> compare() const {
        if (digests_.empty())
            return schema_ == first_schema_name ? std::nullopt : std::optional{"digests"};
        const auto document = json::parse(digests_, "digests");
        const auto stored =
            document ? json::read<Digests>(*document, "digests") : tl::unexpected{Error{}};
        if (!stored || stored->algorithm != "sha256" || stored->cases.size() != cases_.size())
            return "digests";
        if (!holds(run_, stored->run)) return "run";
        if (!holds(machine_, stored->machine)) return "machine";
        for (std::size_t i = 0; i < cases_.size(); ++i)
            if (!holds(cases_[i], stored->cases[i])) return "cases[" + std::to_string(i) + "]";
        const bool hides = is_hidden(stored->run) || is_hidden(stored->machine) ||
                           std::ranges::any_of(stored->cases, &is_hidden);
        if ((hides && is_hidden(stored->root)) ||
            stored->root == root_of({{"schema", schema_}}, *stored))
            return std::nullopt;
        return "digests.root";
    }
    static bool is_hidden(std::string_view text) { return text.starts_with(hidden_prefix); }
    static bool holds(const Section& section, const std::string& stored) {
        if (section.digest == stored) return true;
        // A digest would tell a guess of what a redacted copy hides: it is hidden with it.
        if (is_hidden(stored) && section.text.find(hidden_prefix) != section.text.npos) return true;
        // Numbers by their fewest digits, then all else, too.
        Scan again{section.text};
        again.exactly_ = true;
        Section other;
        if (again.section(other) && other.digest == stored) return true;
        const auto value = json::parse(section.text, "section");
        return value && to_hex(sha256(json::to_canonical(*value))) == stored;
    }

    // --- values ------------------------------------------------------------------------------------

    static bool are_digits(const char* eight) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, eight, sizeof bytes);
        constexpr std::uint64_t high = 0xF0F0F0F0F0F0F0F0;
        constexpr std::uint64_t to_next = 0x0606060606060606; // of 0x3A, behind "9", to 0x40
        constexpr std::uint64_t digits = 0x3030303030303030;
        return (bytes & high) == digits && ((bytes + to_next) & high) == digits;
    }
    bool take(char c) {
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }
    /// Where what comes next will be in out_.
    std::size_t written() const { return out_.size() + static_cast<std::size_t>(at_ - from_); }
    static std::uint64_t front_of(std::string_view key) {
        std::uint64_t front = 0;
        for (std::size_t i = 0; i < sizeof front; ++i)
            front = front << 8U | (i < key.size() ? static_cast<std::uint8_t>(key[i]) : 0U);
        return front;
    }
    void flush() { out_.append(std::exchange(from_, at_), at_); }
    void skip_blanks() {
        if (at_ == end_ || *at_ > ' ') return;
        flush();
        while (at_ < end_ && is_blank(*at_)) ++at_;
        from_ = at_;
    }

    // NOLINTNEXTLINE(misc-no-recursion): no deeper than most_levels
    bool value(int level) {
        if (at_ == end_ || level > most_levels) return false;
        if (*at_ == '{') return object(level);
        if (*at_ == '[') return array(level);
        return *at_ == '"' ? string() : word();
    }
    bool word() {
        const char* const begin = at_;
        while (end_ - at_ >= 8 && are_digits(at_)) at_ += 8;
        while (at_ < end_ && is_of_word[static_cast<std::uint8_t>(*at_)]) {
            const bool in_fraction = *at_ == '.';
            ++at_;
            while (in_fraction && end_ - at_ >= 8 && are_digits(at_)) at_ += 8;
        }
        if (exactly_ && at_ - begin >= longest_kept) {
            double number = 0;
            const auto [end, error] = std::from_chars(begin, at_, number);
            if (error != std::errc{} || end != at_) return true;
            const char* const after = at_;
            at_ = begin;
            flush();
            out_ += json::to_canonical(number);
            from_ = at_ = after;
        } else if (at_ - begin > 2 && at_[-1] == '0' && at_[-2] == '.') { // 2.0 is 2
            const char* const after = at_;
            at_ -= 2;
            flush();
            from_ = at_ = after;
        }
        return at_ > begin;
    }
    bool string() {
        if (!take('"')) return false;
        for (; at_ < end_; ++at_) {
            if (*at_ == '"') {
                ++at_;
                return true;
            }
            if (*at_ == '\\' && ++at_ == end_) return false;
        }
        return false;
    }
    /// Numbers without a blank between them stand as in the canonical form, but for ".0": most of a file.
    bool flat_array() {
        if (exactly_ || at_ == end_ || (*at_ != '-' && !(*at_ >= '0' && *at_ <= '9'))) return false;
        const std::string_view rest{at_, end_};
        const auto list = rest.substr(0, rest.find(']'));
        if (list.size() == rest.size() || list.ends_with(".0")) return false;
        // Without a branch for each character, which the compiler makes vectors of.
        const auto* const text = list.data();
        unsigned other = 0;
        for (std::size_t i = 0; i < list.size(); ++i)
            other |= static_cast<unsigned>(text[i] < '+') | static_cast<unsigned>(text[i] > 'e');
        for (std::size_t i = 0; i + 2 < list.size(); ++i)
            other |= static_cast<unsigned>(text[i] == '.') &
                     static_cast<unsigned>(text[i + 1] == '0') &
                     static_cast<unsigned>(text[i + 2] == ',');
        if (other == 0) at_ += list.size() + 1;
        return other == 0;
    }
    // NOLINTNEXTLINE(misc-no-recursion)
    bool array(int level) {
        ++at_;
        if (flat_array()) return true;
        skip_blanks();
        if (take(']')) return true;
        do {
            skip_blanks();
            if (!value(level + 1)) return false;
            skip_blanks();
        } while (take(','));
        return take(']');
    }
    // NOLINTNEXTLINE(misc-no-recursion)
    bool object(int level) {
        ++at_;
        skip_blanks();
        if (take('}')) return true;
        const auto first = members_.size();
        bool sorted = true;
        do {
            skip_blanks();
            const char* const begin = at_;
            const auto place = written();
            if (!string()) return false;
            const std::string_view key{begin + 1, at_ - 1};
            skip_blanks();
            if (!take(':')) return false;
            skip_blanks();
            if (!value(level + 1)) return false;
            const Member member{front_of(key), key, place, written()};
            sorted = sorted && (members_.size() == first || members_.back() < member);
            members_.push_back(member);
            skip_blanks();
        } while (take(','));
        if (!sorted) sort_members(first);
        members_.resize(first);
        return take('}');
    }
    void sort_members(std::size_t first) {
        flush();
        const auto begin = members_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto place = begin->begin;
        std::sort(begin, members_.end());
        sorted_.clear();
        for (auto member = begin; member != members_.end(); ++member) {
            if (member != begin) sorted_ += ',';
            sorted_.append(out_, member->begin, member->end - member->begin);
        }
        out_.replace(place, sorted_.size(), sorted_);
    }

    const char* at_;
    const char* end_;
    const char* from_; ///< from here on, the text was not yet written to out_
    std::string out_;
    std::string sorted_;
    std::vector<Member> members_; ///< of the objects that are open
    std::string schema_;
    Section run_;
    Section machine_;
    std::vector<Section> cases_;
    std::string_view digests_;
    bool exactly_ = false;
};

} // namespace

std::optional<std::string> stale_section(std::string_view text) { return Scan{text}.stale(); }

// --- plain ---------------------------------------------------------------------------------------

namespace {

template <class T>
void clean(std::optional<T>& member);
template <class T>
void clean(std::vector<T>& list);
void clean(std::optional<double>& number) {
    if (number && !std::isfinite(*number)) number.reset();
}
void clean(Named& named);

/// Makes plain what a text anywhere in a record says, and takes out optional numbers that are not finite.
template <class T>
void clean(T& member) {
    if constexpr (json::Record<T>)
        each_field([](const char*, auto& field) { clean(field); }, member);
    else if constexpr (std::is_same_v<T, Values>)
        clean(static_cast<NamedList&>(member));
    else if constexpr (std::is_base_of_v<std::string, T>) {
        if (!is_plain(member)) member = T{plain(member)};
    }
}
void clean(Named& named) {
    clean(named.name);
    std::visit([](auto& value) { clean(value); }, named.value);
}
template <class T>
void clean(std::optional<T>& member) {
    if (member) clean(*member);
}
template <class T>
void clean(std::vector<T>& list) {
    for (auto& item : list) clean(item);
}

} // namespace

void make_plain(Run& run) {
    clean(run);
    clean(run.machine);
    clean(run.cases);
}

} // namespace assay::record
