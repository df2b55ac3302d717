import type { Ask } from "./adapter.ts";
import { getList, getNumber, getPart, getString, type Message } from "./debug-messages.ts";
import type { StackFrame, StopReason } from "./debug-session.ts";
import { toInsideFile, toShownFile, type DebugTarget } from "./debug-target.ts";

/** Where a script of Python is stopped, while it is. */
export interface Stops {
  readonly now: { readonly thread: number; readonly stack: readonly StackFrame[] } | undefined;
  stop(body: Message): void;
  goOn(): void;
}

const reasons: Readonly<Record<string, StopReason>> = {
  breakpoint: "breakpoint",
  step: "step",
  pause: "pause",
  exception: "exception",
};

/** Follows where a script stops. The first stop is the one before its first line; `onFirst` hears of it. */
export function createStops(target: DebugTarget, ask: Ask, onFirst: () => void): Stops {
  let now: Stops["now"];
  let isFirst = true;

  async function tell(body: Message): Promise<void> {
    const thread = getNumber(body, "threadId") ?? 1;
    const reason = isFirst ? "start" : (reasons[getString(body, "reason") ?? ""] ?? "statement");
    // The breakpoint at the first line was ours.
    if (isFirst)
      await ask("setBreakpoints", { source: { path: toInsideFile(target, target.script) }, breakpoints: [] });
    isFirst = false;
    const answer = await ask("stackTrace", { threadId: thread, levels: 200 });
    const stack = getList(answer, "stackFrames")
      .map((frame) => toFrame(target, frame))
      .filter(({ file }) => !file.endsWith("/debug/inside/attach.py") && !file.startsWith("/opt/kitbag/"));
    // Behind the last line of the script there is only our own program.
    if (stack.length === 0) return void (await ask("continue", { threadId: thread }));
    const text = reason === "exception" ? await describe(thread, body) : undefined;
    const [top] = stack;
    now = { thread, stack };
    target.emit({
      ...{ type: "stopped", reason, file: top?.file ?? "", line: top?.line ?? 0 },
      ...(text !== undefined && { text }),
    });
    onFirst();
  }

  async function describe(threadId: number, body: Message): Promise<string> {
    const info = await ask("exceptionInfo", { threadId }).catch((): Message => ({}));
    // Behind the name comes a remark about how it is shown.
    const [name = ""] = (getString(info, "exceptionId") ?? getString(body, "text") ?? "").split(/\s/u);
    const description = getString(info, "description") ?? getString(body, "description") ?? "";
    return description === "" ? name : `${name}: ${description}`;
  }

  return {
    get now() {
      return now;
    },
    stop: (body) => void tell(body).catch(() => {}),
    goOn() {
      if (now === undefined) return;
      now = undefined;
      target.emit({ type: "continued" });
    },
  };
}

function toFrame(target: DebugTarget, frame: unknown): StackFrame {
  const path = getString(getPart(frame, "source"), "path") ?? "";
  const name = getString(frame, "name") ?? "";
  return {
    id: getNumber(frame, "id") ?? 0,
    name: name === "<module>" ? "(top level)" : name,
    ...toShownFile(target, path),
    line: getNumber(frame, "line") ?? 0,
  };
}
