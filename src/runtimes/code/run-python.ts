import { KitbagError } from "../../core/errors.ts";
import type { Tool } from "../../core/tool.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { CodeLimits } from "./code-limits.ts";
import type { ProgramEnd } from "./inside/messages.ts";
import type { ProgramSession } from "./program-session.ts";
import type { ToolNames } from "./tool-names.ts";

/** One Python program. */
export interface PythonProgram {
  readonly tool: Tool;
  readonly code: string;
  readonly session: ProgramSession;
  readonly sandbox: Sandbox | undefined;
  readonly limits: CodeLimits;
  readonly names: ToolNames;
}

export async function runPython({ tool }: PythonProgram, _signal: AbortSignal): Promise<ProgramEnd> {
  throw new KitbagError("interpreter-missing", { tool: tool.name, interpreter: "python", cure: "" });
}
