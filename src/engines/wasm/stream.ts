/** Work on tensors of the heap: through windows of a memory that kernels see, which stay in the cache. */

import type { NumericStorage } from "../../tensor/dtype.ts";
import { bytesOf, isSameMemory } from "../../tensor/storage.ts";
import { runCalls, type Work } from "./calls.ts";
import type { Space } from "./space.ts";

/** What a kernel works on. */
export interface Arrays {
  readonly data: NumericStorage;
  /** Of a scatter, the copy of data that is written; null for a gather. */
  readonly target: NumericStorage | null;
  /** The side that is walked in order: updates, or the result of a gather. */
  readonly sequential: NumericStorage;
}

/**
 * Work of which not everything is here. The random side is copied in, as many batches at once as fit into a window,
 * and one where not even that does; the other side passes through a window of its own.
 * @param limit bytes of a window
 * @param size elements of the random side
 */
export function stream(
  space: Space,
  limit: number,
  work: Work,
  size: number,
  { data, target, sequential }: Arrays,
): void {
  const { kernel, slice, count, batches, span, stride, bytes, offsets } = work;
  const { heap } = space;
  const length = slice * bytes;
  const random = target ?? data;
  const isHere = heap.has(random);
  const fitting = Math.floor(limit / Math.max(span * bytes, count * length));
  const group = Math.max(Math.min(fitting, batches), 1);
  const region = isHere ? 0 : space.borrow(group * span * bytes);
  // Slices that pass through the window at once.
  const most = Math.max(Math.floor(limit / length), 1);
  const window = space.window(sequential, Math.min(most, group * count) * length);
  const ordered = bytesOf(sequential);
  const from = bytesOf(data);
  const to = target === null ? null : bytesOf(target);

  /** Runs `action` on the address of the `slices` from `first` on. */
  const through = (first: number, slices: number, action: (address: number) => void): void => {
    const begin = first * length;
    if (to !== null || window === 0) {
      action(space.load(ordered, begin, slices * length, window));
    } else {
      action(window);
      ordered.set(heap.bytesAt(window, slices * length), begin);
    }
  };

  if (to !== null && target !== null && isHere && !isSameMemory(target, data)) to.set(from);
  for (let first = 0; first < batches; first += group) {
    const part = Math.min(group, batches - first);
    const begin = first * span * bytes;
    const end = begin + part * span * bytes;
    const base = isHere ? random.byteOffset + begin : region;
    if (!isHere) heap.bytesAt(region, end - begin).set(from.subarray(begin, end));
    // All batches of the group at once, or one after the other in pieces.
    const isWhole = part * count <= most;
    const pieces = isWhole ? 1 : part;
    for (let batch = 0; batch < pieces; batch++) {
      const mine = offsets + 4 * (first + batch) * stride;
      const position = (first + batch) * count;
      const place = base + batch * span * bytes;
      for (let p = 0; p < count; p += most) {
        const some = Math.min(most, count - p);
        const slices = isWhole ? part * count : some;
        through(position + p, slices, (address) => {
          const args = [place, address, mine + 4 * p, some, slice, slice, span];
          const steps = [span * bytes, count * length, 4 * stride] as const;
          const repeat = isWhole ? part : 1;
          runCalls(space.kernels.all, [{ kernel, args, repeat, steps }]);
        });
      }
    }
    if (!isHere) to?.set(heap.bytesAt(region, end - begin), begin);
  }
  // What no batch reaches is only copied.
  const reached = batches * span * bytes;
  if (!isHere) to?.set(from.subarray(reached, size * bytes), reached);
}
