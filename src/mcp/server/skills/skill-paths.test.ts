import { PassThrough } from "node:stream";
import { once } from "node:events";

import { expect, onTestFinished, test } from "vitest";

import { listen, type ListeningServer } from "../../../../test/support/mcp-clients.ts";
import { post2026, readAnswer, beginSession, post } from "../../../../test/support/mcp-raw.ts";
import { createFolder } from "../../../../test/support/temporary-folder.ts";
import type { Skill, SkillTrust } from "../../../core/skill.ts";
import { createWorkspace } from "../../../workspace/create-workspace.ts";
import { loadSkills } from "../../../workspace/skills/folder-skills.ts";
import type { McpServing } from "../mcp-server-options.ts";

const body = "Run python {baseDir}/scripts/x.py, see ${CLAUDE_SKILL_DIR}/notes.md.";

/** Each way in which a client reads the text of a skill. */
const reads: readonly (readonly [method: string, params: Record<string, unknown>])[] = [
  ["tools/call", { name: "activate_skill", arguments: { name: "pdf" } }],
  ["tools/call", { name: "read_skill", arguments: { name: "pdf" } }],
  ["tools/call", { name: "list_skills", arguments: {} }],
  ["tools/call", { name: "search_tools", arguments: { query: "pdf" } }],
  ["tools/call", { name: "call_tool", arguments: { name: "pdf/none", input: {} } }],
  ["prompts/get", { name: "use_skill", arguments: { skill: "pdf" } }],
  ["prompts/get", { name: "pdf" }],
  ["prompts/list", {}],
  ["resources/read", { uri: "kitbag://skills/pdf" }],
  ["resources/read", { uri: "skill://kitbag/pdf/SKILL.md" }],
  ["resources/list", {}],
  ["skills/list", {}],
];

test.for(reads)("no client over HTTP reads where a skill lies on the server: %s %o", async ([method, params]) => {
  const { directory, url } = await start();
  const id = await beginSession(url);
  const old = { jsonrpc: "2.0", id: 3, method, params };

  const modern = await readAnswer(await post2026(url, method, params));
  const legacy = await readAnswer(await post(url, old, { "mcp-session-id": id }));

  for (const answer of [modern, legacy]) expect(JSON.stringify(answer)).not.toContain(directory);
});

test.for([
  ["activate_skill", { name: "pdf" }],
  ["read_skill", { name: "pdf" }],
  ["read_skill_file", { skill: "pdf", path: "notes.md" }],
] as const)("%s of a skill that is not trusted does not tell its path over HTTP", async ([name, given]) => {
  const { directory, url } = await start({ status: "untrusted", changed: [] });

  const text = JSON.stringify(await readAnswer(await post2026(url, "tools/call", { name, arguments: given })));

  expect(text).toContain("then run: kitbag trust <the folder of pdf>");
  expect(text).not.toContain(directory);
});

test("the text of a skill names its files by their URIs over HTTP, and by their paths on stdio", async () => {
  const { directory, server, url } = await start();
  const params = { name: "activate_skill", arguments: { name: "pdf" } };

  const remote = JSON.stringify(await readAnswer(await post2026(url, "tools/call", params)));
  const here = await askOnStdio(server, params);

  expect(remote).toContain("Run python skill://kitbag/pdf/scripts/x.py, see skill://kitbag/pdf/notes.md.");
  expect(remote).toContain("Base directory for this skill: skill://kitbag/pdf");
  expect(here).toContain(`Run python ${directory}/pdf/scripts/x.py, see ${directory}/pdf/notes.md.`);
});

async function start(trust?: SkillTrust): Promise<ListeningServer & { readonly directory: string }> {
  const directory = createFolder({
    "pdf/SKILL.md": `---\nname: pdf\ndescription: Reads PDF files\n---\n${body}\n`,
    "pdf/scripts/x.py": '"""Says hello."""\nprint("hello")\n',
    "pdf/notes.md": "# Notes\n",
  });
  const { reports } = await loadSkills({ directories: [directory] });
  const workspace = createWorkspace({ skills: reports.flatMap(({ skill }) => withTrust(skill, trust) ?? []) });
  return { directory, ...(await listen({ workspace })) };
}

function withTrust(skill: Skill | undefined, trust: SkillTrust | undefined): Skill | undefined {
  const { folder } = skill ?? {};
  return skill && folder && trust ? { ...skill, folder: { ...folder, trust } } : skill;
}

async function askOnStdio(server: McpServing, params: object): Promise<string> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const serving = await server.serveStdio({ input, output });
  onTestFinished(() => serving.close());
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, _meta } };
  input.write(`${JSON.stringify(message)}\n`);
  const [line] = (await once(output, "data")) as [Buffer];
  return line.toString();
}
