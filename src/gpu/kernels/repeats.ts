/**
 * Implements `duplicates: "error"` on the GPU, which finds the first position that repeats the target of an earlier
 * position.
 */

import { kernelOf } from "./kernel.ts";
import type { Recording } from "./recording.ts";
import { SLOT, type Guard } from "./status.ts";
import {
  keysOfTargets,
  lookupOf,
  lookupParams,
  mostHit,
  positionsOf,
  type Targets,
} from "./targets.ts";

/** Finds the first repeated target, and writes its position into the call's slot, unless there is a bad index. */
export function findRepeat(recording: Recording, targets: Targets, { status, slot }: Guard): void {
  const positions = positionsOf(targets);
  if (targets.slice === 0 || positions === 0) return;
  const table = keysOfTargets(recording, targets, "first");
  const lookup = lookupOf(targets);
  const params = { ...lookupParams(targets), slot };
  const buffers = { status, targets: targets.targets, table };
  // The first position has the greatest key, because all bits of its number are inverted.
  const find = kernelOf(`repeat ${lookup.name}`, () => ({
    isGuarded: true,
    params: lookup.params,
    buffers: { status: "atomic", targets: "read", table: "read" },
    declarations: lookup.declarations,
    body: `  let t = targetOf(i);
  if (t == NOWHERE) { return; }
  if (table[t] != ~i) { atomicMin(&status[params.slot + ${SLOT.repeat}u], i + 1u); }`,
  }));
  recording.run(find, positions, targets.targets.bytes + 4 * mostHit(targets), params, buffers);
  const describe = kernelOf(`describe repeat ${lookup.name}`, () => ({
    isGuarded: true,
    params: lookup.params,
    buffers: { status: "atomic", targets: "read", table: "read" },
    declarations: lookup.declarations,
    body: `  let repeat = atomicLoad(&status[params.slot + ${SLOT.repeat}u]);
  if (repeat == FINE) { return; }
  let t = targetOf(repeat - 1u);
  atomicStore(&status[params.slot + ${SLOT.earlier}u], ~table[t]);
  atomicStore(&status[params.slot + ${SLOT.target}u], t);`,
  }));
  recording.run(describe, 1, 0, params, buffers);
}
