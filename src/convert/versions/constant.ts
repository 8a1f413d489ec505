/** Constant, which holds bare numbers, texts and lists since version 12. */

import { constantOf, SHORT_VALUES } from "../../model/inline.ts";
import { refusal } from "../meaning.ts";
import type { Part } from "./change.ts";

export const shortValues: Part = {
  down(node, { title }) {
    if ("value" in node.attributes || "sparse_value" in node.attributes) return node;
    const value = constantOf(node, SHORT_VALUES);
    if (value === null) throw refusal(`${title} has only a tensor`);
    return { ...node, attributes: { value: { type: "tensor", value } } };
  },
};
