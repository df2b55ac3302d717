import { afterAll, expect, test } from "vitest";

import { openTestForge, openTestRuntimes } from "../../../test/support/open-test-forge.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { createTemplateTool } from "./create-template-tool.ts";

const runtimes = openTestRuntimes();
afterAll(() => runtimes.close());

test("create_from_template lists the templates, and tells the parameters of one", async () => {
  const workspace = await openWithTool();

  const all = await workspace.call("create_from_template", {});
  const one = await workspace.call("create_from_template", { template: "pipeline" });

  expect(all).toMatchObject({ status: "ok", output: { templates: { length: 14 } } });
  expect(one).toMatchObject({
    output: { template: "pipeline", makes: "tool", parameters: { required: ["tools"], properties: { mode: {} } } },
  });
});

test("create_from_template makes a tool that can be called at once, and a skill that can be opened", async () => {
  const workspace = await openWithTool();

  const made = await workspace.call("create_from_template", {
    template: "script-node",
    name: "count",
    description: "Counts",
    parameters: { argument: "words" },
  });
  const called = await workspace.call("count", { words: "a b" });
  const skill = await workspace.call("create_from_template", { template: "skill-plain", name: "notes" });

  expect(made).toMatchObject({ status: "ok", output: { status: "live", name: "count", description: "Counts" } });
  expect(called).toMatchObject({ status: "ok", output: { characters: 3, words: 2, lines: 1 } });
  expect(skill).toMatchObject({ status: "ok", output: { status: "live", path: ".kitbag/skills/notes" } });
  expect(workspace.getSkills().map((one) => one.skill.name)).toEqual(["notes"]);
});

test("create_from_template waits for a person when a template asks for more than the policy grants", async () => {
  const workspace = await openWithTool();

  const made = await workspace.call("create_from_template", {
    template: "api-client",
    name: "api",
    parameters: { keyEnv: "API_KEY" },
  });

  expect(made).toMatchObject({
    output: { status: "waiting", asks: { network: ["api.example.com"], env: ["API_KEY"] } },
  });
  expect(workspace.getTool("api")).toBeUndefined();
});

test("create_from_template takes config and names of other styles, and an API without a key", async () => {
  const workspace = await openWithTool();

  const made = await workspace.call("create_from_template", {
    template: "api-client",
    name: "github_api",
    config: { base_url: "https://api.github.com" },
  });
  const overruled = await workspace.call("create_from_template", {
    template: "script-node",
    name: "count",
    config: { argument: "lines" },
    parameters: { argument: "words" },
  });
  const called = await workspace.call("count", { words: "a b" });

  expect(made).toMatchObject({ output: { status: "waiting", asks: { network: ["api.github.com"] } } });
  expect(JSON.stringify(made)).not.toContain('"env"');
  expect(overruled).toMatchObject({ output: { status: "live" } });
  expect(called).toMatchObject({ status: "ok", output: { words: 2 } });
});

test.for([
  [{ template: "nothing-like-it", name: "x" }, "one of api-client"],
  [{ template: "pipeline", name: "x" }, "The addresses of the tools"],
  [{ template: "pipeline", name: "x", parameters: { tools: ["nobody"] } }, "nobody"],
  [{ template: "script-bash", name: "../x" }, "a name is letters"],
  [{ template: "script-bash", name: "x", parameters: { constructor: 1 } }, "constructor"],
  [{ template: "script-bash", name: "x", config: { __proto_: 1 } }, "__proto_"],
  [{ template: "api-client", name: "x", config: { base_url: "file:///etc/passwd" } }, "parameters.baseUrl"],
  [{ template: "api-client", name: "x", config: { base_url: "https://user@host/" } }, "parameters.baseUrl"],
] as const)("create_from_template fails with what to change: %j", async ([input, words]) => {
  const workspace = await openWithTool();

  const outcome = await workspace.call("create_from_template", input);

  expect(outcome.status === "failed" && outcome.error.message).toContain(words);
});

async function openWithTool(): Promise<Workspace> {
  const { forge, workspace } = await openTestForge(runtimes);
  workspace.add(createTemplateTool(forge));
  return workspace;
}
