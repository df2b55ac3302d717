import { longestTimerMs } from "../../core/async.ts";
import { KitbagError, toFailure } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { Tool } from "../../core/tool.ts";
import type { WaitingTool } from "../../forge/forge-interface.ts";
import { describeAsking } from "../../forge/permissions-beyond.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import { Clock } from "../../workspace/call/clock.ts";
import { defaultLimits } from "../../workspace/options/limits.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { toCallOptions } from "../call-options.ts";
import { createCallView } from "../call-view.ts";
import { type Answer, type Invocation, usageError } from "../cli-command.ts";
import { isYes } from "../terminal.ts";
import { readText, toToolInput } from "../input/read-input.ts";
import { getText, getTexts } from "../options.ts";
import { toPrintableLine, toPrintable } from "../printable.ts";
import { renderOpened } from "../render-tool.ts";
import { openProject, type Project } from "../open-project.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { createCodeSkill, openWorkshop, type Workshop } from "./open-workshop.ts";
import type { ForgeOperation } from "./operations.ts";
import { renderForged } from "./render-forged.ts";
import type { JsonSchema } from "../../core/schema/json-schema.ts";
import { getShape } from "../flags/parameter.ts";
import { createImportTool } from "../../forge/import/create-import-tool.ts";
import { createForgeTools } from "../../forge/tools/create-forge-tools.ts";
import { createWorkflowTools } from "../../forge/workflow/create-workflow-tools.ts";
import { describeFlags } from "../flags/describe-flags.ts";
import { renderTable } from "../render.ts";
import { withForge } from "./with-forge.ts";

/** Does an operation of the forge: calls the tool that MCP clients get, the way every call takes. */
export async function runOperation(operation: ForgeOperation, invocation: Invocation): Promise<Answer> {
  const project = openProject({ ...invocation, makesTools: true });
  try {
    const asking = createAsking(invocation);
    const workshop = await openWorkshop(project, { hasForge: true, approve: asking.approve });
    try {
      return await run(operation, project, { ...workshop, asking });
    } finally {
      await workshop.close();
    }
  } finally {
    await project.close();
  }
}

interface RunParts extends Pick<Workshop, "workspace" | "options"> {
  readonly asking: Asking;
}

async function run(
  { name }: ForgeOperation,
  { invocation, records }: Project,
  { workspace, options, asking }: RunParts,
): Promise<Answer> {
  const { tool, address, owner } = findTool(workspace, name);
  const input = await readParameters(tool, invocation);
  for (const skill of [owner, ...getTexts(invocation.options, "open")]) await openSkill(workspace, skill);
  const view = createCallView(invocation, { help: `kitbag forge ${name} --help` });
  const callOptions = { ...toCallOptions(invocation, options, records), onEvent: view.onEvent };
  const limitMs = callOptions.limitMs ?? tool.limits.limitMs ?? options.limits?.limitMs ?? defaultLimits.limitMs;
  const call = (more: CallOptions): Promise<ToolOutcome> => workspace.call(address, input, { ...callOptions, ...more });
  // A program in code mode asks nothing, and reads how much time it has.
  const outcome = await untilInterrupted((signal) =>
    tool.meta === true ? asking.call({ tool: name, limitMs, signal }, call) : call({ signal }),
  );
  const text = outcome.status === "ok" ? renderForged(outcome.output, workspace) : undefined;
  return text === undefined ? view.toAnswer(outcome) : { document: outcome, text };
}

/** A skill of the project may have the name of the forge's, and goes before it for clients, too. */
function findTool(workspace: Workspace, name: string): RegisteredTool {
  const skill = name === "execute_code" ? "code" : "forge";
  const found = workspace.getTool(`${skill}/${name}`);
  if (found !== undefined && (found.tool.meta === true || found.tool.code.kind === "code")) return found;
  throw usageError(
    `Cannot do ${name}: the project has a skill ${skill}, which goes before Kitbag's own of this name; rename its folder`,
  );
}

async function readParameters({ inputSchema }: Tool, invocation: Invocation): Promise<JsonObject> {
  const { cwd } = invocation;
  const words = toParameterWords(inputSchema, invocation.args.slice(1));
  const input = await toToolInput(inputSchema, words, invocation, {
    alsoKnown: [...ownFlags, ...[...findOtherNames(inputSchema).values()].map((flag) => `--${flag}`)],
    readText: (flag, given) => readText(flag, given, cwd),
    showFlag: (flag) => toTypedFlag(inputSchema, flag),
  });
  const isSchema = getText(invocation.options, "input") !== undefined && "type" in input && "properties" in input;
  if (!isSchema) return input;
  throw usageError(
    "Cannot use --input: it takes all parameters of the operation, found a JSON Schema; for the schema of the tool's input, write --input-schema",
  );
}

/** What other flags there are; a person may have meant one of them. */
const ownFlags = [
  "--input",
  "--open",
  "--limit-ms",
  "--yes",
  "--module",
  "--skills",
  "--sandbox",
  "--store",
  "--log",
  "--json",
  "--help",
];

async function openSkill(workspace: Workspace, skill: string): Promise<void> {
  const names = workspace.getSkills().map((state) => state.skill.name);
  if (!names.includes(skill)) {
    throw new KitbagError("skill-not-found", { skill, nearest: nearestNames(skill, names), count: names.length });
  }
  const outcome = await workspace.activateSkill(skill);
  if (outcome.status === "failed") throw new KitbagError(outcome.error.code, outcome.error.details);
}

/** Asks a person in the middle of a call. */
export interface Asking {
  /** Asks the person who makes a tool to agree to what it asks for; what they do not agree to waits. */
  approve(waiting: WaitingTool): Promise<boolean | undefined>;
  /** Makes the call: its time does not pass while the person is asked, and ending the input instead of answering cancels it. */
  call(limits: AskedCall, make: (options: CallOptions) => Promise<ToolOutcome>): Promise<ToolOutcome>;
}

/** The call in which the person may be asked. */
interface AskedCall {
  readonly tool: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Asks at the terminal; without a terminal no question is asked. */
export function createAsking({ terminal }: Pick<Invocation, "terminal">): Asking {
  const cancel = new AbortController();
  let clock: Clock | undefined;
  return {
    async approve(waiting) {
      if (!terminal.canAsk) return undefined;
      const question = toPrintableLine(`${waiting.name} ${describeAsking(waiting)}. Agree? [y/N]`);
      for (const line of renderOpened(waiting.asks, terminal)) terminal.note(`${line}\n`);
      clock?.hold();
      const answer = await terminal.ask(`${question} `, { dropTyped: true }).finally(() => clock?.release());
      if (answer !== undefined) return isYes(answer) ? true : undefined;
      cancel.abort();
      return false;
    },
    async call({ tool, limitMs, signal }, make) {
      if (!terminal.canAsk) return make({ limitMs, signal });
      let isOver = false;
      clock = new Clock(limitMs, () => {
        isOver = true;
        cancel.abort();
      });
      clock.watch();
      try {
        const outcome = await make({ limitMs: longestTimerMs, signal: AbortSignal.any([signal, cancel.signal]) });
        if (!isOver || outcome.status === "ok") return outcome;
        return { status: "failed", error: toFailure("call-timeout", { tool, limitMs }) };
      } finally {
        clock.end();
      }
    },
  };
}

/** Parameters of operations whose flags would mean something else on every command, or a half of two things that belong together. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["input", "input-schema"],
  ["output", "output-schema"],
  ["skills", "skill"],
  ["plugins", "plugin"],
]);

/** The flags that this schema has under another name, by the name of the parameter. */
function findOtherNames(schema: JsonSchema): ReadonlyMap<string, string> {
  const { properties } = getShape(schema, schema);
  return new Map([...otherNames].filter(([parameter, flag]) => properties.has(parameter) && !properties.has(flag)));
}

/** The words of a person, with the flags as the schema names them. */
function toParameterWords(schema: JsonSchema, words: readonly string[]): readonly string[] {
  const names = findOtherNames(schema);
  return words.map((word) => {
    for (const [parameter, flag] of names) {
      const rest = word.startsWith(`--${flag}`) ? word.slice(flag.length + 2) : undefined;
      if (rest !== undefined && /^(?:$|[.=])/u.test(rest)) return `--${parameter}${rest}`;
    }
    return word;
  });
}

/** A flag as a person types it: `--input.type` as `--input-schema.type`. */
function toTypedFlag(schema: JsonSchema, flag: string): string {
  const [, head = "", rest = ""] = /^--([^.]+)(.*)$/u.exec(flag) ?? [];
  const other = findOtherNames(schema).get(head);
  return other === undefined ? flag : `--${other}${rest}`;
}

/** The help of one operation: its parameters as flags, and an example. Nothing of the project runs for it. */
export async function renderOperation(operation: ForgeOperation, invocation: Invocation): Promise<string> {
  const { name, example } = operation;
  const tool = await findOperationTool(name, invocation);
  const rows = describeFlags(tool.inputSchema)
    .filter(({ flag }) => !isDeep(flag))
    .map(({ flag, value, required, description }) => [
      toTypedFlag(tool.inputSchema, flag),
      value,
      required ? "yes" : "",
      description,
    ]);
  return [
    `Usage: kitbag forge ${name} [flags]`,
    toPrintable(tool.description),
    renderTable(["FLAG", "VALUE", "REQUIRED", "DESCRIPTION"], rows, invocation.terminal),
    "@file as a value reads the file, @@ stands for one @. --input '{…}', --input @file and --input - take all of them as JSON; a flag goes\nbefore it. kitbag forge --help has the options of every operation.",
    `Example:\n  $ kitbag forge ${name} ${example}`,
  ].join("\n\n");
}

/** What stands two levels down is easier to write as JSON. */
function isDeep(flag: string): boolean {
  return flag.split(".").length > 2;
}

async function findOperationTool(name: string, invocation: Invocation): Promise<Tool> {
  return withForge(invocation, async (forge) => {
    const tools = [...createForgeTools(forge), ...createWorkflowTools(forge), createImportTool()];
    return [...tools, ...(await createCodeSkill()).tools].find((tool) => tool.name === name) as Tool;
  });
}
