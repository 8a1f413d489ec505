/** IR files as text, written by hand the way that OpenVINO writes them. */

/** The text of a port: `FP32 4,2`. */
function port(id: number, type: string): string {
  const [precision, dims = ""] = type.split(" ");
  const sizes = dims === "" ? [] : dims.split(",");
  return `<port id="${id}" precision="${precision}">${sizes.map((dim) => `<dim>${dim}</dim>`).join("")}</port>`;
}

export interface LayerText {
  readonly type: string;
  readonly name?: string;
  readonly version?: string;
  /** The attributes of `data`, as text. */
  readonly data?: string;
  readonly inputs?: readonly string[];
  readonly outputs?: readonly string[];
  /** More attributes of the layer, and more parts. */
  readonly more?: string;
  readonly parts?: string;
}

export function layer(id: number, text: LayerText): string {
  const { type, name = `l${id}`, version = "opset1", data, inputs = [], outputs = [] } = text;
  const ports = (tag: string, types: readonly string[], first: number): string =>
    types.length === 0
      ? ""
      : `<${tag}>${types.map((one, position) => port(first + position, one)).join("")}</${tag}>`;
  const attributes = data === undefined ? "" : `<data ${data}/>`;
  return (
    `<layer id="${id}" name="${name}" type="${type}" version="${version}"${text.more ?? ""}>${attributes}` +
    `${ports("input", inputs, 0)}${ports("output", outputs, inputs.length)}${text.parts ?? ""}</layer>`
  );
}

/** `0:0 2:1` is an edge from port 0 of layer 0 to port 1 of layer 2. */
export function net(layers: readonly string[], edges: readonly string[], version = 11): string {
  const lines = edges.map((one) => {
    const [from, to] = one.split(" ").map((end) => end.split(":"));
    return `<edge from-layer="${from[0]}" from-port="${from[1]}" to-layer="${to[0]}" to-port="${to[1]}"/>`;
  });
  return (
    `<?xml version="1.0"?>\n<net name="model" version="${version}">\n` +
    `<layers>\n${layers.join("\n")}\n</layers>\n<edges>\n${lines.join("\n")}\n</edges>\n</net>\n`
  );
}
