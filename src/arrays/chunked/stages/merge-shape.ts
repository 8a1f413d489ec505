/**
 * Computes the two levels in which a scatter with very many fragments is partitioned. With one level, each of B blocks
 * has a fragment for each of L leads, which makes B·L fragments of a few bytes for an array of terabytes. With two
 * levels, a block has a fragment for each group of about √L leads, and the stage `merge` divides a batch of about √L of
 * these fragments by lead. Both levels together have about 2·B·√L fragments, of about the same size.
 */

import { MAX_SIZE } from "../../../core/tensor/shape.ts";

export interface MergeShape {
  /** The number of consecutive leads in a group. */
  readonly leads: number;
  readonly groups: number;
  /** The number of consecutive blocks whose fragments a task merges, and the number of tasks per group. */
  readonly blocks: number;
  readonly batches: number;
  readonly tasks: number;
}

/** `positions` is the number of positions in a block. The chunks of an `apply` task lie in one group. */
export function mergeShape(
  leads: number,
  blocks: number,
  positions: number,
  chunksPerTask: number,
): MergeShape {
  const own = Math.max(1, Math.ceil(Math.sqrt(leads) / chunksPerTask)) * chunksPerTask;
  const groups = Math.max(1, Math.ceil(leads / own));
  // The entries of a file are counted in 32 bits, even if all blocks address the same lead.
  const together = Math.max(1, Math.min(groups, Math.floor(MAX_SIZE / Math.max(1, positions))));
  const batches = Math.ceil(blocks / together);
  return { leads: own, groups, blocks: together, batches, tasks: groups * batches };
}
