import type { Runtime } from "../../core/runtime.ts";
import type { CodeRuntime } from "../../runtimes/code/code-runtime.ts";
import type { Runtimes } from "../../runtimes/open-runtimes.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** What runs the programs of models. */
export interface CodeMode {
  readonly runtime: Runtime;
  /** Adds `execute_code`, unless the project has a tool of this name. */
  addTool(workspace: Workspace): Promise<void>;
  close(): Promise<void>;
}

/** Makes code mode. Nothing of it is loaded before the first program, and no sandbox is looked for before one in Python. */
export function createCodeMode(runtimes: Runtimes): CodeMode {
  const loaded = new Map<boolean, Promise<CodeRuntime>>();
  const load = async (isPython: boolean): Promise<CodeRuntime> => {
    const { codeRuntime } = await import("../../runtimes/code/code-runtime.ts");
    const sandbox = isPython ? { sandbox: await runtimes.findSandbox() } : {};
    return codeRuntime({ tools: ({ availableTools }) => availableTools(), ...sandbox });
  };
  const find = async (isPython: boolean): Promise<CodeRuntime> => {
    const known = loaded.get(isPython) ?? load(isPython);
    loaded.set(isPython, known);
    return known.catch((cause: unknown) => {
      // A sandbox that is missing may be installed before the next program.
      loaded.delete(isPython);
      throw cause;
    });
  };

  return {
    runtime: {
      kind: "code",
      async run(tool, input, context) {
        const isPython = (input as { readonly language?: unknown }).language === "python";
        return (await find(isPython)).run(tool, input, context);
      },
    },
    async addTool(workspace) {
      if (workspace.getTool("execute_code") !== undefined) return;
      const { createServedCodeTool } = await import("./create-served-code-tool.ts");
      workspace.add(createServedCodeTool());
    },
    async close() {
      await Promise.allSettled([...loaded.values()].map(async (runtime) => (await runtime).close()));
    },
  };
}
