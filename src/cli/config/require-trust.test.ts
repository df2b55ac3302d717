import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createProject, type Project } from "../../../test/run-kitbag.ts";
import { toDigest } from "./project-files.ts";
import { requireTrust } from "./require-trust.ts";
import { loadTrust, updateTrust } from "./trust-file.ts";

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

test.for(["n", "", "yep", "ja", undefined])("requireTrust() takes %j for a no", async (answer) => {
  const { path, home } = create();

  await expect(requireTrust(path, home, answering(answer))).rejects.toMatchObject({ code: "config-untrusted" });

  expect(loadTrust(home).size).toBe(0);
});

test("requireTrust() asks again when a file has changed, and says which", async () => {
  const project = create();
  const questions: string[] = [];
  await requireTrust(project.path, project.home, answering("yes"));
  const changed = project.write("tools.mjs", "export const tools = []; // other");

  await requireTrust(project.path, project.home, answering("YES", questions));

  expect(questions[0]).toContain("This configuration has changed since you trusted it:");
  expect(questions[0]).toContain(`Changed:\n  ${changed}`);
  expect(loadTrust(project.home).get(project.path)?.get(changed)).toBe(
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

test("updateTrust() keeps what others wrote meanwhile", async () => {
  const { home } = create();
  const paths = Array.from({ length: 20 }, (_, index) => `/project-${index}/kitbag.config.ts`);

  await Promise.all(paths.map((path) => updateTrust(home, (trusted) => trusted.set(path, new Map()))));

  expect([...loadTrust(home).keys()].toSorted()).toEqual(paths.toSorted());
});

test("updateTrust() takes over a lock that a killed program left", async () => {
  const { home } = create();
  mkdirSync(home);
  const lock = join(home, "trust.json.lock");
  writeFileSync(lock, "");
  utimesSync(lock, new Date(0), new Date(0));

  await updateTrust(home, (trusted) => trusted.set("/x/kitbag.config.ts", new Map()));

  expect(loadTrust(home).size).toBe(1);
});

test("updateTrust() says why it cannot write", async () => {
  const { home } = create();
  writeFileSync(home, "a file where the folder should be");

  await expect(updateTrust(home, () => {})).rejects.toMatchObject({ code: "config-invalid" });
});

test.for([
  '{"version": 2, "trusted": []}',
  '{"version": 1}',
  '{"version": 1, "trusted": [null]}',
  '{"version": 1, "trusted": [{"config": "relative.ts", "files": []}]}',
  '{"version": 1, "trusted": [{"config": "/x.ts", "files": [{"path": "/x.ts", "digest": "md5:1"}]}]}',
  '{"version": 1, "trusted": [{"config": "/x.ts", "files": {"__proto__": 1}}]}',
])("loadTrust() fails closed for %s", (text) => {
  const { home } = create();
  mkdirSync(home);
  writeFileSync(join(home, "trust.json"), text, { mode: 0o600 });

  expect(() => loadTrust(home)).toThrow("nothing is trusted until you have looked at it");
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
