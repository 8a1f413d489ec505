/**
 * Calls of plain functions that were made before. A call in a loop has the options, data types and shapes of the call
 * before it, and checking these takes many times as long as comparing them. The results of the checks are therefore
 * kept beside the exact words and numbers that were checked: an equal call needs no second check, any other call is
 * checked. Tensors and their elements are never kept.
 */

import { CALLS } from "../limits.ts";
import type { Inputs, Operator } from "../operators/operator.ts";
import { settingsOf } from "../operators/settings.ts";
import { signatureOf } from "../operators/signature.ts";
import type { ErrorFields } from "../errors.ts";
import type { DType } from "../tensor/dtype.ts";
import { objectOf } from "../tensor/options.ts";
import { sameShape } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import { plainVersionOf, type Call } from "./call.ts";
import { POLICY_NAMES, policiesOf, type Policies } from "./policies.ts";
import { formOf, type Form } from "./prepare.ts";

/** A call of a plain function, and its options beyond the attributes. */
export interface PlainCall extends Call {
  readonly policies: Policies;
}

type Options = Readonly<Record<string, unknown>>;

const NO_OPTIONS: Options = Object.freeze({});

/** A previous call: its options without `out`, their meaning, and the forms of the tensors passed with them. */
interface KnownCall {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  readonly call: PlainCall;
  readonly forms: KnownForm[];
}

/** A form, and the data types and dimensions of the inputs that it was made of; undefined for an input left out. */
interface KnownForm {
  readonly dtypes: readonly (DType | undefined)[];
  readonly dims: readonly (readonly number[] | undefined)[];
  readonly form: Form;
}

/** The last calls of a plain function, the oldest first, and the fields of errors before a call is known. */
interface KnownCalls {
  readonly fields: ErrorFields;
  readonly calls: KnownCall[];
}

const KNOWN = new WeakMap<Operator, KnownCalls>();

function knownCalls(operator: Operator): KnownCalls {
  const known = KNOWN.get(operator) ?? { fields: { op: plainVersionOf(operator).name }, calls: [] };
  KNOWN.set(operator, known);
  return known;
}

/** The parsed options, and `out` as given. */
export interface GivenOptions {
  readonly known: KnownCall;
  readonly out: unknown;
}

/**
 * The call that options make, and `out` as it was given. Each option is read once.
 * @param options attributes in JavaScript's spelling, `out` and the policies
 * @throws TensorError `attribute`, `reduction`
 */
export function plainCallOf(operator: Operator, options: unknown): GivenOptions {
  const { fields, calls } = KNOWN.get(operator) ?? knownCalls(operator);
  const given = options === undefined ? NO_OPTIONS : objectOf("options", options, fields);
  const { out } = given;
  for (let c = 0; c < calls.length; c++) {
    if (areSame(given, calls[c])) return { known: calls[c], out };
  }
  const known = newCall(operator, given);
  keep(calls, known);
  return { known, out };
}

function newCall(operator: Operator, given: Options): KnownCall {
  const version = plainVersionOf(operator);
  const fields: ErrorFields = { op: version.name };
  const { out: _, ...rest } = given;
  const policies = policiesOf(operator, rest, fields);
  const settings = settingsOf(version, [version], rest, fields, POLICY_NAMES);
  const { includeSelf = true } = policies;
  const own = { ...settings, includeSelf };
  const signature = signatureOf(version);
  const call = { operator, version, signature, settings: own, fields, policies };
  return { names: Object.keys(rest), values: Object.values(rest), call, forms: [] };
}

/**
 * True if all options except `out` equal those of a previous call. Accepted options hold no objects, which could have
 * changed.
 */
function areSame(given: Options, { names, values }: KnownCall): boolean {
  let count = 0;
  for (const name in given) {
    if (name === "out") continue;
    if (name !== names[count] || given[name] !== values[count]) return false;
    count++;
  }
  return count === names.length;
}

/**
 * The form of a call with these tensors: a previous one, or the result of new checks.
 * @throws TensorError for data types, ranks, an axis and shapes, in this order
 */
export function knownForm({ call, forms }: KnownCall, tensors: Inputs<Tensor>): Form {
  for (let f = 0; f < forms.length; f++) if (fits(forms[f], tensors)) return forms[f].form;
  const form = formOf(call, call.policies, tensors);
  keep(forms, {
    dtypes: tensors.map((tensor) => tensor?.dtype),
    dims: tensors.map((tensor) => tensor && Tensor.dimsOf(tensor)),
    form,
  });
  return form;
}

function fits({ dtypes, dims }: KnownForm, tensors: Inputs<Tensor>): boolean {
  for (let position = 0; position < dtypes.length; position++) {
    const tensor = tensors[position];
    const shape = dims[position];
    if (tensor === undefined || shape === undefined) {
      if (tensor !== undefined || shape !== undefined) return false;
    } else if (tensor.dtype !== dtypes[position] || !sameShape(Tensor.dimsOf(tensor), shape)) {
      return false;
    }
  }
  return true;
}

/** Adds one to a list of the last few. */
function keep<T>(list: T[], one: T): void {
  if (CALLS.kept === 0) return;
  if (list.length >= CALLS.kept) list.shift();
  list.push(one);
}
