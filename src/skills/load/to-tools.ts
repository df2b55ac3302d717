import type { SkillAgentCode } from "../../core/agent-code.ts";
import { longestTimerMs } from "../../core/async.ts";
import { createTool, type ToolParts } from "../../core/define-tool.ts";
import type { Diagnostic } from "../../core/diagnostics.ts";
import { isKitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { CodeFolder, ListedDependencies, ScriptCode, WasmCode } from "../../core/script-code.ts";
import type { SkillFile } from "../../core/skill.ts";
import type { Tool, ToolLimits } from "../../core/tool.ts";
import type { AgentFacts } from "../agents/read-agents.ts";
import type { ManifestTool } from "../manifests/skill-manifest.ts";
import type { ScriptInterface, ScriptTool } from "../scripts/script-interface.ts";
import { fromArgv } from "../scripts/from-argv.ts";
import { toArgv } from "../scripts/to-argv.ts";
import { withoutUndefined } from "../scripts/without-undefined.ts";
import type { ToolReport } from "./skill-report.ts";

/** What all tools of a skill have in common. */
export interface ToolFrame {
  readonly skill: string;
  readonly directory: string;
  readonly folder: CodeFolder;
  readonly files: ReadonlyMap<string, SkillFile>;
  readonly permissions: Permissions;
  readonly version: string | undefined;
  /** What the manifest lists. */
  readonly dependencies: ListedDependencies | undefined;
}

/** A tool and what is told about it, or what keeps it from being one. */
export type MadeTool =
  | { readonly ok: true; readonly tool: Tool; readonly report: ToolReport }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** Makes the tool of a script, or of one of its sub-commands, which {@link checkTools} has checked. */
export function toScriptTool(frame: ToolFrame, script: ScriptInterface, own: ScriptTool): MadeTool {
  const { name, description, inputSchema, outputSchema, annotations = {}, limits = {}, cache, examples, files } = own;
  const stdin = own.mapping.parts.find((part) => part.kind === "stdin");
  const code: ScriptCode = {
    kind: "script",
    skill: frame.skill,
    directory: frame.directory,
    folder: frame.folder,
    path: script.path,
    digest: frame.files.get(script.path)?.digest ?? "",
    interpreter: script.interpreter,
    environment: script.environment.map((variable) => variable.name),
    ...(frame.dependencies !== undefined && { dependencies: frame.dependencies }),
    ...(stdin !== undefined && { stdin: stdin.property }),
    toCommand: (input) => toArgv(own.mapping, input, `${frame.skill}/${own.name}`),
    readCommand: (argv) => fromArgv(own.mapping, inputSchema, argv),
  };
  const tool: Tool = Object.freeze({
    name,
    description,
    ...(frame.version !== undefined && { version: frame.version }),
    inputSchema: freeze(inputSchema),
    ...(outputSchema !== undefined && { outputSchema: freeze(outputSchema) }),
    annotations: freeze(annotations),
    permissions: frame.permissions,
    ...(files !== undefined && { files: freeze(files) }),
    examples: freeze(examples),
    inject: noNames,
    needsApproval: false,
    limits: freeze(limits),
    ...(cache !== undefined && { cache: freeze(cache) }),
    code,
  });
  const report = { ...describe(frame.skill, tool), file: script.path, confidence: own.confidence, source: own.source };
  return { ok: true, tool, report };
}

const noNames: readonly string[] = Object.freeze([]);

/** What was checked must stay as it is. What is frozen was frozen with everything in it, when it was checked. */
function freeze<Value extends object>(value: Value): Value {
  return Object.isFrozen(value) ? value : freezeAll(value);
}

function freezeAll<Value extends object>(value: Value): Value {
  for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) freezeAll(inner as object);
  return Object.freeze(value);
}

/** Makes the tool of an agent that the skill brings: only another agent can call it. */
export function toAgentTool({ skill, version }: ToolFrame, agent: AgentFacts): MadeTool {
  const { name, description, instructions, tools, model, file } = agent;
  const code: SkillAgentCode = {
    kind: "agent",
    skill,
    instructions,
    ...(tools !== undefined && { tools }),
    ...(model !== undefined && { model }),
  };
  const tool = createTool({
    name,
    description,
    ...(version !== undefined && { version }),
    input: agentInput,
    annotations: { parallelSafe: true },
    // The run has limits of its own.
    limits: { limitMs: longestTimerMs },
    code,
  });
  return { ok: true, tool, report: { ...describe(skill, tool), file, confidence: "declared", source: "agent" } };
}

const agentInput = {
  type: "object",
  properties: { task: { type: "string", description: "what to do, with everything that the agent needs to know" } },
  required: ["task"],
} as const;

/** Tells of a tool that the skill's own code, in `file`, defines. */
export function toCodeTool({ skill }: ToolFrame, tool: Tool, file: string): MadeTool {
  return { ok: true, tool, report: { ...describe(skill, tool), file, confidence: "declared", source: "code" } };
}

/** Makes a pipeline of its description. Passed in: how pipelines run is not known here. */
export type MakePipeline = (description: JsonObject) => Tool;

/** What a listed tool is made with. */
export interface ListedParts {
  readonly makePipeline: MakePipeline | undefined;
}

/** Makes a tool that a manifest lists: a script that takes JSON on standard input, a part of a WASM module, a pipeline. */
export function toManifestTool(frame: ToolFrame, listed: ManifestTool, parts: ListedParts): MadeTool {
  if (listed.kind === "pipeline") return toPipeline(frame, listed, parts.makePipeline);
  const path = listed.file ?? "";
  const file = frame.files.get(path.replace(/^\.\//u, ""));
  if (file === undefined) {
    const message = `Left out the tool "${listed.name}": "${path}" is not in the folder`;
    const cure = listed.source === undefined ? {} : { cure: `Build it: kitbag build ${frame.skill}/${listed.name}` };
    return { ok: false, diagnostic: { severity: "error", code: "tool-file-missing", message, file: path, ...cure } };
  }
  const own = toParts(frame, listed, file);
  return make(frame, file.path, { parts: own, confidence: "declared", source: "manifest" });
}

function toPipeline(frame: ToolFrame, listed: ManifestTool, makePipeline: MakePipeline | undefined): MadeTool {
  const refuse = (reason: string): MadeTool => {
    const message = `Left out the pipeline "${listed.name}": ${reason}`;
    return { ok: false, diagnostic: { severity: "error", code: "tool-invalid", message, file: "kitbag.toml" } };
  };
  if (makePipeline === undefined) return refuse("this program runs no pipelines");
  const { name, description = `The pipeline ${name} of ${frame.skill}`, input, steps = [] } = listed;
  try {
    const tool = makePipeline({ name, description, steps, ...(input !== undefined && { input: input as JsonObject }) });
    return { ok: true, tool, report: { ...describe(frame.skill, tool), confidence: "declared", source: "manifest" } };
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return refuse(cause.message);
  }
}

function toParts(frame: ToolFrame, listed: ManifestTool, file: SkillFile): ToolParts {
  const place = { directory: frame.directory, path: file.path, digest: file.digest };
  const code: WasmCode | ScriptCode =
    listed.kind === "wasm"
      ? { kind: "wasm", ...place, tool: listed.name }
      : {
          kind: "script",
          ...place,
          folder: frame.folder,
          interpreter: listed.interpreter === undefined ? [] : [listed.interpreter],
          environment: [],
          ...(frame.dependencies !== undefined && { dependencies: frame.dependencies }),
          toCommand: (input) => ({ argv: [], stdin: JSON.stringify(input), env: {} }),
        };
  return {
    name: listed.name,
    description: listed.description ?? `The tool ${listed.name} of ${frame.skill}`,
    ...(listed.version !== undefined && { version: listed.version }),
    input: listed.input ?? { type: "object", additionalProperties: true },
    ...(listed.output !== undefined && { output: listed.output }),
    ...(listed.files !== undefined && { files: listed.files }),
    ...(listed.annotations !== undefined && { annotations: listed.annotations }),
    limits: withoutUndefined<ToolLimits>({ limitMs: listed.limitMs, retries: listed.retries, rate: listed.rate }),
    ...(listed.cache !== undefined && { cache: listed.cache }),
    ...(listed.needsApproval !== undefined && { needsApproval: listed.needsApproval }),
    code,
  };
}

interface Making {
  readonly parts: ToolParts;
  readonly confidence: ToolReport["confidence"];
  readonly source: string;
}

function make(frame: ToolFrame, file: string, { parts, confidence, source }: Making): MadeTool {
  try {
    const version = parts.version ?? frame.version;
    const tool = createTool({ ...parts, permissions: frame.permissions, ...(version !== undefined && { version }) });
    return { ok: true, tool, report: { ...describe(frame.skill, tool), file, confidence, source } };
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    const message = `Left out the tool "${parts.name}" of ${file}: ${cause.message}`;
    return { ok: false, diagnostic: { severity: "error", code: "tool-invalid", message, file } };
  }
}

/** What is told about a tool, whatever it is made of. */
function describe(skill: string, tool: Tool): Omit<ToolReport, "confidence" | "source"> {
  return {
    name: tool.name,
    address: `${skill}/${tool.name}`,
    description: tool.description,
    kind: tool.code.kind,
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
  };
}
