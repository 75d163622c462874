// SPDX-License-Identifier: Apache-2.0
#include "device/benchmark.cuh"
#include "device/graph.hpp"
#include "fft/cufft_plan.hpp"
#include "fft/transform_shares.hpp"

namespace assay::fft {
namespace {

struct ReadError {
    const double* errors;
    ASSAY_HOST_DEVICE double operator()(std::uint64_t i) const { return errors[i]; }
};

struct Found {
    double error = -1;
    std::string what;
};

/// How far a bin is from the sum that defines it. A bin is a sum over all points: its size is their norm.
template <class T>
double error_of_bin(const Shape& shape, const BinPick& pick, const device::Buffer<T>& points,
                    const device::Buffer<T>& bins, double norm, const device::Stream& stream) {
    const std::int64_t shares = std::min<std::int64_t>(shape.volume(), 1 << 14U);
    const device::Buffer<Complex> parts{static_cast<std::size_t>(shares)};
    device::on_each(stream, parts.size(),
                    ShareOfBin<T>{Sizes{shape}, shares, pick, points.data(), parts.data()});
    device::check_launches();
    Sum re;
    Sum im;
    for (const Complex& part : device::to_host(parts, stream)) {
        re.add(part.re);
        im.add(part.im);
    }
    const auto got = device::to_host(bins.data() + 2 * place_of(pick, shape), 2, stream);
    return std::hypot(as_double(got[0]) - re.value(), as_double(got[1]) - im.value()) /
           std::sqrt(norm);
}

/// Uniform random numbers between -1 and 1.
template <class T>
void fill_points(const device::Buffer<T>& points, const device::Stream& stream) {
    device::on_each(stream, points.size(), FillPoints<T>{points.data()});
    device::check_launches();
}

/// Queues: the bins become numbers for the way back.
template <class T, class Back>
void copy_bins(const device::Buffer<T>& bins, const device::Buffer<Back>& returned,
               const device::Stream& stream) {
    device::on_each(stream, bins.size(), CopyBins<T, Back>{bins.data(), returned.data()});
    device::check_launches();
}

/// Euclidean norm of one transform's bins, as the points have it.
template <class T>
double norm_of_bins(const Shape& shape, const device::Buffer<T>& points, std::int64_t transform,
                    const device::Stream& stream) {
    const device::Buffer<double> parts{1U << 13U};
    const auto shares = static_cast<std::int64_t>(parts.size());
    device::on_each(stream, parts.size(),
                    ShareOfNorm<T>{points.data() + transform * shape.inputs(), shape.inputs(),
                                   shares, parts.data()});
    device::check_launches();
    Sum norm;
    for (const double part : device::to_host(parts, stream)) norm.add(part);
    return std::sqrt(norm.value() * static_cast<double>(shape.volume()));
}

/// Looks at every transform; `returned` has come back, `volume` times too large.
template <class T, class Back>
Check check_transforms(const Shape& shape, const device::Buffer<T>& points,
                       const device::Buffer<T>& bins, const device::Buffer<Back>& returned,
                       const device::Stream& stream) {
    const auto batch = static_cast<std::size_t>(shape.batch);
    const std::int64_t shares = shares_of(shape);
    const device::Buffer<Squares> squares{batch * static_cast<std::size_t>(shares)};
    const device::Buffer<double> errors{3 * batch};
    const device::Buffer<double> norms{batch};
    device::on_each(stream, squares.size(),
                    ShareOfSquares<T, Back>{Sizes{shape}, shares, points.data(), bins.data(),
                                            returned.data(), squares.data()});
    device::on_each(stream, batch,
                    ErrorsOfTransform{shares, static_cast<double>(shape.volume()), squares.data(),
                                      errors.data(), norms.data()});
    const auto worst = device::find_worst(stream, errors.size(), ReadError{errors.data()});
    Found found{worst.error,
                joined(transform_errors.at(worst.index % 3), " of transform ", worst.index / 3)};
    for (std::uint64_t i = 0; i < bins_picked; ++i) {
        const BinPick pick = pick_bin(shape, i);
        const double norm = device::to_host(norms.data() + pick.transform, 1, stream).front();
        const double error =
            assay::detail::orderable(error_of_bin(shape, pick, points, bins, norm, stream));
        if (error > found.error) found = {error, joined("a bin of transform ", pick.transform)};
    }
    const double bound = transform_bound<T>(shape);
    return check_value(found.error, bound,
                       "every transform: inverse in at least single precision, Parseval's theorem, "
                       "symmetry of real spectra; four bins by their definition; relative to the "
                       "norm, bound 8 u sqrt(log2(N)+2)",
                       joined(found.what, " is off by ", found.error, ", allowed is ", bound));
}

enum class Planning : std::uint8_t { standard, patient };

int cufft_version() {
    int version = 0;
    check(cufftGetVersion(&version));
    return version;
}
[[maybe_unused]] void report(const Context& context) {
    if (!why_no_cufft().empty()) throw device::Error{why_no_cufft()};
    context.setting(is_hipfft ? "hipfft.version" : "cufft.version", cufft_version());
}

using device::Place;

template <class T>
T rounded(double value) {
    if constexpr (std::is_same_v<T, Half>)
        return to_half(static_cast<float>(value));
    else
        return static_cast<T>(value);
}
template <class T>
double widened(T value) {
    if constexpr (std::is_same_v<T, Half>)
        return static_cast<double>(to_float(value));
    else
        return static_cast<double>(value);
}

/// One precision: the data, the plan there and the plan back, whose numbers are of type Back.
template <class T, class Back, Precision precision>
class Transforms {
public:
    Transforms(const Shape& shape, Planning planning, Place& place, const Context& context)
        : shape_{shape}, place_{place},
          points_{static_cast<std::size_t>(shape.inputs() * shape.batch)},
          bins_{static_cast<std::size_t>(2 * shape.bins() * shape.batch)}, returned_{bins_.size()} {
        make_plans(planning);
        fill_points(points_, place.stream);
        poison();
        queue(); // loads the kernels, which a recording could not
        place.stream.wait();
        graph_.emplace(place.stream, [this] { queue(); });
        place.clock.expect_operations(graph_->operations());
        context.setting(is_hipfft ? "hipfft" : "cufft", cufft_version());
        context.setting("operations", graph_->operations());
        context.setting("work_area", forward_->work_bytes());
    }

    void run() { graph_->launch(place_.stream); }

    Check verify() const {
        copy_bins(bins_, returned_, place_.stream);
        backward_->queue(returned_.data(), returned_.data(), CUFFT_INVERSE);
        return check_transforms(shape_, points_, bins_, returned_, place_.stream);
    }
    Outputs outputs() const { return {device::output(bins_, place_.stream)}; }
    void poison() {
        device::set_bytes(bins_, 0xff, place_.stream); // NaN
    }
    /// One part of one bin, by twice the bound on the norm of all bins. In half precision that can be
    /// more than there is: infinity.
    void spoil() {
        const std::uint64_t at = spoils_.next() % bins_.size();
        const auto transform = static_cast<std::int64_t>(at) / (2 * shape_.bins());
        const double damage = 2 * transform_bound<T>(shape_) *
                              norm_of_bins(shape_, points_, transform, place_.stream);
        T* const bin = bins_.data() + at;
        device::put(rounded<T>(widened(device::get(bin, place_.stream)) + damage), bin,
                    place_.stream);
    }
    double planning_seconds() const { return planning_seconds_; }

private:
    void queue() const { forward_->queue(points_.data(), bins_.data(), CUFFT_FORWARD); }

    void make_plans(Planning planning) {
        // The first plan of a process loads the library; this plan's time does not include that.
        const Shape any{.dimensions = 1, .points = 16, .batch = 1, .type = Type::c2c};
        const CufftPlan first{forward_layout(any), Precision::fp32, false};
        const Stopwatch watch;
        forward_.emplace(forward_layout(shape_), precision, planning == Planning::patient);
        planning_seconds_ = watch.seconds();
        constexpr Precision back = precision == Precision::fp16 ? Precision::fp32 : precision;
        backward_.emplace(backward_layout(shape_), back, false);
        // Both work in one stream, so one waits for the other. Some plans need no memory.
        work_ = device::Buffer<std::byte>{
            std::max({forward_->work_bytes(), backward_->work_bytes(), std::size_t{1}})};
        forward_->use(place_.stream, work_.data());
        backward_->use(place_.stream, work_.data());
    }

    Shape shape_;
    Place& place_;
    device::Buffer<T> points_;
    device::Buffer<T> bins_;
    device::Buffer<Back> returned_; // scratch of verify()
    device::Buffer<std::byte> work_;
    std::optional<CufftPlan> forward_;
    std::optional<CufftPlan> backward_;
    std::optional<device::Graph> graph_;
    double planning_seconds_ = 0;
    Picks spoils_{10};
};

using Double = Transforms<double, double, Precision::fp64>;
using Single = Transforms<float, float, Precision::fp32>;
using HalfPrecision = Transforms<Half, float, Precision::fp16>;

class DeviceTransform : private Place, public OneOf<Double, Single, HalfPrecision> {
public:
    struct Params : TransformParams {
        Planning planning = Planning::standard;
        device::Caches cache = device::Caches::hot;
    };
    static constexpr Info info{
        .id = "fft.transform",
        .question = is_hipfft ? "How fast does this device compute Fourier transforms with hipFFT?"
                              : "How fast does this device compute Fourier transforms with cuFFT?",
        .method = "Forward transforms of uniform random numbers, out of place, in one, two or "
                  "three dimensions of equal length; a batch is contiguous in memory and one call, "
                  "captured in a graph. As in benchFFT, 5 N log2(N) FLOP count for N "
                  "complex points and half of that for real ones; bytes are input and output once. "
                  "Work memory is allocated before; planning_time excludes loading the library. "
                  "Checked on the device: every transform by another plan's inverse (half "
                  "precision in single), Parseval's theorem and the symmetry of real spectra, four "
                  "bins by their definition in fp64, within 8 u sqrt(log2(N)+2) of the norm.",
        .caveats =
            "FLOP follow the convention, not what the library executes. Bytes are the least "
            "traffic: a "
            "large transform passes over memory once or more per dimension, so a third of "
            "memory.stream is a good 3-D transform; transforms that fit in the second-level cache "
            "can exceed memory.stream with cache=hot. kernels=patient lets cuFFT compile kernels "
            "for the plan (hipFFT has no such choice). Lengths with large prime factors become "
            "convolutions, several times "
            "slower per point. Half precision: powers of two, up to 2^26 points. Not normalised.",
        .headline = "flop_rate",
        .ceiling = "memory.stream",
        .place = device::place_kind,
        .noise = Noise::fft,
    };
    static constexpr auto axes = std::tuple_cat(
        shape_axes<Params>({128, 512}),
        std::tuple{
            choice("precision", "precision of the numbers", &Params::precision,
                   {Name{"fp64", Precision::fp64}, Name{"fp32", Precision::fp32},
                    Name{"fp16", Precision::fp16}}),
            choice("kernels", "cuFFT's default, or compiled for the plan (patient)",
                   &Params::planning,
                   {{"default", Planning::standard}, {"patient", Planning::patient}},
                   {Planning::standard}),
            choice("cache", "second-level cache before each call: kept (hot) or flushed (cold)",
                   &Params::cache, {{"hot", device::Caches::hot}, {"cold", device::Caches::cold}},
                   {device::Caches::hot}),
        });

    static Fit fit(const Params& p, const Machine& /*machine*/) {
        const Shape shape = p.shape();
        if (const auto& why = why_no_cufft(); !why.empty()) return Fit::no("not applicable: ", why);
        if (is_hipfft && p.planning == Planning::patient)
            return Fit::no("not applicable: hipFFT has no kernels for one plan");
        if (p.precision == Precision::fp16)
            if (const auto why = why_not_half(shape); !why.empty()) return Fit::no(why);
        const double returned = p.precision == Precision::fp64 ? sizeof(double) : sizeof(float);
        return device::fits_device(device_bytes(shape, p.real_size(), returned));
    }

    DeviceTransform(const Params& p, const Context& context)
        : Place{p.cache},
          OneOf{p.precision, p.shape(), p.planning, static_cast<Place&>(*this), context},
          work_{work_of(p.shape(), p.real_size())} {}

    device::EventClock& clock() { return Place::clock; }
    Work work() const { return work_; }
    void metrics(Metrics& to) const {
        to.add("planning_time",
               std::visit([](const auto& t) { return t.planning_seconds(); }, state()));
    }

private:
    Work work_;
};

} // namespace

extern constinit const assay_benchmark device_transform = define<DeviceTransform>();

} // namespace assay::fft

#ifndef __HIP_DEVICE_COMPILE__ // clang would promote it to the device
extern const assay::Module assay_module_hooks;
const assay::Module assay_module_hooks{
    .facts = assay::facts<assay::fft::report, assay::device::report_versions>};
#endif
