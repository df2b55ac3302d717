import { appendFileSync } from "node:fs";

import type { Agent } from "../../src/agent/agent-interface.ts";
import { createAgent } from "../../src/agent/create-agent.ts";
import { agentTool } from "../../src/agent/sub-agents/agent-tool.ts";
import { defineTool } from "../../src/core/define-tool.ts";
import type { Store } from "../../src/core/store.ts";
import type { Tool } from "../../src/core/tool.ts";
import type { ModelCall } from "../../src/models/model.ts";
import { type MockAnswer, mockModel, type MockModel } from "../../src/testing/models/mock-model.ts";
import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import type { CrashStore } from "./crash-store.ts";

/** What the program `run-tree.ts` is told. */
export interface TreeProgram {
  readonly store: CrashStore;
  readonly effects: string;
  /** The moment at which the process kills itself, counted from 1. */
  readonly dieAfter: number;
  /** Whether the run is there already. */
  readonly isResumed: boolean;
}

/** The run of the outermost agent. */
export const treeRun = "top";

/** How long a run is held by a process that has died. */
export const leaseMs = 500;

/** Every answer costs $0.001. */
const usage = { input: 1000, output: 0 };
const prices = { "acme/m": { input: 1, output: 1 } };

/**
 * Makes three agents: the boss asks two helpers at once, then looks; each helper sends, and has the scribe, an agent of its own, look
 * and send. The models go by what they are shown alone. `onMoment` is called when a model is asked, and around each thing that is done.
 */
export function createThreeAgents(store: Store, effects: string, onMoment: () => void = () => undefined): Agent {
  const send = toTool("send", false);
  const look = toTool("look", true);
  const scribe = createAgent({
    model: toModel(scribeAnswer),
    workspace: createWorkspace({ tools: [send, look] }),
    prices,
  });
  const write = agentTool(scribe, { name: "write", description: "Writes" });
  const helper = createAgent({
    model: toModel(helperAnswer),
    workspace: createWorkspace({ tools: [send, write] }),
    prices,
  });
  const help = agentTool(helper, { name: "help", description: "Helps" });
  return createAgent({
    model: toModel(bossAnswer),
    workspace: createWorkspace({ tools: [look, help] }),
    prices,
    store,
    leaseMs,
  });

  function toModel(answer: (call: ModelCall) => MockAnswer): MockModel {
    return mockModel(
      (call) => {
        onMoment();
        const made = answer(call);
        return typeof made === "string" ? { text: made, usage } : { ...made, usage };
      },
      { provider: "acme", modelId: "m" },
    );
  }

  function toTool(name: string, idempotent: boolean): Tool {
    return defineTool({
      name,
      description: name,
      annotations: { idempotent },
      needsApproval: name === "send",
      input: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
      run({ what }) {
        onMoment();
        appendFileSync(effects, `${name} ${what as string}\n`);
        onMoment();
        return `${name} ${what as string}`;
      },
    });
  }
}

const toCall = (
  tool: string,
  input: Readonly<Record<string, string>>,
): { tool: string; input: Record<string, string> } => ({
  tool,
  input,
});

/** How often a model has read results of calls. */
function stepOf({ prompt }: ModelCall): number {
  return prompt.filter(({ role }) => role === "tool").length;
}

/** What an agent was asked to do. */
function taskOf({ prompt }: ModelCall): string {
  const asked = prompt.find(({ role }) => role === "user");
  const [part] = asked?.role === "user" ? asked.content : [];
  return part?.type === "text" ? part.text : "";
}

function bossAnswer(call: ModelCall): MockAnswer {
  if (stepOf(call) === 0) return { calls: [toCall("help", { task: "a" }), toCall("help", { task: "b" })] };
  return stepOf(call) === 1 ? { calls: [toCall("look", { what: "boss" })] } : "Done";
}

function helperAnswer(call: ModelCall): MockAnswer {
  const task = taskOf(call);
  if (stepOf(call) === 0) return { calls: [toCall("send", { what: `helper ${task}` })] };
  return stepOf(call) === 1 ? { calls: [toCall("write", { task: `${task}2` })] } : `Helped ${task}`;
}

function scribeAnswer(call: ModelCall): MockAnswer {
  const task = taskOf(call);
  if (stepOf(call) === 0) return { calls: [toCall("look", { what: `scribe ${task}` })] };
  return stepOf(call) === 1 ? { calls: [toCall("send", { what: `scribe ${task}` })] } : `Wrote ${task}`;
}

/** Everything that is done, in any order. */
export const allEffects: readonly string[] = [
  ...["send helper a", "look scribe a2", "send scribe a2"],
  ...["send helper b", "look scribe b2", "send scribe b2", "look boss"],
].toSorted();
