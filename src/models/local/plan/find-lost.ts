import type { DoneCall } from "../conversation/read-conversation.ts";
import { plainText } from "../fill/convert-token.ts";
import { isValueToken, type Token } from "../text/token.ts";
import type { Scene, Task } from "./decision.ts";
import { findOtherDeed } from "./find-other-deed.ts";
import { fitTool } from "./fit-tool.ts";

/** Values of a request that went into no call, and what else was to be done: whoever said it should know. None if calls and tasks cannot be told apart. */
export function findLost(scene: Scene, tasks: readonly Task[], work: readonly (readonly DoneCall[])[]): string[] {
  if (tasks.length !== work.length) return [];
  return tasks.flatMap(({ request }, index) => {
    const round = work[index] ?? [];
    const tool = scene.tools.find(({ name }) => name === round[0]?.tool);
    if (tool === undefined) return [];
    const fit = fitTool(request, tool, 0, { calls: [], isChained: false });
    const { covered } = fit.filled;
    const given = round.map(({ input }) => JSON.stringify(input)).join("\n");
    const isLost = (token: Token, at: number): boolean =>
      isValueToken(token) && !covered.has(at) && !given.includes(JSON.stringify(plainText(token)).slice(1, -1));
    const values = request.tokens.filter(isLost).map(({ text }) => text);
    const deed = findOtherDeed(request, fit);
    return deed === undefined ? values : [...values.filter((value) => !deed.includes(value)), deed];
  });
}
