/** Calls as people write them: each with the operator, its attributes and its output; and texts that are refused. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "ndscatter";
import { resolve } from "ndscatter/operators";
import { readCall } from "../../src/reading/call/read-call.ts";
import { readState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";
import { attempt } from "../../src/values/attempt.ts";
import { asTypeScript } from "../../src/writing/as-typescript.ts";
import { CALLS } from "./calls.ts";

type Row = readonly [text: string, call: string, output: string];

const np = "import numpy as np\n";
const torch = "import torch\n";
const tf = "import tensorflow as tf\n";
const jnp = "import jax.numpy as jnp\n";
const X = "x = np.array([[1, 2, 3], [4, 5, 6]])\n";

/** Outputs were computed by hand from the documents of each library, and those of NumPy and PyTorch confirmed by NumPy 1.24 and torch 1.13. */
// prettier-ignore
const READ: readonly Row[] = [
  [`${np}${X}y = np.take(x, [1, 0, 1], axis=0)`, "Gather", "4,5,6,1,2,3,4,5,6"],
  [`${np}${X}y = np.take(x, np.array([5, 0]))`, "Gather", "6,1"],
  [`${np}${X}y = x.take([2, 0], axis=1)`, "Gather axis=1", "3,1,6,4"],
  [`${np}${X}y = np.take_along_axis(x, np.array([[2], [0]]), axis=1)`, "GatherElements axis=1", "3,4"],
  [`${np}${X}np.put_along_axis(x, np.array([[2], [0]]), 9, axis=1)\nprint(x)`, "ScatterElements axis=1", "1,2,9,9,5,6"],
  [`${np}a = np.array([0., 0, 0, 0])\nnp.add.at(a, [0, 2, 2], [1, 2, 3])`, "ScatterND reduction=add", "1,0,5,0"],
  [`${np}a = np.array([[5, 5], [5, 5]])\ni = np.array([0, 1])\nj = np.array([1, 0])\nnp.subtract.at(a, (i, j), 2)`, "ScatterNDUpdate reduction=sub", "5,3,3,5"],
  [`${np}np.maximum.at(np.array([0, 1, 2, 3]), np.array([0, 0]), np.array([7, 3]))`, "ScatterND reduction=max", "7,1,2,3"],
  [`${np}${X}x[[1, 0]] = 0`, "ScatterND", "0,0,0,0,0,0"],
  [`${np}${X}x[:, [2, 0]] = [[7, 8], [9, 10]]`, "ScatterUpdate", "8,2,7,10,5,9"],
  [`${np}${X}y = x[[0, 1], [2, 0]]`, "GatherND", "3,4"],
  [`${np}${X}i = ([0, 1], [2, 0])\ny = x[i]`, "GatherND", "3,4"],
  [`${np}${X}y = x[:, np.array([2, 2])]`, "Gather axis=1", "3,3,6,6"],
  [`x[i] += u\nx = np.array([0., 0])\ni = np.array([1, 1])\nu = np.array([2., 3])`, "ScatterND reduction=add", "0,5"],
  [`${torch}x = torch.tensor([[0., 0, 0], [0, 0, 0]])\nsrc = torch.tensor([[1., 2, 3], [4, 5, 6]])\nindex = torch.tensor([[0, 1, 1]])\nx.scatter_(0, index, src)`, "ScatterElements", "1,0,0,0,2,3"],
  [`${torch}y = torch.tensor([[0., 0, 0, 0], [0, 0, 0, 0]]).scatter_(1, torch.tensor([[2], [3]]), 1.5)`, "ScatterElements axis=1", "0,0,1.5,0,0,0,0,1.5"],
  [`${torch}x = torch.zeros(3, 2, dtype=torch.float64)\nx.index_put_((torch.tensor([2, 2]),), torch.ones(2, 2), accumulate=True)`, "ScatterND reduction=add", "0,0,0,0,2,2"],
  [`${np}x = np.zeros((3,), np.int32)\nx[[1, 1]] = np.ones(2, np.int32)`, "ScatterND", "0,1,0"],
  [`${torch}y = torch.scatter_add(torch.tensor([1., 1, 1]), 0, torch.tensor([0, 0, 2]), torch.tensor([1., 2., 3.]))`, "ScatterElements reduction=add", "4,1,4"],
  [`${torch}src = torch.tensor([1., 2., 3., 4., 5., 6.])\nindex = torch.tensor([0, 1, 0, 1, 2, 1])\ninput = torch.tensor([1., 2., 3., 4.])\nprint(torch.scatter_reduce(input, 0, index, src, reduce="sum"))`, "ScatterElements reduction=add", "5,14,8,4"],
  [`${torch}src = torch.tensor([1., 2., 3., 4., 5., 6.])\nindex = torch.tensor([0, 1, 0, 1, 2, 1])\ninput = torch.tensor([1., 2., 3., 4.])\ntorch.scatter_reduce(input, 0, index, src, reduce="sum", include_self=False)`, "ScatterElementsUpdate reduction=sum use_init_val=false", "4,12,5,4"],
  [`${torch}t = torch.tensor([[1, 2], [3, 4]])\ntorch.gather(t, 1, torch.tensor([[0, 0], [1, 0]]))`, "GatherElements axis=1", "1,1,4,3"],
  [`${torch}x = torch.tensor([[1., 1, 1], [1, 1, 1], [1, 1, 1]])\nt = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.float)\nindex = torch.tensor([0, 2])\nx.index_add_(0, index, t)`, "ScatterND reduction=add", "2,3,4,1,1,1,5,6,7"],
  [`${torch}x = torch.tensor([[0., 0, 0], [0, 0, 0]])\nx.index_put_((torch.tensor([0, 0]), torch.tensor([1, 1])), torch.tensor([2., 3.]), accumulate=True)`, "ScatterND reduction=add", "0,5,0,0,0,0"],
  [`${torch}x = torch.tensor([[0, 1, 2], [3, 4, 5]])\ny = torch.index_select(x, 1, torch.tensor([2, 0]))`, "Gather axis=1", "2,0,5,3"],
  [`${tf}t = tf.constant([0., 0, 0, 0])\nu = tf.tensor_scatter_nd_update(t, [[1], [3]], [5., 6.])`, "ScatterND", "0,5,0,6"],
  [`${tf}u = tf.tensor_scatter_nd_sub(tf.constant([1., 1, 1]), tf.constant([[0], [0]]), tf.constant([1., 2.]))`, "ScatterNDUpdate reduction=sub", "-2,1,1"],
  [`${tf}s = tf.scatter_nd(tf.constant([[4], [3], [1], [7]]), tf.constant([9, 10, 11, 12]), tf.constant([8]))\nprint(s)`, "ScatterND reduction=add", "0,11,0,10,9,0,0,12"],
  [`${tf}g = tf.gather(tf.constant([[1, 2], [3, 4]]), [[0], [1]], batch_dims=1, axis=1)`, "Gather batch_dims=1", "1,4"],
  [`${tf}g = tf.gather_nd([[1, 2], [3, 4]], [[0, 1]])`, "GatherND", "2"],
  [`${tf}tf.math.unsorted_segment_sum(tf.constant([1., 2., 4.]), tf.constant([0, 2, 0]), num_segments=3)`, "ScatterND reduction=add", "5,0,2"],
  [`${jnp}x = jnp.array([0., 0, 0])\ny = x.at[jnp.array([0, 0, 2])].add(jnp.array([1., 2., 3.]))`, "ScatterND reduction=add", "3,0,3"],
  [`${jnp}y = jnp.array([[1., 1], [1, 1]]).at[[0, 1], [1, 0]].set(5.0)`, "ScatterND", "1,5,5,1"],
  [`${jnp}x = jnp.array([0., 1, 2, 3])\ny = x.at[[3, 1]].get(mode="fill")`, "Gather", "3,1"],
  [`import jax\n${jnp}y = jax.ops.segment_sum(jnp.array([1., 2., 4.]), jnp.array([1, 0, 1]))`, "ScatterND reduction=add", "2,5"],
  [`import onnx\n${np}data = np.array([0, 0, 0], np.float32)\nindices = np.array([[1], [1]])\nupdates = np.array([2, 3], np.float32)\nnode = onnx.helper.make_node("ScatterND", inputs=["data", "indices", "updates"], outputs=["y"], reduction="add")`, "ScatterND reduction=add", "0,5,0"],
  [`node = make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=-1)\nx = np.array([0, 0, 0], np.float32)\ni = np.array([1])\nu = np.array([2], np.float32)`, "ScatterElements axis=-1", "0,2,0"],
  [`const y = scatterND(tensor("float32", [3], [1, 2, 3]), tensor("int64", [2, 1], [0, 0]), tensor("float32", [2], [4, 5]), { reduction: "add" });`, "ScatterND reduction=add", "10,2,3"],
  [`const x = tensor("float32", [2], [1, 2]);\nconst [y] = run({ domain: "openvino", op: "Gather", opset: 8, attributes: { "batch_dims": 0 } }, [x, [1, -1], 0]);\nconsole.log(y);`, "Gather", "2,2"],
  [`x = np.array([[1, 2],  # the first row\n              [3, 4]])\n\n# swap\ny = x[[1, 0]]`, "Gather", "3,4,1,2"],
  [`${np}x = np.arange(6).reshape(2, 3)\ny = x[[1, 0]]`, "Gather", "3,4,5,0,1,2"],
  [`${torch}x = torch.arange(6.).view(-1, 2)\ny = torch.gather(x, 1, torch.tensor([[1], [0]]))`, "GatherElements axis=1", "1,2"],
  [`${tf}y = tf.gather(tf.range(9, 0, -3), [2, 0])`, "Gather", "3,9"],
  [`import torch.nn.functional as F\ny = F.embedding(torch.tensor([1, 0]), torch.tensor([[1., 2], [3, 4]]))`, "Gather", "3,4,1,2"],
  [`axis = -1\nx = np.array([[1, 2]])\ny = np.take(x, [0, 0, 1], axis=axis)`, "Gather axis=-1", "1,1,2"],
];

for (const [text, call, output] of READ) {
  test(`read: ${text.replace(/^(?:import.*\n)*/, "").slice(0, 70)}`, () => {
    const { call: found } = readCall(text);
    assert.ok(found);
    const { state } = found;
    const words = Object.entries(state.attributes).map(([name, value]) => `${name}=${value}`);
    assert.equal([state.op, ...words].join(" "), call);
    const { node, inputs, faults } = readState(state);
    assert.deepEqual(faults, []);
    assert.equal(String(run(node, inputs)[0].toArray()), output);
  });
}

/** What a call does in its library and not on the page; negative indices were measured with torch 2.15, TensorFlow 2.21 and JAX 0.10. */
// prettier-ignore
const REMARKS: readonly (readonly [text: string, remark: RegExp | null])[] = [
  [`torch.zeros(3).scatter_(0, torch.tensor([-1]), torch.tensor([5.]))`, /^The library refuses a negative index here; ONNX counts/],
  [`torch.zeros(3).scatter_(0, torch.tensor([1]), torch.tensor([-5.]))`, null],
  [`torch.zeros(3).index_fill_(0, torch.tensor([-1]), 5.)`, null],
  [`torch.take_along_dim(torch.zeros(3), torch.tensor([-1]), 0)`, null],
  [`tf.gather([1, 2], [-1])`, /^The library refuses a negative index here/],
  [`tf.math.unsorted_segment_sum([1., 2.], [-1, 0], 2)`, /^The library leaves out a negative segment/],
  [`tf.math.segment_sum([1., 2.], [-1, 0])`, /^The library refuses a negative index here/],
  [`jax.ops.segment_sum(jnp.array([1., 2.]), jnp.array([-1, 0]), 2)`, /^The library leaves out a negative segment/],
  [`np.take([1, 2], [-1], axis=0)`, null],
  [`np.take([1, 2], [0, 5], axis=0, mode="wrap")`, /^The mode wrap is not applied: an index out of range is reported/],
  [`np.take([1, 2], [0, 1], axis=0, mode="raise")`, null],
  [`jnp.array([1, 2]).at[jnp.array([5])].get(mode="clip")`, /^The mode clip is not applied/],
  [`jnp.array([1, 2]).at[jnp.array([5])].get()`, /^JAX ignores an index out of range/],
  [`tf.gather([[1, 2]], [[1]], batch_dims=1)`, /^ONNX does not have batches in Gather, so the page shows OpenVINO's/],
];

for (const [text, remark] of REMARKS) {
  test(`remark: ${text}`, () => {
    const { remarks = [] } = readCall(text).call ?? {};
    if (remark === null) assert.deepEqual(remarks, []);
    else assert.match(remarks[0] ?? "", remark);
  });
}

test("arrays with names are read from JSON, YAML and assignments alike", () => {
  const texts = [
    `{"data": [1, 2], "indices": [[0], [1]]}`,
    "data: [1, 2]\nindices: [[0], [1]]",
    "data = [1, 2]\nindices = [[0], [1]]",
  ];
  for (const text of texts) {
    const { call, tensors } = readCall(text);
    assert.equal(call, null);
    assert.deepEqual(
      tensors.map(({ name, input: { shape, values } }) => [name, shape, values]),
      [
        ["data", [2], ["1", "2"]],
        ["indices", [2, 1], ["0", "1"]],
      ],
    );
  }
});

test("a long call has a title that ends in …", () => {
  const { call } = readCall(`np.take([${"1, ".repeat(60)}1], [0])`);
  assert.match(call?.title ?? "", /^np\.take\(\[1, 1.*…$/);
  assert.equal(call?.title.length, 80);
});

test("a word that is no reduction stays as it is written, and the page reports it", () => {
  for (const more of ["", ", include_self=False"]) {
    const { call } = readCall(
      `torch.scatter_reduce([1.], 0, [0], [2.], reduce="constructor"${more})`,
    );
    assert.equal(call?.state.attributes["reduction"], "constructor");
  }
});

test("what the page writes for ndscatter is read as the same call", () => {
  let count = 0;
  for (const [title, state] of CALLS) {
    const text = asTypeScript(state);
    const { call } = readCall(text);
    assert.ok(call, text);
    const [read, written] = [call.state, state].map(meaning);
    assert.deepEqual(read, written, `${title}\n${text}`);
    count++;
  }
  assert.ok(count > 1000, `${count}`);
});

/** A state as its tensors hold it: a text may write `1.0` for `1`. */
function meaning(state: State) {
  const version = resolve(state);
  const { inputs, node } = readState(state);
  // A typed -0 is 0, and so is an attribute that is left out.
  const attributes = version.attributes.map(({ name, default: otherwise }) => {
    const value = node.attributes?.[name] ?? otherwise;
    return `${name} = ${value === 0 ? 0 : String(value)}`;
  });
  return {
    op: `${version.domain}/${version.name}/${version.sinceVersion}`,
    attributes,
    inputs: inputs.map((one) => one && [one.dtype, one.shape, String(one.toArray())]),
  };
}

/** What is not read is refused as a whole, with line and column and the reason. */
// prettier-ignore
const REFUSED: readonly (readonly [text: string, sentence: RegExp])[] = [
  [`x = np.array([3, 1])\ny = np.sort(x)`, /^line 2, column 5: np\.sort\(x\) is not a call that is read$/],
  [`y = torch.scatter_add(x, 0, [0], [1.])`, /^line 1, column 23: the text does not assign a list to x$/],
  [`x = np.empty(3)\nx[[0]] = 1`, /^line 1, column 1: x = np\.empty\(3\) is not supported here: print the array/],
  [`np.take([1], [0])\nnp.take([2], [0])`, /^line 2, column 1: a second call, and only one is read$/],
  [`x = np.arange(0.5, 3)\ny = x[[0]]`, /^line 1, column 5: np\.arange is read with whole numbers only$/],
  [`x = np.arange(6).reshape(4, -1)\ny = x[[0]]`, /^line 1, column 5: 6 elements do not have the shape that reshape gives$/],
  [`x = np.arange(10**9)\ny = x[[0]]`, /is read with whole numbers only/],
  [`x = np.arange(1000000000)\ny = x[[0]]`, /the page shows up to 20,000 elements/],
  [`np.add.at(np.empty(3), [0], [1])`, /^line 1, column 11: np\.empty is not supported here: print the array/],
  [`x = np.zeros((1000, 1000))\nx[[0]] = 1`, /the page shows up to 20,000 elements/],
  [`x = np.array([[1, 2], [3]])\ny = x[[0]]`, /expected a list of shape \[2\]/],
  [`x = np.array([0, 1])\nfor i in range(3):\n    x[i] += 1`, /^line 2, column 5: expected the end of the line, got i$/],
  [`y = torch.gather(torch.tensor([1]), 0, torch.tensor([0])).sum()`, /sum|is not a call that is read/],
  [`x = np.array([1, 2])\ny = x[x > 1]`, /the text does not assign|is not|bool/],
  [`x = np.array([1, 2])\ny = x[[True, False]]`, /a boolean mask is not supported here/],
  [`x = np.array([1, 2])\nx = np.array([1, 2])\ny = x[[0]]`, /x is assigned twice/],
  [`{"data": [1], 2}`, /^line 1, column 1: an object is not supported here/],
  [`jnp.array([1, 2]).at[[0]].sum(3)`, /is not a call that is read$/],
  [`np.add.at([1], [0], [1], 7)`, /no parameter for the argument/],
  [`x = torch.tensor([0.])\nx.index_add_(0, torch.tensor([0]), torch.tensor([1.]), alpha=2)`, /alpha is not supported/],
  [`node = helper.make_node("Softmax", ["x"], ["y"])`, /Softmax is not a scatter or gather/],
  [`x = np.array([1, 2\ny = 3`, /expected \), got =|expected \], got =/],
  [`x = )`, /^line 1, column 5: expected a value, got \)$/],
  [`torch.gather([1, 2], [0])`, /needs the argument index/],
];

for (const [text, sentence] of REFUSED) {
  test(`refused: ${text.slice(-60)}`, () => {
    const found = attempt(() => readCall(text));
    assert.ok("error" in found, JSON.stringify(found));
    assert.match(found.error, sentence);
  });
}
