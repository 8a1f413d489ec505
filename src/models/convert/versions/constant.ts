/** The operator Constant, which accepts plain numbers, strings and lists since version 12. */

import { constantOf, SHORT_VALUES } from "../../model/inline.ts";
import { refusal } from "../meaning.ts";
import type { Part } from "./change.ts";

export const sparseValue: Part = {
  down(node, { title }) {
    if (!("sparse_value" in node.attributes)) return node;
    throw refusal(`${title} has no sparse_value`);
  },
};

export const shortValues: Part = {
  down(node, { title }) {
    if ("value" in node.attributes || "sparse_value" in node.attributes) return node;
    const value = constantOf(node, SHORT_VALUES);
    if (value === null) throw refusal(`${title} accepts only a tensor value`);
    return { ...node, attributes: { value: { type: "tensor", value } } };
  },
};
