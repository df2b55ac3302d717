import { setImmediate as turn } from "node:timers/promises";

import { expect, test } from "vitest";

import { answerCalls, type CallAnswers, type ProgramHost } from "./answer-calls.ts";
import type { Exchange } from "./inside/program/exchange.ts";

test("the process waits for a program that has all its answers", async () => {
  const { answers, settleNext, steps } = startProgram();

  answers.call(1, "add", {});
  settleNext();
  await turn();

  expect(steps).toEqual(["announce", "send [[1,true,null]]", "wait", "leave"]);
});

test("the process does not wait for a program while it owes it an answer", async () => {
  const { answers, settleNext, steps } = startProgram();

  answers.call(1, "add", {});
  settleNext();
  answers.call(2, "add", {});
  await turn();

  expect(steps).not.toContain("wait");
});

test("the process does not wait for a program that is over", async () => {
  const { answers, settleNext, steps } = startProgram();

  answers.call(1, "add", {});
  settleNext();
  answers.end();
  await turn();

  expect(steps).toEqual(["announce", "send [[1,true,null]]", "leave"]);
});

test.for([0, 1])(
  "the process does not wait for a program beside which another runs: from the beginning %d",
  async (after) => {
    const { answers, settleNext, steps, setAlone } = startProgram();

    answers.call(1, "add", {});
    if (after === 0) setAlone(false);
    settleNext();
    setAlone(false);
    await turn();

    expect(steps).not.toContain("wait");
    expect(steps).toContain("send [[1,true,null]]");
  },
);

interface Program {
  readonly answers: CallAnswers;
  /** What was done with the exchange. */
  readonly steps: readonly string[];
  /** Ends the call that began last. */
  settleNext(): void;
  setAlone(isAlone: boolean): void;
}

function startProgram(): Program {
  const steps: string[] = [];
  const settles: (() => void)[] = [];
  let isAlone = true;
  const exchange = {
    announce: () => void steps.push("announce"),
    send: (text) => void steps.push(`send ${text}`),
    wait() {
      steps.push("wait");
      return true;
    },
    leave: () => void steps.push("leave"),
    listen: () => {},
    release: () => {},
  } satisfies Exchange;
  const host: ProgramHost = {
    call: (_address, _input, settle) => void settles.push(() => settle(true, null)),
    print: () => {},
    isAlone: () => isAlone,
  };
  return {
    answers: answerCalls(exchange, host, () => {}),
    steps,
    settleNext: () => settles.pop()?.(),
    setAlone(next) {
      isAlone = next;
    },
  };
}
