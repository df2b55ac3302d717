import { readFileSync } from "node:fs";
import { join } from "node:path";

import { exampleSkills } from "../own-files.ts";
import { skillDocument, type NewSkill, type SkillTemplate } from "./skill-template.ts";

/** The sources and the module of a tool that ships: a plugin works before its author has a compiler. */
const parts = [
  ["src/digest.c", "src/digest.c"],
  ["src/json.h", "src/json.h"],
  ["digest.wasm", "src/digest.wasm"],
] as const;

/** A plugin: instructions, and a WASM module with its tool, under one manifest. */
export const pluginTemplate: SkillTemplate = {
  name: "plugin",
  summary: "a manifest.toml, instructions, and a WASM tool with its source in C",
  firstCall: () => "digest --text abc",
  render: (skill) => [
    skillDocument(skill, "The tool needs Kitbag.", renderBody(skill)),
    { path: "manifest.toml", content: renderManifest(skill) },
    ...parts.map(([from, path]) => ({ path, content: readFileSync(join(exampleSkills, "checksums", from)) })),
  ],
};

const renderBody = ({ name }: NewSkill): string => `Say in one or two sentences what this plugin is for.

## What to do

1. Compute the checksum of the text with plugin:${name}/digest.
2. Quote it exactly.
`;

const renderManifest = ({ name, description }: NewSkill): string => `name = ${JSON.stringify(name)}
version = "0.1.0"
description = ${JSON.stringify(description)}
# "skill": there is a SKILL.md. "tool": there is a module.
capabilities = ["skill", "tool"]
# After a change of src/digest.c, in the plugin's folder: kitbag build src/digest.c
wasm_path = "src/digest.wasm"

# The skill and its tools share these permissions. Everything else is denied.
permissions = []
# With "http_client", where it may connect to:
# hosts = ["api.example.com"]

# A module may have several tools: the name is its first argument.
[[tools]]
name = "digest"
description = "Compute the checksum of a text"

[tools.input_schema]
type = "object"
required = ["text"]
additionalProperties = false

[tools.input_schema.properties]
text = { type = "string", description = "the text" }
algorithm = { enum = ["sha256", "crc32", "adler32", "fnv1a"], default = "sha256", description = "which checksum" }
`;
