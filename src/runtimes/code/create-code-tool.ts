import { createTool } from "../../core/define-tool.ts";
import type { ToolLimits, TypedTool } from "../../core/tool.ts";
import { renderToolDeclarations, type AvailableTool } from "./render-tool-declarations.ts";
import type { CodeOutput } from "./program-session.ts";

/** A language that programs can be written in. */
export type CodeLanguage = "javascript" | "typescript" | "python";

/** What a tool that runs programs takes. */
export interface CodeInput {
  readonly code: string;
  /** @default "javascript" */
  readonly language?: CodeLanguage;
}

/** What {@link createCodeTool} takes. */
export interface CodeToolOptions {
  /** @default "execute_code" */
  readonly name?: string;
  /** @default a text that says how to write a program */
  readonly description?: string;
  /** Without `python` if the runtime has no sandbox. @default javascript and typescript */
  readonly languages?: readonly CodeLanguage[];
  /** Tools whose declarations are added to the description; make the tool again when they change. @default none */
  readonly tools?: Iterable<AvailableTool>;
  /** @default limitMs: 120000 */
  readonly limits?: ToolLimits;
}

/** The longest program, in characters. */
const longestProgram = 256 * 1024;

/** How a model writes a program. */
export const howTo = `Runs one program that can call the available tools as async functions, so that several calls and the work between them take one step, and only the result comes back. Write statements, with await where a tool is called, and return the result: it must be JSON. Tools are tools.<skill>.<tool>(input), tools["skill/tool"](input), and tools.<tool>(input) for tools without a skill; a "-" in a name is written "_". Run what does not depend on each other with Promise.all. A call that fails throws a ToolError with code and message. console.log is for notes. There are no modules, no files and no network.`;

/**
 * Makes the tool that takes a program and runs it, in a workspace that has a {@link codeRuntime}.
 *
 * @example
 * ```ts
 * import { createCodeTool, defineTool } from "kitbag";
 *
 * const now = defineTool({ name: "now", description: "Tells the time", run: () => Date.now() });
 * const tool = createCodeTool({ tools: [{ address: "now", tool: now }] });
 * console.assert(tool.name === "execute_code" && tool.description.includes("now(): Promise<unknown>"));
 * ```
 */
export function createCodeTool(options: CodeToolOptions = {}): TypedTool<CodeInput, CodeOutput> {
  const { name = "execute_code", description = howTo, languages = ["javascript", "typescript"], tools = [] } = options;
  const declarations = renderToolDeclarations([...tools].filter(({ tool }) => tool.name !== name));
  return createTool({
    name,
    description: declarations === "" ? description : `${description}\n\n${declarations}`,
    input: {
      type: "object",
      properties: {
        code: { type: "string", description: "The program", minLength: 1, maxLength: longestProgram },
        language: { type: "string", enum: [...languages], default: languages[0] ?? "javascript" },
      },
      required: ["code"],
      additionalProperties: false,
    },
    output: {
      type: "object",
      properties: {
        result: { description: "What the program returned" },
        console: { type: "string", description: "What it printed" },
        calls: {
          type: "array",
          items: {
            type: "object",
            properties: {
              tool: { type: "string" },
              status: { type: "string", enum: ["ok", "failed", "unfinished"] },
              code: { type: "string", description: "Why it failed" },
              durationMs: { type: "number" },
            },
            required: ["tool", "status", "durationMs"],
          },
        },
      },
      required: ["result", "console", "calls"],
    },
    limits: options.limits ?? { limitMs: 120_000 },
    code: { kind: "code" },
  });
}
