import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject, type Project } from "../../../test/run-kitbag.ts";
import { toDigest } from "../../platform/digest.ts";
import { loadTrust } from "../../skills/trust/trust-file.ts";
import { requireTrust } from "./require-trust.ts";

test("requireTrust() asks a person once, with every file, and remembers a yes", async () => {
  const { path, home, folder } = create();
  const questions: string[] = [];
  const terminal = answering("y", questions);

  const first = await requireTrust(path, home, terminal);
  const second = await requireTrust(path, home, terminal);

  expect(second).toEqual(first);
  expect(questions).toEqual([
    [
      "This configuration is new here:",
      `  ${path}`,
      "It loads:",
      `  ${join(folder, "tools.mjs")}`,
      "It runs as a program with all your rights. Trust it as it is now? [y/N] ",
    ].join("\n"),
  ]);
});

test("requireTrust() does not call data a program", async () => {
  const project = createProject({ "kitbag.config.json": '{ "mcp": { "far": { "url": "https://example.com/mcp" } } }' });
  const path = join(project.folder, "kitbag.config.json");
  const questions: string[] = [];

  await expect(requireTrust(path, project.home, answering("n", questions), ["mcp.far"])).rejects.toThrow(
    `Cannot load "${path}": it sets mcp.far, which can start programs, send prompts and keys elsewhere, or loosen limits, and is not trusted`,
  );

  expect(questions[0]).toContain("It is data, and sets what needs trust: mcp.far. That can start MCP servers");
});

test.for(["n", "", "yep", "ja", undefined])("requireTrust() takes %j for a no", async (answer) => {
  const { path, home } = create();

  await expect(requireTrust(path, home, answering(answer))).rejects.toMatchObject({ code: "config-untrusted" });

  expect(loadTrust(home).configs.size).toBe(0);
});

test("requireTrust() asks again when a file has changed, and says which", async () => {
  const project = create();
  const questions: string[] = [];
  await requireTrust(project.path, project.home, answering("yes"));
  const changed = project.write("tools.mjs", "export const tools = []; // other");

  await requireTrust(project.path, project.home, answering("YES", questions));

  expect(questions[0]).toContain("This configuration has changed since you trusted it:");
  expect(questions[0]).toContain(`Changed:\n  ${changed}`);
  expect(loadTrust(project.home).configs.get(project.path)?.get(changed)).toBe(
    toDigest(Buffer.from("export const tools = []; // other")),
  );
});

test("requireTrust() trusts what the person was shown, not what is there after the answer", async () => {
  const project = create();
  const before = toDigest(Buffer.from("export const tools = [];"));

  const digests = await requireTrust(project.path, project.home, {
    canAsk: true,
    async ask() {
      project.write("tools.mjs", "evil()");
      return "y";
    },
  });

  expect(digests.get(join(project.folder, "tools.mjs"))).toBe(before);
});

test("requireTrust() does not ask where nobody is", async () => {
  const { path, home } = create();
  const questions: string[] = [];

  await expect(requireTrust(path, home, { ...answering("y", questions), canAsk: false })).rejects.toMatchObject({
    code: "config-untrusted",
    details: { path, changed: [] },
  });

  expect(questions).toEqual([]);
});

function create(): Project & { readonly path: string } {
  const project = createProject({
    "kitbag.config.mjs": 'import { tools } from "./tools.mjs"; export default { tools };',
    "tools.mjs": "export const tools = [];",
  });
  return { ...project, path: join(project.folder, "kitbag.config.mjs") };
}

function answering(answer: string | undefined, questions: string[] = []) {
  return {
    canAsk: true,
    async ask(question: string): Promise<string | undefined> {
      questions.push(question);
      return answer;
    },
  };
}
