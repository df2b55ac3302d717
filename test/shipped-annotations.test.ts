/** What the shipped skills say about their tools: which change something, and which a run may call again after it was cut off. */
import { resolve } from "node:path";

import { loadSkills } from "kitbag/skills";
import { expect, test, vi } from "vitest";

import { createProject, runKitbag } from "./run-kitbag.ts";
import { users } from "./support/example-files.ts";
import { needProgram } from "./support/need-program.ts";
import { startWireModel, toCall } from "./support/wire-model.ts";

vi.setConfig({ testTimeout: 120_000 });

const skills = resolve(import.meta.dirname, "../skills");

/** The shipped tools that change something. A new tool that only reads says so, or stands here. */
const writers = ["license-headers/add-headers", "markdown-toc/toc", "task-list/add", "task-list/finish"];

test("shipped tools that do not write are marked as read-only, and no others are", async (context) => {
  needProgram(context, "python3");
  const tools = await loadTools();

  const unmarked = tools.filter(({ annotations }) => annotations.readOnly !== true);

  expect(unmarked.map(({ address }) => address).toSorted()).toEqual(writers);
  expect(tools.length).toBeGreaterThan(20);
});

test("shipped tools but task-list/add may be called twice", async (context) => {
  needProgram(context, "python3");
  const tools = await loadTools();

  const once = tools.filter(({ annotations }) => annotations.idempotent !== true);

  expect(once.map(({ address }) => address)).toEqual(["task-list/add"]);
});

test("a run that is killed inside a shipped tool goes on by itself", async () => {
  const { env, server } = await startWireModel([
    toCall("json-query__query", { file: "a.json", path: "users[?age>3].name", format: "lines" }),
    { text: "It is Bob." },
  ]);
  const project = createProject({ "a.json": users });
  const shared = ["--skills", skills, "--json"];
  const signal = { name: "SIGKILL", after: '"call-start"' } as const;

  const killed = await runKitbag(["run", "Who is older than 3?", "--skill", "json-query", ...shared], {
    project,
    env,
    signal,
  });
  const list = await runKitbag(["runs", "--json"], { project });
  const { runs } = JSON.parse(list.stdout) as { runs: { id: string }[] };
  const resumed = await runKitbag(["runs", "resume", runs[0]?.id ?? "", ...shared], { project, env });

  expect(killed.stdout).not.toContain('"task-end"');
  expect(resumed.code).toBe(0);
  expect(JSON.stringify(server.requests.at(-1)?.results)).toContain("Bob");
  expect(resumed.stdout).toContain("It is Bob.");
});

interface Marked {
  readonly address: string;
  readonly annotations: { readonly readOnly?: boolean; readonly idempotent?: boolean };
}

async function loadTools(): Promise<Marked[]> {
  const { reports } = await loadSkills({ directories: [skills] });
  return reports.flatMap(({ skill }) =>
    (skill?.tools ?? []).map(({ name, annotations }) => ({ address: `${skill?.name}/${name}`, annotations })),
  );
}
