/** An attribute that is a graph which no file has, such as the body of a loop that is written anew. */

import { create } from "@bufbuild/protobuf";
import { SOURCE, type Attribute, type Graph } from "../model/model.ts";
import { AttributeProtoSchema } from "./schema_pb.ts";

/** `GRAPH`, as ONNX numbers the types of attributes. */
const TYPE = 5;

/** The attribute with `graph` as its value. */
export const bodyAttribute = (graph: Graph): Attribute => ({
  type: "other",
  value: "GRAPH",
  graphs: [graph],
  [SOURCE]: create(AttributeProtoSchema, { type: TYPE }),
});
