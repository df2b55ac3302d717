import { toNativeChange, toSpokenChange } from "../../models/tool-changes.ts";
import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import type { DispatchTool } from "../../workspace/dispatch/dispatch-tool.ts";
import type { RegisteredTool } from "../../workspace/registered-tool.ts";
import type { Session } from "../../workspace/sessions/session.ts";
import { withMark } from "../memory/kitbag-mark.ts";
import type { Exposure, ExposureParts, ModelView } from "./exposure.ts";
import { toLeanTools } from "./to-lean-tools.ts";
import { renderSystem } from "./render-system.ts";
import { shortenTool } from "./shorten-tool.ts";
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
  const isNative = model.provider.startsWith("anthropic");
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
