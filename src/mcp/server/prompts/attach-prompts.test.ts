import { join } from "node:path";

import type { Client } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";

import { connect2025, connect2026, toServed } from "../../../../test/support/mcp-client.ts";
import { createFolder } from "../../../../test/support/temporary-folder.ts";
import { defineSkill } from "../../../core/define-skill.ts";
import { defineTool } from "../../../core/define-tool.ts";
import type { Skill } from "../../../core/skill.ts";
import { createImportTool } from "../../../forge/import/create-import-tool.ts";
import { openForge } from "../../../forge/open-forge.ts";
import { createForgeTools } from "../../../forge/tools/create-forge-tools.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { loadSkills } from "../../../workspace/skills/folder-skills.ts";
import { findShownTools } from "../shown-tools.ts";

const connects = [
  ["2025", connect2025],
  ["2026", connect2026],
] as const;

const forge = ["create_tool", "test_tool", "update_tool", "rollback_tool", "create_pipeline", "create_skill", "import"];

test.for(connects)(
  "prompts/list of a %s client has the workflows whose tools are there, in a fixed order",
  async ([, connect]) => {
    const none = await connect(createWorkspace());
    const some = await connect(createWorkspace({ tools: [toolNamed("create_tool")], skills: [skillNamed("pdf")] }));
    const all = await connect(createWorkspace({ tools: forge.map(toolNamed) }));

    const lists = await Promise.all([none, some, all].map(({ client }) => namesOf(client)));

    expect(lists).toEqual([
      [],
      ["create_tool", "use_skill"],
      ["create_pipeline", "create_skill", "create_tool", "import_skill", "improve_tool"],
    ]);
  },
);

test("prompts/list describes each prompt and its arguments", async () => {
  const { client } = await connect2025(createWorkspace({ tools: [toolNamed("import")] }));

  const { prompts } = await client.listPrompts();

  expect(prompts).toEqual([
    {
      name: "import_skill",
      title: "Import a skill",
      description: "Take in a skill from a repository, an archive, a package or a folder, after a look at it",
      arguments: [
        {
          name: "source",
          description: "Where it is: an address of a git repository, an archive, a package or a folder",
          required: true,
        },
      ],
    },
  ]);
});

const calls: readonly (readonly [string, Record<string, string>])[] = [
  ["create_tool", { purpose: "count words" }],
  ["create_tool", { purpose: "count words", name: "count", language: "python" }],
  ["create_skill", { purpose: "release notes" }],
  ["create_pipeline", { goal: "csv to chart", name: "" }],
  ["improve_tool", { tool: "count", wish: "faster" }],
  ["improve_tool", { tool: "count" }],
  ["import_skill", { source: "https://example.com/skills.git" }],
];

const shownTo: readonly (readonly [string, readonly string[] | undefined])[] = [
  ["everything", undefined],
  ["only call_tool", ["call_tool"]],
  ["only the forge", forge],
];

test.for(shownTo)("prompts/get names no tool that a client cannot call, if it is shown %s", async ([, shown]) => {
  const workspace = createWorkspace({ tools: forge.map(toolNamed) });
  const parts = shown === undefined ? {} : { shownTools: () => shown };
  const { client } = await connect2025(workspace, parts);
  const known = findShownTools(toServed(workspace, parts));

  const texts = await Promise.all(calls.map(([name, values]) => textOf(client, name, values)));

  const named = texts.flatMap((text) => [...text.matchAll(/`([^`]*)`/gu)].map((match) => match[1] as string));
  expect(named.length).toBeGreaterThan(6);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

test("the workflows are there with the tools of the forge as they are, and complete from their schemas", async () => {
  const directory = createFolder();
  const workspace = createWorkspace();
  const home = join(directory, "home");
  const made = await openForge({ workspace, directory, home });
  onTestFinished(() => made.close());
  for (const tool of [...createForgeTools(made), createImportTool({ directory, home })]) workspace.add(tool);
  const { client } = await connect2025(workspace, { shownTools: () => ["call_tool"] });

  const texts = await Promise.all(calls.map(([name, values]) => textOf(client, name, values)));
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "create_tool" },
    argument: { name: "language", value: "py" },
  });

  expect(await namesOf(client)).toEqual([
    "create_pipeline",
    "create_skill",
    "create_tool",
    "import_skill",
    "improve_tool",
  ]);
  expect(texts.every((text) => text.includes("It takes {"))).toBe(true);
  expect(completion.values[0]).toBe("python");
});

test("prompts/get of create_skill leads through create_skill_step where it is there", async () => {
  const plain = await connect2025(createWorkspace({ tools: ["create_skill"].map(toolNamed) }));
  const stepwise = await connect2025(createWorkspace({ tools: ["create_skill", "create_skill_step"].map(toolNamed) }));

  const texts = await Promise.all(
    [plain, stepwise].map(({ client }) => textOf(client, "create_skill", { purpose: "release notes" })),
  );

  expect(texts[0]).toContain("Call `create_skill`.");
  expect(texts[0]).not.toContain("create_skill_step");
  expect(texts[1]).toContain("one after the other to `create_skill_step`, beginning with the purpose");
});

test("prompts/get writes the steps with what was filled in, and what the tool takes if the client does not know", async () => {
  const input = {
    type: "object",
    properties: { name: { type: "string" }, code: { type: "string" } },
    required: ["name"],
  } as const;
  const create = defineTool({ name: "create_tool", description: "Makes a tool", input, run: () => "" });
  const workspace = createWorkspace({ tools: [create] });
  const { client } = await connect2025(workspace);
  const few = await connect2025(workspace, { shownTools: () => ["call_tool"] });

  const text = await textOf(client, "create_tool", { purpose: "count words", language: "python" });
  const longer = await textOf(few.client, "create_tool", { purpose: "count words" });

  expect(text).toContain("Make a tool that does this: count words\n\nGo step by step:\n\n1. Look with `search_tools`");
  expect(text).toContain("3. Write its code in python.");
  expect(text).toContain("6. Call `create_tool`.\n7. ");
  expect(longer).toContain(
    "Call `call_tool` with the name create_tool. It takes {\n     name: string;\n     code?: string;\n   }\n6. ",
  );
});

test.for(connects)(
  "use_skill of a %s client gives the instructions with the arguments filled in",
  async ([, connect]) => {
    const skills = await skillsIn({
      "fix/SKILL.md": "---\nname: fix\ndescription: Fixes an issue\n---\nFix the issue $0 in $1.\n",
    });
    const { client } = await connect(createWorkspace({ skills }));

    const { description, messages } = await client.getPrompt({
      name: "use_skill",
      arguments: { name: "fix", arguments: "42 main" },
    });

    expect(description).toBe("Fixes an issue");
    expect(messages).toEqual([
      { role: "user", content: { type: "text", text: expect.stringContaining("Fix the issue 42 in main.") } },
    ]);
  },
);

test("use_skill says how to reach the tools of a skill, and opens one that only people may open", async () => {
  const workspace = createWorkspace({
    skills: [
      defineSkill({ name: "pdf", description: "Reads PDF", tools: [toolNamed("extract")], workDirection: "Read." }),
      defineSkill({
        name: "deploy",
        description: "Deploys",
        tools: [toolNamed("go")],
        modelInvocable: false,
        workDirection: "Go.",
      }),
    ],
  });
  const { client, session } = await connect2025(workspace);

  const pdf = await textOf(client, "use_skill", { name: "pdf" });
  const deploy = await textOf(client, "use_skill", { name: "deploy" });

  expect(pdf).toBe('Read.\n\nOpen the skill with `activate_skill` ({ "name": "pdf" }) before you call its tools.');
  expect(deploy).toBe("Go.\n\nThe tools of the skill deploy can be called now.");
  expect(session.getActiveSkills()).toEqual(["deploy"]);
});

test("a workflow whose tools belong to a closed skill is there, and says to open the skill first", async () => {
  const tools = [toolNamed("create_tool")];
  const forge = defineSkill({ name: "forge", description: "Makes tools", tools });
  const { client, session } = await connect2026(createWorkspace({ skills: [forge] }));

  const closed = await textOf(client, "create_tool", { purpose: "Count" });
  await session.activateSkill("forge");
  const open = await textOf(client, "create_tool", { purpose: "Count" });

  expect(closed).toMatch(/^Open the skill forge with `activate_skill` first/u);
  expect(open).toMatch(/^Make a tool that does this: Count/u);
  for (const text of [closed, open]) expect(text).toContain("`forge__create_tool`");
});

test("use_skill of a 2026 client opens what only people open, too", async () => {
  const tools = [toolNamed("go")];
  const skill = defineSkill({
    name: "deploy",
    description: "Deploys",
    tools,
    modelInvocable: false,
    workDirection: "Go.",
  });
  const { client, session } = await connect2026(createWorkspace({ skills: [skill] }));

  const text = await textOf(client, "use_skill", { name: "deploy" });

  expect(text).toBe("Go.\n\nThe tools of the skill deploy can be called now.");
  expect(session.getActiveSkills()).toEqual(["deploy"]);
});

test("use_skill refuses skills that are not for people, that nobody trusts, and that are not there", async () => {
  const [modelOnly] = await skillsIn({
    "inner/SKILL.md": "---\nname: inner\ndescription: For models\nuser-invocable: false\n---\nSecret steps\n",
  });
  const trust = { status: "untrusted" as const, changed: [] };
  const folder = { directory: "/skills/odd", files: [], digest: "sha256:0", scope: "project" as const, trust };
  const untrusted: Skill = { ...skillNamed("odd"), folder };
  const { client } = await connect2025(createWorkspace({ skills: [modelOnly as Skill, untrusted, skillNamed("pdf")] }));

  const failures = await Promise.all(
    ["inner", "odd", "pdff", "__proto__"].map((name) => failureOf(client, "use_skill", { name })),
  );

  expect(failures).toEqual([
    [-32602, 'No skill that you may use is called "inner"'],
    [-32602, 'No skill that you may use is called "odd"'],
    [-32602, 'No skill that you may use is called "pdff": did you mean "pdf"?'],
    [-32602, 'No skill that you may use is called "__proto__"'],
  ]);
});

test.for([
  ["nothing", {}, "Prompt not found: nothing"],
  ["__proto__", {}, "Prompt not found: __proto__"],
  ["create_skill", {}, "Prompt not found: create_skill"],
  ["create_tool", {}, 'The prompt create_tool needs the argument "purpose"'],
  ["create_tool", { purpose: "" }, 'The prompt create_tool needs the argument "purpose"'],
  [
    "create_tool",
    { purpose: "x", colour: "red" },
    'The prompt create_tool has no argument "colour": it has purpose, name, language',
  ],
  ["use_skill", { arguments: "x" }, 'The prompt use_skill needs the argument "name"'],
] as const)("prompts/get of %s with %j is refused with -32602", async ([name, values, message]) => {
  const { client } = await connect2025(
    createWorkspace({ tools: [toolNamed("create_tool")], skills: [skillNamed("pdf")] }),
  );

  expect(await failureOf(client, name, values)).toEqual([-32602, message]);
});

test("prompts/get refuses a value that is too long, and repeats no long name", async () => {
  const { client } = await connect2025(createWorkspace({ tools: [toolNamed("create_tool")] }));

  const [code, message] = await failureOf(client, "create_tool", { purpose: "x".repeat(70_000) });
  const [, unknown] = await failureOf(client, "x".repeat(100_000), {});

  expect([code, message]).toEqual([-32602, 'The argument "purpose" is longer than 65536 characters']);
  expect(unknown?.length).toBeLessThan(300);
});

test("prompts/get asks the sources beside Kitbag's own, which cannot take the name of one of ours", async () => {
  const source = {
    list: () => [{ name: "use_skill" }, { name: "hello" }],
    get: async (name: string) => ({
      messages: [{ role: "user" as const, content: { type: "text" as const, text: `from ${name}` } }],
    }),
  };
  const { client } = await connect2025(createWorkspace({ skills: [skillNamed("pdf")] }), { prompts: [source] });

  expect(await namesOf(client)).toEqual(["hello", "use_skill"]);
  expect(await textOf(client, "hello", {})).toBe("from hello");
  expect(await textOf(client, "use_skill", { name: "pdf" })).toBe("");
});

test("clients hear when prompts come and go, and not when they stay the same", async () => {
  const workspace = createWorkspace();
  const { client } = await connect2025(workspace);
  const heard: string[][] = [];
  client.setNotificationHandler(
    "notifications/prompts/list_changed",
    async () => void heard.push(await namesOf(client)),
  );

  workspace.add(toolNamed("clock"));
  await settle(client);
  workspace.add(toolNamed("create_tool"));
  await settle(client);
  workspace.addSkill(skillNamed("pdf"));
  await settle(client);
  workspace.addSkill(skillNamed("csv"));
  await settle(client);
  workspace.remove("create_tool");
  await settle(client);

  expect(heard).toEqual([["create_tool"], ["create_tool", "use_skill"], ["use_skill"]]);
});

async function settle(client: Client): Promise<void> {
  await client.listPrompts();
  await new Promise((resolve) => setTimeout(resolve, 20));
}

async function namesOf(client: Client): Promise<string[]> {
  const { prompts } = await client.listPrompts();
  return prompts.map(({ name }) => name);
}

async function textOf(client: Client, name: string, values: Record<string, string>): Promise<string> {
  const { messages } = await client.getPrompt({ name, arguments: values });
  const [message] = messages as { content: { text: string } }[];
  return message?.content.text ?? "";
}

async function failureOf(client: Client, name: string, values: Record<string, string>): Promise<[unknown, string]> {
  const failure = await client.getPrompt({ name, arguments: values }).catch((cause: unknown) => cause);
  const { code, message } = failure as { readonly code: unknown; readonly message: string };
  return [code, message];
}

async function skillsIn(files: Readonly<Record<string, string>>): Promise<Skill[]> {
  const { reports } = await loadSkills({ directories: [createFolder(files)] });
  return reports.flatMap((report) => report.skill ?? []);
}

function toolNamed(name: string): ReturnType<typeof defineTool<string>> {
  return defineTool({ name, description: `Does ${name}`, run: () => name });
}

function skillNamed(name: string): Skill {
  return defineSkill({ name, description: `About ${name}` });
}
