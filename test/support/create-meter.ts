import { defineTool } from "../../src/core/define-tool.ts";
import type { TypedTool } from "../../src/core/tool.ts";

/** A tool that takes a few milliseconds, and how many calls of it ran at once at the most. */
export interface Meter {
  readonly tool: TypedTool<Readonly<Record<string, unknown>>, null>;
  most(): number;
}

/** Makes a tool that knows how many calls of it ran at once. */
export function createMeter(): Meter {
  let running = 0;
  let most = 0;
  const tool = defineTool({
    name: "meter",
    description: "Takes a while",
    async run() {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return null;
    },
  });
  return { tool, most: () => most };
}
