/** The page of Next: a part that the server computes, and the results of the client. */

import { scatterND, tensor } from "ndscatter";
import { createElement, useEffect, useState } from "react";
import { pageResults } from "../page-results.js";

export const getServerSideProps = () => ({
  props: { zeros: scatterND(tensor("int32", [3], [1, 2, 3]), [[1]], [0]).toArray() },
});

// oxlint-disable-next-line import/no-default-export -- Next finds the page by this export
export default function Page({ zeros }) {
  const [results, setResults] = useState(null);
  useEffect(() => {
    void pageResults(location.origin).then(setResults);
  }, []);
  const state = results === null ? "waiting" : "done";
  const text = results === null ? "" : JSON.stringify({ ...results, zeros });
  return createElement("pre", { "data-state": state }, text);
}
