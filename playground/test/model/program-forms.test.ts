/** Programs as people write them: each with the operator, its attributes, its output, and what of it is marked. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "ndscatter";
import { fromHash } from "../../src/document/hash.ts";
import { readProgram } from "../../src/reading/program/program.ts";
import { readState } from "../../src/document/read-state.ts";
import { SUM } from "../support/states.ts";

const found = fromHash(SUM);
assert.ok("state" in found);
const BASE = found.state;

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
  [`${np}a = np.zeros(4)\nnp.add.at(a, [0, 2, 2], [1, 2, 3])`, "ScatterND reduction=add", "1,0,5,0"],
  [`${np}a = np.full((2, 2), 5)\ni = np.array([0, 1])\nj = np.array([1, 0])\nnp.subtract.at(a, (i, j), 2)`, "ScatterNDUpdate reduction=sub", "5,3,3,5"],
  [`${np}a = np.arange(4)\nnp.maximum.at(a, np.array([0, 0]), np.array([7, 3]))`, "ScatterND reduction=max", "7,1,2,3"],
  [`${np}${X}x[[1, 0]] = 0`, "ScatterND", "0,0,0,0,0,0"],
  [`${np}${X}x[:, [2, 0]] = [[7, 8], [9, 10]]`, "ScatterUpdate", "8,2,7,10,5,9"],
  [`${np}${X}y = x[[0, 1], [2, 0]]`, "GatherND", "3,4"],
  [`${np}${X}idx = np.array([[0, 2], [1, 0]])\ny = x[tuple(idx.T)]`, "GatherND", "3,4"],
  [`${np}${X}y = x[:, np.array([2, 2])]`, "Gather axis=1", "3,3,6,6"],
  [`${torch}x = torch.zeros(3, 5)\nsrc = torch.arange(1, 11).reshape(2, 5).float()\nindex = torch.tensor([[0, 1, 2, 0]])\nx.scatter_(0, index, src)`, "ScatterElements", "1,0,0,4,0,0,2,0,0,0,0,0,3,0,0"],
  [`${torch}y = torch.zeros(2, 4).scatter_(1, torch.tensor([[2], [3]]), 1.5)`, "ScatterElements axis=1", "0,0,1.5,0,0,0,0,1.5"],
  [`${torch}y = torch.scatter_add(torch.ones(3), 0, torch.tensor([0, 0, 2]), torch.tensor([1., 2., 3.]))`, "ScatterElements reduction=add", "4,1,4"],
  [`${torch}src = torch.tensor([1., 2., 3., 4., 5., 6.])\nindex = torch.tensor([0, 1, 0, 1, 2, 1])\ninput = torch.tensor([1., 2., 3., 4.])\nprint(torch.scatter_reduce(input, 0, index, src, reduce="sum"))`, "ScatterElements reduction=add", "5,14,8,4"],
  [`${torch}src = torch.tensor([1., 2., 3., 4., 5., 6.])\nindex = torch.tensor([0, 1, 0, 1, 2, 1])\ninput = torch.tensor([1., 2., 3., 4.])\ntorch.scatter_reduce(input, 0, index, src, reduce="sum", include_self=False)`, "ScatterElementsUpdate reduction=sum use_init_val=false", "4,12,5,4"],
  [`${torch}t = torch.tensor([[1, 2], [3, 4]])\ntorch.gather(t, 1, torch.tensor([[0, 0], [1, 0]]))`, "GatherElements axis=1", "1,1,4,3"],
  [`${torch}x = torch.ones(5, 3)\nt = torch.tensor([[1, 2, 3], [4, 5, 6], [7, 8, 9]], dtype=torch.float)\nindex = torch.tensor([0, 4, 2])\nx.index_add_(0, index, t)`, "ScatterND reduction=add", "2,3,4,1,1,1,8,9,10,1,1,1,5,6,7"],
  [`${torch}x = torch.zeros(2, 3)\nx.index_put_((torch.tensor([0, 0]), torch.tensor([1, 1])), torch.tensor([2., 3.]), accumulate=True)`, "ScatterND reduction=add", "0,5,0,0,0,0"],
  [`${torch}x = torch.arange(6).view(2, 3)\ny = torch.index_select(x, 1, torch.tensor([2, 0]))`, "Gather axis=1", "2,0,5,3"],
  [`${tf}t = tf.zeros([4])\nu = tf.tensor_scatter_nd_update(t, [[1], [3]], [5., 6.])`, "ScatterND", "0,5,0,6"],
  [`${tf}u = tf.tensor_scatter_nd_sub(tf.ones([3]), tf.constant([[0], [0]]), tf.constant([1., 2.]))`, "ScatterNDUpdate reduction=sub", "-2,1,1"],
  [`${tf}s = tf.scatter_nd(tf.constant([[4], [3], [1], [7]]), tf.constant([9, 10, 11, 12]), tf.constant([8]))\nprint(s)`, "ScatterND reduction=add", "0,11,0,10,9,0,0,12"],
  [`${tf}g = tf.gather(tf.constant([[1, 2], [3, 4]]), [[0], [1]], batch_dims=1, axis=1)`, "Gather batch_dims=1", "1,4"],
  [`${tf}g = tf.gather_nd([[1, 2], [3, 4]], [[0, 1]])`, "GatherND", "2"],
  [`${tf}tf.math.unsorted_segment_sum(tf.constant([1., 2., 4.]), tf.constant([0, 2, 0]), num_segments=3)`, "ScatterND reduction=add", "5,0,2"],
  [`${jnp}x = jnp.zeros(3)\ny = x.at[jnp.array([0, 0, 2])].add(jnp.array([1., 2., 3.]))`, "ScatterND reduction=add", "3,0,3"],
  [`${jnp}x = jnp.ones((2, 2))\nx = x.at[[0, 1], [1, 0]].set(5.0)`, "ScatterND", "1,5,5,1"],
  [`${jnp}x = jnp.arange(4.0)\ny = x.at[[3, 1]].get()`, "Gather", "3,1"],
  [`import jax\n${jnp}y = jax.ops.segment_sum(jnp.array([1., 2., 4.]), jnp.array([1, 0, 1]))`, "ScatterND reduction=add", "2,5"],
  [`import onnx\n${np}data = np.zeros((3,), np.float32)\nindices = np.array([[1], [1]])\nupdates = np.array([2, 3], np.float32)\nnode = onnx.helper.make_node("ScatterND", inputs=["data", "indices", "updates"], outputs=["y"], reduction="add")`, "ScatterND reduction=add", "0,5,0"],
  [`${np}x = np.zeros((3,), np.float32)\ni = np.array([1])\nu = np.array([2], np.float32)\nnode = make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=-1)`, "ScatterElements axis=-1", "0,2,0"],
  [`const y = scatterND(tensor("float32", [3], [1, 2, 3]), tensor("int64", [2, 1], [0, 0]), tensor("float32", [2], [4, 5]), { reduction: "add" });`, "ScatterND reduction=add", "10,2,3"],
  [`>>> import numpy as np\n>>> x = np.arange(3)\n>>> x\narray([0, 1, 2])\n>>> x[[2, 0]]\narray([2, 0])`, "Gather", "2,0"],
  [`x = np.array([[1, 2],  # the first row\n              [3, 4]])\n\n# swap\ny = x[[1, 0]]`, "Gather", "3,4,1,2"],
  [`rows, cols = np.array([0, 1]), np.array([1, 1])\nx = np.zeros((2, 2))\nx[rows, cols] += 1`, "ScatterND reduction=add", "0,1,0,1"],
  [`data = np.zeros(3)\nindices = np.array([[1], [1]])\nupdates = np.array([4., 5.])\noutput = np.copy(data)\nfor idx in np.ndindex(indices.shape[:-1]):\n    # no repeats\n    output[tuple(indices[idx])] += updates[idx]\nprint(output)`, "ScatterND reduction=add", "0,9,0"],
  [`def main():\n    x = np.arange(3)\n    return x[[2, 0]]`, "Gather", "2,0"],
  [`axis = -1\nx = np.array([[1, 2]])\ny = np.take(x, [0, 0, 1], axis=axis)`, "Gather axis=-1", "1,1,2"],
  [`x = np.zeros((3, 2), dtype=np.float32)\nidx = np.array([0, 2])\nu = np.ones((len(idx), x.shape[1]), dtype=np.float32)\nx[idx] = u`, "ScatterND", "1,1,0,0,1,1"],
];

for (const [text, call, output] of READ) {
  test(`read: ${text.replace(/^(?:import.*\n)*/, "").slice(0, 70)}`, () => {
    const { calls, marks } = readProgram(text, BASE);
    assert.deepEqual(marks, []);
    const last = calls.at(-1);
    assert.ok(last);
    const { state } = last;
    const words = Object.entries(state.attributes).map(([name, value]) => `${name}=${value}`);
    assert.equal([state.op, ...words].join(" "), call);
    const { node, inputs, faults } = readState(state);
    assert.deepEqual(faults, []);
    assert.equal(String(run(node, inputs)[0].toArray()), output);
  });
}

type MarkRow = readonly [text: string, marked: string, sentence: RegExp];

/** What is not understood is marked: the marked part of the text, and why. */
// prettier-ignore
const MARKED: readonly MarkRow[] = [
  [`x = np.arange(4)\ny = np.sort(x)`, "np.sort", /np\.sort is not supported here/],
  [`y = torch.scatter_add(x, 0, idx, src)`, "x", /the text does not define x/],
  [`x = np.array([[1, 2], [3]])`, "[3]", /expected a list of shape \[2\]/],
  [`x = np.zeros(3)\nfor i in range(3):\n    x[i] += 1`, "for i in range(3):\n    x[i] += 1", /loops are not supported here/],
  [`x = torch.ones(3)\ny = torch.gather(x, 0, torch.tensor([0])).sum()`, ".sum()", /the text after the call is ignored/],
  [`x = np.arange(3)\ny = x[x > 1]`, ">", /this operation is not supported here/],
  [`x = np.zeros(3)\nnp.add.at(x, [0], [1], 7)`, "7", /no parameter for the argument/],
  [`x = torch.zeros(3)\nx.index_add_(0, torch.tensor([0]), torch.ones(1), alpha=2)`, "2", /alpha is not supported/],
  [`node = helper.make_node("Softmax", ["x"], ["y"])`, `"Softmax"`, /Softmax is not a scatter or gather/],
  [`x = np.array([1, 2\ny = 3`, "", /./],
  [`x = )`, ")", /expected a value, but got \)/],
  [`x = np.zeros((400, 300))`, "np.zeros((400, 300))", /20,000/],
];

for (const [text, marked, sentence] of MARKED) {
  test(`marked: ${text.slice(-60)}`, () => {
    const { marks } = readProgram(text, BASE);
    assert.ok(marks.length > 0);
    const hit = marks.find((one) => sentence.test(one.sentence));
    assert.ok(hit, JSON.stringify(marks));
    if (marked !== "")
      assert.ok(text.slice(hit.start, hit.end).startsWith(marked), text.slice(hit.start, hit.end));
  });
}
