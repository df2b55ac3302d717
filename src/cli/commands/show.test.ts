import { expect, test } from "vitest";

import { createProject, runKitbag, toolbox } from "../../../test/run-kitbag.ts";

test("kitbag show tells everything about a tool", async () => {
  const project = createProject({ "tools.ts": tools });

  const run = await runKitbag(["show", "web/fetch-page", "--module", "tools.ts"], { project });

  expect(run.stderr).toBe("");
  expect(run.stdout).toMatchInlineSnapshot(`
    "web/fetch-page
    Reads a page of the web

    title        Fetch a page
    version      1.2.0
    source       component web
    wire name    web__fetch-page
    runtime      function
    annotations  readOnly, openWorld
    permissions  network example.com (declared, not enforced: it runs in this process)
    approval     somebody must approve each call
    injected     key
    limits       limitMs 5000
    token cost   ≈ 69 for its definition

    FLAG           VALUE           REQUIRED  DESCRIPTION
    --url          a string        yes       where
    --max-bytes    a whole number            default 1000
    --[no-]follow  true or false

    Call it
      # the front page
      $ kitbag call web/fetch-page --url https://example.com --no-follow
      "<html>"

    Input schema
    {
      "type": "object",
      "properties": {
        "url": {
          "type": "string",
          "description": "where"
        },
        "maxBytes": {
          "type": "integer",
          "default": 1000
        },
        "follow": {
          "type": "boolean"
        }
      },
      "required": [
        "url"
      ],
      "additionalProperties": false
    }

    Output schema
    {
      "type": "string"
    }
    "
  `);
});

test("kitbag show --json tells the same as data", async () => {
  const project = createProject({ "tools.ts": tools });

  const run = await runKitbag(["show", "web__fetch-page", "--module", "tools.ts", "--json"], { project });

  expect(JSON.parse(run.stdout)).toMatchObject({
    address: "web/fetch-page",
    wireName: "web__fetch-page",
    source: "component",
    owner: "web",
    runtime: "function",
    permissions: { network: ["example.com"] },
    permissionsEnforced: false,
    needsApproval: true,
    inject: ["key"],
    limits: { limitMs: 5000 },
    flags: [{ flag: "--url", required: true }, { flag: "--max-bytes" }, { flag: "--[no-]follow" }],
  });
});

test("kitbag show writes examples that can be called as they are", async () => {
  const shown = await runKitbag(["show", "count-words", "--module", toolbox]);
  const line = /\$ kitbag call count-words (.*)/u.exec(shown.stdout)?.[1];

  expect(line).toBe("--text 'to be or not to be' --top 1");
  const called = await runKitbag([
    "call",
    "count-words",
    "--module",
    toolbox,
    "--text",
    "to be or not to be",
    "--top",
    "1",
    "--json",
  ]);
  expect(JSON.parse(called.stdout)).toMatchObject({ output: { total: 6, top: [{ word: "to", count: 2 }] } });
});

test("kitbag show of an unknown tool says which one was meant", async () => {
  const run = await runKitbag(["show", "sluggify", "--module", toolbox]);

  expect(run).toMatchObject({ code: 1, stdout: "" });
  expect(run.stderr).toBe('Cannot find the tool "sluggify": did you mean "slugify"?\n');
});

test("kitbag show of a name that two owners have lists both", async () => {
  const project = createProject({ "tools.ts": tools });

  const run = await runKitbag(["show", "ping", "--module", "tools.ts"], { project });

  expect(run.code).toBe(1);
  expect(run.stderr).toBe('Cannot choose a tool for "ping": several have this name; use one of web/ping, disk/ping\n');
});

test.for(["constructor", "__proto__", "a/b/c", "", "x".repeat(100_000)])(
  "kitbag show %.20s finds nothing",
  async (address) => {
    const run = await runKitbag(["show", address, "--module", toolbox, "--json"]);

    expect(run.code).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({ status: "failed", error: { code: "tool-not-found" } });
  },
);

const tools = `
import { defineTool, injected } from "kitbag";
const fetchPage = defineTool({
  name: "fetch-page",
  title: "Fetch a page",
  description: "Reads a page of the web",
  version: "1.2.0",
  input: {
    type: "object",
    properties: {
      url: { type: "string", description: "where" },
      maxBytes: { type: "integer", default: 1000 },
      follow: { type: "boolean" },
    },
    required: ["url"],
  },
  output: { type: "string" },
  annotations: { readOnly: true, openWorld: true },
  permissions: { network: ["example.com"] },
  inject: { key: injected<string>() },
  needsApproval: true,
  limits: { limitMs: 5000 },
  examples: [{ description: "the front page", input: { url: "https://example.com", follow: false }, output: "<html>" }],
  run: () => "<html>",
});
const ping = defineTool({ name: "ping", description: "Answers", run: () => "pong" });
export default { components: [{ name: "web", tools: [fetchPage, ping] }, { name: "disk", tools: [ping] }] };
`;
