import { expect, test } from "vitest";

import { makeDirectory } from "../../../test/support/mcp-sources.ts";
import type { McpDefinition } from "../../core/mcp-source.ts";
import { defineSkill } from "../../core/define-skill.ts";
import { defineTool } from "../../core/define-tool.ts";
import { readDefinitions } from "../../runtimes/mcp/definitions.ts";
import { createKeptContent } from "../../runtimes/mcp/kept-content.ts";
import type { LockedServer } from "../../skills/trust/lock-format.ts";
import { createWorkspace } from "../../workspace/create-workspace.ts";
import { addMcpServers, replaceMcpServers, toNotice, withServerTools, type McpNotice } from "./add-mcp-servers.ts";
import { keepDefinition } from "./server-tools.ts";

const source = { name: "far", url: "https://example.com/mcp" };

test("addMcpServers() adds what is pinned and kept, without a connection", async () => {
  const { options, notices } = setUp(["search", "write"]);
  const workspace = createWorkspace();

  await addMcpServers(workspace, [source], options);

  expect(workspace.getAvailableTools().map(({ wireName }) => wireName)).toEqual(["far__search", "far__write"]);
  expect(notices).toEqual([]);
});

test("addMcpServers() tells that a name is taken, and adds the other servers", async () => {
  const { options, notices } = setUp(["search"]);
  const search = defineTool({ name: "search", description: "Is there already", run: () => "own" });
  const workspace = createWorkspace({ components: [{ name: "far", tools: [search] }] });

  await addMcpServers(workspace, [source, { ...source, name: "near" }], options);

  expect(workspace.getAvailableTools().map(({ address }) => address)).toEqual(["far/search", "near/search"]);
  expect(workspace.getTool("far/search")?.tool).toBe(search);
  expect(notices.map(({ server }) => server)).toEqual(["far"]);
});

test("replaceMcpServers() puts what is agreed to now in the place of what was, and tells it once", async () => {
  const { options, pin } = setUp(["search", "write"]);
  const workspace = createWorkspace();
  await addMcpServers(workspace, [source], options);
  let told = 0;
  workspace.onChange(() => (told += 1));

  pin(["search", "delete"]);
  await replaceMcpServers(workspace, [source], options);

  expect(workspace.getAvailableTools().map(({ address }) => address)).toEqual(["far/delete", "far/search"]);
  expect(told).toBe(1);
});

test("withServerTools() gives a skill the tools of its servers, but none that it has already", async () => {
  const { options, notices } = setUp(["search", "write"]);
  const search = defineTool({ name: "search", description: "Its own", run: () => "own" });
  const skill = {
    ...defineSkill({ name: "notes", description: "Takes notes", workDirection: "Write.", tools: [search] }),
    servers: [{ ...source, skill: "notes" }],
  };

  const { tools } = await withServerTools(skill, options);

  expect(tools.map(({ name, description }) => `${name}: ${description}`)).toEqual([
    "search: Its own",
    "write: Does write",
  ]);
  expect(notices).toEqual([{ server: "notes/far", message: 'Left out "search": the skill has a tool of this name' }]);
});

test("withServerTools() gives a skill nothing that is not trusted", async () => {
  const { options } = setUp(["search"]);
  const folder = { directory: "/a", files: [], digest: "", scope: "project" as const };
  const plain = defineSkill({ name: "notes", description: "Takes notes", workDirection: "Write." });
  const skill = {
    ...plain,
    servers: [source],
    folder: { ...folder, trust: { status: "untrusted" as const, changed: [] } },
  };

  expect(await withServerTools(skill, options)).toBe(skill);
});

test("toNotice() says what a server offers otherwise than agreed, and that one was taken out", () => {
  const { options } = setUp(["search", "write"]);
  const offered = readDefinitions([define("search"), { ...define("write"), title: "New" }, define("delete")]);

  const changed = toNotice({ type: "definitions", source, definitions: offered }, options.findPins);
  const same = toNotice(
    { type: "definitions", source, definitions: readDefinitions(["search", "write"].map(define)) },
    options.findPins,
  );
  const down = toNotice({ type: "server-down", source, reason: "it ended" }, options.findPins);

  expect(changed?.message).toBe(
    'it describes otherwise "write", newly offers "delete"; to accept it: kitbag trust --mcp far',
  );
  expect(same).toBeUndefined();
  expect(down).toEqual({ server: "far", message: "it was taken out: it ended" });
});

function define(name: string): McpDefinition {
  return { name, description: `Does ${name}`, inputSchema: { type: "object", properties: {} } };
}

function setUp(names: readonly string[]) {
  const kept = createKeptContent(makeDirectory());
  const notices: McpNotice[] = [];
  let pins: LockedServer;
  const pin = (now: readonly string[]): void => {
    const tools = now.toSorted().map((name): [string, string] => [name, keepDefinition(kept, define(name))]);
    pins = { tools: new Map(tools), skills: new Map() };
  };
  pin(names);
  const options = { kept, findPins: () => pins, onNotice: (notice: McpNotice) => notices.push(notice) };
  return { options, notices, pin };
}
