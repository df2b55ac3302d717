import { expect, test } from "vitest";

import type { ModelPrompt, ModelTool } from "../model.ts";
import { localModel } from "./local-model.ts";

const weather = {
  name: "get_weather",
  description: "Tells the weather of a city.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  available: true,
};
const forecast = { ...weather, available: false, skill: "weather" };

test("localModel() searches by the words of a request, calls what was found by its name, and answers", async () => {
  const asked = say("What is the weather in Lisbon?");
  const found = [
    ...asked,
    ...done("search_tools", { query: "weather", limit: 12, detail: "json" }, { tools: [weather] }),
  ];
  const called = [...found, ...done("call_tool", { name: "get_weather", input: { city: "Lisbon" } }, "sunny")];

  expect(await answer(asked)).toEqual([["search_tools", { query: "weather Lisbon", limit: 12, detail: "json" }]]);
  expect(await answer(found)).toEqual([["call_tool", { name: "get_weather", input: { city: "Lisbon" } }]]);
  expect(await answer(called)).toBe("sunny");
});

test("localModel() opens the skill of a tool that it found before it calls the tool", async () => {
  const found = [
    ...say("What is the weather in Lisbon?"),
    ...done("search_tools", { query: "weather" }, { tools: [forecast] }),
  ];
  const opened = [...found, ...done("activate_skill", { name: "weather" }, "Be brief.")];

  expect(await answer(found)).toEqual([["activate_skill", { name: "weather" }]]);
  expect(await answer(opened)).toEqual([["call_tool", { name: "get_weather", input: { city: "Lisbon" } }]]);
});

test("localModel() searches again for the tools of a skill that it opened from the list", async () => {
  const system = "Skills that can be opened with activate_skill:\n- weather: Weather of cities and seas.\n\nMore.";
  const sea = {
    ...weather,
    name: "weather__sea",
    description: "Tells how warm the sea is.",
    inputSchema: { type: "object", properties: { beach: { type: "string" } }, required: ["beach"] },
  };
  const opened: ModelPrompt = [
    { role: "system", content: system },
    ...say("how warm is the sea at the beach Bondi?"),
    ...done("search_tools", { query: "warm sea beach Bondi" }, { tools: [] }),
    ...done("activate_skill", { name: "weather" }, "Be brief."),
  ];
  const query = "weather warm sea beach Bondi";
  const found = [...opened, ...done("search_tools", { query }, { tools: [{ ...sea, skill: "weather" }] })];

  expect(await answer(opened)).toEqual([["search_tools", { query, limit: 12, detail: "json" }]]);
  expect(await answer(found)).toEqual([["call_tool", { name: "weather__sea", input: { beach: "Bondi" } }]]);
});

test("localModel() searches for nothing when its question is answered", async () => {
  const asked = [...say("tell me the weather"), ...done("search_tools", { query: "weather" }, { tools: [weather] })];
  const question = String(await answer(asked));

  const replied = await answer([
    ...asked,
    { role: "assistant", content: [{ type: "text", text: question }] },
    ...say("Lisbon"),
  ]);

  expect(question).toContain("`city`");
  expect(replied).toEqual([["call_tool", { name: "get_weather", input: { city: "Lisbon" } }]]);
});

test("localModel() says that there is nothing after it has searched", async () => {
  const asked = say("translate this poem");
  const searched = [...asked, ...done("search_tools", { query: "translate poem" }, { tools: [] })];

  expect(await answer(asked)).toEqual([["search_tools", { query: "translate poem", limit: 12, detail: "json" }]]);
  expect(await answer(searched)).toContain("no tool");
});

function tool(name: string, properties: Readonly<Record<string, object>>): ModelTool {
  return { type: "function", name, description: name, inputSchema: { type: "object", properties } };
}

const tools = [
  tool("search_tools", { query: {}, limit: {}, detail: { enum: ["names", "json"] } }),
  tool("describe_tool", { name: {} }),
  tool("call_tool", { name: {}, input: {} }),
  tool("activate_skill", { name: {} }),
];

/** The calls that are made, or what is said. */
async function answer(prompt: ModelPrompt): Promise<[string, unknown][] | string> {
  const { content } = await localModel().doGenerate({ prompt, tools });
  const calls = content.flatMap((part): [string, unknown][] =>
    part.type === "tool-call" ? [[part.toolName, JSON.parse(part.input)]] : [],
  );
  return calls.length > 0 ? calls : content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function say(text: string): ModelPrompt {
  return [{ role: "user", content: [{ type: "text", text }] }];
}

function done(toolName: string, input: object, result: string | object): ModelPrompt {
  const toolCallId = `${toolName} ${JSON.stringify(input)}`;
  const output = (
    typeof result === "string" ? { type: "text", value: result } : { type: "json", value: result }
  ) as never;
  return [
    { role: "assistant", content: [{ type: "tool-call", toolCallId, toolName, input }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] },
  ];
}
