import { expect, test } from "vitest";

import { defineTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import type { SkillFile, SkillFolder } from "../../core/skill.ts";
import type { SkillDocument } from "../document/skill-document.ts";
import { emptyManifest, type ManifestTool, type SkillManifest } from "../manifests/skill-manifest.ts";
import type { ScriptInterface, ScriptTool } from "../scripts/script-interface.ts";
import { checkTools } from "./check-tools.ts";
import type { SkillFacts } from "./skill-facts.ts";
import type { SkillReport } from "./skill-report.ts";
import { toReport } from "./to-report.ts";
import type { MakePipeline } from "./to-tools.ts";

test("toReport() makes tools of scripts, with the command that a checked input means", () => {
  const own = scriptTool({
    name: "extract",
    inputSchema: { type: "object", properties: { page: { type: "integer", default: 1 } } },
    mapping: { parts: [{ kind: "flag", property: "page", flag: "--page" }] },
  });

  const { skill, tools, status } = report({ scripts: [script("scripts/extract.py", [own], { env: ["KEY"] })] });

  const code = skill?.tools[0]?.code as ScriptCode;
  expect(status).toBe("ok");
  expect(tools).toEqual([
    {
      name: "extract",
      address: "pdf/extract",
      description: "Extracts",
      kind: "script",
      inputSchema: {
        type: "object",
        properties: { page: { type: "integer", default: 1 } },
        additionalProperties: false,
      },
      file: "scripts/extract.py",
      confidence: "declared",
      source: "argparse",
    },
  ]);
  expect(code).toMatchObject({
    kind: "script",
    directory: "/skills/pdf",
    path: "scripts/extract.py",
    digest: digestOf("scripts/extract.py"),
    interpreter: ["python3"],
    environment: ["KEY"],
  });
  expect(code.toCommand({ page: 2 })).toMatchObject({ argv: ["--page", "2"] });
});

test("toReport() takes an author for text, and holds tools to an author whose scopes are recorded", () => {
  const scripts = [script("scripts/a.py", [scriptTool({})])];

  const written = report({ scripts, manifest: { author: "Ada Lovelace" } });
  const made = report({ scripts, manifest: { author: "ada", authorScopes: ["tools:read"] } });

  expect(written.skill?.tools[0]?.author).toBeUndefined();
  expect(made.skill?.tools[0]?.author).toEqual({ user: "ada", scopes: ["tools:read"] });
});

test("toReport() gives a tool nothing that somebody could change afterwards", () => {
  const { skill } = report({ scripts: [script("scripts/a.py", [scriptTool({})])] });
  const tool = skill?.tools[0];

  expect(Object.isFrozen(tool)).toBe(true);
  expect(Object.isFrozen(tool?.inputSchema)).toBe(true);
  expect(Object.isFrozen(tool?.inputSchema["properties"])).toBe(true);
  expect(Object.isFrozen(tool?.examples)).toBe(true);
});

test("toReport() makes the same of facts that were remembered", () => {
  const facts = checkTools(
    toFacts({
      scripts: [
        script("scripts/a.py", [
          scriptTool({
            outputSchema: { type: "object" },
            annotations: { readOnly: true },
            limits: { limitMs: 500, retries: 1, rate: { calls: 5, inMs: 1000 } },
            cache: { ttlMs: 60_000, tags: ["pdf"] },
            examples: [{ input: { x: "1" } }],
          }),
        ]),
      ],
    }),
  );
  const remembered = JSON.parse(JSON.stringify(facts)) as SkillFacts;

  const [one, other] = [toReport(facts, place()), toReport(remembered, place())];

  expect(JSON.stringify(other)).toBe(JSON.stringify(one));
  expect(other.skill?.tools[0]).toMatchObject({
    limits: { limitMs: 500, retries: 1, rate: { calls: 5, inMs: 1000 } },
    cache: { ttlMs: 60_000, tags: ["pdf"] },
    annotations: { readOnly: true },
  });
});

test("toReport() leaves out a tool that cannot be one, and keeps the others", () => {
  const wrong = [
    scriptTool({ name: "has spaces" }),
    scriptTool({ name: "no-words", description: " " }),
    scriptTool({ name: "no-object", inputSchema: { type: "string" } }),
    scriptTool({ name: "bad-pattern", inputSchema: { type: "object", properties: { a: { pattern: "(" } } } }),
    scriptTool({ name: "bad-example", examples: [{ input: { unknown: 1 } }] }),
  ];

  const { skill, status, diagnostics } = report({
    scripts: [script("scripts/a.py", [...wrong, scriptTool({ name: "good" })])],
  });

  expect(skill?.tools.map((tool) => tool.name)).toEqual(["good"]);
  expect(status).toBe("warning");
  expect(diagnostics.map((one) => [one.severity, one.code, one.file])).toEqual(
    wrong.map(() => ["error", "tool-invalid", "scripts/a.py"]),
  );
});

test("toReport() takes what a manifest says before what was derived, and says what it left out", () => {
  const listed = manifestTool({ name: "run", kind: "script", file: "./scripts/other.py", description: "Said so" });
  const scripts = [
    script("scripts/a.py", [scriptTool({ name: "run" })]),
    script("scripts/other.py", [scriptTool({ name: "other" })]),
  ];

  const { skill, diagnostics } = report({ manifest: { tools: [listed] }, scripts });

  expect(skill?.tools.map((tool) => [tool.name, tool.description])).toEqual([["run", "Said so"]]);
  expect(diagnostics).toMatchObject([
    {
      code: "tool-duplicate",
      message: 'Left out the tool "run" of scripts/a.py: scripts/other.py already has one of this name',
    },
  ]);
});

test("toReport() does not offer what an author hides", () => {
  const { skill } = report({ scripts: [script("scripts/a.py", [scriptTool({ hidden: true })])] });

  expect(skill?.tools).toEqual([]);
});

test("toReport() makes tools of a manifest's WASM modules, and names files that are not there", () => {
  const tools = [
    manifestTool({ name: "pack", kind: "wasm", file: "pack.wasm" }),
    manifestTool({ name: "gone", kind: "wasm", file: "../outside.wasm" }),
  ];

  const { skill, diagnostics, status } = report({ manifest: { tools } });

  expect(skill?.tools.map((tool) => tool.code)).toEqual([
    { kind: "wasm", directory: "/skills/pdf", path: "pack.wasm", digest: digestOf("pack.wasm"), tool: "pack" },
  ]);
  expect(status).toBe("warning");
  expect(diagnostics).toMatchObject([
    { code: "tool-file-missing", message: 'Left out the tool "gone": "../outside.wasm" is not in the folder' },
  ]);
});

test("toReport() tells a WASM module which of its tools is called", () => {
  const both = ["pack", "unpack"].map((name) => manifestTool({ name, kind: "wasm", file: "pack.wasm" }));

  const { skill } = report({ manifest: { tools: both } });

  expect(skill?.tools.map((tool) => tool.code)).toMatchObject([{ tool: "pack" }, { tool: "unpack" }]);
});

test("toReport() gives a script that a manifest lists its input as JSON", () => {
  const listed = manifestTool({ name: "run", kind: "script", file: "scripts/a.py", interpreter: "python3" });

  const { skill } = report({ manifest: { tools: [listed] } });

  const code = skill?.tools[0]?.code as ScriptCode;
  expect(code.interpreter).toEqual(["python3"]);
  expect(code.toCommand({ a: 1 })).toEqual({ argv: [], stdin: '{"a":1}', env: {} });
});

test("toReport() makes pipelines with what it is given, and says what is wrong with them", () => {
  const listed = manifestTool({ name: "both", kind: "pipeline", steps: [{ tool: "x" }] });
  const made = defineTool({ name: "both", description: "Both", run: () => "" });

  const right = report({ manifest: { tools: [listed] } }, () => made);
  const wrong = report({ manifest: { tools: [listed] } }, () => {
    throw new KitbagError("pipeline-invalid", { pipeline: "both", problems: [] });
  });
  const none = report({ manifest: { tools: [listed] } });

  expect(right.skill?.tools).toEqual([made]);
  expect(wrong.diagnostics[0]?.message).toContain('Left out the pipeline "both": Cannot define the pipeline');
  expect(none.diagnostics[0]?.message).toBe('Left out the pipeline "both": this program runs no pipelines');
});

test("toReport() reads what a skill uses and takes over, each under a name of its own", () => {
  const tools = [
    manifestTool({ name: "mine", kind: "reuse", uses: "base/go@^1.2", locked: { a: 1 } }),
    manifestTool({ name: "mine", kind: "reuse", uses: "base/go" }),
    manifestTool({ name: "run", kind: "reuse", uses: "base/go" }),
    manifestTool({ name: "no name", kind: "reuse", uses: "base/go" }),
  ];

  const { skill, diagnostics } = report({
    manifest: { tools, uses: ["plugin:other/tool", "not an address"] },
    scripts: [script("scripts/a.py", [scriptTool({ name: "run" })])],
  });

  expect(skill?.reuses).toEqual([{ name: "mine", uses: { address: "base/go", range: "^1.2" }, locked: { a: 1 } }]);
  expect(skill?.uses).toContainEqual({ address: "other/tool" });
  expect(diagnostics.map((one) => [one.code, one.message.split(":")[0]])).toEqual([
    ["use-invalid", "skill.uses[1]"],
    ["use-invalid", "tools.mine"],
    ["use-invalid", "tools.run"],
    ["use-invalid", "tools.no name"],
  ]);
});

test.for([
  ["1.2.3", "1.2.3"],
  ["1.2.3-beta.1+x", "1.2.3-beta.1+x"],
  ["v2", "2.0.0"],
  ["1.0", "1.0.0"],
  [" 3.1 ", "3.1.0"],
  ["1.2.3beta", undefined],
  ["latest", undefined],
  ["1.2.3.4", undefined],
  ["99999999999999999999.0.0", undefined],
] as const)("toReport() reads the version %j as %j", ([version, expected]) => {
  const { skill } = report({ manifest: { version }, scripts: [script("scripts/a.py", [scriptTool({})])] });

  expect(skill?.version).toBe(expected);
  expect(skill?.tools[0]?.version).toBe(expected);
});

test("toReport() gives the variables that scripts read only to a manifest that asks for them", () => {
  const scripts = [script("scripts/a.py", [scriptTool({})], { env: ["KEY"] })];

  const asks = report({ manifest: { grantsSeenEnvironment: true, permissions: { env: ["OTHER"] } }, scripts });
  const does = report({ manifest: { permissions: { env: ["OTHER"] } }, scripts });

  expect(asks.skill?.permissions).toEqual({ env: ["OTHER", "KEY"] });
  expect(asks.diagnostics).toEqual([]);
  expect(does.skill?.tools[0]?.permissions).toEqual({ env: ["OTHER"] });
  expect(does.diagnostics).toMatchObject([{ severity: "warning", code: "environment-undeclared" }]);
});

test.for([
  ["no description", { isBare: true }, "There is no description of what the skill does"],
  ["a reserved name", { document: { name: "global" } }, '"global" cannot be the name of a skill'],
  ["no name", { document: { name: "über" } }, '"über" cannot be the name of a skill'],
] as const)("toReport() skips a folder with %s, and says so", ([, parts, message]) => {
  const skipped = report(parts);

  expect(skipped).toMatchObject({ status: "skipped", tools: [], diagnostics: [{ severity: "error", message }] });
  expect(skipped.skill).toBeUndefined();
});

test("toReport() skips a folder with an error, and keeps what was seen of its scripts", () => {
  const scripts = [script("scripts/a.py", [scriptTool({})])];
  const diagnostics = [{ severity: "error", code: "link-outside", message: "no", file: "x" }] as const;

  expect(report({ scripts, diagnostics })).toMatchObject({
    status: "skipped",
    diagnostics,
    scripts: [{ path: "scripts/a.py" }],
  });
});

test("toReport() uses a skill in spite of an error in one of its scripts", () => {
  const scriptDiagnostics = [{ severity: "error", code: "script-syntax", message: "no", file: "x" }] as const;

  expect(report({ scriptDiagnostics })).toMatchObject({ status: "warning", skill: { name: "pdf" } });
});

interface Parts extends Partial<Omit<SkillFacts, "document" | "manifest">> {
  readonly document?: Partial<SkillDocument>;
  /** There is no SKILL.md. */
  readonly isBare?: boolean;
  readonly manifest?: Partial<SkillManifest>;
}

function report(parts: Parts, makePipeline?: MakePipeline): SkillReport {
  return toReport(toFacts(parts), place(), makePipeline === undefined ? {} : { makePipeline });
}

function toFacts({ manifest, document = {}, isBare = false, ...parts }: Parts): SkillFacts {
  return {
    scripts: [],
    diagnostics: [],
    scriptDiagnostics: [],
    ...parts,
    ...(!isBare && { document: { ...emptyDocument, ...document } }),
    ...(manifest !== undefined && { manifest: { ...emptyManifest, file: "kitbag.toml", ...manifest } }),
  };
}

const emptyDocument: SkillDocument = {
  file: "SKILL.md",
  name: "pdf",
  description: "Works on PDF files",
  descriptionFrom: "front-matter",
  allowedTools: [],
  metadata: {},
  kitbag: {},
  tools: [],
  arguments: [],
  modelInvocable: true,
  userInvocable: true,
  extra: {},
  body: "",
  bodyLine: 5,
};

function place(): { path: string; folder: SkillFolder; folderName: string } {
  const files = ["SKILL.md", "pack.wasm", "scripts/a.py", "scripts/extract.py", "scripts/other.py"].map(
    (path): SkillFile => ({ path, bytes: 1, digest: digestOf(path) }),
  );
  const folder: SkillFolder = {
    directory: "/skills/pdf",
    files,
    digest: "",
    scope: "given",
    trust: { status: "trusted" },
  };
  return { path: "/skills/pdf", folder, folderName: "pdf" };
}

function digestOf(path: string): string {
  return `sha256:${Buffer.from(path).toString("hex")}`;
}

function script(
  path: string,
  tools: readonly ScriptTool[],
  { env = [] }: { env?: readonly string[] } = {},
): ScriptInterface {
  return {
    path,
    language: "python",
    interpreter: ["python3"],
    kind: "tool",
    reason: "it takes arguments",
    tools,
    environment: env.map((name) => ({ name })),
    imports: [],
    access: { hosts: [], network: [], reads: [], writes: [], programs: [] },
  };
}

function scriptTool(parts: Partial<ScriptTool>): ScriptTool {
  return {
    name: "extract",
    description: "Extracts",
    inputSchema: { type: "object", properties: { x: { type: "string" } } },
    mapping: { parts: [] },
    confidence: "declared",
    source: "argparse",
    examples: [],
    ...parts,
  };
}

function manifestTool(parts: ManifestTool): ManifestTool {
  return parts;
}
