/** What is known of the values in a graph: their types, and which of them are constants. */

import type { Constant, Graph, ValueInfo } from "../model/model.ts";
import type { TensorType } from "../operators/operator.ts";
import { compatible, unifyDims, type PartialShape } from "../tensor/shape.ts";

/** A value as far as it is known. */
export interface Value {
  readonly type: TensorType | null;
  readonly constant: Constant | null;
}

export const UNKNOWN: Value = { type: null, constant: null };

export const constantValue = (constant: Constant): Value => ({
  type: constant.dtype === null ? null : { dtype: constant.dtype, shape: constant.shape },
  constant,
});

const typeOf = ({ name, type }: ValueInfo): [string, TensorType][] =>
  type === null ? [] : [[name, type]];

/** The values of a graph, and behind them those of the graphs around it. */
export class Scope {
  readonly #values = new Map<string, Value>();
  readonly #declared: ReadonlyMap<string, TensorType>;
  readonly #outer: Scope | null;

  /** @param overridable whether a constant that is also an input is only its default */
  constructor(graph: Graph, outer: Scope | null, overridable: boolean) {
    this.#outer = outer;
    this.#declared = new Map([...(graph.values ?? []), ...graph.outputs].flatMap(typeOf));
    // Of a function's inputs only what is declared beside them is known.
    for (const { name, type } of graph.inputs) {
      this.#values.set(name, { type: type ?? this.declared(name), constant: null });
    }
    for (const constant of graph.constants) {
      if (!overridable || !this.#values.has(constant.name)) {
        this.#values.set(constant.name, constantValue(constant));
      }
    }
  }

  get(name: string): Value {
    return this.#find(name) ?? { type: this.declared(name), constant: null };
  }

  #find(name: string): Value | undefined {
    const outer = this.#outer;
    return this.#values.get(name) ?? (outer === null ? undefined : outer.#find(name));
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }

  /** The type that the graph declares for a value, which only the graph itself can. */
  declared(name: string): TensorType | null {
    return this.#declared.get(name) ?? null;
  }
}

/** What is known of a type from two places, or null where they contradict each other. */
export function unifyTypes(a: TensorType, b: TensorType): TensorType | null {
  const shape = unifyShapes(a.shape, b.shape);
  return a.dtype === b.dtype && shape !== undefined ? { dtype: a.dtype, shape } : null;
}

/** The same for shapes, of which null means an unknown rank; undefined where they contradict each other. */
export function unifyShapes(a: PartialShape, b: PartialShape): PartialShape | undefined {
  if (a === null || b === null) return a ?? b;
  return compatible(a, b) ? a.map((dim, axis) => unifyDims(dim, b[axis])) : undefined;
}
