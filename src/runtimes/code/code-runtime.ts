import type { Runtime, RuntimeContext } from "../../core/runtime.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import {
  type CodeLimits,
  toCodeLimits,
  createProgramSession,
  type ProgramSession,
  type CodeOutput,
  describeProgram,
  toCodeOutput,
} from "./program-session.ts";
import type { CodeInput } from "./create-code-tool.ts";
import type { ProgramEnd } from "./inside/program/messages.ts";
import { createProgramWorkers } from "./program-workers.ts";
import { type AvailableTool, toToolNames } from "./render-tool-declarations.ts";

/** What {@link codeRuntime} takes. */
export interface CodeRuntimeOptions {
  /**
   * The tools that there are now, for names that programs can write; what a program may call is decided when it calls. `context`
   * knows those that are available where the program is run. @default none: tools go by their own names
   */
  readonly tools?: (context: RuntimeContext) => readonly AvailableTool[];
  /** Where Python programs run. @default nowhere: they are refused */
  readonly sandbox?: Sandbox;
  readonly limits?: Partial<CodeLimits>;
}

/** Runs programs of models. */
export interface CodeRuntime extends Runtime {
  readonly kind: "code";
  /** Ends the threads that are kept for the next programs. */
  close(): Promise<void>;
}

/**
 * Makes the runtime of code mode: it runs programs that a model wrote, each in a machine of its own which holds it to its memory
 * and its time, and in which nothing exists but its tools. JavaScript and TypeScript run in QuickJS compiled to WASM, in a thread
 * that is ended when it does not stop; Python runs in `sandbox`. Each tool that a program calls takes the way every call takes.
 *
 * @throws {KitbagError} `option-invalid` if a limit is not a number above 0.
 *
 * @example
 * ```ts
 * import { codeRuntime, createCodeTool, createWorkspace, defineTool } from "kitbag";
 *
 * const square = defineTool({
 *   name: "square",
 *   description: "Squares a number",
 *   input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
 *   run: ({ n }) => Number(n) ** 2,
 * });
 * const runtime = codeRuntime();
 * const workspace = createWorkspace({ tools: [square, createCodeTool()], runtimes: [runtime] });
 *
 * const code = "const all = await Promise.all([1, 2, 3].map((n) => tools.square({ n }))); return all.join()";
 * const outcome = await workspace.call("execute_code", { code });
 * console.assert(outcome.status === "ok" && JSON.stringify(outcome.output).startsWith('{"result":"1,4,9"'));
 * await runtime.close();
 * ```
 */
export function codeRuntime({ tools = () => [], sandbox, limits: given = {} }: CodeRuntimeOptions = {}): CodeRuntime {
  const limits = toCodeLimits(given);
  const workers = createProgramWorkers(limits.memoryBytes);

  function runPlain(
    { code, language }: CodeInput,
    session: ProgramSession,
    context: RuntimeContext,
  ): Promise<ProgramEnd> {
    const start = { source: code, language: language === "typescript" ? language : "javascript", limits } as const;
    return workers.run({ ...start, ...toToolNames(tools(context)) }, session, context.signal);
  }

  async function run(tool: string, program: CodeInput, context: RuntimeContext): Promise<CodeOutput> {
    const session = createProgramSession(context, limits);
    context.onTimeout(() => describeProgram(session));
    if (program.language !== "python") {
      const end = await runPlain(program, session, context);
      return toCodeOutput({ tool, end, session, limits });
    }
    const { runPython, toPythonLimits } = await import("./run-python.ts");
    const python = { tool, code: program.code, session, sandbox, limits: toPythonLimits(limits) };
    const end = await runPython({ ...python, names: toToolNames(tools(context)) }, context.signal);
    return toCodeOutput({ ...python, end });
  }

  return {
    kind: "code",
    describe: () => ({ sandbox: sandbox === undefined ? "quickjs" : `quickjs or ${sandbox.name}` }),
    run: ({ name }, input, context) => run(name, input as CodeInput, context),
    close: workers.close,
  };
}
