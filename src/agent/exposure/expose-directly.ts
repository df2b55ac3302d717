import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ModelTool } from "../../models/model.ts";
import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Exposure, ExposureParts, ModelView } from "./exposure.ts";
import { renderSystem } from "./render-system.ts";
import { toDispatchModelTool, toModelTool } from "./to-model-tools.ts";

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
