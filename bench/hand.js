/**
 * A ScatterND or a GatherND as hand-written JavaScript: typed arrays and loops, no library. Each loop is the code that
 * a careful user would write for exactly one workload: float32 data, one int64 index per update, slices of one length,
 * one reduction.
 *
 * - Indices are read as pairs of 32-bit words, low word first. Measured in Node 20, at 4, 16, 64 and 4,096 updates:
 *   with `Number(indices[p])` the same call takes 1.3, 2.6, 3.6 and 5 times as long.
 * - `data` is copied by `new Float32Array(data)`, or by `set`. Measured: `data.slice()` and loops take longer.
 * - Slices of 16 are moved by loops, slices of 128 by `set(subarray)`. Measured: the other way takes 2 times as long
 *   for 16, and 3 times for 128.
 * - The checked loops take indices from -n to n - 1 and check all before they write to a given `out`. A fresh result
 *   needs no such pass, because an error discards it.
 */

const words = (/** @type {BigInt64Array} */ { buffer, byteOffset, length }) =>
  new Int32Array(buffer, byteOffset, 2 * length);

/** @returns {never} */
function fail(pairs, p, size) {
  const index = BigInt.asIntN(64, (BigInt(pairs[p + 1]) << 32n) | BigInt(pairs[p] >>> 0));
  throw new RangeError(`indices[${p / 2}] is ${index}, not in -${size}..${size - 1}`);
}

/** Checks all indices first, so that an error leaves `out` unchanged. */
function checkAll(pairs, size) {
  for (let p = 0; p < pairs.length; p += 2) {
    const index = pairs[p];
    if (index >= size || index < -size || pairs[p + 1] !== index >> 31) fail(pairs, p, size);
  }
}

// Single elements.

export const scalars = {
  none: {
    /** `out` is a fresh copy of data. */
    fresh(data, indices, updates) {
      const pairs = words(indices);
      const size = data.length;
      const out = new Float32Array(data);
      for (let p = 0; p < updates.length; p++) {
        const index = pairs[2 * p];
        if (index >= size || index < -size || pairs[2 * p + 1] !== index >> 31)
          fail(pairs, 2 * p, size);
        out[index < 0 ? index + size : index] = updates[p];
      }
      return out;
    },
    into(data, indices, updates, out) {
      const pairs = words(indices);
      const size = data.length;
      checkAll(pairs, size);
      out.set(data);
      for (let p = 0; p < updates.length; p++) {
        const index = pairs[2 * p];
        out[index < 0 ? index + size : index] = updates[p];
      }
      return out;
    },
    unchecked(data, indices, updates, out) {
      const pairs = words(indices);
      out.set(data);
      for (let p = 0; p < updates.length; p++) out[pairs[2 * p]] = updates[p];
      return out;
    },
  },
  add: {
    fresh(data, indices, updates) {
      const pairs = words(indices);
      const size = data.length;
      const out = new Float32Array(data);
      for (let p = 0; p < updates.length; p++) {
        const index = pairs[2 * p];
        if (index >= size || index < -size || pairs[2 * p + 1] !== index >> 31)
          fail(pairs, 2 * p, size);
        out[index < 0 ? index + size : index] += updates[p];
      }
      return out;
    },
    into(data, indices, updates, out) {
      const pairs = words(indices);
      const size = data.length;
      checkAll(pairs, size);
      out.set(data);
      for (let p = 0; p < updates.length; p++) {
        const index = pairs[2 * p];
        out[index < 0 ? index + size : index] += updates[p];
      }
      return out;
    },
    unchecked(data, indices, updates, out) {
      const pairs = words(indices);
      out.set(data);
      for (let p = 0; p < updates.length; p++) out[pairs[2 * p]] += updates[p];
      return out;
    },
  },
  gather: {
    fresh(data, indices) {
      const pairs = words(indices);
      const size = data.length;
      const out = new Float32Array(indices.length);
      for (let p = 0; p < out.length; p++) {
        const index = pairs[2 * p];
        if (index >= size || index < -size || pairs[2 * p + 1] !== index >> 31)
          fail(pairs, 2 * p, size);
        out[p] = data[index < 0 ? index + size : index];
      }
      return out;
    },
    into(data, indices, _, out) {
      const pairs = words(indices);
      const size = data.length;
      checkAll(pairs, size);
      for (let p = 0; p < out.length; p++) {
        const index = pairs[2 * p];
        out[p] = data[index < 0 ? index + size : index];
      }
      return out;
    },
    unchecked(data, indices, _, out) {
      const pairs = words(indices);
      for (let p = 0; p < out.length; p++) out[p] = data[pairs[2 * p]];
      return out;
    },
  },
};

// Slices.

/** The least number of elements of a slice that is moved by `set`. */
const LONG = 64;

/** Returns the loops for one slice length. `slice` is a constant of the closure, as in a user's code. */
export function slices(slice) {
  const noneLong = (pairs, size, updates, out) => {
    for (let p = 0, from = 0; p < pairs.length; p += 2, from += slice) {
      const index = pairs[p];
      out.set(updates.subarray(from, from + slice), (index < 0 ? index + size : index) * slice);
    }
    return out;
  };
  const gatherLong = (pairs, size, data, out) => {
    for (let p = 0, to = 0; p < pairs.length; p += 2, to += slice) {
      const index = pairs[p];
      const from = (index < 0 ? index + size : index) * slice;
      out.set(data.subarray(from, from + slice), to);
    }
    return out;
  };
  const noneShort = (pairs, size, updates, out) => {
    for (let p = 0, from = 0; p < pairs.length; p += 2) {
      const index = pairs[p];
      const to = (index < 0 ? index + size : index) * slice;
      for (let q = 0; q < slice; q++) out[to + q] = updates[from++];
    }
    return out;
  };
  const add = (pairs, size, updates, out) => {
    for (let p = 0, from = 0; p < pairs.length; p += 2) {
      const index = pairs[p];
      const to = (index < 0 ? index + size : index) * slice;
      for (let q = 0; q < slice; q++) out[to + q] += updates[from++];
    }
    return out;
  };
  const gatherShort = (pairs, size, data, out) => {
    for (let p = 0, to = 0; p < pairs.length; p += 2) {
      const index = pairs[p];
      const from = (index < 0 ? index + size : index) * slice;
      for (let q = 0; q < slice; q++) out[to++] = data[from + q];
    }
    return out;
  };
  const none = slice < LONG ? noneShort : noneLong;
  const gather = slice < LONG ? gatherShort : gatherLong;
  const scatter = (apply) => ({
    fresh(data, indices, updates) {
      const pairs = words(indices);
      const size = data.length / slice;
      checkAll(pairs, size);
      return apply(pairs, size, updates, new Float32Array(data));
    },
    into(data, indices, updates, out) {
      const pairs = words(indices);
      const size = data.length / slice;
      checkAll(pairs, size);
      out.set(data);
      return apply(pairs, size, updates, out);
    },
    unchecked(data, indices, updates, out) {
      const pairs = words(indices);
      out.set(data);
      return apply(pairs, data.length / slice, updates, out);
    },
  });
  return {
    none: scatter(none),
    add: scatter(add),
    gather: {
      fresh(data, indices) {
        const pairs = words(indices);
        const size = data.length / slice;
        checkAll(pairs, size);
        return gather(pairs, size, data, new Float32Array(indices.length * slice));
      },
      into(data, indices, _, out) {
        const pairs = words(indices);
        const size = data.length / slice;
        checkAll(pairs, size);
        return gather(pairs, size, data, out);
      },
      unchecked: (data, indices, _, out) => gather(words(indices), data.length / slice, data, out),
    },
  };
}

/**
 * Tests the checked loops with negative and bad indices, which random workloads lack.
 * @throws {Error} if a loop is wrong
 */
export function tryHand() {
  for (const [slice, loops] of [
    [1, scalars],
    [1, slices(1)],
    [2, slices(2)],
    [64, slices(64)],
  ]) {
    const data = Float32Array.from({ length: 4 * slice }, (_, p) => p);
    const updates = new Float32Array(2 * slice).fill(9);
    for (const [kind, { fresh, into }] of Object.entries(loops)) {
      const expect = (wanted, got, what) => {
        if (String(wanted) !== String(got))
          throw new Error(`hand-written ${kind} ${slice}: ${what} gives ${got}, not ${wanted}`);
      };
      const size = kind === "gather" ? 2 * slice : data.length;
      for (const bad of [4n, -5n, 2n ** 32n, -(2n ** 32n) - 1n]) {
        const out = new Float32Array(size).fill(7);
        for (const loop of [fresh, into]) {
          let message = "nothing";
          try {
            loop(data, BigInt64Array.of(1n, bad), updates, out);
          } catch (error) {
            message = error.message;
          }
          expect(`indices[1] is ${bad}, not in -4..3`, message, `the index ${bad}`);
        }
        expect(new Float32Array(size).fill(7), out, `out after the index ${bad}`);
      }
      for (const loop of [fresh, into]) {
        const wrapped = loop(data, BigInt64Array.of(-4n, -1n), updates, new Float32Array(size));
        const plain = loop(data, BigInt64Array.of(0n, 3n), updates, new Float32Array(size));
        expect(plain, wrapped, "negative indices");
      }
    }
  }
}
