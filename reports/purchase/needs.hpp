// SPDX-License-Identifier: Apache-2.0
//
// Needs of a buyer, promises of offers, and properties of measured machines. An offer is not ranked if it misses a
// need, or if its machines are not those promised: the price would belong to one machine and the speed to another. An
// unknown value meets no need.

#pragma once

#include "base/names.hpp"
#include "base/result.hpp"
#include "purchase/calculation.hpp"
#include "purchase/cost.hpp"
#include "purchase/offer.hpp"
#include "reference/catalog.hpp"
#include "reference/hardware.hpp"
#include "store/collection.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::purchase {

/// Runs, by what is offered: the machines of each type are looked up once.
class Measured {
public:
    explicit Measured(const store::Collection* runs, const reference::Hardware* hardware)
        : runs_{runs}, hardware_{hardware} {}
    const std::vector<std::size_t>& machines_of(const Offer& offer) const;
    const store::Collection* runs() const { return runs_; }
    const reference::Hardware* hardware() const { return hardware_; }

private:
    const store::Collection* runs_;
    const reference::Hardware* hardware_;
    mutable std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> known_;
};

/// A promise of an offer, and the property found on machines of its type.
struct Promise {
    std::string offer;
    std::string_view code; ///< "devices", "memory", "availability", ...; in words: need.json
    double promised = 0;   ///< SI base units
    std::optional<double>
        measured;        ///< the least of the machines; of devices the count that differs most
    std::string name{};  ///< of "device": the GPU that is offered
    std::string found{}; ///< and the one that was found
    std::string currency{};
    bool kept() const;
};
std::vector<Promise> promises_of(const std::vector<Offer>& offers, const Measured& measured);
/// For each offer the first thing that machines of its type were found not to have: devices (by the catalogue, where
/// the offer names none), their kind, hardware threads, cores or memory.
std::vector<std::optional<Promise>> broken_promises(const std::vector<Offer>& offers,
                                                    const Measured& measured);

// --- needs ---------------------------------------------------------------------------------------

ASSAY_ENUM(Sense, at_least, at_most, one_of)
ASSAY_ENUM(Outcome, met, missed, unknown)

struct Need {
    std::string text; ///< as written
    std::string code; ///< in words: need.json; "case" and "model" are computed
    Sense sense = Sense::at_least;
    double value = 0;   ///< SI base units; of "model" the device memory that it takes
    std::string unit{}; ///< of a case; empty: that of the case
    std::vector<std::string>
        words{}; ///< of one_of: any of them, with * and ?; of a model: its name
    std::vector<std::string> filters{}; ///< of a case
    bool of_profile = false;
};

/// "devices>=8, device_memory>=80GB, region=eu-*|us-east-1", "model=llama-3-70b,precision=fp8,context=8k",
/// "gemm.square precision=bf16>=400e12". Fails for invalid text, with the expected form.
Result<std::vector<Need>> parse_needs(std::string_view text);
/// Those of a profile and those that a buyer gives, which replace the profile's of the same kind. Fails where they
/// contradict each other.
Result<std::vector<Need>> all_needs(const std::vector<std::string>& of_profile,
                                    const std::vector<std::string>& of_buyer);

struct Judged {
    Outcome outcome = Outcome::unknown;
    std::optional<double> has{};
    std::string text{}; ///< for values that are not numbers
    Basis basis = Basis::given;
};
/// For each offer how it stands to each need; needs get the units of their cases. Fails where a case of the buyer's is
/// in no run, or is in another unit.
Result<std::vector<std::vector<Judged>>>
judge(std::vector<Need>& needs, const std::vector<Cost>& costs, const Measured& measured);

// --- words ---------------------------------------------------------------------------------------

/// "physical cores"
std::string name_of_need(std::string_view code);
/// "99.95%", "64 GiB", "8", "4 h": of a value of that kind.
std::string amount_of(double value, std::string_view code, const std::string& unit = {});
/// "device memory: at least 80 GB"
std::string in_words(const Need& need, const std::string& currency);
/// "has 24 GB (data sheet)", "not known"
std::string in_words(const Judged& judged, const Need& need, const std::string& currency);
/// "GPUs promised 8, found 1"
std::string in_words(const Promise& promise);

using Number = std::optional<double>;
using Type = reference::InstanceEntry;

struct Attribute {
    std::string_view code;
    std::string_view unit{}; ///< that people read
    double factor = 1;       ///< SI base units in it
    Sense sense = Sense::at_least;
    Number Offer::* number = nullptr;
    std::string Offer::* text = nullptr;
    Number (*measured)(const record::Machine&) = nullptr;
    Number Type::* sheet = nullptr;
    bool promised = true; ///< stands in the contract
};
const Attribute* attribute_of(std::string_view code);
/// "devices, vcpus, ...": all but "case".
std::vector<std::string> attribute_names();

const Type* type_of(const Offer& offer, const Measured& measured);
/// By the name of the offer, or by the type where it names none or one of several; null where neither says which.
const reference::HardwareEntry* device_of(const Offer& offer, const Measured& measured);
/// The smallest of the devices that the offer may mean.
Number device_memory_of(const Offer& offer, const Measured& measured);
/// By the offer; devices else by the catalogue's entry of the type, by which they are priced too.
Number promised_of(const Attribute& what, const Offer& offer, const Measured& measured);
/// The worst value: the lowest of the machines, or a number of devices other than `promised`.
Number found_of(const Attribute& what, const Offer& offer, const Measured& measured,
                Number promised = {});
/// Highest message rate between two nodes, B/s.
Number network_of(const Offer& offer, const Measured& measured);

} // namespace assay::purchase
