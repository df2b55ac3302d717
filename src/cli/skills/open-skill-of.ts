import type { JsonSchema } from "../../core/schema/json-schema.ts";
import type { ScriptCode } from "../../core/script-code.ts";
import type { ToolReuse } from "../../core/skill.ts";
import { withoutProperties } from "../../workspace/skills/skill-tools.ts";
import type { Failure } from "../../core/errors.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { toPrintable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { toolsIn } from "../../forge/live/pipelines.ts";

/** The skills that were opened for one call, or what kept one of them from opening. */
export type OpenedSkill =
  | { readonly status: "ok"; close(): Promise<void> }
  | { readonly status: "failed"; readonly error: Failure };

/**
 * Opens the skill of a tool that is closed, and those whose tools a pipeline calls, and says so on standard error: who names the tool
 * wants it.
 */
export async function openSkillOf(
  workspace: Workspace,
  address: string,
  terminal: Pick<Terminal, "note">,
): Promise<OpenedSkill> {
  const opened: string[] = [];
  const close = async (): Promise<void> => {
    for (const name of opened.toReversed()) await closeSkill(workspace, name, terminal);
  };
  for (const name of findClosedSkills(workspace, address)) {
    // One may have opened another that comes later.
    if (!findClosedSkills(workspace, address).includes(name)) continue;
    const outcome = await workspace.activateSkill(name);
    if (outcome.status === "failed") {
      await close();
      return outcome;
    }
    opened.push(name);
    const others = outcome.opened.filter((one) => one !== name);
    const also = others.length === 0 ? "" : ` and ${others.join(", ")}, which it needs,`;
    terminal.note(`Opened the skill ${name}${also} for this call\n`);
  }
  return { status: "ok", close };
}

async function closeSkill(workspace: Workspace, name: string, terminal: Pick<Terminal, "note">): Promise<void> {
  const closed = await workspace.deactivateSkill(name);
  const problems = closed.status === "failed" ? [closed.error] : closed.warnings;
  for (const { message } of problems) terminal.note(`${toPrintable(message)}\n`);
}

/** The skill of a tool, and those of what it calls, as far as they are closed. */
function findClosedSkills(workspace: Workspace, address: string): readonly string[] {
  const own = findClosedSkill(workspace, address);
  const steps = findSteps(workspace, address).tools.flatMap((step) => toClosed(workspace, step));
  return [...new Set([...(own === undefined ? [] : [own]), ...steps])];
}

function toClosed(workspace: Workspace, { source, owner, address }: RegisteredTool): readonly string[] {
  return source === "skill" && !workspace.isToolAvailable(address) ? [owner] : [];
}

function findClosedSkill(workspace: Workspace, address: string): string | undefined {
  const found = workspace.getTool(address);
  if (found !== undefined) return toClosed(workspace, found)[0];
  return findReuse(workspace, address) === undefined ? undefined : toOwner(address)[0];
}

/** A tool that a skill takes over from another one is there only while the skill is open. */
function findReuse(workspace: Workspace, address: string): ToolReuse | undefined {
  const [owner = "", tool] = toOwner(address);
  return workspace.getSkill(owner)?.reuses.find(({ name }) => name === tool);
}

function toOwner(address: string): readonly string[] {
  return address.replace(/^plugin:/u, "").split("/", 2);
}

/** What a tool takes, also if it is there only while its skill is open; nothing for an unknown tool. */
export function findInputSchema(workspace: Workspace, address: string): JsonSchema | undefined {
  const found = workspace.getTool(address);
  if (found !== undefined) return found.tool.inputSchema;
  const reuse = findReuse(workspace, address);
  const source = reuse && workspace.getTool(reuse.uses.address);
  return source && withoutProperties(source.tool.inputSchema, Object.keys(reuse.locked));
}

/** The script of a tool, if it is one's. */
export function findScript(workspace: Workspace, address: string): ScriptCode | undefined {
  const code = workspace.getTool(address)?.tool.code;
  return code?.kind === "script" ? (code as ScriptCode) : undefined;
}

/** What a tool calls while it runs, as far as that is known before. */
interface Steps {
  /** The tools of a pipeline's steps, also of pipelines in it. */
  readonly tools: readonly RegisteredTool[];
  /** The addresses of those that are not there. */
  readonly missing: readonly string[];
}

/** Finds the tools that a pipeline calls. Any other tool has none. */
export function findSteps(workspace: Pick<Workspace, "getTool">, address: string): Steps {
  const tools = new Map<string, RegisteredTool>();
  const missing = new Set<string>();
  const first = workspace.getTool(address);
  const waiting = first === undefined ? [] : [first];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const step of toolsIn(next.tool)) {
      const found = findStep(workspace, next, step);
      if (found === undefined) missing.add(step);
      else if (!tools.has(step)) {
        tools.set(step, found);
        waiting.push(found);
      }
    }
  }
  return { tools: [...tools.values()], missing: [...missing] };
}

/** Inside a skill a bare name is its own tool first. */
function findStep(
  workspace: Pick<Workspace, "getTool">,
  { owner, source }: RegisteredTool,
  step: string,
): RegisteredTool | undefined {
  const own = source === "global" || step.includes("/") ? undefined : workspace.getTool(`${owner}/${step}`);
  return own ?? workspace.getTool(step);
}

/** Tells whether a tool is there, with all that it calls. */
export function isComplete(workspace: Pick<Workspace, "getTool">, address: string): boolean {
  return workspace.getTool(address) !== undefined && findSteps(workspace, address).missing.length === 0;
}
