/** IR files as text, written by hand in OpenVINO's form. */

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
  /** More attributes of the layer, and more child elements. */
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

/** The ports' word for an element type. */
// prettier-ignore
const PRECISIONS: Readonly<Record<string, string>> = {
  f32: "FP32", f16: "FP16", i64: "I64", i32: "I32", i8: "I8", u8: "U8", boolean: "BOOL",
};

/** `FP32 4,2` for `f32` and `4,2`. */
const portText = (elementType: string, dims: string): string =>
  `${PRECISIONS[elementType] ?? elementType.toUpperCase()} ${dims}`.trim();

/** A Parameter with a shape such as `4,2`, which its port repeats. */
export const parameter = (id: number, name: string, type = "f32", dims = "4"): string =>
  layer(id, {
    type: "Parameter",
    name,
    data: `shape="${dims}" element_type="${type}"`,
    outputs: [portText(type, dims)],
  });

/** A constant at an offset of the `.bin`. */
export const constantLayer = (
  id: number,
  name: string,
  type: string,
  dims: string,
  place: { readonly offset: number; readonly size: number },
): string =>
  layer(id, {
    type: "Const",
    name,
    data: `element_type="${type}" shape="${dims}" offset="${place.offset}" size="${place.size}"`,
    outputs: [portText(type, dims)],
  });

export const result = (id: number, type = "f32", dims = "4"): string =>
  layer(id, { type: "Result", inputs: [portText(type, dims)] });

/** Indices from the `.bin`, data and updates from parameters, and a scatter of them. */
export const scatterNet = (scatter: Partial<LayerText> = {}, version = 11): string =>
  net(
    [
      parameter(0, "data"),
      constantLayer(1, "indices", "i32", "5,1", { offset: 4, size: 20 }),
      parameter(2, "updates", "f32", "5"),
      layer(3, {
        type: "ScatterNDUpdate",
        name: "scatter",
        version: "opset15",
        inputs: ["FP32 4", "I32 5,1", "FP32 5"],
        outputs: ["FP32 4"],
        ...scatter,
      }),
      layer(7, { type: "Result", name: "y/sink_port_0", inputs: ["FP32 4"] }),
    ],
    ["0:0 3:0", "1:0 3:1", "2:0 3:2", "3:3 7:0"],
    version,
  );

/** The `.bin` of {@link scatterNet}: four unused bytes, then the indices of ScatterNDUpdate-15's examples. */
export const SCATTER_BIN = new Uint8Array(Int32Array.of(-1, 0, 2, -3, -3, 0).buffer);
