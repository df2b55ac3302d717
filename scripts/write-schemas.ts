/**
 * Writes `schemas/*.json`, which editors use, and `docs/guide/skill-files.md` from the schemas and key lists that Kitbag reads the files of
 * a skill with. With `--check` it only tells whether they are up to date.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { isRecord, type JsonObject, type JsonValue } from "../src/core/json.ts";
import { annotationNames } from "../src/core/tool.ts";
import { otherKeys, specKeys } from "../src/skills/document/fields.ts";
import { kitbagTomlSchema } from "../src/skills/manifests/read-kitbag-toml.ts";
import { pluginTomlSchema } from "../src/skills/manifests/read-plugin-toml.ts";
import { toolKeys } from "../src/skills/scripts/manifest/parse-manifest.ts";
import { parameterKeys } from "../src/skills/scripts/manifest/parse-parameter.ts";
import { type Descriptions, frontMatter, kitbagToml, manifestYml, pluginToml } from "./schema-descriptions.ts";

const root = resolve(import.meta.dirname, "..");

/** A file of a skill, its schema and what its keys mean. */
interface SkillFile {
  readonly file: string;
  readonly schemaFile: string;
  readonly about: string;
  readonly schema: JsonObject;
  readonly descriptions: Descriptions;
}

const text = { type: "string" };
const flag = { type: "boolean" };
const words = { anyOf: [text, { type: "array", items: text }] };
const object = { type: "object" };

const closed = (keys: readonly string[], types: Readonly<Record<string, JsonObject>>): JsonObject => ({
  type: "object",
  properties: Object.fromEntries(keys.map((key) => [key, types[key] ?? {}])),
  additionalProperties: false,
});

const annotations = closed(annotationNames, Object.fromEntries(annotationNames.map((name) => [name, flag])));
const example = {
  ...closed(["description", "input", "output"], { description: text, input: object }),
  required: ["input"],
};

const parameter = closed(parameterKeys, {
  ...{ name: text, required: flag, file: { enum: ["read", "write", "none"] }, schema: object, description: text },
  ...{ enum: { type: "array" }, pattern: text, format: text, flag: text, list: { enum: ["repeat", "list", "comma"] } },
  ...{ joint: { enum: ["=", ":", ""] }, joined: { enum: ["always", "dash"] }, words: object, count: text, many: flag },
  ...{ fill: text, env: text, stdin: { enum: ["text", "json"] }, after: { type: "number" } },
});

const manifestTool = {
  ...closed(toolKeys, {
    ...{ name: text, script: text, command: words, description: text, interpreter: words, output: object },
    parameters: {
      anyOf: [
        { type: "array", items: parameter },
        { type: "object", additionalProperties: parameter },
      ],
    },
    ...{ timeout: { type: ["string", "number"] }, retries: { type: "integer", minimum: 0, maximum: 10 } },
    ...{
      rate: { type: ["string", "object"] },
      cache: { type: ["string", "number", "object"] },
      annotations,
      hidden: flag,
    },
    ...{
      confidence: { enum: ["declared", "usage", "opaque"] },
      source: text,
      examples: { type: "array", items: example },
    },
    ...{ separator: { enum: ["needed", "always"] }, otherFields: flag, otherFlags: flag },
  }),
  required: ["script"],
};

const files: readonly SkillFile[] = [
  {
    file: "kitbag.toml",
    schemaFile: "kitbag-toml.json",
    about: "Optional. Permissions, tools that are no plain scripts, dependencies and tests. Unknown keys are errors.",
    schema: kitbagTomlSchema as JsonObject,
    descriptions: kitbagToml,
  },
  {
    file: "scripts/manifest.yml",
    schemaFile: "manifest-yml.json",
    about:
      "Optional. Goes before what Kitbag reads from the scripts; `kitbag freeze` writes it. Unknown keys are warnings.",
    schema: { ...closed(["tools"], { tools: { type: "array", items: manifestTool } }), required: ["tools"] },
    descriptions: manifestYml,
  },
  {
    file: "SKILL.md (front matter)",
    schemaFile: "skill-front-matter.json",
    about: `The specification has the keys ${specKeys.map((key) => `\`${key}\``).join(", ")}; the others are those of other clients. Kitbag reads leniently, and keeps other keys.`,
    schema: {
      type: "object",
      properties: Object.fromEntries([...specKeys, ...otherKeys].map((key) => [key, frontMatterTypes()[key] ?? {}])),
      required: ["name", "description"],
    },
    descriptions: frontMatter,
  },
  {
    file: "manifest.toml",
    schemaFile: "manifest-toml.json",
    about:
      "Of a plugin. Read if there is no kitbag.toml; keys that Kitbag does not know are left alone. See [Hybrid plugins](hybrid-plugins.md).",
    schema: pluginTomlSchema,
    descriptions: pluginToml,
  },
];

function frontMatterTypes(): Readonly<Record<string, JsonObject>> {
  return {
    name: { type: "string", pattern: "^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$" },
    description: { type: "string", minLength: 1, maxLength: 1024 },
    compatibility: { type: "string", minLength: 1, maxLength: 500 },
    license: text,
    metadata: { type: "object", additionalProperties: text },
    "disable-model-invocation": flag,
    "user-invocable": flag,
  };
}

/** Adds to each property what it means; `path` is where `schema` stands. */
function describe(schema: JsonValue, { path, texts, used }: Place): JsonValue {
  if (!isRecord(schema)) return schema;
  const own = schema;
  const at = (value: JsonValue | undefined, more: string): JsonValue =>
    describe(value ?? {}, { path: `${path}${more}`, texts, used });
  const { properties, items, anyOf, additionalProperties } = own;
  return {
    ...own,
    ...(isRecord(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, value]) => {
          const place = path === "" ? key : `${path}.${key}`;
          const description = texts[place];
          if (description === undefined) throw new Error(`scripts/schema-descriptions.ts has no text for ${place}`);
          used.add(place);
          return [key, { description, ...(describe(value, { path: place, texts, used }) as JsonObject) }];
        }),
      ),
    }),
    ...(isRecord(items) && { items: at(items, "[]") }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map((one) => at(one, "")) }),
    // A map by name: each value is as an item of the list.
    ...(isRecord(additionalProperties) &&
      path.endsWith("parameters") && { additionalProperties: at(additionalProperties, "[]") }),
  };
}

interface Place {
  readonly path: string;
  readonly texts: Descriptions;
  readonly used: Set<string>;
}

function toSchema({ file, schema, descriptions }: SkillFile): JsonObject {
  const used = new Set<string>();
  const inner = file === "kitbag.toml" ? withoutServers(schema) : schema;
  const described = describe(inner, { path: "", texts: descriptions, used }) as JsonObject;
  const strange = Object.keys(descriptions).filter((key) => !used.has(key));
  if (strange.length > 0)
    throw new Error(`scripts/schema-descriptions.ts describes what ${file} has not: ${strange.join(", ")}`);
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title: file, ...described };
}

/** The entries of `mcp` are described with the configuration. */
function withoutServers(schema: JsonObject): JsonObject {
  const properties = schema["properties"] as JsonObject;
  return {
    ...schema,
    properties: { ...properties, mcp: { type: "object", additionalProperties: { type: "object" } } },
  };
}

function renderReference(): string {
  const sections = files.flatMap(({ file, schemaFile, about, descriptions }) => [
    `## ${file}`,
    "",
    `${about} Schema: \`schemas/${schemaFile}\`.`,
    "",
    ...Object.entries(descriptions).map(([key, meaning]) => `- \`${key}\`: ${meaning}`),
    "",
  ]);
  const head = [
    "# The files of a skill",
    "",
    "Every key of the files that a skill can have. `[]` stands for each entry of a list. This page and the JSON Schemas are written by",
    "`npm run docs` from the schemas that Kitbag reads the files with.",
    "",
    "The schemas are in the folder `schemas` of the package (`node_modules/kitbag/schemas`). An editor uses one if the file names it:",
    "",
    "```toml",
    "#:schema ./node_modules/kitbag/schemas/kitbag-toml.json",
    "```",
    "",
    "```yaml",
    "# yaml-language-server: $schema=../node_modules/kitbag/schemas/manifest-yml.json",
    "```",
    "",
  ];
  return `${[...head, ...sections].join("\n").trimEnd()}\n`;
}

const written = new Map<string, string>(
  files.map((file) => [`schemas/${file.schemaFile}`, `${JSON.stringify(toSchema(file), null, 2)}\n`] as const),
).set("docs/guide/skill-files.md", renderReference());
for (const [path, content] of written) {
  const target = join(root, path);
  if (!process.argv.includes("--check")) {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  } else if (readIfThere(target) !== content) {
    console.error(`${path} does not say what the readers of these files say; run: npm run docs`);
    process.exitCode = 1;
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
