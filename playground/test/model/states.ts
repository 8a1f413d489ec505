/** Arbitrary states: valid ones, and any others that the page could hold. */

import fc from "fast-check";
import { DTYPES, operators, type DType, type OperatorVersion } from "ndscatter";
import type { State, TensorText } from "../../src/values/state.ts";
import { defaultText, dtypesOf } from "../../src/values/schema.ts";
import { anyText } from "../support/any-text.ts";

const versions = fc.constantFrom(...operators());
const dtypes = fc.constantFrom(...(Object.keys(DTYPES) as DType[]));

/** Texts that people type, and texts that nobody does. */
const texts = fc.oneof(
  fc.constantFrom("0", "1", "-1", "2", "1.5", "-0", "nan", "-inf", "1+2j", "true", "0xff", "", " "),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.double().map(String),
  anyText({ maxLength: 8 }),
  // Half of a surrogate pair.
  fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => `a${String.fromCharCode(code)}`),
);

const shapes = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 });

export const tensorTexts = (
  types: fc.Arbitrary<DType> = dtypes,
  values: fc.Arbitrary<string> = texts,
): fc.Arbitrary<TensorText> =>
  fc.tuple(types, shapes).chain(([dtype, shape]) => {
    const size = shape.reduce((product, dim) => product * dim, 1);
    const list = fc.array(values, { minLength: size, maxLength: size });
    return list.map((elements) => ({ dtype, shape, values: elements }));
  });

/** Any tensor, as a part of a larger one. */
const parts = tensorTexts().chain((text) => {
  const [length = 0] = text.shape;
  const row = fc.oneof(fc.nat(4), fc.nat({ max: 999_999_999_999_999 }));
  const rows = fc.array(row, { minLength: length, maxLength: length });
  return length === 0 ? fc.constant(text) : rows.map((numbers) => ({ ...text, rows: numbers }));
});

const attributesOf = (version: OperatorVersion): fc.Arbitrary<Record<string, string>> =>
  fc
    .tuple(
      ...version.attributes.map(({ name, values = [] }) =>
        fc
          .option(fc.oneof(fc.constantFrom("0", "1", "-1", "true", ...values), texts), {
            nil: null,
          })
          .map((text) => [name, text ?? defaultText(version, name)] as const),
      ),
    )
    .map((entries) =>
      Object.fromEntries(
        entries.filter(
          (entry): entry is readonly [string, string] =>
            entry[1] !== null && entry[1] !== defaultText(version, entry[0]),
        ),
      ),
    );

/** A state that a link may hold: an operator that exists, and anything at all in its inputs. */
export const states: fc.Arbitrary<State> = versions.chain((version) => {
  const { domain, name: op, sinceVersion: opset } = version;
  const inputs = version.inputs.map((schema) =>
    fc.option(
      fc.oneof(
        tensorTexts(fc.constantFrom(...dtypesOf(version, schema)), fc.constantFrom("0", "1", "-1")),
        tensorTexts(),
        parts,
      ),
      { nil: null, freq: 8 },
    ),
  );
  return fc
    .tuple(attributesOf(version), fc.tuple(...inputs))
    .map(([attributes, given]) => ({ domain, op, opset, attributes, inputs: given }));
});
