import { expect, test } from "vitest";

import { defineTool } from "../core/define-tool.ts";
import { createWorkspace } from "../workspace/create-workspace.ts";
import type { Guard } from "../core/guards.ts";
import { askThePerson } from "./call-options.ts";
import { createTerminal } from "./terminal.ts";

const deploy = defineTool({ name: "deploy", description: "Deploys", run: () => "deployed" });

test.for([
  ["tool-input", "Call deploy with {}? (the word is listed) [y/N] "],
  ["tool-output", 'The output of deploy is "deployed"\nHand over the output of deploy? (the word is listed) [y/N] '],
] as const)("askThePerson() shows why a guard of the %s asks", async ([place, question]) => {
  const asked: unknown[] = [];

  const outcome = await callGuarded(place, (text, options) => {
    asked.push(text, options);
    return "y";
  });

  expect(outcome).toMatchObject({ status: "ok", output: "deployed" });
  expect(asked).toEqual([question, { dropTyped: true }]);
});

test.for(["tool-input", "tool-output"] as const)(
  "askThePerson() denies with the reason of the guard of the %s without a terminal",
  async (place) => {
    const outcome = await callGuarded(place, undefined);

    expect(outcome).toMatchObject({
      status: "failed",
      error: {
        message: expect.stringContaining(
          "the word is listed; no person can be asked; use a terminal, or approve it with --yes",
        ) as string,
      },
    });
  },
);

function callGuarded(
  place: "tool-input" | "tool-output",
  ask: ((question: string, options: unknown) => string) | undefined,
): Promise<unknown> {
  const guard: Guard = { name: "words", at: [place], check: () => ({ ask: "the word is listed" }) };
  const { stdin, stdout, stderr } = process;
  const terminal = {
    ...createTerminal({ stdin, stdout, stderr, env: {} }),
    canAsk: ask !== undefined,
    ask: async (question: string, options?: unknown) => ask?.(question, options),
  };
  const workspace = createWorkspace({ tools: [deploy], guards: [guard] });
  return workspace.call("deploy", {}, { approve: askThePerson({ terminal, options: {} }) });
}
