import { isKitbagError, KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import { parseExactly, toProblem } from "../parse-exactly.ts";
import type { HostResult } from "./host-connection.ts";
import type { CallLimits } from "./inside/wire/messages.ts";

/** What is known when a call is over. */
export interface Ended extends HostResult {
  /** The last of what it wrote to standard error. */
  readonly stderr: string;
  readonly limits: CallLimits;
}

/**
 * Makes the output of a tool of what its module printed: JSON is what it says, any other text, and JSON with a whole number that
 * cannot be kept exactly, is the text itself, unless the tool declares what its output is.
 *
 * @throws {KitbagError} for every other end than with exit code 0.
 */
export function toResult(tool: Tool, { end, output, stderr, limits }: Ended): unknown {
  const { name } = tool;
  const fail = (reason: string): KitbagError => new KitbagError("tool-failed", { tool: name, reason });
  switch (end.kind) {
    case "exit":
      if (end.code !== 0) throw new KitbagError("script-failed", { tool: name, code: end.code, stderr });
      return toOutput(tool, output);
    case "trap":
      // A module that gets no more memory traps by itself, in its own way; how much it had tells why.
      if (end.memoryBytes >= 0.9 * limits.memoryBytes) {
        throw new KitbagError("memory-exceeded", { tool: name, limitBytes: limits.memoryBytes });
      }
      throw fail(`the module trapped: ${end.reason}${stderr === "" ? "" : `: ${stderr}`}`);
    case "refused":
      throw fail(`the module cannot run here: ${end.reason}`);
    case "flooded":
      throw new KitbagError("output-flooded", { tool: name, limitBytes: limits.outputBytes });
    case "cpu":
      throw fail(`it used more than ${limits.cpuMs} ms of CPU time; give it less to do, or raise its limit`);
    case "memory":
      throw new KitbagError("memory-exceeded", { tool: name, limitBytes: limits.memoryBytes });
    case "cancelled":
      throw fail("it was stopped");
    case "crashed":
      throw fail(`the thread of the module failed: ${end.reason}`);
  }
}

function toOutput(tool: Tool, output: Uint8Array): unknown {
  const text = Buffer.from(output.buffer, output.byteOffset, output.length).toString("utf8");
  try {
    const { value, inexact } = parseExactly(text);
    if (inexact === undefined) return value;
    if (tool.outputSchema === undefined) return text;
    throw new KitbagError("output-invalid", { tool: tool.name, problems: [toProblem(inexact)] });
  } catch (cause) {
    if (isKitbagError(cause)) throw cause;
    if (tool.outputSchema === undefined) return text;
    const expected = "JSON on standard output, because the tool declares an output";
    throw new KitbagError("output-invalid", {
      tool: tool.name,
      problems: [{ path: "", expected, found: text === "" ? "nothing" : showValue(text) }],
    });
  }
}
