/** Converts an explanation to JSON in parts, because the JSON for a large call may exceed the maximum string length. */

import { errorJson } from "../failure.ts";
import type { Explanation, GradientCell, Read, StoryStep, Tensor } from "../../entries/index.ts";
import { valuesOf } from "./cells.ts";
import { printJson } from "./layout.ts";

interface MoreFacts {
  /** Comparison with another runtime's result. */
  readonly expected?: object | undefined;
  /** The gradients, and the elements whose terms are listed. */
  readonly gradient?:
    | { readonly facts: object; readonly cells: Iterable<GradientCell> }
    | undefined;
}

export function* explanationJson(
  explanation: Explanation,
  { expected, gradient }: MoreFacts = {},
): Iterable<string> {
  const { version, inputs, shapes, error, badCount, badIndices, output, story } = explanation;
  const facts = {
    operator: version && {
      name: version.name,
      domain: version.domain,
      sinceVersion: version.sinceVersion,
    },
    inputs: inputs.map(({ name, role, tensor }) => ({ name, role, ...typeOf(tensor) })),
    shapes,
    error: error && errorJson(error),
    badCount,
    badIndices,
    output: output && {
      name: version?.outputs[0].name,
      ...typeOf(output),
      values: valuesOf(output),
    },
    expected,
    ...(story && {
      kind: story.kind,
      ...(story.kind === "scatter" && {
        reduction: story.reduction,
        includeSelf: story.includeSelf,
        ...(story.stays !== null && { stays: story.stays }),
      }),
      addressed: story.addressed,
      summary: story.summary,
    }),
    gradient: gradient?.facts,
  };
  const head = printJson(facts);
  if (story === null) {
    yield `${head}\n`;
    return;
  }
  yield head.slice(0, head.lastIndexOf("\n}"));
  if (story.kind === "scatter") {
    yield* printList("targets", story.targets, ({ coordinates, count, steps }) => ({
      coordinates,
      count,
      steps: Array.from(steps(), stepOf),
    }));
  } else {
    yield* printList("targets", story.targets, ({ coordinates, count }) => ({
      coordinates,
      count,
    }));
    yield* printList("reads", story.reads, (read: Read) => read);
  }
  if (gradient !== undefined) yield* printList("gradientCells", gradient.cells, cellOf);
  yield "\n}\n";
}

const cellOf = ({ terms, ...facts }: GradientCell): object => ({
  ...facts,
  terms: [...terms],
});

/** Prints an object field that contains a list, one member at a time. */
function* printList<T>(
  name: string,
  list: Iterable<T>,
  factsOf: (member: T) => object,
): Iterable<string> {
  yield `,\n  ${JSON.stringify(name)}: [`;
  let separator = "\n    ";
  for (const member of list) {
    yield separator + printJson(factsOf(member), "    ");
    separator = ",\n    ";
  }
  yield "\n  ]";
}

const typeOf = (tensor: Tensor | null): object =>
  tensor === null ? { dtype: null, shape: null } : { dtype: tensor.dtype, shape: tensor.shape };

/** Converts the tensors in a step to nested lists. */
function stepOf(step: StoryStep<Tensor>): object {
  const [before, after] = [valuesOf(step.before), valuesOf(step.after)];
  return step.kind === "division"
    ? { ...step, before, after }
    : { ...step, before, update: valuesOf(step.update), after };
}
