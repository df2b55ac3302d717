import type { Failure } from "../../core/errors.ts";
import type { Model } from "../../models/model.ts";

/** What came of two small questions to a model. */
export interface TinyAnswers {
  readonly answerMs: number;
  readonly callsTools: boolean;
  /** Why it did not answer. */
  readonly error?: Failure;
}

const patienceMs = 30_000;

/** Asks a model something that takes no thought, and then something that needs a tool. It costs less than a cent. */
export async function askTinyQuestions(model: Model): Promise<TinyAnswers> {
  const { createAgent } = await import("../../agent/create-agent.ts");
  const { createWorkspace } = await import("../../workspace/create-workspace.ts");
  const { defineTool } = await import("../../core/define-tool.ts");
  let callsTools = false;
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    run: ({ a, b }) => {
      callsTools = true;
      return Number(a) + Number(b);
    },
  });
  const limits = { maxSteps: 3, maxMs: patienceMs };
  const asked = { model, retries: false, limits } as const;
  const startedAt = performance.now();
  const first = await createAgent({ ...asked, workspace: createWorkspace() }).run("Answer with one word: ready").result;
  const answerMs = performance.now() - startedAt;
  if (first.error !== undefined) return { answerMs, callsTools, error: first.error };
  const workspace = createWorkspace({ tools: [add] });
  const second = await createAgent({ ...asked, workspace }).run("Use the tool to add 19 and 23").result;
  return { answerMs, callsTools, ...(second.error !== undefined && { error: second.error }) };
}
