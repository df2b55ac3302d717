import { expect, test } from "vitest";

import { createTerminalAccess } from "./ask-terminal.ts";

const properties = {
  colour: { type: "string", title: "Colour", enum: ["red", "blue"] },
  count: { type: "integer" },
  sure: { type: "boolean", description: "Are you?" },
  note: { type: "string" },
};

test("createTerminalAccess() asks for each field until it fits, and leaves out what need not be there", async () => {
  const { answer, shown } = await askWith(["y", "green", "red", "1.5", "2", "maybe", "yes", ""]);

  expect(answer).toEqual({ action: "accept", content: { colour: "red", count: 2, sure: true } });
  expect(shown).toContain("The MCP server other asks:");
  expect(shown).toContain("Colour [red, blue]: ");
  expect(shown).not.toContain("\u001B");
});

test.for([
  [["n"], { action: "decline" }],
  [[], { action: "cancel" }],
  [["y", "red"], { action: "cancel" }],
] as const)("createTerminalAccess() takes %j for no answer", async ([lines, expected]) => {
  expect((await askWith(lines)).answer).toEqual(expected);
});

test("createTerminalAccess() can answer forms only, and only where a person is", () => {
  const terminal = { note: () => {}, ask: async () => undefined };

  expect(createTerminalAccess({ ...terminal, canAsk: true }).can("elicitation")).toBe(true);
  expect(createTerminalAccess({ ...terminal, canAsk: true }).can("sampling")).toBe(false);
  expect(createTerminalAccess({ ...terminal, canAsk: false }).can("elicitation")).toBe(false);
});

async function askWith(lines: readonly string[]): Promise<{ readonly answer: unknown; readonly shown: string }> {
  const [left, shown] = [[...lines], [] as string[]];
  const access = createTerminalAccess({
    canAsk: true,
    note: (text) => void shown.push(text),
    async ask(question) {
      shown.push(question);
      return left.shift();
    },
  });
  const message = "The MCP server other asks:\n\nWhich \u001B[31mone?";
  const requestedSchema = { type: "object" as const, properties, required: ["colour", "count", "sure"] };
  const { it } = await access.ask({
    it: { method: "elicitation/create", params: { mode: "form", message, requestedSchema } },
  } as Parameters<typeof access.ask>[0]);
  return { answer: it, shown: shown.join("\n") };
}
