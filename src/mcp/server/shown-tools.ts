import { renderSchema } from "../../core/schema/render-schema.ts";
import { createBatchTool } from "../../workspace/dispatch/batch-dispatch.ts";
import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import { isTrusted } from "../../workspace/skills/render-skills.ts";
import type { Session } from "../../workspace/workspace.ts";
import type { McpExposure, ServedClient } from "./client.ts";

/** The dispatch tools, with which a client finds, opens and calls everything. */
const dispatchNames = [
  "search_tools",
  "describe_tool",
  "call_tool",
  "call_tools",
  "list_skills",
  "read_skill",
  "read_skill_file",
  "activate_skill",
  "deactivate_skill",
] as const;

/** Those that a client needs whose list has no other dispatch tools: without them it could open no skill. */
const skillNames: ReadonlySet<string> = new Set([
  "list_skills",
  "read_skill",
  "read_skill_file",
  "activate_skill",
  "deactivate_skill",
]);

type DispatchTools = ReadonlyMap<string, DispatchTool>;

const dispatchTools = new WeakMap<Session, Readonly<Record<McpExposure, DispatchTools>>>();

/** The dispatch tools that a client with an exposure is shown in a session, by name, in the order they are listed. */
export function getDispatchTools(session: Session, exposure: McpExposure = "both"): DispatchTools {
  const made = dispatchTools.get(session) ?? makeDispatchTools(session);
  dispatchTools.set(session, made);
  return exposure === "direct" && session.getSkills().length === 0 ? noTools : made[exposure];
}

const noTools: DispatchTools = new Map();

function makeDispatchTools(session: Session): Readonly<Record<McpExposure, DispatchTools>> {
  const tools = [...createDispatchTools(session), createBatchTool(session)];
  const all = new Map(
    dispatchNames.flatMap((name) => tools.filter((tool) => tool.name === name)).map((tool) => [tool.name, tool]),
  );
  const ofSkills = new Map([...all].filter(([name]) => skillNames.has(name)));
  return { both: all, dispatch: all, direct: ofSkills };
}

/** The names of the tools that a client is shown, and can call by that name. */
export function findShownTools(client: ServedClient): ReadonlySet<string> {
  if (client.shownTools !== undefined) return new Set(client.shownTools());
  const available = client.session.getAvailableTools().map((entry) => entry.wireName);
  return new Set([...dispatchNames, ...available]);
}

/** The words of a prompt for one client. */
export interface PromptWords {
  /** Whether the client can call this tool. */
  has(tool: string): boolean;
  /** The closed skill that a tool belongs to, if the client can open it. */
  findClosed(tool: string): string | undefined;
  /** How a text names a tool: by its name, or by the tool that reaches it. */
  name(tool: string): string;
  /** What a tool takes, as it is now; empty if the client knows it already. */
  takes(tool: string): string;
}

/** Makes the words with which prompts speak to a client of tools. */
export function createPromptWords(client: ServedClient): PromptWords {
  const { session } = client;
  const shown = findShownTools(client);
  const reaches = shown.has("call_tool");

  const wireName = (tool: string): string => session.getTool(tool)?.wireName ?? tool;
  const isShown = (tool: string): boolean => shown.has(wireName(tool));

  /** The skill that must be opened before the tool can be called, if the client can open it. */
  function findClosed(tool: string): string | undefined {
    const entry = session.getTool(tool);
    if (entry?.source !== "skill" || !shown.has("activate_skill") || session.isToolAvailable(entry.address))
      return undefined;
    const skill = session.getSkill(entry.owner);
    return skill !== undefined && skill.modelInvocable && isTrusted(skill) ? skill.name : undefined;
  }

  return {
    has: (tool) => isShown(tool) || (reaches && session.isToolAvailable(tool)) || findClosed(tool) !== undefined,
    findClosed,
    name: (tool) =>
      isShown(tool) || findClosed(tool) !== undefined
        ? `\`${wireName(tool)}\``
        : `\`call_tool\` with the name ${wireName(tool)}`,
    takes(tool) {
      // Who is shown a tool has its schema already, and so has who opens its skill.
      const entry = isShown(tool) || findClosed(tool) !== undefined ? undefined : session.getTool(tool);
      if (entry === undefined) return "";
      // It stands in a numbered step, and backticks are for names of tools.
      const schema = renderSchema(entry.tool.inputSchema).replaceAll("`", "'").replaceAll("\n", "\n   ");
      return `It takes ${schema}`;
    },
  };
}
