import { toPlace, type Ask } from "./adapter.ts";
import type { Pause } from "./cdp-pause.ts";
import { getList, getPart, getString, type Message } from "./debug-messages.ts";
import type { Breakpoint, BreakpointRequest } from "./debug-session.ts";
import type { DebugTarget } from "./debug-target.ts";

/** The breakpoints of a script of Node. */
export interface Breakpoints {
  set(file: string, list: readonly BreakpointRequest[], pause: Pause | undefined): Promise<readonly Breakpoint[]>;
  /** One that was waiting for its file is in place. */
  resolve(params: Message): void;
}

/** What breakpoints work with. */
export interface BreakpointsHost {
  readonly target: DebugTarget;
  readonly ask: Ask;
  readonly toUrl: (file: string) => string;
  readonly pathOf: (location: unknown) => string;
}

/** Keeps the breakpoints of a script of Node. */
export function createBreakpoints({ target, ask, toUrl, pathOf }: BreakpointsHost): Breakpoints {
  const byId = new Map<string, Breakpoint>();

  async function add(file: string, { line, condition }: BreakpointRequest): Promise<Breakpoint> {
    const answer = await ask("Debugger.setBreakpointByUrl", {
      ...{ url: toUrl(file), lineNumber: line - 1 },
      ...(condition !== undefined && { condition }),
    });
    const [location] = getList(answer, "locations");
    const asked = { file, requestedLine: line, ...(condition !== undefined && { condition }) };
    const isThere = location !== undefined;
    const breakpoint: Breakpoint = isThere
      ? { ...asked, line: toPlace(target, pathOf(location), location).line, verified: true }
      : { ...asked, line, verified: false, message: "no code is loaded there yet" };
    byId.set(getString(answer, "breakpointId") ?? "", breakpoint);
    return breakpoint;
  }

  return {
    async set(file, list, pause) {
      const old = [...byId].filter(([, breakpoint]) => breakpoint.file === file).map(([breakpointId]) => breakpointId);
      for (const breakpointId of old) {
        byId.delete(breakpointId);
        await ask("Debugger.removeBreakpoint", { breakpointId });
      }
      const set: Breakpoint[] = [];
      for (const request of list) {
        const message = await findWrong(request, pause);
        const { line, condition } = request;
        if (message === undefined) set.push(await add(file, request));
        else set.push({ file, line, requestedLine: line, ...(condition && { condition }), verified: false, message });
      }
      return set;
    },
    resolve(params) {
      const id = getString(params, "breakpointId") ?? "";
      const waiting = byId.get(id);
      if (waiting === undefined || waiting.verified) return;
      const location = getPart(params, "location");
      const { message: _, ...rest } = waiting;
      const breakpoint = { ...rest, line: toPlace(target, pathOf(location), location).line, verified: true };
      byId.set(id, breakpoint);
      target.emit({ type: "breakpoint", breakpoint });
    },
  };
}

/** V8 takes any text for a condition, and never stops where it is none. */
async function findWrong({ condition }: BreakpointRequest, pause: Pause | undefined): Promise<string | undefined> {
  if (condition === undefined || pause === undefined) return undefined;
  const read = await pause.evaluate(`void (() => (${condition}\n))`, 0);
  return read.ok ? undefined : `the condition cannot be read: ${read.message}`;
}
