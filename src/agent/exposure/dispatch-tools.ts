import { createDispatchTools } from "../../workspace/dispatch/create-dispatch-tools.ts";
import type { Exposure, ExposureParts, ModelView } from "./exposure.ts";
import { renderSystem } from "./render-system.ts";
import { tellActivation } from "./tell-activation.ts";
import { toDispatchModelTool } from "./to-model-tools.ts";

/** A few tools that never change, with which a model finds, opens and calls everything else. */
export function dispatchTools({ session, instructions = "" }: ExposureParts): Exposure {
  const own = new Map(createDispatchTools(session).map((tool) => [tool.name, tellActivation(tool)]));
  const view: ModelView = {
    system: renderSystem(session, instructions, howTo),
    tools: [...own.values()].map(toDispatchModelTool),
  };
  return { name: "dispatch", view: () => view, announcement: () => undefined, find: (name) => own.get(name) };
}

const howTo =
  "Only a few tools are listed. To use any other: find it with search_tools, or open its skill with activate_skill, which answers with the tools of the skill; then call it with call_tool({ name, input }).";
