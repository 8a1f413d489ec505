/**
 * Holds the documents to the code: their tables, examples, links and paths, and the tests that the errata name.
 * `errata.test.ts` has those tests that no other file has.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { KNOWN_FAULTS } from "../../src/models/fix/known-faults.ts";
import { siblingsOf } from "../../src/models/convert/meaning.ts";
import { DIAGNOSES } from "../../src/insight/diagnose/diagnosis.ts";
import { dialects } from "../../src/insight/diagnose/dialects.ts";
import {
  COMMON_FIELDS,
  FIELDS_OF_CODES,
  type CodeFields,
  type ErrorCode,
} from "../../src/core/error-fields.ts";
import { run, gatherND, scatterND } from "../../src/core/functions.ts";
import { ERROR_CODES, isTensorError } from "../../src/core/errors.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { FINDINGS, VERDICTS, writeModel, type Model } from "../../src/entries/onnx.ts";
import { NEWEST_OPSETS } from "../../src/core/operators/operator.ts";
import { operators } from "../../src/core/operators/registry.ts";
import {
  DTYPE_NAMES,
  isArithmetic,
  REDUCTIONS,
  reductionsOf,
} from "../../src/core/tensor/dtype.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { EXAMPLES } from "../fixtures/examples.ts";
import { commandsIn } from "../support/cli.ts";
import { refusedSentences } from "../support/convert-reasons.ts";
import {
  assertPrints,
  assertSays,
  blocksOf,
  exists,
  inFolder,
  markedRows,
  ndscatter,
  needsRuntime,
  quotedIn,
  read,
  ROOT,
  runBlock,
  tablesOf,
} from "../support/documents.ts";
import { codecNames } from "../support/zarr-cases.ts";

const DOCUMENTS = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "bench/README.md",
  "bench/LOG.md",
  ...["docs", "docs/arrays"].flatMap((folder) =>
    fs.readdirSync(path.join(ROOT, folder)).map((name) => `${folder}/${name}`),
  ),
].filter((file) => file.endsWith(".md"));

type Manifest = Readonly<Record<"dependencies" | "devDependencies", Record<string, string>>> & {
  readonly version: string;
  readonly files: readonly string[];
};

const manifestOf = (folder: string): Manifest => JSON.parse(read(`${folder}package.json`));

const dependenciesOf = (folder: string): string[] => {
  const { dependencies, devDependencies } = manifestOf(folder);
  return Object.keys({ ...dependencies, ...devDependencies });
};

const quoted = (word: string): string => `\`${word}\``;

// Every document.

for (const file of DOCUMENTS) {
  test(`every row of a table in ${file} has as many cells as its head`, () => {
    const tables = tablesOf(read(file));
    assert.equal(tables.length, read(file).match(/^\|(?: ?-+ ?\|)+$/gm)?.length ?? 0);
    for (const { head, rows } of tables) {
      assert.ok(rows.length > 0, `${head} has no rows`);
      for (const row of rows) assert.equal(row.length, head.length, row.join(" | "));
    }
  });

  test(`links and paths in ${file} exist`, () => {
    const text = read(file);
    const ignored = read(".gitignore").split("\n");
    for (const [, target, anchor] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const linked = target === "" ? file : path.join(path.dirname(file), target);
      assert.ok(exists(linked), `the link to ${target}`);
      if (anchor !== undefined) assert.ok(anchorsOf(linked).includes(anchor), `#${anchor}`);
    }
    for (const word of quotedIn(text)) {
      const [named] =
        /^(?:src|test|docs|examples|scripts|assembly|bench|playground|\.ci)\/[\w./-]*$/.exec(
          word,
        ) ?? [];
      if (named === undefined || ignored.some((one) => one !== "" && `/${named}/`.startsWith(one)))
        continue;
      assert.ok(exists(named), `the path ${named}`);
    }
  });
}

/** What the headings of a document are linked as. */
const anchorsOf = (file: string): string[] =>
  [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

test("every error code, finding, diagnosis, verdict and dialect that a document names exists", () => {
  const packages = ["", "bench/", "playground/"].flatMap(dependenciesOf);
  const tables = [ERROR_CODES, FINDINGS, VERDICTS];
  const words = dialects().flatMap(({ id, facts }) => [id, ...facts.map(({ does }) => does)]);
  const faults = KNOWN_FAULTS.map(({ id }) => id);
  const all = [...tables.flatMap(Object.keys), ...DIAGNOSES, ...packages, ...words, ...faults];
  const known = new Set(all);
  const codes = new Set(Object.keys(ERROR_CODES).map(quoted));
  let columns = 0;
  for (const file of DOCUMENTS) {
    for (const word of quotedIn(read(file))) {
      if (/^[a-z]+(?:-[a-z]+)+$/.test(word)) assert.ok(known.has(word), `${file}: ${word}`);
    }
    for (const { head, rows } of tablesOf(read(file))) {
      const column = head.indexOf("code");
      if (column === -1) continue;
      columns++;
      for (const row of rows) assert.ok(codes.has(row[column]), `${file}: ${row[column]}`);
    }
  }
  assert.equal(columns, 6);
});

// semantics.md.

/** The fields of a code, as api.md lists them: `got`, `input` or `key`; sometimes `at`. */
function printFields(code: ErrorCode): string {
  const row: CodeFields = FIELDS_OF_CODES[code];
  const either = (row.either ?? []).map(quoted).join(" or ");
  const always = [...row.always.map(quoted), ...(either === "" ? [] : [either])].join(", ");
  const sometimes = row.sometimes.map(quoted).join(", ");
  const parts = [always, sometimes === "" ? "" : `sometimes ${sometimes}`];
  return parts.filter((text) => text !== "").join("; ");
}

test("api.md lists every error code with its meaning, its fields and what to do, and no other", () => {
  const rows = markedRows("docs/api.md", "codes");
  for (const [code, , , advice] of rows) assert.ok(advice.length > 10, code);
  assert.deepEqual(
    rows.map(([code, meaning, fields]) => [code, meaning, fields]),
    (Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => [
      quoted(code),
      ERROR_CODES[code],
      printFields(code),
    ]),
  );
});

test("api.md lists every field of errors with its type and its meaning in the declarations", () => {
  const [, declared = ""] =
    /^export interface ErrorFields \{\n(.*?)^\}/ms.exec(read("src/core/error-fields.ts")) ?? [];
  const fields = [
    ...declared.matchAll(/\/\*\* (.*?) \*\/\n {2}readonly (\w+)\?: (.*?) \| undefined;/g),
  ];
  assert.equal(fields.length, declared.match(/\?:/g)?.length);
  assert.deepEqual(
    markedRows("docs/api.md", "fields"),
    fields.map(([, meaning, name, type]) => [
      quoted(name),
      type.replace("readonly ", "").replaceAll(" | ", " or ").replace("Fact", "plain data"),
      meaning,
    ]),
  );
  const sentence = `Every error has ${COMMON_FIELDS.map(quoted).join(", ")} where they are known.`;
  assert.ok(read("docs/api.md").replaceAll("\n", " ").includes(sentence), sentence);
});

test("semantics.md lists the versions without negative indices", () => {
  const listed = markedRows("docs/semantics.md", "no negative indices");
  const found = listed.flatMap(([domain, versions]) =>
    versions.split(", ").map((version) => `${domain} ${version}`),
  );
  const without = operators().filter(({ negativeIndices }) => !negativeIndices);
  assert.deepEqual(
    found.toSorted(),
    without.map((one) => `${one.domain} ${one.name}-${one.sinceVersion}`).toSorted(),
  );
});

test("semantics.md lists the versions with a comparison of their own, and what they make of NaN and zeros", () => {
  const rows = markedRows("docs/semantics.md", "stays");
  const own = operators().filter(({ stays }) => stays !== undefined);
  assert.deepEqual(
    rows.map(([version, , what]) => `${version}: ${what}`),
    own.map(({ name, sinceVersion, stays }) => {
      const what = stays === "data" ? "the old value" : "the update";
      return `${name}-${sinceVersion}: ${what}`;
    }),
  );
  const elements = tensor("int64", [5], [0, 1, 2, 3, 4]);
  const values = [
    tensor("float32", [5], [1, NaN, 0, -0, 2]),
    tensor("float32", [5], [NaN, 1, -0, 0, 3]),
  ];
  for (const [at, { domain, name: op, sinceVersion: opset, indexForm }] of own.entries()) {
    const isTuples = indexForm === "tuples";
    const indices = isTuples ? tensor("int64", [5, 1], elements.data) : elements;
    const axis = isTuples ? [] : [tensor("int64", [], 0)];
    const node = { domain, op, opset, attributes: { reduction: "max" } };
    const [output] = run(node, [values[0], indices, values[1], ...axis]);
    const printed = [...output.data].map((one) => (Object.is(one, -0) ? "-0" : String(one)));
    assert.equal(rows[at][3], `[${printed.join(", ")}]`);
  }
});

/** `int8 to int64, bool` as the data types that it stands for. */
const typesIn = (cell: string): string[] =>
  cell.split(", ").flatMap((part) => {
    const [first, last] = part.split(" to ");
    if (last === undefined) return [first];
    const isBetween = (bits: number) =>
      bits >= Number(first.replace(/\D/g, "")) && bits <= Number(last.replace(/\D/g, ""));
    return [8, 16, 32, 64].filter(isBetween).map((bits) => first.replace(/\d+/, String(bits)));
  });

test("semantics.md says which data types have which reductions", () => {
  const [{ head }] = tablesOf(read("docs/semantics.md").split("<!-- arithmetic -->")[1]);
  const rows = markedRows("docs/semantics.md", "arithmetic");
  const listed = rows.flatMap(([types]) => typesIn(types));
  assert.deepEqual(listed.toSorted(), DTYPE_NAMES.filter(isArithmetic).toSorted());
  for (const dtype of DTYPE_NAMES) {
    const row = rows.find(([types]) => typesIn(types).includes(dtype)) ?? [];
    const said = head.flatMap((words, column) =>
      column > 0 && !(row[column] ?? "error").includes("error") ? words.split(", ") : [],
    );
    const has = reductionsOf(dtype).filter((word) => word !== "none" && word !== "mean");
    assert.deepEqual(new Set<string>(said), new Set<string>(has), dtype);
  }
});

test("semantics.md lists the words of every dialect", () => {
  const rows = markedRows("docs/semantics.md", "words");
  const newest = new Map(operators().map((one) => [one.name, one]));
  const expected = new Map<string, readonly string[]>([
    ["the plain functions", REDUCTIONS.toSorted()],
  ]);
  for (const [name, { attributes }] of newest) {
    const words = attributes.find((one) => one.name === "reduction")?.values;
    if (words !== undefined) expected.set(name, words.toSorted());
  }
  const listed = rows.flatMap(([where, words]) =>
    where
      .replace(" of ai.onnx", "")
      .split(", ")
      .map((name) => [name, words.replaceAll("`", "").split(" ").toSorted()] as const),
  );
  assert.deepEqual(new Map(listed), expected);
});

test("semantics.md lists every policy with its values", () => {
  const data = tensor("float32", [2], [1, 2]);
  const calls: Record<string, (options: object) => unknown> = {
    scatters: (options) => scatterND(data, [[0]], [1], options),
    gathers: (options) => gatherND(data, [[0]], options),
  };
  const rows = markedRows("docs/semantics.md", "policies");
  for (const [kind, call] of Object.entries(calls)) {
    for (const option of new Set(rows.map(([name]) => name.replaceAll("`", "")))) {
      const own = rows.filter(
        ([name, , of]) => name === quoted(option) && [kind, "all"].includes(of),
      );
      const values = own.flatMap(([, cell]) => cell.replaceAll("`", "").split(", "));
      assert.throws(
        () => call({ [option]: 7 }),
        (error) =>
          isTensorError(error, "attribute") &&
          (values.length === 0
            ? error.message.includes(`${option} is not an option here`)
            : error.message.includes(`must be one of ${values.join(", ")}, got 7`)),
        `${option} of ${kind}`,
      );
    }
  }
});

// inspect.md, convert.md and my-model-fails.md.

test("inspect.md lists every finding with its severity and its meaning, and no other", () => {
  assert.deepEqual(
    markedRows("docs/inspect.md", "findings"),
    Object.entries(FINDINGS).map(([id, { severity, meaning }]) => [quoted(id), severity, meaning]),
  );
});

test("other-systems.md lists every fault, and no other, and its example is what the code says", async () => {
  assert.deepEqual(
    markedRows("docs/other-systems.md", "diagnoses").map(([id]) => id),
    DIAGNOSES.map(quoted),
  );
  const [, code] = blocksOf(read("docs/other-systems.md"), "ts");
  assertSays(code, (await runBlock("diagnose-example", code)).printed);
});

test("known-faults.md says what the table says, with a model of less than 1 kB and a command for each row", () => {
  const [, ...sections] = read("docs/known-faults.md").split("\n## ");
  // Only the document says where a fault was seen, and which rule of the specification applies.
  const own = /(- \*\*Seen in\.\*\*) [^*]+\. (- \*\*Specification\.\*\*) [^*]+[.”] (?=- )/;
  const said = sections.map((section) => section.split(/\s+/).join(" ").replace(own, "$1 $2 "));
  const expected = KNOWN_FAULTS.map(({ id, fault, cure }) => {
    const model = `examples/faults/${id}.onnx`;
    const { size } = fs.statSync(path.join(ROOT, model));
    assert.ok(size < 1000, model);
    const facts = [`**Fault.** ${fault}`, "**Seen in.**", "**Specification.**"];
    const more = [`**Fix.** ${cure}`, `**Model.** \`${model}\`, ${size} bytes.`];
    const command = `\`\`\`sh ndscatter fix ${model} --random \`\`\``;
    return `${[id, ...[...facts, ...more].map((one) => `- ${one}`), command].join(" ")} `;
  });
  assert.deepEqual(said.slice(0, expected.length), expected);
  const models = fs
    .readdirSync(path.join(ROOT, "examples/faults"))
    .map((name) => path.parse(name).name);
  assert.deepEqual(models.toSorted(), KNOWN_FAULTS.map(({ id }) => id).toSorted());
});

test("other-systems.md lists every fact of the table, and no other, and its examples are what the code and the command say", async () => {
  const rows = markedRows("docs/other-systems.md", "dialects");
  assert.deepEqual(
    rows.map((row) => row.slice(0, 5)),
    dialects().flatMap(({ id, facts }) =>
      facts.map(({ aspect, of, does, id: fault, how }) => [
        quoted(id),
        of === null ? aspect : `${aspect}, ${of}`,
        quoted(does),
        fault === null ? "-" : quoted(fault),
        how,
      ]),
    ),
  );
  for (const [id, , , , how, address] of rows) {
    const source = dialects().find((one) => quoted(one.id) === id)?.source ?? "";
    const host = new URL(source).host;
    if (how === "not verified") assert.equal(address, "-");
    else assert.match(address, /^<https:[^ ]*>$/);
    // The source of a fact may be in a repository where its document is not.
    assert.ok(how !== "document" || address.includes(host), `${address} is not of ${host}`);
  }
  const [code] = blocksOf(read("docs/other-systems.md"), "ts");
  assertSays(code, (await runBlock("dialects-example", code)).printed);
  const [shown] = blocksOf(read("docs/other-systems.md"), "text");
  await inFolder(async (folder) => {
    const files = {
      data: tensor("float32", [2, 2], [1, 2, 3, 4]),
      indices: tensor("int64", [3, 2], [1, -1, 0, 0, 0, 0]),
      updates: tensor("float32", [3], [5, 6, 7]),
    };
    for (const [name, one] of Object.entries(files))
      fs.writeFileSync(path.join(folder, `${name}.npy`), writeNpy(one));
    assert.deepEqual(await assertPrints(shown, folder), [1]);
  });
});

test("the examples of zarr.md are what the code and the command say", async () => {
  for (const [number, code] of blocksOf(read("docs/arrays/zarr.md"), "ts").entries()) {
    await inFolder(async (folder) => {
      const place = JSON.stringify(path.join(folder, "table.zarr")).slice(0, -1);
      const name = `zarr-example-${number}`;
      const { printed } = await runBlock(name, code.replaceAll('"table.zarr', place));
      assertSays(code, printed);
    });
  }
  const [shown] = blocksOf(read("docs/arrays/zarr.md"), "text");
  assert.deepEqual(await assertPrints(shown), [0]);
});

test("zarr.md has a row for every codec, and no other", () => {
  const table = tablesOf(read("docs/arrays/zarr.md")).find(({ head }) => head[1] === "by");
  const listed = table?.rows.flatMap(([codecs]) => quotedIn(codecs));
  assert.deepEqual(listed?.toSorted(), codecNames().toSorted());
});

test("every command is shown in the README or in docs/", async () => {
  const shown = DOCUMENTS.map(read).join("\n");
  for (const command of commandsIn((await ndscatter("--help")).stdout)) {
    if (command === "version") continue;
    const advice = `ndscatter ${command}: show it in docs/commands.md`;
    assert.match(shown, new RegExp(`\\bndscatter ${command}\\b(?!-)`), advice);
  }
});

test("the example of inspect.md is what the command and the code say", async () => {
  const [shown] = blocksOf(read("docs/inspect.md"), "text");
  const [code] = blocksOf(read("docs/inspect.md"), "ts");
  const { values, printed } = await runBlock("inspect-example", code, { exported: ["model"] });
  assertSays(code, printed);
  await inFolder(async (folder) => {
    fs.writeFileSync(path.join(folder, "model.onnx"), writeModel(values["model"] as Model));
    assert.deepEqual(await assertPrints(shown, folder), [1]);
  });
});

test("the example of convert.md is what the command and the code say", async () => {
  const [shown] = blocksOf(read("docs/convert.md"), "text");
  const [code] = blocksOf(read("docs/convert.md"), "ts");
  const { values, printed } = await runBlock("convert-example", code, { exported: ["model"] });
  assertSays(code, printed);
  await inFolder(async (folder) => {
    fs.writeFileSync(path.join(folder, "model.onnx"), writeModel(values["model"] as Model));
    assert.deepEqual(await assertPrints(shown, folder), [0]);
  });
});

test("convert.md lists every operator with what the other format calls it", () => {
  const listed = markedRows("docs/convert.md", "operators");
  const names = (cell: string): string[] => (cell === "-" ? [] : cell.split(", "));
  const known = (domain: string): string[] =>
    [...new Set(operators().flatMap((row) => (row.domain === domain ? [row.name] : [])))].sort();
  const inOther = (name: string, domain: string): string[] => [
    ...new Set(siblingsOf(name, domain).map((row) => row.name)),
  ];
  assert.deepEqual(listed.flatMap(([onnx]) => names(onnx)).sort(), known("ai.onnx"));
  assert.deepEqual(listed.flatMap(([, openvino]) => names(openvino)).sort(), known("openvino"));
  for (const [onnx, openvino] of listed) {
    for (const name of names(onnx)) assert.deepEqual(inOther(name, "openvino"), names(openvino));
    for (const name of names(openvino)) assert.deepEqual(inOther(name, "ai.onnx"), names(onnx));
  }
});

test("convert.md and the changelog say up to which opset of ONNX operators are converted", () => {
  const { "ai.onnx": newest } = NEWEST_OPSETS;
  const sentences = {
    "docs/convert.md": `all operators of ai.onnx from opset 1 to ${newest}.`,
    "CHANGELOG.md": `All operators of ai.onnx up to opset ${newest} are`,
  };
  for (const [file, sentence] of Object.entries(sentences)) {
    assert.ok(read(file).replaceAll(/\s+/g, " ").includes(sentence), `${file}: ${sentence}`);
  }
});

test("convert.md has every reason of a refusal, and no other", () => {
  const patterns = markedRows("docs/convert.md", "refused").map(([reason]) => {
    const parts = reason.replaceAll("`", "").split("…");
    return new RegExp(
      parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*"),
    );
  });
  const unused = new Set(patterns);
  for (const sentence of refusedSentences()) {
    const fitting = patterns.filter((pattern) => pattern.test(sentence));
    assert.ok(fitting.length > 0, sentence);
    for (const pattern of fitting) unused.delete(pattern);
  }
  assert.deepEqual([...unused], []);
});

test("my-model-fails.md lists every verdict with its meaning, and no other", () => {
  assert.deepEqual(
    markedRows("docs/my-model-fails.md", "verdicts"),
    Object.entries(VERDICTS).map(([verdict, meaning]) => [quoted(verdict), meaning]),
  );
});

// Those that need ONNX Runtime are run by `test/nightly/planted-faults.test.ts`.
test("the commands of my-model-fails.md print what it shows", async () => {
  const blocks = blocksOf(read("docs/my-model-fails.md"), "text").filter(
    (block) => !needsRuntime(block),
  );
  const statuses = await Promise.all(blocks.map((block) => assertPrints(block)));
  assert.deepEqual(statuses, [[1], [0], [1], [1, 0]]);
});

// adding.md and architecture.md, dependencies.md, the changelog.

test("adding.md and architecture.md name code that is there", () => {
  const name = "`([A-Za-z]\\w*)`";
  const between = `(?:(?:,| and| or|, and) ${name})?(?:(?:,| and| or|, and) ${name})?(?: in | of | to |,? \\()`;
  const pattern = new RegExp(
    `${name}${between}\`((?:src|test|playground)/[\\w./-]+\\.tsx?)\``,
    "g",
  );
  const text = (read("docs/adding.md") + read("docs/architecture.md")).replaceAll(/\s+/g, " ");
  const found = [...text.matchAll(pattern)];
  assert.ok(found.length >= 12, `${found.length} names with the files they are in`);
  for (const [, first, second, third, file] of found) {
    for (const one of [first, second, third]) {
      if (one !== undefined)
        assert.match(read(file), new RegExp(`\\b${one}\\b`), `${one} in ${file}`);
    }
  }
});

test("dependencies.md has a row for each dependency, with its licence", () => {
  const [library, page, benchmark] = tablesOf(read("docs/dependencies.md"));
  for (const [{ rows }, folder] of [
    [library, ""],
    [page, "playground/"],
    [benchmark, "bench/"],
  ] as const) {
    const locked: { packages: Record<string, { license?: string }> } = JSON.parse(
      read(`${folder}package-lock.json`),
    );
    assert.deepEqual(
      rows.map(([name]) => name).toSorted(),
      dependenciesOf(folder).map(quoted).toSorted(),
    );
    for (const [name, licence] of rows) {
      assert.equal(licence, locked.packages[`node_modules/${name.slice(1, -1)}`].license, name);
    }
  }
});

test("the changelog has this version, the licence its year", () => {
  assert.ok(read("CHANGELOG.md").includes(`\n## [${manifestOf("").version}] - `));
  assert.match(read("LICENSE"), /^MIT License\n\nCopyright \(c\) 2026 the ndscatter authors\n/);
});

test("the changelog lists every version of every operator, and no other", () => {
  const text = read("CHANGELOG.md").replaceAll(/\s+/g, " ");
  const listed = [...text.matchAll(/- Operators of ([\w.]+)(?:, [^:]*)?: ([^.]*)\./g)].flatMap(
    ([, domain, list]) => list.split("; ").map((one) => `${domain} ${one}`),
  );
  const versions = new Map<string, number[]>();
  for (const { domain, name, sinceVersion } of operators()) {
    const key = `${domain} ${name}`;
    versions.set(key, [...(versions.get(key) ?? []), sinceVersion]);
  }
  const known = [...versions].map(([key, list]) => `${key} ${list.join(", ")}`);
  assert.deepEqual(listed.toSorted(), known.toSorted());
});

// The errata. Each row names its tests as `file` "name", "name".

test("every row of the errata names tests that are there", () => {
  const [{ rows }] = tablesOf(read("docs/errata.md"));
  assert.ok(rows.length >= 35);
  for (const [document, , , tests] of rows) {
    const files = [...tests.matchAll(/`(test\/[^`]+)` ("[^"]+"(?:, "[^"]+")*)/g)];
    // Nothing else stands in the cell, so that no name is passed over.
    assert.equal(files.map(([all]) => all).join("; "), tests, document);
    for (const [, file, names] of files) {
      const known = namesIn(file);
      for (const [, name] of names.matchAll(/"([^"]+)"/g)) {
        assert.equal(known.filter((one) => one.test(name)).length, 1, `${file}: ${name}`);
      }
    }
  }
});

/** What the strings of a file stand for; what is computed in a template may be anything. */
function namesIn(file: string): RegExp[] {
  const sources = EXAMPLES.map(({ source }) => source);
  const strings = [...read(file).matchAll(/"([^"\n]{8,})"|`([^`\n]{8,})`/g)];
  const names =
    file === "test/fixtures/examples.ts"
      ? sources
      : strings.map(([, plain, made]) => plain ?? made);
  return names.flatMap((name) => {
    const parts = name
      .split(/\$\{[^}]*\}/)
      .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
    return parts.join("").length < 8 ? [] : [new RegExp(`^${parts.join(".+")}$`)];
  });
}
