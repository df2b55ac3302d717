import { KitbagError } from "../../core/errors.ts";
import type { ScriptCommand } from "../../core/script-code.ts";
import type { Tool } from "../../core/tool.ts";

/** What Linux takes for one argument, with the zero byte at its end; other systems only limit all of them together. */
const maxWordBytes = 128 * 1024;
/** What fits beside the words that start the sandbox. */
const maxAllBytes = 1536 * 1024;

/**
 * Refuses a command line that no operating system would pass on, before anything is started.
 *
 * @throws {KitbagError} `input-invalid`.
 */
export function checkCommand(tool: Tool, { argv, env }: ScriptCommand): void {
  const words = [...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  let all = 0;
  for (const [index, word] of words.entries()) {
    if (word.includes("\0")) refuse(tool, "text without NUL characters", `one in argument ${index + 1}`);
    const bytes = Buffer.byteLength(word) + 1;
    if (bytes > maxWordBytes) {
      refuse(
        tool,
        `arguments of at most ${maxWordBytes - 1} bytes each: the operating system passes on no more; let the script read standard input or a file instead`,
        `one of ${bytes - 1} bytes`,
      );
    }
    all += bytes + 8;
  }
  if (all > maxAllBytes) refuseSize(tool, all);
}

/** The failure of a command line that the operating system found too long. */
export function refuseSize(tool: Tool, bytes?: number): never {
  refuse(
    tool,
    "fewer or shorter arguments: the operating system passes on no more; let the script read standard input or a file instead",
    bytes === undefined ? "more than it takes" : `${bytes} bytes in all`,
  );
}

function refuse(tool: Tool, expected: string, found: string): never {
  throw new KitbagError("input-invalid", { tool: tool.name, problems: [{ path: "", expected, found }] });
}
