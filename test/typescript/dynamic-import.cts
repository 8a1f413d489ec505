/** A CommonJS module that loads the package by `import()`. */

async function sum(): Promise<unknown> {
  const { scatterND, tensor } = await import("ndscatter");
  const { writeNpy } = await import("ndscatter/npy");
  return writeNpy(scatterND(tensor("float32", [4], [0, 0, 0, 0]), [[1]], [1]));
}

export = sum;
