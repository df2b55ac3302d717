import { readFileSync } from "node:fs";

import fc from "fast-check";
import { expect, test } from "vitest";

import type { JsonValue } from "../../../core/json.ts";
import type { JsonSchema } from "../../../core/schema/json-schema.ts";
import type { ToolLimits } from "../../../core/tool.ts";
import type { PropertyPart } from "../argv-mapping.ts";
import { deriveAllScripts, type SkillScripts } from "../derive-scripts.ts";
import { findFileParameters } from "../facts/file-parameters.ts";
import { toSchemaAndMapping, type Parameter } from "../parameter.ts";
import type { ScriptCache, ScriptInterface, ScriptTool } from "../script-interface.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { applyManifest } from "./apply-manifest.ts";
import { freezeManifest } from "./freeze-manifest.ts";
import { parseManifest } from "./parse-manifest.ts";

test("freezeManifest() of every fixture, read back, gives the same interfaces", async () => {
  const skills = ["python", "shell", "javascript", "other", "kinds"].flatMap(readSkills);
  const derived = await deriveAllScripts(skills);
  const frozen = skills.map(({ files }, index) => ({
    files: [...files, { path: "scripts/manifest.yml", content: freezeManifest(derived[index]?.scripts ?? []) }],
  }));

  const again = await deriveAllScripts(frozen);

  expect(again).toEqual(derived);
});

test("freezeManifest() of any interface, read back, gives the same interface", () => {
  fc.assert(
    fc.property(scripts, (all) => {
      const bare = all.map((script) => ({ ...script, tools: [] }));
      const parsed = parseManifest(
        freezeManifest(all),
        all.map(({ path }) => path),
      );

      const applied = applyManifest(bare, parsed.tools);

      expect([...parsed.diagnostics, ...applied.diagnostics]).toEqual([]);
      expect(applied.scripts).toEqual(all);
    }),
    { numRuns: 300 },
  );
});

test("freezeManifest() writes what an author can read", () => {
  const { inputSchema, mapping } = toSchemaAndMapping({
    parameters: [
      {
        part: { kind: "flag", property: "pages", flag: "--pages" },
        schema: { type: "integer", description: "How many" },
        required: true,
      },
    ],
  });
  const tool: ScriptTool = {
    name: "extract",
    description: "Extract text",
    inputSchema,
    mapping,
    confidence: "declared",
    source: "argparse",
    examples: [],
    annotations: { readOnly: true },
    limits: { limitMs: 90_000, retries: 2, rate: { calls: 100, inMs: 60_000, burst: 10 } },
    cache: { ttlMs: 600_000 },
  };

  expect(freezeManifest([{ ...empty, path: "scripts/extract.py", tools: [tool] }])).toMatchInlineSnapshot(`
    "# How the scripts of this skill are called, as Kitbag read it from their code. What is written here counts more than the code.
    # Delete an entry, or a key of it, and Kitbag reads that from the script again.
    tools:
      - name: extract
        script: extract.py
        description: Extract text
        interpreter:
          - python3
        parameters:
          - name: pages
            type: integer
            description: How many
            required: true
            flag: --pages
        timeout: 90s
        retries: 2
        rate:
          calls: 100
          per: 1m
          burst: 10
        cache: 10m
        annotations:
          readOnly: true
        examples: []
        confidence: declared
        source: argparse
    "
  `);
});

const empty: Omit<ScriptInterface, "path" | "tools"> = {
  language: "python",
  interpreter: ["python3"],
  kind: "tool",
  reason: "it runs by itself",
  environment: [],
  imports: [],
  access: { hosts: [], network: [], reads: [], writes: [], programs: [] },
};

function readSkills(file: string): readonly SkillScripts[] {
  const text = readFileSync(new URL(`../fixtures/${file}.txt`, import.meta.url), "utf8");
  return text
    .split(/^=== /mu)
    .slice(1)
    .map((block) => {
      const [head = ""] = block.split(/^--- /mu);
      const name = head.slice(0, head.indexOf("\n"));
      return { files: [{ path: `scripts/${name}`, content: head.slice(name.length + 1) }] };
    });
}

const text = fc.string({ unit: "grapheme", maxLength: 20 });
const words = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom("a", "b", "-", "0", ":", "#", "é") });
const json: fc.Arbitrary<JsonValue> = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.array(text, { maxLength: 3 }),
  fc.constant({ a: [1, "x"] }),
);
const property = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/u);

function maybe<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.option(value, { nil: undefined });
}

const part: fc.Arbitrary<PropertyPart> = fc
  .oneof(
    fc.record({
      kind: fc.constant("flag" as const),
      property,
      flag: words,
      aliases: maybe(fc.array(words, { minLength: 1, maxLength: 2 })),
      many: maybe(fc.constantFrom("repeat" as const, "list" as const, "comma" as const)),
      joint: maybe(fc.constantFrom("=" as const, ":" as const, "" as const)),
      joined: maybe(fc.constantFrom("always" as const, "dash" as const)),
      alone: maybe(json),
      booleans: maybe(fc.tuple(text, text)),
      omit: maybe(json),
    }),
    fc.record({
      kind: fc.constant("choice" as const),
      property,
      words: fc.dictionary(
        fc.constantFrom("true", "false", "json", "a b", "5"),
        fc.array(words, { minLength: 1, maxLength: 2 }),
        { noNullPrototype: true },
      ),
      aliases: maybe(fc.dictionary(words, fc.constantFrom("true", "json"), { minKeys: 1, noNullPrototype: true })),
    }),
    fc.record({
      kind: fc.constant("count" as const),
      property,
      flag: words,
      aliases: maybe(fc.array(words, { minLength: 1, maxLength: 2 })),
    }),
    fc.record({
      kind: fc.constant("positional" as const),
      property,
      many: maybe(fc.constant(true as const)),
      fill: maybe(text),
    }),
    fc.record({ kind: fc.constant("env" as const), property, variable: words }),
    fc.record({ kind: fc.constant("stdin" as const), property, as: fc.constantFrom("text" as const, "json" as const) }),
    fc.record({ kind: fc.constant("field" as const), property }),
  )
  .map((made) => withoutUndefined<PropertyPart>(made));

const schema: fc.Arbitrary<JsonSchema> = fc
  .oneof(
    fc.record({ type: fc.constant("string"), description: maybe(text), default: maybe(text) }),
    fc.record({
      type: fc.constantFrom("integer", "number"),
      default: maybe(fc.integer()),
      minimum: fc.constant(-(2 ** 32)),
    }),
    fc.record({ type: fc.constant("boolean"), default: maybe(fc.boolean()) }),
    fc.record({ type: fc.constant("array"), items: fc.constant({ type: "string" }), minItems: maybe(fc.nat(9)) }),
    fc.record({ enum: fc.uniqueArray(text, { minLength: 1, maxLength: 4 }), description: maybe(text) }),
    fc.record({ default: json }),
    fc.constant({}),
    fc.constant({ type: "object", properties: { a: { type: "string" } }, required: ["a"], title: "T" }),
  )
  .map((made) => withoutUndefined<JsonSchema>(made as JsonSchema));

const parameter: fc.Arbitrary<Parameter> = fc
  .record({
    part,
    schema,
    required: fc.boolean(),
    after: maybe(fc.nat(2)),
    file: maybe(fc.constantFrom("read" as const, "write" as const, "none" as const)),
  })
  .map((made) => withoutUndefined<Parameter>(made));

const count = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(86_400_000, 31_536_000_000));

/** At least one of them: without any there is no `limits`. */
const limits: fc.Arbitrary<ToolLimits> = fc
  .record({
    limitMs: maybe(fc.integer({ min: 1, max: 86_400_000 })),
    retries: maybe(fc.nat(10)),
    rate: maybe(
      fc
        .record({ calls: count, inMs: count, burst: maybe(count) })
        .map((made) => withoutUndefined<NonNullable<ToolLimits["rate"]>>(made)),
    ),
  })
  .map((made) => withoutUndefined<ToolLimits>(made))
  .filter((made) => Object.keys(made).length > 0);

const cache: fc.Arbitrary<ScriptCache> = fc
  .record({
    ttlMs: count,
    tags: maybe(fc.array(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,9}$/u), { maxLength: 3 })),
    scope: maybe(fc.constantFrom("user" as const, "everybody" as const)),
  })
  .map((made) => withoutUndefined<ScriptCache>(made));

const tool: fc.Arbitrary<ScriptTool> = fc
  .record({
    name: fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/u),
    description: text,
    parameters: fc.uniqueArray(parameter, { maxLength: 5, selector: (made) => made.part.property }),
    words: fc.array(fc.stringMatching(/^[a-z-]{1,6}$/u), { maxLength: 2 }),
    separator: maybe(fc.constantFrom("needed" as const, "always" as const)),
    otherFields: maybe(fc.constant(true as const)),
    confidence: fc.constantFrom("declared" as const, "usage" as const, "opaque" as const),
    source: text,
    examples: fc.array(fc.record({ input: fc.constant({ a: "x\ny" }) }), { maxLength: 2 }),
    annotations: maybe(fc.constant({ readOnly: true, idempotent: false })),
    limits: maybe(limits),
    cache: maybe(cache),
    hidden: maybe(fc.constant(true as const)),
    outputSchema: maybe(fc.constant({ type: "object" })),
  })
  .map(({ parameters, words: command, separator, otherFields, ...rest }) => {
    const line = withoutUndefined<Parameters<typeof toSchemaAndMapping>[0]>({
      parameters,
      words: command,
      separator,
      otherFields,
    });
    const mayRetry = rest.limits?.retries !== undefined;
    const annotations = mayRetry ? { idempotent: true } : rest.annotations;
    const { paths, ...made } = toSchemaAndMapping(line);
    const files = findFileParameters({ ...made, text: "", declared: paths });
    const named = Object.keys(files).length === 0 ? undefined : files;
    return withoutUndefined<ScriptTool>({ ...rest, annotations, ...made, files: named });
  });

const scripts: fc.Arbitrary<readonly ScriptInterface[]> = fc
  .uniqueArray(
    fc.record({
      path: fc.stringMatching(/^[a-z][a-z0-9_-]{0,10}\.py$/u).map((name) => `scripts/${name}`),
      interpreter: fc.array(words, { minLength: 1, maxLength: 3 }),
      tools: fc.uniqueArray(tool, {
        minLength: 1,
        maxLength: 3,
        selector: ({ mapping }) => mapping.parts.flatMap((one) => (one.kind === "word" ? [one.word] : [])).join(" "),
      }),
    }),
    { maxLength: 3, selector: ({ path }) => path },
  )
  .map((all) => all.map((script) => ({ ...empty, ...script })));
