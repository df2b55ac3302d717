import type { Client } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";

import { clientKinds, connectHttp, listen } from "../../../../test/support/mcp-clients.ts";
import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Skill } from "../../../core/skill.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";

test.for(clientKinds)(
  "createMcpServer() serves guide, tools, skills, prompts and completions to a %s client",
  async (kind) => {
    const workspace = createWorkspace({ tools: [toolNamed("clock")], skills: [skillWith("pdf", "extract")] });
    const { url } = await listen({ workspace, store: memoryStore() });
    const client = await connectHttp(url, { kind });

    const { resources } = await client.listResources();
    const texts = await Promise.all(resources.map(({ uri }) => readText(client, uri)));
    const { prompts } = await client.listPrompts();
    const { messages } = await client.getPrompt({ name: "use_skill", arguments: { name: "pdf", arguments: "a.pdf" } });
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "kitbag://tools/{address}" },
      argument: { name: "address", value: "cl" },
    });

    expect(resources.map(({ uri }) => uri)).toEqual([
      "kitbag://guide",
      "kitbag://runs",
      "skill://kitbag/pdf/SKILL.md",
      "kitbag://tools/clock",
    ]);
    expect(texts.map((text) => text.slice(0, 12))).toEqual([
      "# Kitbag: wh",
      '{"runs":[]}',
      "---\nname: pd",
      '{\n  "name": ',
    ]);
    expect(prompts.map(({ name }) => name)).toEqual(["use_skill"]);
    expect(JSON.stringify(messages)).toContain("ARGUMENTS: a.pdf");
    expect(completion.values).toEqual(["clock"]);
  },
);

test.for(clientKinds)("the guide that a %s client reads names only tools that its list has", async (kind) => {
  const forge = ["create_tool", "update_tool", "test_tool", "create_skill", "create_pipeline", "import"];
  const workspace = createWorkspace({
    tools: ["clock", ...forge].map(toolNamed),
    skills: [skillWith("pdf", "extract")],
  });
  const open = async (exposure: "both" | "dispatch" | "direct"): Promise<readonly string[]> => {
    const { url } = await listen({ workspace, exposure });
    const client = await connectHttp(url, { kind });
    const { tools } = await client.listTools();
    const names = new Set(tools.map(({ name }) => name));
    const guide = await readText(client, "kitbag://guide");
    const { messages } = await client
      .getPrompt({ name: "create_skill", arguments: { purpose: "x" } })
      .catch(() => ({ messages: [] }));
    const named = [...`${guide}${JSON.stringify(messages)}`.matchAll(/`([^`]*)`/gu)].map((match) => match[1] as string);
    expect(named.length).toBeGreaterThan(3);
    return named.filter((name) => !names.has(name));
  };

  expect(await Promise.all((["both", "dispatch", "direct"] as const).map(open))).toEqual([[], [], []]);
});

test.for(["v1", "legacy"] as const)("a %s client hears of changes of resources and prompts over HTTP", async (kind) => {
  const workspace = createWorkspace();
  const { url } = await listen({ workspace });
  const heard = new Set<string>();
  const client = await connectHttp(url, { kind });
  const all = new Promise<void>((resolve) => {
    client.fallbackNotificationHandler = async ({ method }) => {
      heard.add(method);
      if (heard.size === 3) resolve();
    };
  });
  await client.subscribeResource({ uri: "kitbag://guide" });

  workspace.addSkill(skillWith("pdf", "extract"));
  await all;

  expect([...heard].toSorted()).toEqual([
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
  ]);
});

test("a session's own open skills change what its resources say, and nobody else's", async () => {
  const { url } = await listen({ workspace: createWorkspace({ skills: [skillWith("pdf", "extract")] }) });
  const [one, other] = await Promise.all([connectHttp(url), connectHttp(`${url}?session=other`)]);

  await one.callTool({ name: "activate_skill", arguments: { name: "pdf" } });

  const uris = async (client: Client): Promise<boolean> => {
    const { resources } = await client.listResources();
    return resources.some(({ uri }) => uri === "kitbag://tools/pdf/extract");
  };
  expect([await uris(one), await uris(other)]).toEqual([true, false]);
});

async function readText(client: Client, uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  return (contents[0] as { readonly text: string }).text;
}

function toolNamed(name: string): ReturnType<typeof defineTool<string>> {
  return defineTool({ name, description: `Does ${name}`, run: () => name });
}

function skillWith(name: string, ...tools: string[]): Skill {
  const made = tools.map((tool) => toolNamed(tool));
  return defineSkill({ name, description: `About ${name}`, tools: made, workDirection: `How to ${name}` });
}
