import type { ToolIndex } from "./tool-index.ts";

/** Follows the arguments of one call as they are written. */
export interface ArgumentStream {
  readonly name: string;
  /** Takes what was written since, and answers what of it belongs to the arguments. */
  push(chunk: string): string;
}

const beginning = /^<tool_call>\s*\{\s*"name"\s*:\s*"([^"\\\n]{1,160})"\s*,\s*"arguments"\s*:\s*(?=\{)/u;

/** Begins to follow a call whose tool is known and whose arguments have begun; `undefined` if it is too early, or another style. */
export function followArguments(text: string, index: ToolIndex): { stream: ArgumentStream; first: string } | undefined {
  if (text.length > 4096) return undefined;
  const match = beginning.exec(text);
  const tool = match === null ? undefined : index.find(String(match[1]));
  if (match === null || tool === undefined) return undefined;
  const stream = createArgumentStream(tool.name);
  return { stream, first: stream.push(text.slice(match[0].length)) };
}

function createArgumentStream(name: string): ArgumentStream {
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let isOver = false;

  /** Tells whether the arguments end with this character. */
  function isLast(code: number): boolean {
    if (isEscaped) isEscaped = false;
    else if (isText && code === 0x5c) isEscaped = true;
    else if (code === 0x22) isText = !isText;
    else if (isText) return false;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    return depth === 0;
  }

  return {
    name,
    push(chunk) {
      if (isOver) return "";
      for (let index = 0; index < chunk.length; index++) {
        if (!isLast(chunk.charCodeAt(index))) continue;
        isOver = true;
        return chunk.slice(0, index + 1);
      }
      return chunk;
    },
  };
}
