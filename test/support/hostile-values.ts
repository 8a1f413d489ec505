/**
 * Values that no function of the package accepts. Each is made afresh, because some change when they are read. All are
 * fast to make and to refuse, so a test may try all of them everywhere.
 */

import { Tensor, tensor, zeros } from "../../src/core/tensor/tensor.ts";

/** The error of a caller's code while the package reads a value. */
const fail = (): never => {
  throw new RangeError("the caller's own error");
};

/** An object all of whose traps throw. */
const throwing = <T extends object>(target: T): T =>
  new Proxy(target, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail });

function revoked<T extends object>(target: T): T {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** A list with any claimed length. */
const ofLength = (length: unknown, list: unknown[] = [1, 2]): unknown[] =>
  new Proxy(list, { get: (target, key) => (key === "length" ? length : Reflect.get(target, key)) });

/** A list whose entries and length differ each time they are read. */
function changing(...answers: unknown[]): unknown[] {
  let reads = 0;
  const next = (): unknown => answers[reads++ % answers.length];
  return new Proxy([1, 2], {
    get: (target, key) => (key === Symbol.iterator ? Reflect.get(target, key) : next()),
  });
}

/** A list with getters for entries. */
const withGetters = (get: () => unknown): unknown[] =>
  Object.defineProperties([0, 0], { 0: { get }, 1: { get } }) as unknown[];

function cyclic(): unknown[] {
  const list: unknown[] = [];
  list.push(list, list);
  return list;
}

/** Nested pairs that contain the same list twice, so that 2^62 paths lead to the innermost one. */
const doubled = (innermost: unknown): unknown =>
  Array.from({ length: 62 }).reduce<unknown>((list) => [list, list], innermost);

/** `array` with an own property that typed arrays read. */
const lying = (array: ArrayBufferView, name: string | symbol, value: unknown): unknown =>
  Object.defineProperty(array, name, { value });

/** A subclass that lies about its length, and whose constructor takes nothing but 2. */
class Samples extends Float32Array {
  constructor(length: number) {
    if (length !== 2) fail();
    super(length);
  }
  override get length(): number {
    return 1_000_000;
  }
}

class Choice {
  bounds = "clip";
  reduce = "add";
  get mode(): string {
    return fail();
  }
}

const detach = <T extends Tensor>(value: T): T => {
  if (ArrayBuffer.isView(value.data))
    structuredClone(value.data.buffer, { transfer: [value.data.buffer as ArrayBuffer] });
  return value;
};

const disposed = (): Tensor => {
  const gone = zeros("float32", [2, 2]);
  gone.dispose();
  return gone;
};

/** A view over memory that shrank after the view was made. */
function shrunk(): Float32Array {
  const buffer: ArrayBuffer & { resize?(bytes: number): void } = Reflect.construct(ArrayBuffer, [
    16,
    { maxByteLength: 32 },
  ]);
  const view = new Float32Array(buffer, 0, 4);
  buffer.resize?.(4);
  return view;
}

const f32 = (): Tensor => zeros("float32", [2, 2]);
const text = (): Tensor => tensor("string", [2, 2], ["a", "b", "c", "d"]);

const PRIMITIVES = [
  ...[undefined, null, true, false, NaN, -1, -0, 1.5, 2 ** 53, Infinity, 10n, 2n ** 64n],
  ...["", "toString", "__proto__", "\ud800"],
];

const LENGTHS = [1e6, 2 ** 53, Infinity, NaN, -1, 0.5, "2", 2n, Symbol("odd"), null, {}];

/** Own properties that an array may have, which shadow those of its class. */
const OWN_PROPERTIES = [
  "length",
  "constructor",
  "buffer",
  "byteOffset",
  "byteLength",
  Symbol.toStringTag,
];

/** An object whose properties all throw, for every name that the package may read. */
const throwingParts = (): object =>
  ["op", "dtype", "type", "data", "reduction", "shape"].reduce(
    (object, name) => Object.defineProperty(object, name, { get: fail, enumerable: true }),
    {},
  );

/** Entries that alternate between lists and numbers. */
function alternating(): unknown[] {
  let reads = 0;
  return withGetters(() => (reads++ % 2 === 0 ? [1] : 1));
}

/** A tensor of text with elements that are not text. */
function noText(): Tensor {
  const odd = text();
  odd.data.fill(Symbol("odd") as never);
  return odd;
}

const polyfilled = (): object =>
  Object.defineProperty(new Uint16Array(2), Symbol.toStringTag, { value: "Float16Array" });

// prettier-ignore
export const HOSTILE_VALUES: readonly (readonly [title: string, make: () => unknown])[] = [
  ...PRIMITIVES.map((value) => [`${typeof value} ${String(value)}`, () => value] as const),
  ["long text", () => "x".repeat(1 << 20)],
  ["a symbol", () => Symbol("odd")],
  ["a function", () => fail],
  ["a class", () => Tensor],
  // Objects.
  ["an empty object", () => ({})],
  ["an object without a prototype", () => Object.create(null)],
  ["an object that throws when it is converted", () => ({ toString: fail, valueOf: fail, toJSON: fail })],
  ["an object that throws when it becomes a primitive", () => ({ [Symbol.toPrimitive]: fail })],
  ["an object whose tag throws", () => Object.defineProperty({}, Symbol.toStringTag, { get: fail })],
  ["an object that says it is a Float16Array",
    () => ({ [Symbol.toStringTag]: "Float16Array", buffer: 1e9, byteOffset: -1, length: 2 })],
  ["an object whose properties throw", throwingParts],
  ["an instance of a class", () => new Choice()],
  ["a Proxy that throws", () => throwing({})],
  ["a revoked Proxy", () => revoked({})],
  ["a revoked Proxy of a list", () => revoked([])],
  ["a Map", () => new Map([["reduction", "add"]])],
  ["a Set", () => new Set([1])],
  ["a WeakMap", () => new WeakMap()],
  ["a Date", () => new Date(NaN)],
  ["a RegExp", () => /x/g],
  ["a Promise", () => Promise.resolve()],
  ["an Error", () => new Error("x")],
  ["a boxed number", () => Object(1)],
  ["boxed text", () => Object("float32")],
  ["a generator", () => (function* () { yield 1; })()],
  // Lists.
  ["an empty list", () => []],
  ["a nested list", () => [[1, 2], [3, 4]]],
  ["a ragged list", () => [[1], 2]],
  ["a frozen list", () => Object.freeze([1, 2])],
  ["a frozen list of text", () => Object.freeze(["a", "b"])],
  ["a sparse list", () => Array(2)],
  ["a long sparse list", () => Array(1 << 12)],
  ["a list of odd things", () => [Symbol("odd"), Object.create(null)]],
  ["a list that holds itself", cyclic],
  ["lists that hold one list over and over", () => doubled([])],
  ["lists that hold one number over and over", () => doubled(1)],
  ["a list whose entries throw", () => withGetters(fail)],
  ["a list whose entries are lists, then numbers", alternating],
  ["a list that throws", () => throwing([1, 2])],
  ...LENGTHS.map((length) => [`a list of the length ${String(length)}`, () => ofLength(length)] as const),
  ["a list that grows", () => changing(2, 1, 1000, 1, 1e6)],
  ["a list that turns into text", () => changing(2, "a", 2, Symbol("odd"))],
  ["an object that looks like a list", () => ({ length: 2, 0: 1, 1: 2 })],
  // Memory.
  ["an ArrayBuffer", () => new ArrayBuffer(8)],
  // Pages that are not isolated lack this class.
  ["a SharedArrayBuffer", () => Reflect.get(globalThis, "SharedArrayBuffer") && new SharedArrayBuffer(8)],
  ["a DataView", () => new DataView(new ArrayBuffer(8))],
  ["an empty typed array", () => new Float32Array(0)],
  ["bigints", () => BigInt64Array.of(1n, -1n)],
  ["a clamped array", () => Uint8ClampedArray.of(1, 255)],
  ["a detached array", () => detach(f32()).data],
  ["an array that was resized", shrunk],
  ["a subclass with a constructor of its own", () => new Samples(2)],
  ...OWN_PROPERTIES.map((name) =>
    [`an array with its own ${String(name)}`, () => lying(new Float32Array(2), name, 1e6)] as const),
  ["bytes that say they are floats", () => lying(new Uint8Array(3), Symbol.toStringTag, "Float32Array")],
  ["bytes of a class that throws", () => Object.setPrototypeOf(new Uint8Array(2), throwing(Uint8Array.prototype))],
  ["a Proxy of a typed array", () => new Proxy(new Float32Array(2), {})],
  // Tensors.
  ["a Proxy of a tensor", () => new Proxy(f32(), {})],
  ["a Proxy of a tensor of text", () => new Proxy(text(), {})],
  ["a clone of a tensor", () => Object.create(f32())],
  ["a clone of another shape", () => Object.create(f32(), { shape: { value: [1_000_000] } })],
  ["an object with the methods of a tensor", () => Object.create(Object.getPrototypeOf(f32()))],
  ["a copy of a tensor's properties", () => ({ ...f32() })],
  ["a tensor that was disposed of", disposed],
  ["a Proxy of a tensor that was disposed of", () => new Proxy(disposed(), {})],
  ["a tensor whose memory is detached", () => detach(f32())],
  ["a tensor whose text was frozen", () => { const frozen = text(); Object.freeze(frozen.data); return frozen; }],
  ["a tensor whose text is no longer text", noText],
  ["a tensor whose text became shorter", () => { const odd = text(); (odd.data as string[]).length = 1; return odd; }],
  ["a tensor whose data throws", () => ({ type: "float32", dims: [2, 2], get data() { return fail(); } })],
  ["a tensor with a shape that grows",
    () => ({ type: "float32", dims: changing(1, 3, 1_000_000), data: new Float32Array(3) })],
  ["a tensor of a float16 polyfill", () => ({ type: "float16", dims: [2], data: polyfilled() })],
];
