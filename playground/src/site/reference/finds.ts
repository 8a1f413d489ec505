/** Lists the places on an operator's page that the search can find. */

import { plainText } from "../documents/markdown.ts";
import type { Find } from "../layout.ts";
import type { Example } from "./calls.ts";
import { dialectsWith } from "./dialects.ts";
import type { Erratum } from "./errata.ts";
import { idOf, numberOf, type Family } from "./families.ts";

export function findsOn(
  { name, home, newest, versions }: Family,
  examples: readonly Example[],
  errata: readonly Erratum[],
): Find[] {
  const of = `${name} (${home})`;
  return [
    { kind: "operator", title: name, of: home, id: "", text: newest.summary },
    ...versions.map((version) => ({
      kind: "version",
      title: `${name}-${numberOf(version)}`,
      of,
      id: idOf(version),
      text: "",
    })),
    ...newest.attributes.map((attribute) => ({
      kind: "attribute",
      title: attribute.name,
      of,
      id: `${idOf(newest)}-attributes`,
      text: `${attribute.description} ${attribute.values?.join(" ") ?? ""}`,
    })),
    ...examples.map(({ preset: { id, title, note } }) => ({
      kind: "example",
      title,
      of,
      id,
      text: note,
    })),
    ...errata.map(({ id, document, printed, right }) => ({
      kind: "erratum",
      title: plainText(`${document}: ${printed}`),
      of,
      id,
      text: plainText(right),
    })),
    ...dialectsWith(examples).map((dialect) => ({
      kind: "dialect",
      title: dialect.id,
      of,
      id: `dialect-${dialect.id}`,
      text: dialect.facts.map(({ aspect, does }) => `${aspect} ${does}`).join(", "),
    })),
  ];
}
