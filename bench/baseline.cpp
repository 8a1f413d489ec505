// The same work in plain C++: the library's loops, compiled with g++ -O3.
//
//   baseline OP DTYPE REDUCTION AXIS BATCH_DIMS IN_PLACE DATA_SHAPE INDICES_SHAPE DATA INDICES UPDATES SAMPLES
//
// prints { "median": ms, "fused": ms, "checksum": n }. `median` does what the library does: it checks all indices and
// turns them into offsets first, then copies data and applies the offsets, so that nothing is written when an index is
// bad. `fused` does both in one loop, which cannot promise that; it is for information.
// All memory is allocated and written before the timing. Errors end the process.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using Shape = std::vector<size_t>;
using Clock = std::chrono::steady_clock;

[[noreturn]] static void fail(const std::string& message) {
  fprintf(stderr, "baseline: %s\n", message.c_str());
  exit(1);
}

static Shape parseShape(const std::string& text) {
  Shape shape;
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, 'x');) shape.push_back(std::stoull(part));
  return shape;
}

static size_t product(Shape::const_iterator from, Shape::const_iterator to) {
  size_t size = 1;
  for (; from != to; ++from) size *= *from;
  return size;
}
static size_t product(const Shape& shape) { return product(shape.begin(), shape.end()); }

template <class T> static std::vector<T> readFile(const char* path, size_t size) {
  std::vector<T> values(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(values.data()), size * sizeof(T)))
    fail("cannot read " + std::string(path));
  return values;
}

// ---- combining ----------------------------------------------------------------------------------------------------

struct None {
  template <class T> T operator()(T, T update) const { return update; }
};
struct Add {
  template <class T> T operator()(T a, T b) const { return a + b; }
};
// A NaN in either operand is the result. +0 and -0 are not told apart: no value of the workloads is a zero.
struct Max {
  template <class T> T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
// int64 wraps.
template <> int64_t Add::operator()(int64_t a, int64_t b) const { return int64_t(uint64_t(a) + uint64_t(b)); }

// ---- offsets: `each` calls a function with the flat offset of every tuple, in order ---------------------------------

static inline size_t wrap(int64_t index, size_t size, bool& bad) {
  index += index < 0 ? int64_t(size) : 0;
  bad |= uint64_t(index) >= size;
  return size_t(index);
}

// Tuples of K indices, batch by batch.
template <int K> struct Tuples {
  const int64_t* indices;
  size_t sizes[K], strides[K], batches, perBatch, span;
  template <class F> void each(bool& bad, F f) const {
    const int64_t* tuple = indices;
    for (size_t b = 0; b < batches; b++)
      for (size_t p = 0; p < perBatch; p++, tuple += K) {
        size_t offset = b * span;
        for (int k = 0; k < K; k++) offset += wrap(tuple[k], sizes[k], bad) * strides[k];
        f(b * perBatch + p, offset);
      }
  }
};

// Single elements: each has its own coordinates, except on the axis, where it has the index. Off the axis the sizes of
// indices are those of data.
struct Elements {
  const int64_t* indices;
  size_t outer, length, inner, size;
  template <class F> void each(bool& bad, F f) const {
    size_t p = 0;
    for (size_t o = 0; o < outer; o++)
      for (size_t a = 0; a < length; a++)
        for (size_t i = 0; i < inner; i++, p++)
          f(p, (o * size + wrap(indices[p], size, bad)) * inner + i);
  }
};

// ---- the loops ------------------------------------------------------------------------------------------------------

template <class T, class F> static inline void applyOne(T* out, const T* updates, size_t slice, F f) {
  for (size_t j = 0; j < slice; j++) out[j] = f(out[j], updates[j]);
}
template <class T> static inline void applyOne(T* out, const T* updates, size_t slice, None) {
  memcpy(out, updates, slice * sizeof(T));
}

template <class T> struct Work {
  const T* data;
  const T* updates;
  T* out;
  size_t size, count, slice;
  bool inPlace;
  std::vector<uint32_t> offsets;
};

template <class T, class O> static void plan(Work<T>& work, const O& places) {
  bool bad = false;
  uint32_t* offsets = work.offsets.data();
  places.each(bad, [=](size_t p, size_t offset) { offsets[p] = uint32_t(offset); });
  if (bad) fail("an index is out of range");
}

template <class T, class O, class F> static void scatter(Work<T>& work, const O& places, F f) {
  plan(work, places);
  if (!work.inPlace) memcpy(work.out, work.data, work.size * sizeof(T));
  const uint32_t* const offsets = work.offsets.data();
  T* const out = work.out;
  const T* const updates = work.updates;
  const size_t count = work.count, slice = work.slice;
  if (slice == 1)
    for (size_t p = 0; p < count; p++) out[offsets[p]] = f(out[offsets[p]], updates[p]);
  else
    for (size_t p = 0; p < count; p++) applyOne(out + offsets[p], updates + p * slice, slice, f);
}

template <class T, class O, class F> static void scatterFused(Work<T>& work, const O& places, F f) {
  if (!work.inPlace) memcpy(work.out, work.data, work.size * sizeof(T));
  T* const out = work.out;
  const T* const updates = work.updates;
  const size_t slice = work.slice;
  bool bad = false;
  if (slice == 1)
    places.each(bad, [&](size_t p, size_t offset) {
      if (bad) fail("an index is out of range");
      out[offset] = f(out[offset], updates[p]);
    });
  else
    places.each(bad, [&](size_t p, size_t offset) {
      if (bad) fail("an index is out of range");
      applyOne(out + offset, updates + p * slice, slice, f);
    });
}

template <class T, class O> static void gather(Work<T>& work, const O& places) {
  plan(work, places);
  const uint32_t* const offsets = work.offsets.data();
  T* const out = work.out;
  const T* const data = work.data;
  const size_t count = work.count, slice = work.slice;
  if (slice == 1)
    for (size_t p = 0; p < count; p++) out[p] = data[offsets[p]];
  else
    for (size_t p = 0; p < count; p++) memcpy(out + p * slice, data + offsets[p], slice * sizeof(T));
}

template <class T, class O> static void gatherFused(Work<T>& work, const O& places) {
  T* const out = work.out;
  const T* const data = work.data;
  const size_t slice = work.slice;
  bool bad = false;
  if (slice == 1)
    places.each(bad, [&](size_t p, size_t offset) {
      if (bad) fail("an index is out of range");
      out[p] = data[offset];
    });
  else
    places.each(bad, [&](size_t p, size_t offset) {
      if (bad) fail("an index is out of range");
      memcpy(out + p * slice, data + offset, slice * sizeof(T));
    });
}

// ---- timing ---------------------------------------------------------------------------------------------------------

template <class R> static double once(size_t calls, R&& run) {
  const auto start = Clock::now();
  for (size_t n = 0; n < calls; n++) {
    run();
    asm volatile("" ::: "memory");
  }
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count() / double(calls);
}

// The median of samples that last 5 ms at least, after a warm-up.
template <class R> static double medianOf(size_t samples, R&& run) {
  once(2, run);
  const size_t calls = size_t(std::max(1.0, 5 / std::max(once(2, run), 1e-6)));
  std::vector<double> times;
  for (size_t n = 0; n < samples; n++) times.push_back(once(calls, run));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class T> static uint32_t checksum(const std::vector<T>& values) {
  uint32_t hash = 0;
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(values.data());
  for (size_t p = 0; p < values.size() * sizeof(T); p++) hash = hash * 31 + bytes[p];
  return hash;
}

template <class R, class S> static void report(size_t samples, R&& run, S&& fused, auto&& sum) {
  run();
  const uint32_t hash = sum();
  const double median = medianOf(samples, run);
  printf("{ \"median\": %.6f, \"fused\": %.6f, \"checksum\": %u }\n", median, medianOf(samples, fused), hash);
}

struct Arguments {
  std::string op, dtype, reduction;
  size_t axis, batchDims;
  bool inPlace;
  Shape data, indices;
  const char *dataFile, *indicesFile, *updatesFile;
  size_t samples;
};

template <class T, class O>
static void measure(const Arguments& args, const O& places, size_t count, size_t slice) {
  const bool isGather = args.op == "gatherND";
  std::vector<T> data = readFile<T>(args.dataFile, product(args.data));
  std::vector<T> updates = isGather ? std::vector<T>() : readFile<T>(args.updatesFile, count * slice);
  std::vector<T> other(isGather ? count * slice : args.inPlace ? 0 : data.size());
  std::vector<T>& out = args.inPlace ? data : other;
  Work<T> work{data.data(), updates.data(), out.data(), data.size(), count, slice, args.inPlace, {}};
  work.offsets.resize(count);
  const auto sum = [&] { return checksum(out); };
  if (isGather)
    return report(args.samples, [&] { gather(work, places); }, [&] { gatherFused(work, places); }, sum);
  const auto scatters = [&](auto f) {
    report(args.samples, [&] { scatter(work, places, f); }, [&] { scatterFused(work, places, f); }, sum);
  };
  if (args.reduction == "none") return scatters(None{});
  if (args.reduction == "add") return scatters(Add{});
  if (args.reduction == "max") return scatters(Max{});
  fail("unknown reduction " + args.reduction);
}

template <class T, int K> static void measureTuples(const Arguments& args, const int64_t* indices) {
  const auto first = args.data.begin() + args.batchDims;
  const size_t count = product(args.indices) / K, batches = product(args.data.begin(), first);
  Tuples<K> tuples{indices, {}, {}, batches, count / batches, product(first, args.data.end())};
  for (int k = 0; k < K; k++) {
    tuples.sizes[k] = first[k];
    tuples.strides[k] = product(first + k + 1, args.data.end());
  }
  measure<T>(args, tuples, count, product(first + K, args.data.end()));
}

template <class T> static void start(const Arguments& args) {
  const size_t size = product(args.indices);
  const std::vector<int64_t> indices = readFile<int64_t>(args.indicesFile, size);
  if (args.op == "scatterElements") {
    const auto axis = args.data.begin() + args.axis;
    const size_t outer = product(args.data.begin(), axis), inner = product(axis + 1, args.data.end());
    return measure<T>(args, Elements{indices.data(), outer, args.indices[args.axis], inner, *axis}, size, 1);
  }
  switch (args.indices.back()) {
    case 1: return measureTuples<T, 1>(args, indices.data());
    case 2: return measureTuples<T, 2>(args, indices.data());
    case 3: return measureTuples<T, 3>(args, indices.data());
    default: fail("tuples of 1 to 3 indices only");
  }
}

int main(int argc, char** argv) {
  if (argc != 13) fail("takes 12 arguments");
  const Arguments args{argv[1], argv[2], argv[3], std::stoull(argv[4]), std::stoull(argv[5]), argv[6][0] == '1',
                       parseShape(argv[7]), parseShape(argv[8]), argv[9], argv[10], argv[11], std::stoull(argv[12])};
  if (args.dtype == "float32") start<float>(args);
  else if (args.dtype == "int64") start<int64_t>(args);
#ifdef __FLT16_MANT_DIG__
  else if (args.dtype == "float16") start<_Float16>(args);
#endif
  else fail("cannot do " + args.dtype);
}
