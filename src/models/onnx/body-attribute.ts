/** Makes an attribute from a new graph, such as the body of a loop written by this package. */

import { create } from "@bufbuild/protobuf";
import { SOURCE, type Attribute, type Graph } from "../model/model.ts";
import { AttributeProtoSchema } from "./schema_pb.ts";

/** The number of `GRAPH` among ONNX's attribute types. */
const TYPE = 5;

/** Returns the attribute with `graph` as its value. */
export const bodyAttribute = (graph: Graph): Attribute => ({
  type: "other",
  value: "GRAPH",
  graphs: [graph],
  [SOURCE]: create(AttributeProtoSchema, { type: TYPE }),
});
