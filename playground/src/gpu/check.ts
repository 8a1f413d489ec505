/** Runs every call on the GPU and in the JavaScript engine, and compares the results. */

import { createEngine, type Engine, type Tensor } from "ndscatter";
import type { GpuEngine, GpuPlan, GpuTensor } from "ndscatter/webgpu";
import type { Call } from "./calls.ts";
import { differenceOf, outcomeOf, type Outcome } from "./compare.ts";
import { MOST_DIFFERENCES, type Difference, type Report } from "./report.ts";

/** The results of a check, without the names of the adapter and browser. */
export type Findings = Pick<Report, "calls" | "different" | "differences" | "refused" | "failure">;

/** `tell` receives the number of completed calls and the number of differences. */
export async function checkCalls(
  engine: GpuEngine,
  calls: Iterable<Call>,
  tell: (count: number, different: number) => void,
): Promise<Findings> {
  const host = createEngine({ kind: "js" });
  const differences: Difference[] = [];
  const refused = new Map<string, Set<string>>();
  let [count, different] = [0, 0];
  let failure: string | null = null;
  try {
    for (const call of calls) {
      // oxlint-disable-next-line no-await-in-loop -- a lost device is known to the next call
      const [right, got] = [await outcomeOf(() => onHost(host, call)), await onGpu(engine, call)];
      if (isRefused(right, got)) {
        const { dtype } = call.data;
        refused.set(dtype, (refused.get(dtype) ?? new Set()).add(call.reduction ?? "moves"));
      } else {
        count++;
        const difference = differenceOf(right, got);
        if (difference !== null) {
          different++;
          if (different <= MOST_DIFFERENCES) differences.push({ call: call.title, difference });
        }
      }
      tell(count, different);
      if ("code" in got && got.code === "engine") throw new Error(got.sentence);
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  return {
    calls: count,
    different,
    differences,
    refused: [...refused].map(([dtype, works]) => `${dtype} (${[...works].join(", ")})`),
    failure,
  };
}

const CIRCULAR = { mode: "circular" } as const;

/**
 * Checks whether the engine refused a data type that no GPU supports. This refusal is expected, even if the call has
 * other errors.
 */
const isRefused = (right: Outcome, got: Outcome): boolean =>
  "code" in got && got.code === "dtype" && !("code" in right && right.code === "dtype");

function onHost(engine: Engine, call: Call): Tensor {
  const { name, data, indices, updates, reduction, axis, policies } = call;
  const inAxis = { axis };
  const scatter = { reduction: reduction ?? undefined, ...policies };
  switch (name) {
    case "scatterND":
      return engine.scatterND(data, indices, given(updates), scatter);
    case "scatterElements":
      return engine.scatterElements(data, indices, given(updates), { ...scatter, ...inAxis });
    case "tensorScatter":
      return engine.tensorScatter(data, given(updates), indices, CIRCULAR);
    case "gatherND":
      return engine.gatherND(data, indices);
    case "gatherElements":
      return engine.gatherElements(data, indices, inAxis);
    default:
      return engine.gather(data, indices, inAxis);
  }
}

function given<T>(value: T | null): T {
  if (value === null) throw new TypeError("the scatter must have at least one update");
  return value;
}

async function onGpu(engine: GpuEngine, call: Call): Promise<Outcome> {
  const used: { dispose(): void }[] = [];
  const keep = <T extends { dispose(): void }>(one: T): T => {
    used.push(one);
    return one;
  };
  const outcome = await outcomeOf(async () => {
    const result = keep(callOnGpu(engine, call, keep));
    return result.read();
  });
  for (const one of used) one.dispose();
  // An error that `read` has reported must not be reported again by a later call.
  await outcomeOf(async () => {
    await engine.done();
    return call.data;
  });
  return outcome;
}

/** `keep` receives objects to dispose of after the call. */
function callOnGpu(
  engine: GpuEngine,
  call: Call,
  keep: <T extends { dispose(): void }>(one: T) => T,
): GpuTensor {
  const { name, way, axis, policies } = call;
  const reduction = call.reduction ?? undefined;
  const data = keep(engine.upload(call.data));
  const updates = call.updates === null ? null : keep(engine.upload(call.updates));
  if (way === "in a kept plan") {
    const plan = keep(planOf(engine, call));
    return updates === null ? plan.gather(data) : plan.scatter(data, updates, { reduction });
  }
  const indices: GpuTensor | Tensor =
    way === "on the GPU" ? keep(engine.upload(call.indices)) : call.indices;
  switch (name) {
    case "scatterND":
      return engine.scatterND(data, indices, given(updates), { reduction, ...policies });
    case "scatterElements":
      return engine.scatterElements(data, indices, given(updates), { reduction, axis });
    case "tensorScatter":
      return engine.tensorScatter(data, given(updates), indices, CIRCULAR);
    case "gatherND":
      return engine.gatherND(data, indices);
    case "gatherElements":
      return engine.gatherElements(data, indices, { axis });
    default:
      return engine.gather(data, indices, { axis });
  }
}

function planOf(engine: GpuEngine, { name, data: { shape }, indices, axis }: Call): GpuPlan {
  switch (name) {
    case "scatterND":
      return engine.planScatterND(shape, indices);
    case "scatterElements":
      return engine.planScatterElements(shape, indices, { axis });
    case "gatherND":
      return engine.planGatherND(shape, indices);
    case "gatherElements":
      return engine.planGatherElements(shape, indices, { axis });
    default:
      return engine.planGather(shape, indices, { axis });
  }
}
