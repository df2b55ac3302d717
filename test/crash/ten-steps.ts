import { appendFileSync } from "node:fs";

import { createAgent } from "../../src/agent/create-agent.ts";
import type { Agent } from "../../src/agent/agent-interface.ts";
import { defineTool } from "../../src/core/define-tool.ts";
import type { Store } from "../../src/core/store.ts";
import type { Tool } from "../../src/core/tool.ts";
import type { ModelCall } from "../../src/models/model.ts";
import { mockModel, type MockAnswer, type MockModel } from "../../src/testing/models/mock-model.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import type { CrashStore } from "./crash-store.ts";

/** What the program `run-agent.ts` is told. */
export interface AgentProgram {
  readonly store: CrashStore;
  readonly run: string;
  readonly effects: string;
  /** Where the process kills itself: after this event, counted from 1; or, with nobody who hears of events, at this moment. */
  readonly dieAfter: number;
  readonly isHeard: boolean;
}

/** How long a run is held by a process that has died. */
export const leaseMs = 500;

/**
 * Makes an agent of ten steps whose tools leave a line outside for each thing they do; the model goes by what it is shown alone.
 * `onMoment` is called when the model is asked, and before and after each thing that a tool does.
 */
export function createTenStepAgent(
  store: Store,
  effects: string,
  onMoment: () => void = () => undefined,
): { readonly agent: Agent; readonly model: MockModel } {
  const model = mockModel((call) => {
    onMoment();
    return answer(call);
  });
  const tools = [toTool("send", false), toTool("look", true)];
  return { model, agent: createAgent({ model, workspace: createWorkspace({ tools }), store, leaseMs }) };

  function toTool(name: string, idempotent: boolean): Tool {
    return defineTool({
      name,
      description: name,
      annotations: { idempotent },
      input: { type: "object", properties: { step: { type: "integer" } }, required: ["step"] },
      run({ step }, { progress }) {
        progress("about to");
        onMoment();
        appendFileSync(effects, `${name} ${Number(step)}\n`);
        onMoment();
        progress("done");
        return `${name} ${Number(step)}`;
      },
    });
  }
}

/** Sends, looks, and in the last step does both at once. */
function answer({ prompt }: ModelCall): MockAnswer {
  const step = prompt.filter(({ role }) => role === "tool").length + 1;
  if (step > 10) return "Done";
  const call = (tool: string): { tool: string; input: { step: number } } => ({ tool, input: { step } });
  if (step === 10) return { calls: [call("send"), call("look")] };
  return { calls: [call(step % 2 === 0 ? "look" : "send")] };
}
