/** The operators of the registry, each with its versions, its page, and the addresses of its documents. */

import { operators, type OperatorVersion } from "ndscatter";
import { rolePosition } from "../../values/schema.ts";
import { slugOf } from "../html.ts";

export interface Family {
  readonly domain: OperatorVersion["domain"];
  readonly name: string;
  /** The common name of the domain. */
  readonly home: string;
  /** The versions, oldest first. */
  readonly versions: readonly OperatorVersion[];
  readonly newest: OperatorVersion;
  /** The file name of the operator's page. */
  readonly file: string;
  readonly isScatter: boolean;
}

/** Checks whether the next row belongs to another operator. */
const isNewest = (
  { domain, name }: OperatorVersion,
  at: number,
  all: readonly OperatorVersion[],
): boolean => all[at + 1]?.name !== name || all[at + 1].domain !== domain;

/** Returns the operators in the order of the registry. */
export function families(): readonly Family[] {
  return operators()
    .filter(isNewest)
    .map((newest) => {
      const { domain, name } = newest;
      const versions = operators().filter((one) => one.name === name && one.domain === domain);
      const isOnnx = domain === "ai.onnx";
      return {
        domain,
        name,
        home: isOnnx ? "ONNX" : "OpenVINO",
        versions,
        newest,
        file: `${isOnnx ? "onnx" : domain}-${slugOf(name)}.html`,
        isScatter: rolePosition(newest, "updates") !== -1,
      };
    });
}

/** Returns the id of a version on the page of its operator. */
export const idOf = ({ sinceVersion }: OperatorVersion): string => `v${sinceVersion}`;

/** Prints a version number: `3 (opset4)`. OpenVINO numbers versions and opsets separately. */
export const numberOf = ({ sinceVersion, opset }: OperatorVersion): string =>
  opset === undefined || opset === sinceVersion
    ? String(sinceVersion)
    : `${sinceVersion} (opset${opset})`;

/** Returns the published document of a version. */
export function documentOf({ domain, name, sinceVersion }: OperatorVersion): string {
  if (domain === "ai.onnx") {
    const anchor = `${name.toLowerCase()}-${sinceVersion}`;
    return `https://onnx.ai/onnx/operators/onnx__${name}.html#${anchor}`;
  }
  // ScatterNDUpdate becomes scatter-nd-update.
  const words = name.replaceAll(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, "-").toLowerCase();
  const folder =
    "https://docs.openvino.ai/2025/documentation/openvino-ir-format/operation-sets/operation-specs/movement";
  return `${folder}/${words}-${sinceVersion}.html`;
}
