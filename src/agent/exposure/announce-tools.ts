import type { JsonObject, JsonValue } from "../../core/json.ts";
import { isSchemaObject, type JsonSchema } from "../../core/schema/json-schema.ts";
import type { ModelTool } from "../../models/model.ts";
import { providerRow } from "../../models/providers.ts";
import { toNativeChange, toSpokenChange } from "../../models/tool-changes.ts";
import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Session } from "../../workspace/workspace.ts";
import { withMark } from "../memory/kitbag-mark.ts";
import type { Exposure, ExposureParts, ModelView } from "./exposure.ts";
import { renderSystem } from "./render-system.ts";
import { tellActivation } from "./tell-activation.ts";
import { toDispatchModelTool, toModelTool } from "./to-model-tools.ts";

/** With these a model reaches everything; `read_skill` is of no use to one that can open skills. */
const ownNames = new Set([
  "search_tools",
  "describe_tool",
  "call_tool",
  "list_skills",
  "read_skill_file",
  "activate_skill",
  "deactivate_skill",
]);

/** Where every tool that is opened comes into the list, none has to be described or called in another way. */
const needless = new Set(["describe_tool", "call_tool"]);

/** Whether `tool` can be of any use to a model of this session. */
function isUseful({ name }: DispatchTool, session: Session, isNative: boolean): boolean {
  if (!ownNames.has(name) || (isNative && needless.has(name))) return false;
  return name !== "read_skill_file" || session.getSkills().some(({ skill }) => (skill.folder?.files.length ?? 0) > 1);
}

/**
 * The list of tools stays as it is at the beginning; what is opened and closed is said at the end of the conversation, so that
 * everything before it stays in the provider's cache. Where the provider can, the change is one of its list of tools too; elsewhere
 * the new tools are reached with `call_tool`.
 */
export function announceTools({ session, model, instructions = "" }: ExposureParts): Exposure {
  const isNative = providerRow(model).readsToolChanges === true;
  /** Skills whose tools the model has been told of by opening them itself. */
  const opened = new Set<string>();
  const own = new Map<string, DispatchTool>();
  for (const tool of createDispatchTools(session)) {
    if (!isUseful(tool, session, isNative)) continue;
    const shown = isNative ? shortenTool(tool) : tellActivation(tool, (skill) => opened.add(skill));
    own.set(tool.name, shown);
  }
  let told = session.getAvailableTools();
  const view: ModelView = {
    system: renderSystem(session, instructions, isNative ? "" : howTo),
    tools: [...[...own.values()].map(toDispatchModelTool), ...told.map(toModelTool)],
  };

  return {
    name: "announce",
    view: () => view,
    announcement() {
      const now = session.getAvailableTools();
      if (now === told) return undefined;
      const { added, removed } = compare(told, now);
      told = now;
      const untold = isNative ? added : added.filter(({ owner }) => !opened.has(owner));
      opened.clear();
      if (untold.length === 0 && removed.length === 0) return undefined;
      const gone = removed.map(({ wireName }) => wireName);
      return isNative
        ? toNativeChange({ added: toLeanTools(untold), removed: gone })
        : withMark(toSpokenChange({ added: untold.map(toModelTool), removed: gone }), { tools: true });
    },
    noteOpened(skills) {
      if (!isNative) for (const skill of skills) opened.add(skill);
    },
    find: (name) => own.get(name),
  };
}

const howTo =
  "Tools of skills that are opened later are not in the list: call them with call_tool({ name, input }), as the answer of activate_skill declares them.";

interface Change {
  readonly added: readonly RegisteredTool[];
  readonly removed: readonly RegisteredTool[];
}

function compare(before: readonly RegisteredTool[], now: readonly RegisteredTool[]): Change {
  const known = new Set(before);
  const still = new Set(now);
  return { added: now.filter((entry) => !known.has(entry)), removed: before.filter((entry) => !still.has(entry)) };
}

/** Leaves out of a tool of Kitbag's own what is of no use where tools come into the list as soon as their skill is opened. */
function shortenTool(tool: DispatchTool): DispatchTool {
  if (tool.name === "activate_skill") return tellActivation(withoutTools(tool));
  if (tool.name !== "search_tools") return tool;
  const { detail: _detail, ...properties } = tool.inputSchema["properties"] as Readonly<Record<string, object>>;
  return { ...tool, inputSchema: { ...tool.inputSchema, properties } };
}

/** The tools of a skill that a model sees in its list need not be declared again when the skill is opened. */
function withoutTools(tool: DispatchTool): DispatchTool {
  return {
    ...tool,
    async run(input, options) {
      const outcome = await tool.run(input, options);
      return outcome.status === "failed"
        ? outcome
        : { ...outcome, output: { ...(outcome.output as object), tools: [] } };
    },
  };
}

/**
 * Tools that a model is shown together, each as short as the others allow: tools of one skill have parameters in common, and what was
 * said of one is not said again of the same one of another tool.
 */
export function toLeanTools(entries: readonly RegisteredTool[]): readonly ModelTool[] {
  const said = new Set<string>();
  return entries.map((entry) => {
    const tool = toModelTool(entry);
    return tool.type === "function"
      ? { ...tool, inputSchema: toLeanSchema(tool.inputSchema as JsonSchema, said) }
      : tool;
  });
}

function toLeanSchema(schema: JsonSchema, said: Set<string>): JsonSchema {
  const { properties } = schema;
  if (!isSchemaObject(properties)) return schema;
  const lean = Object.entries(properties).map(([name, property]) => {
    const whole = `${name} ${JSON.stringify(property)}`;
    const isNew = !said.has(whole);
    said.add(whole);
    return [name, isNew ? property : withoutDescription(property)];
  });
  return { ...schema, properties: Object.fromEntries(lean) };
}

function withoutDescription(property: unknown): unknown {
  if (!isSchemaObject(property)) return property;
  const { description: _said, ...rest } = property;
  return rest;
}

/** What a model needs to open and close skills; everything else it sees. */
const skillTools = new Set(["activate_skill", "deactivate_skill", "read_skill_file", "list_skills"]);

const nothingOfOurs: ReadonlyMap<string, DispatchTool> = new Map();

/** The tools that are available now are the list of tools: it changes when a skill is opened. */
export function exposeDirectly({ session, instructions = "" }: ExposureParts): Exposure {
  const hasSkills = session.getSkills().length > 0;
  const own = hasSkills ? toOwnTools(session) : nothingOfOurs;
  const system = renderSystem(session, instructions);
  let shown: { readonly of: readonly RegisteredTool[]; readonly view: ModelView } | undefined;

  return {
    name: "direct",
    view() {
      const available = session.getAvailableTools();
      if (shown?.of !== available) {
        const section = hasSkills ? session.renderSkillTools() : "";
        const text = section === "" ? system : `${system}\n\n${section}`;
        shown = { of: available, view: { system: text, tools: listTools(available, own) } };
      }
      return shown.view;
    },
    announcement: () => undefined,
    find: (name) => own.get(name),
  };
}

function toOwnTools(session: ExposureParts["session"]): ReadonlyMap<string, DispatchTool> {
  const tools = createDispatchTools(session).filter(({ name }) => skillTools.has(name));
  return new Map(tools.map((tool) => [tool.name, shortenActivation(tool)]));
}

/** Lists of tools by what they were made of: 1,000 runs of one workspace share one. */
const lists = new WeakMap<
  readonly RegisteredTool[],
  { readonly hasOwn: boolean; readonly tools: readonly ModelTool[] }
>();

function listTools(available: readonly RegisteredTool[], own: ReadonlyMap<string, DispatchTool>): readonly ModelTool[] {
  const hasOwn = own.size > 0;
  const known = lists.get(available);
  if (known?.hasOwn === hasOwn) return known.tools;
  const tools = [...[...own.values()].map(toDispatchModelTool), ...available.map(toModelTool)];
  lists.set(available, { hasOwn, tools });
  return tools;
}

/** The tools of a skill that a model sees in its list need not be declared again when the skill is opened: their names do. */
function shortenActivation(tool: DispatchTool): DispatchTool {
  if (tool.name !== "activate_skill") return tool;
  return {
    ...tool,
    async run(input, options) {
      const outcome = await tool.run(input, options);
      if (outcome.status === "failed") return outcome;
      const { tools = [], ...others } = outcome.output as JsonObject;
      const names = (tools as readonly JsonObject[]).map(({ name }) => name as JsonValue);
      return { ...outcome, output: { ...others, tools: names } };
    },
  };
}
