import { expect, test } from "vitest";

import type { ModelPrompt, ModelTool } from "../../models/model.ts";
import { estimatePromptTokens } from "../../models/tokens/estimate-tokens.ts";
import { billPrompt } from "./prompt-bill.ts";

const catalog = "<available_skills>\n<skill>\n<name>pdf</name>\n</skill>\n</available_skills>";
const open = `<skill_content name="csv">\n${"Read the table. ".repeat(20)}\n</skill_content>`;
const system = `Be brief.\n\n${catalog}\n\n${open}\n\nMore skills are found with list_skills.`;
const tool: ModelTool = { type: "function", name: "pdf__merge", inputSchema: { type: "object", properties: {} } };
const dot = {
  type: "file" as const,
  mediaType: "image/png",
  data: { type: "data" as const, data: new Uint8Array([1]) },
};

const prompt: ModelPrompt = [
  { role: "system", content: system },
  { role: "user", content: [{ type: "text", text: "What is in a.pdf?" }] },
  { role: "assistant", content: [{ type: "tool-call", toolCallId: "1", toolName: "pdf__merge", input: {} }] },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "1",
        toolName: "pdf__merge",
        output: { type: "text", value: "x ".repeat(200) },
      },
    ],
  },
  { role: "user", content: [{ type: "text", text: "And in this picture?" }, dot] },
];

test("billPrompt() says what each part of a prompt has, in the order of the prompt", () => {
  const parts = billPrompt({ prompt, tools: [tool] });

  expect(parts.map(({ kind, name }) => [kind, name])).toEqual([
    ["instructions", undefined],
    ["skills", undefined],
    ["skill", "csv"],
    ["tool", "pdf/merge"],
    ["conversation", undefined],
    ["task", undefined],
    ["images", undefined],
  ]);
  expect(parts.find(({ kind }) => kind === "conversation")?.tokens).toBeGreaterThan(150);
  expect(parts.every(({ tokens }) => tokens > 0)).toBe(true);
});

test("billPrompt() adds up to what the whole prompt is estimated to have", () => {
  const parts = billPrompt({ prompt, tools: [tool] });

  const sum = parts.reduce((total, { tokens }) => total + tokens, 0);
  const whole = estimatePromptTokens(
    { system, messages: prompt.slice(1), tools: [tool] },
    { provider: "", modelId: "" },
  );
  expect(Math.abs(sum - whole) / whole).toBeLessThan(0.05);
});

test("billPrompt() leaves out what is not there, and takes a list of skills in lines for one", () => {
  const lines = "Skills that can be opened with activate_skill:\n- pdf: Reads\n- csv: Sums\n";

  expect(billPrompt({ prompt: [] })).toEqual([]);
  expect(billPrompt({ prompt: [{ role: "system", content: lines }] }).map(({ kind }) => kind)).toEqual(["skills"]);
});
