import { KitbagError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import { nearestNames } from "../../core/nearest.ts";
import type { Tool } from "../../core/tool.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import { defaultLimits } from "../../workspace/limits.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { toCallOptions } from "../call-options.ts";
import { createCallView } from "../call-view.ts";
import type { Answer, Invocation } from "../cli-command.ts";
import { readText } from "../input/read-text.ts";
import { toToolInput } from "../input/to-tool-input.ts";
import { getText, getTexts } from "../options.ts";
import { withRecords, type OpenRecords } from "../store/with-records.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { usageError } from "../usage-error.ts";
import { createAsking } from "./ask-about-draft.ts";
import { openWorkshop } from "./open-workshop.ts";
import type { ForgeOperation } from "./operations.ts";
import { findOtherNames, toParameterWords, toTypedFlag } from "./parameter-flags.ts";
import { renderForged } from "./render-forged.ts";

/** Does an operation of the forge: calls the tool that MCP clients get, the way every call takes. */
export async function runOperation(operation: ForgeOperation, given: Invocation): Promise<Answer> {
  const invocation = { ...given, makesTools: true };
  return withRecords(invocation, {}, (open) => run(operation, invocation, open));
}

async function run({ name }: ForgeOperation, invocation: Invocation, open: OpenRecords): Promise<Answer> {
  const asking = createAsking(invocation);
  const workshop = await openWorkshop(invocation, open, { hasForge: true, approve: asking.approve });
  const { workspace, options } = workshop;
  try {
    const tool = findTool(workspace, name);
    const input = await readParameters(tool, invocation);
    for (const skill of getTexts(invocation.options, "open")) await openSkill(workspace, skill);
    const view = createCallView(invocation, { help: `kitbag forge ${name} --help` });
    const callOptions = { ...toCallOptions(invocation, options, open.records), onEvent: view.onEvent };
    const limitMs = callOptions.limitMs ?? tool.limits.limitMs ?? options.limits?.limitMs ?? defaultLimits.limitMs;
    const call = (more: CallOptions): Promise<ToolOutcome> => workspace.call(name, input, { ...callOptions, ...more });
    // A program in code mode asks nobody, and reads how much time it has.
    const outcome = await untilInterrupted((signal) =>
      tool.meta === true ? asking.call({ tool: name, limitMs, signal }, call) : call({ signal }),
    );
    const text = outcome.status === "ok" ? renderForged(outcome.output, workspace) : undefined;
    return text === undefined ? view.toAnswer(outcome) : { document: outcome, text };
  } finally {
    await workshop.close();
  }
}

/** A tool of the project goes before the one of the forge for clients, too; here it is not what was asked for. */
function findTool(workspace: Workspace, name: string): Tool {
  const found = workspace.getTool(name);
  if (found !== undefined && (found.tool.meta === true || found.tool.code.kind === "code")) return found.tool;
  throw usageError(
    `Cannot do ${name}: the project has a tool of this name, which goes before that of the forge; to call it: kitbag call ${name}`,
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
