/** Lists the places on an operator's page that the search can find. */

import type { Find } from "../layout.ts";
import type { Example } from "./calls.ts";
import { dialectsWith } from "./dialects.ts";
import { findOf, type Erratum } from "./errata.ts";
import { idOf, numberOf, type Family } from "./families.ts";

export function findsOn(
  { name, home, newest, versions }: Family,
  examples: readonly Example[],
  errata: readonly Erratum[],
): Find[] {
  const of = `${name} (${home})`;
  const find = (kind: string, title: string, id: string, text: string): Find => ({
    ...{ kind, title, of, id, text },
  });
  return [
    { ...find("operator", name, "", newest.summary), of: home },
    ...versions.map((one) => find("version", `${name}-${numberOf(one)}`, idOf(one), "")),
    ...newest.attributes.map(({ name: title, description, values = [] }) =>
      find("attribute", title, `${idOf(newest)}-attributes`, `${description} ${values.join(" ")}`),
    ),
    ...examples.map(({ preset: { id, title, note } }) => find("example", title, id, note)),
    ...errata.map((one) => findOf(one, of)),
    ...dialectsWith(examples).map(({ id, facts }) => {
      const text = facts.map(({ aspect, does }) => `${aspect} ${does}`).join(", ");
      return find("dialect", id, `dialect-${id}`, text);
    }),
  ];
}
