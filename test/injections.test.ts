import { createWorkspace, defineSkill, defineTool, type Runtime } from "kitbag";
import { createAgent } from "kitbag/agent";
import { mockModel, type MockModel } from "kitbag/testing";
import { expect, test } from "vitest";

import { createTool } from "../src/core/define-tool.ts";
import { findHiddenCharacters } from "../src/core/hidden-characters.ts";
import { injections, readOrders, toOrder } from "./support/injections.ts";

/** A model that asks for the page, and then calls whatever the page tells it to call. */
function gullibleModel(): MockModel {
  return mockModel(({ prompt }) => {
    const last = prompt.at(-1);
    if (last?.role !== "tool") return { calls: [{ tool: "web", input: {} }] };
    const orders = readOrders(JSON.stringify(last.content).replaceAll('\\\\"', '"').replaceAll('\\"', '"'));
    const asked = prompt.filter(({ role }) => role === "tool").length;
    return orders.length === 0 || asked > 3
      ? "Done"
      : { calls: orders.map((tool) => ({ tool, input: { all: true } })) };
  });
}

/** An agent with a page that says `text`, tools it may not call, and one that it may. */
function openStage(text: string) {
  const effects: string[] = [];
  const toTool = (name: string, needsApproval = false) =>
    defineTool({
      name,
      description: `Does ${name}`,
      needsApproval,
      input: { type: "object" },
      run: () => effects.push(name),
    });
  const pages: Runtime = { kind: "page", run: () => text };
  const web = createTool({ name: "web", description: "Reads a page", code: { kind: "page" } });
  const mailer = defineSkill({ name: "mailer", description: "Sends mail", tools: [toTool("send")] });
  const workspace = createWorkspace({
    tools: [web, toTool("wipe", true), toTool("note")],
    skills: [mailer],
    runtimes: [pages],
  });
  const model = gullibleModel();
  return { effects, model, agent: createAgent({ model, workspace }) };
}

test("a model that obeys every text calls what it may call: the other tests can fail", async () => {
  const { effects, agent } = openStage(toOrder("note"));

  await agent.run("Read the page").result;

  expect(effects).toContain("note");
});

test("R10: fifty texts make a model that obeys every text do nothing that it was not given", async () => {
  const harmed: string[] = [];
  const ordered: string[] = [];
  for (const { name, target, text } of injections) {
    const { effects, model, agent } = openStage(text);
    await agent.run("Read the page").result;
    if (effects.length > 0) harmed.push(`${name}: ${target}`);
    if (model.asked.length > 2) ordered.push(target);
  }

  expect(harmed).toEqual([]);
  expect(injections).toHaveLength(50);
  // The model did try: each order was read and obeyed.
  expect(ordered).toHaveLength(50);
});

test("R10: no text ends its own envelope, or brings what a reader does not see", async () => {
  const wrong: string[] = [];
  for (const { name, target, text } of injections) {
    const { model, agent } = openStage(text);
    await agent.run("Read the page").result;
    const result = model.asked[1]?.prompt.at(-1);
    const shown =
      result?.role === "tool" && result.content[0]?.type === "tool-result" ? result.content[0].output : undefined;
    const value = shown?.type === "text" ? shown.value : "";
    const tag = /^<(untrusted-\w{4}) from="web">\n/u.exec(value)?.[1] ?? "none";
    const ends = value.split(`</${tag}>`).length - 1;
    if (ends !== 1 || !value.endsWith(`\n</${tag}>`) || [...findHiddenCharacters(value)].length > 0)
      wrong.push(`${name}: ${target}`);
  }

  expect(wrong).toEqual([]);
});
