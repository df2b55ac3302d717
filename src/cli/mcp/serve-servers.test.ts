import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test, vi } from "vitest";

import { createProject, runKitbag, type Project } from "../../../test/run-kitbag.ts";
import { serverFolder } from "../../../test/support/mcp-sources.ts";

vi.setConfig({ testTimeout: 120_000 });

const root = resolve(import.meta.dirname, "../../..");
const echo = {
  name: "echo",
  description: "Says it again",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
};
const fine = { name: "fine", description: "Works", inputSchema: { type: "object", properties: {} } };

test("kitbag serve hands on the tools of other servers, and those that somebody agrees to meanwhile", async () => {
  const project = createProject({
    "kitbag.config.json": JSON.stringify({
      mcp: {
        raw: {
          command: "node",
          args: [join(serverFolder, "raw-server.mjs"), "file", "./tools.json"],
          permissions: { read: [serverFolder, "./tools.json"] },
        },
      },
    }),
    "tools.json": JSON.stringify([echo]),
  });
  await runKitbag(["trust", "."], { project });
  const client = await serve(project);
  const names = async (): Promise<string[]> =>
    (await client.listTools(undefined, { cacheMode: "bypass" })).tools
      .map(({ name }) => name)
      .filter((name) => name.startsWith("raw__"));

  expect(await names()).toEqual(["raw__echo"]);
  const { content } = await client.callTool({ name: "raw__echo", arguments: { text: "hi" } });
  expect(content).toEqual([{ type: "text", text: "again: hi" }]);

  writeFileSync(join(project.folder, "tools.json"), JSON.stringify([echo, fine]));
  await runKitbag(["trust", "--mcp", "raw"], { project });
  await vi.waitFor(async () => expect(await names()).toEqual(["raw__echo", "raw__fine"]), {
    timeout: 30_000,
    interval: 300,
  });
  const later = await client.callTool({ name: "raw__fine", arguments: {} });
  expect(later.content).toEqual([{ type: "text", text: "fine" }]);
});

test("kitbag serve hands on resources and prompts of a server once they are trusted", async () => {
  const project = createProject({});
  const server = {
    command: "node",
    args: [join(serverFolder, "content-server.mjs")],
    permissions: { read: [serverFolder, join(root, "node_modules")] },
  };
  project.write("kitbag.config.json", JSON.stringify({ mcp: { docs: server } }));
  const trust = await runKitbag(["trust", "."], { project });
  const client = await serve(project);

  const { resources } = await client.listResources();
  const { contents } = await client.readResource({ uri: "kitbag://servers/docs/docs://picture" });
  const { prompts } = await client.listPrompts();

  expect(trust.stdout).toContain(
    "For MCP clients of Kitbag, as the server has them at that time:\n  prompts\n  resources\n",
  );
  expect(resources.map(({ uri }) => uri)).toContain("kitbag://servers/docs/docs://notes/today");
  expect(contents).toMatchObject([{ blob: "aGk=" }]);
  expect(prompts.map(({ name }) => name)).toContain("docs/explain");
});

test("kitbag lists the skills of other servers once they are trusted, and shows their text", async () => {
  const skill = "---\nname: forms\ndescription: Fills in forms\n---\nRead the form first.\n";
  const project = createProject({ "theirs/forms/SKILL.md": skill });
  const server = {
    command: "node",
    args: [join(serverFolder, "skills-server.mjs"), join(project.folder, "theirs")],
    permissions: { read: [serverFolder, join(root, "node_modules"), "./theirs"] },
  };
  project.write("kitbag.config.json", JSON.stringify({ mcp: { skilled: server } }));

  const trust = await runKitbag(["trust", "."], { project });
  const list = await runKitbag(["list", "--json"], { project });
  const show = await runKitbag(["show", "skilled.forms", "--text"], { project });

  expect(trust.stdout).toContain("forms (new):\n    description: Fills in forms\n");
  expect(JSON.parse(list.stdout)).toMatchObject({ skills: [{ name: "skilled.forms", tools: [] }] });
  expect(show.stdout).toContain("Read the form first.");
});

async function serve(project: Project): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ["--conditions=@kitbag/source", join(root, "src/cli/main.ts"), "serve"],
    cwd: project.folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: dirname(project.folder), KITBAG_HOME: project.home },
    stderr: "ignore",
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}
