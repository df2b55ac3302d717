import { expect, test } from "vitest";

import { scriptedModel, textParts, type Turn } from "../../../test/support/scripted-models.ts";
import { defineTool } from "../../core/define-tool.ts";
import { balance } from "../../models/route/balance.ts";
import { fallback } from "../../models/route/fallback.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { createAgent } from "../create-agent.ts";

const broken = { breaks: new TypeError("terminated") };
const half: Turn = { parts: textParts("It is in").slice(0, 4), then: broken };
const rest: Turn = { parts: textParts(" its box") };

test.for([
  ["fallback()", fallback],
  [
    "balance()",
    (models: Parameters<typeof fallback>[0]) =>
      balance(
        models.map((model) => ({ model })),
        { random: () => 0 },
      ),
  ],
] as const)(
  "a run goes on with the next model of %s after an answer that broke off, and repeats nothing",
  async ([, group]) => {
    const first = scriptedModel([half]);
    const second = scriptedModel([rest], { provider: "other.chat", modelId: "two" });
    const told: string[] = [];

    const agent = createAgent({ model: group([first, second]), workspace: createWorkspace() });
    const result = await agent.run("Where is it?", { onText: (text) => told.push(text) }).result;

    expect(result).toMatchObject({ status: "ok", text: "It is in its box" });
    expect(told.join("")).toBe("It is in its box");
    expect([first.calls.length, second.calls.length]).toEqual([1, 1]);
    expect(second.calls[0]?.prompt.slice(-2)).toMatchObject([
      { role: "assistant", content: [{ type: "text", text: "It is in" }] },
      {
        role: "user",
        content: [{ type: "text", text: expect.stringContaining("Go on exactly where it ends") as string }],
      },
    ]);
  },
);

test("a run makes no call of an answer that broke off, and the next model decides anew", async () => {
  const made: unknown[] = [];
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object", properties: { place: { type: "string" } } },
    run: (input) => void made.push(input),
  });
  const whole = { type: "tool-call", toolCallId: "1", toolName: "look", input: '{"place":"box"}' } as const;
  const begun: Turn["parts"] = [
    ...textParts("I look.").slice(0, 5),
    whole,
    { type: "tool-input-start", id: "2", toolName: "look" },
    { type: "tool-input-delta", id: "2", delta: '{"place":"ho' },
  ];
  const first = scriptedModel([{ parts: begun, then: broken }]);
  const second = scriptedModel(
    [{ parts: [{ ...whole, toolCallId: "3", input: '{"place":"house"}' }, ...textParts().slice(-1)] }, rest],
    { provider: "other.chat", modelId: "two" },
  );

  const workspace = createWorkspace({ tools: [look] });
  const result = await createAgent({ model: fallback([first, second]), workspace }).run("Where is it?").result;

  expect(result.status).toBe("ok");
  expect(made).toEqual([{ place: "house" }]);
});
