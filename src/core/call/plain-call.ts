/**
 * Caches checks of plain function calls. A call in a loop usually has the same options, data types and shapes as the
 * previous call, and checking them takes many times as long as comparing them. The results of the checks are therefore
 * stored with the exact values that were checked; a call with equal values is not checked again. Tensors and their
 * elements are never cached.
 */

import { CALLS } from "../limits.ts";
import type { Inputs, Operator } from "../operators/operator.ts";
import { reductionOf, settingsOf } from "../operators/settings.ts";
import { signatureOf } from "../operators/signature.ts";
import { isArray, printValue, objectOf } from "../foreign.ts";
import { TensorError, type ErrorContext } from "../errors.ts";
import type { DType } from "../tensor/dtype.ts";
import { sameShape } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import { plainVersionOf, type Call } from "./call.ts";
import { optionNames, policiesOf, type Policies } from "./policies.ts";
import { formOf, type Form } from "./prepare.ts";

/** A plain function call, including the options that are not attributes. */
export interface PlainCall extends Call {
  readonly policies: Policies;
}

type Options = Readonly<Record<string, unknown>>;

const NO_OPTIONS: Options = Object.freeze({});

/** A previous call: its options without `out`, the parsed options, and the forms of the tensors that were passed. */
interface KnownCall {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  readonly call: PlainCall;
  readonly forms: KnownForm[];
}

/** A form, and the data types and dimensions of the inputs that it was computed from; undefined for omitted inputs. */
interface KnownForm {
  readonly dtypes: readonly (DType | undefined)[];
  readonly dims: readonly (readonly number[] | undefined)[];
  readonly form: Form;
}

/** The last calls of a plain function, oldest first, and the error fields to use before a call is parsed. */
interface KnownCalls {
  readonly fields: ErrorContext;
  readonly calls: KnownCall[];
}

const KNOWN = new WeakMap<Operator, KnownCalls>();

function knownCalls(operator: Operator): KnownCalls {
  const known = KNOWN.get(operator) ?? { fields: { op: plainVersionOf(operator).name }, calls: [] };
  KNOWN.set(operator, known);
  return known;
}

/** The cached call for the given options, and the caller's `out`. */
export interface GivenOptions {
  readonly known: KnownCall;
  readonly out: unknown;
}

/**
 * Parses options into a call, or returns a cached call, together with the caller's `out`. Each option is read once.
 * @param options attributes with camelCase names, `out` and the policies
 * @throws TensorError `attribute`, `reduction`
 */
export function plainCallOf(operator: Operator, options: unknown): GivenOptions {
  const { fields, calls } = KNOWN.get(operator) ?? knownCalls(operator);
  const given =
    options === undefined
      ? NO_OPTIONS
      : typeof options === "object" &&
          options !== null &&
          !Tensor.isTensor(options) &&
          !isArray(options)
        ? objectOf("options", options, fields)
        : refuseOptions(operator, options, fields);
  const { out } = given;
  for (let c = 0; c < calls.length; c++) {
    if (areSame(given, calls[c])) return { known: calls[c], out };
  }
  const known = newCall(operator, given);
  keep(calls, known);
  return { known, out };
}

/**
 * Refuses a value instead of options, such as `"add"` or another input.
 * @throws TensorError `attribute`, with an object that has the value if an attribute takes it
 */
function refuseOptions(operator: Operator, options: unknown, fields: ErrorContext): never {
  const { attributes, inputs } = plainVersionOf(operator);
  const type = Number.isInteger(options) ? "int" : "string";
  const attribute = attributes.find((one) => one.type === type);
  const { name = "bounds", values = ["error", "clip"] } = attribute ?? {};
  const word = typeof options === "string" ? (reductionOf(options) ?? options) : "";
  const example = attribute?.type === "int" ? options : values.includes(word) ? word : values[1];
  const must = `options must be an object after ${inputs.map((one) => one.name).join(", ")}`;
  const got = Tensor.isTensor(options) ? "a tensor" : printValue(options);
  const sentence = `${must}, such as { ${name}: ${printValue(example)} }, got ${got}`;
  throw new TensorError("attribute", sentence, { ...fields, key: "options", got });
}

function newCall(operator: Operator, given: Options): KnownCall {
  const version = plainVersionOf(operator);
  const fields: ErrorContext = { op: version.name };
  const { out: _, ...rest } = given;
  const policies = policiesOf(operator, rest, fields);
  const settings = settingsOf(version, [version], rest, fields, optionNames(operator));
  const { includeSelf = true } = policies;
  const own = { ...settings, includeSelf };
  const signature = signatureOf(version);
  const call = { operator, version, signature, settings: own, fields, policies };
  return { names: Object.keys(rest), values: Object.values(rest), call, forms: [] };
}

/**
 * Returns true if all options except `out` equal the options of a previous call. Comparing values is enough, because
 * accepted options never contain objects, which could have changed.
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
 * Returns the form of a call with these tensors, from the cache or from new checks.
 * @throws TensorError for wrong data types, ranks, axis or shapes, in this order
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

/** Appends an entry to a cache list, and removes the oldest entry if the list is full. */
function keep<T>(list: T[], one: T): void {
  if (CALLS.kept === 0) return;
  if (list.length >= CALLS.kept) list.shift();
  list.push(one);
}
