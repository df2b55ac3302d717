import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { toFailure } from "../../core/errors.ts";
import type { ToolOutcome } from "../../core/outcome.ts";
import type { WaitingTool } from "../../forge/forge-interface.ts";
import type { CallOptions } from "../../workspace/call/call-options.ts";
import type { Terminal } from "../terminal.ts";
import { createAsking, type Asking } from "./run-operation.ts";

const waiting: WaitingTool = {
  status: "waiting",
  id: "0123456789abcdef",
  makes: "tool",
  name: "say",
  description: "Says",
  asks: { network: ["a.example"] },
  at: 0,
};
const ok: ToolOutcome = { status: "ok", output: "made" };

test("call() lets no time pass while a person is asked", async () => {
  const asking = create(async () => {
    await sleep(200);
    return "y";
  });

  const outcome = await call(asking, 100, async () => ((await asking.approve(waiting)) === true ? ok : failed()));

  expect(outcome).toEqual(ok);
});

test("call() ends at the limit that the person gave", async () => {
  const asking = create(async () => "y");

  const outcome = await call(asking, 30, untilAborted);

  expect(outcome).toMatchObject({ error: { code: "call-timeout", details: { tool: "create_tool", limitMs: 30 } } });
});

test("approve() cancels the call if the person ends the input instead of an answer, and nothing waits", async () => {
  const asking = create(async () => undefined);
  let agreed: boolean | undefined;

  const outcome = await call(asking, 10_000, async (options) => {
    agreed = await asking.approve(waiting);
    return untilAborted(options);
  });

  expect([agreed, outcome.status]).toEqual([false, "failed"]);
});

test("approve() lets wait what a person does not agree to, and asks nobody without a terminal", async () => {
  expect(await create(async () => "n").approve(waiting)).toBeUndefined();
  expect(await create(undefined).approve(waiting)).toBeUndefined();
});

function create(ask: Terminal["ask"] | undefined): Asking {
  const terminal = { canAsk: ask !== undefined, ask } as unknown as Terminal;
  return createAsking({ terminal });
}

function call(
  asking: Asking,
  limitMs: number,
  make: (options: CallOptions) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  return asking.call({ tool: "create_tool", limitMs, signal: new AbortController().signal }, make);
}

async function untilAborted({ signal }: CallOptions): Promise<ToolOutcome> {
  if (signal?.aborted !== true) await new Promise((resolve) => signal?.addEventListener("abort", resolve));
  return failed();
}

function failed(): ToolOutcome {
  return { status: "failed", error: toFailure("call-cancelled", { tool: "create_tool", reason: "by the caller" }) };
}
