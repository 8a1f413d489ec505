/** Sessions for data types that a runtime's JavaScript interface cannot transfer. */

import type { TensorType } from "../../core/operators/operator.ts";
import { asTensor } from "../../core/tensor/tensor.ts";
import type { Model } from "../model/model.ts";
import { carrierOf, openModel } from "../verify/carried.ts";
import type { CreateSession } from "../verify/session.ts";
import type { CreatePart, RuntimeSession } from "./part-session.ts";

export const isCarried = (type: TensorType | null): boolean =>
  type !== null && carrierOf(type.dtype) !== null;

/** Creates a session in which a Cast converts each unsupported input or output without losing a bit. */
export async function carriedSession(create: CreatePart, part: Model): Promise<RuntimeSession> {
  const session = await openModel(create as CreateSession, part);
  const names = part.graph.outputs.map(({ name }) => name);
  return {
    async run(feeds) {
      const own = Object.entries<unknown>(feeds).map(
        ([name, value]) => [name, asTensor(value, {}, name)] as const,
      );
      return Object.fromEntries(await session.run(new Map(own), names));
    },
    release: () => session.release(),
  };
}
