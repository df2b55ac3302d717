import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type JsonObject, type JsonValue } from "kitbag";
import { sqliteStore } from "kitbag/store";
import { expect, test } from "vitest";

import { createProject, runKitbag, type Project } from "../../../test/run-kitbag.ts";

test("kitbag stats shows what the log says, plain in a pipe", async () => {
  const project = createProject();
  await record(project);

  const run = await runKitbag(["stats", "--since", "all"], { project });

  expect(run.stderr).toBe("");
  expect(run.code).toBe(0);
  expect(run.stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/gu, "2026-03-02 12:00:00")).toMatchInlineSnapshot(`
    "5 calls until now · 1 failed (20 %) · 1 recalled · p50 20 ms, p95 50 ms, p99 50 ms
    .kitbag/kitbag.db

    TOOL       CALLS  FAILED    RECALLED  WAITED        COST  P50    P95    P99
    geo/place  3      1 (33 %)  1         1 (p95 5 ms)  -     10 ms  20 ms  20 ms
    inner      1      -         -         -             -     30 ms  30 ms  30 ms
    outer      1      -         -         -             -     50 ms  50 ms  50 ms

    SKILL OR COMPONENT  CALLS  FAILED    RECALLED  WAITED        COST  P50    P95    P99
    geo                 3      1 (33 %)  1         1 (p95 5 ms)  -     10 ms  20 ms  20 ms

    ERROR        CALLS
    tool-failed  1

    SLOWEST CALL  TOOK   ENDED                TOOL
    c4            50 ms  2026-03-02 12:00:00  outer
    c2            20 ms  2026-03-02 12:00:00  geo/place
    c1            10 ms  2026-03-02 12:00:00  geo/place
    c3            1 ms   2026-03-02 12:00:00  geo/place
    "
  `);
});

test("kitbag stats shows what calls cost, if they cost something", async () => {
  const project = createProject();
  await record(project);
  const store = await sqliteStore({ file: join(project.folder, ".kitbag/kitbag.db") });
  await store.log.append("calls", [
    start("c6", "outer"),
    { ...end("c6", "outer", 1, { status: "ok", output: 1 }), costUsd: 0.25 },
  ]);
  await store.close();

  const run = await runKitbag(["stats"], { project });

  const [total, , , heading, first] = run.stdout.split("\n");
  expect(total).toContain(" · $0.250");
  expect(heading).toMatch(/ COST +P50 /u);
  expect(first).toMatch(/^geo\/place .* - +10 ms/u);
  expect(run.stdout).toMatch(/^outer .* \$0\.250 /mu);
});

test("kitbag stats tells of calls whose process was killed", async () => {
  const project = createProject({ "tools.mjs": dyingTool });
  const killed = await runKitbag(["call", "die", "--module", "tools.mjs"], { project });
  const alone = await runKitbag(["stats"], { project });
  await runKitbag(["call", "live", "--module", "tools.mjs"], { project });

  const run = await runKitbag(["stats"], { project });

  expect(killed.code).not.toBe(0);
  const told = "1 more call has no end: still running, or the process died; see kitbag audit show";
  expect(alone.stdout).toMatch(/^No call ended in 24 hours in /u);
  expect(alone.stdout).toContain(told);
  expect(run.stdout).toMatch(/^1 call in 24 hours /u);
  expect(run.stdout).toContain(`\n${told}\n`);
});

test("kitbag stats --json gives the numbers", async () => {
  const project = createProject();
  await record(project);

  const run = await runKitbag(["stats", "--tool", "geo", "--json"], { project });

  expect(JSON.parse(run.stdout)).toMatchObject({
    store: join(project.folder, ".kitbag/kitbag.db"),
    total: { calls: 3, errors: 1, recalled: 1 },
    tools: [{ tool: "geo/place", calls: 3 }],
    owners: [{ owner: "geo" }],
    slowest: [{ call: "c2", durationMs: 20 }, {}, {}],
  });
});

test("kitbag stats says that there is nothing, and makes no store", async () => {
  const project = createProject();

  const run = await runKitbag(["stats"], { project });

  expect(run.stdout).toMatch(/^No calls in 24 hours in .*kitbag\.db\. What kitbag call does is recorded/u);
  expect(() => readFileSync(join(project.home, "kitbag.db"))).toThrow(/ENOENT/u);
});

test("kitbag stats --flame writes a page, and a file for speedscope", async () => {
  const project = createProject();
  await record(project);

  const page = await runKitbag(["stats", "--flame", "c4", "--out", "flame.html"], { project });
  const file = await runKitbag(["stats", "--flame", "c4", "--out", "flame.speedscope.json", "--json"], { project });

  expect(page.stdout).toBe("Wrote flame.html: outer, 50 ms, 2 calls\n");
  expect(readFileSync(join(project.folder, "flame.html"), "utf8")).toContain("<title>outer: 50 ms</title>");
  expect(JSON.parse(file.stdout)).toMatchObject({ tool: "outer", calls: 2, durationMs: 50 });
  const written = JSON.parse(readFileSync(join(project.folder, "flame.speedscope.json"), "utf8")) as JsonValue;
  expect(written).toMatchObject({ shared: { frames: [{ name: "outer" }, { name: "inner" }] } });
});

test("kitbag stats reads the store of a configuration that is trusted, and shows no path for it", async () => {
  const project = createProject({
    "kitbag.config.mjs":
      'import { sqliteStore } from "kitbag/store";\nexport default async () => ({ store: await sqliteStore({ file: "own/kept.db" }) });\n',
    "own/.gitignore": "*\n",
  });
  await record(project, "own/kept.db");

  const untrusted = await runKitbag(["stats", "--since", "all"], { project });
  await runKitbag(["trust", "."], { project });
  const trusted = await runKitbag(["stats", "--since", "all"], { project });

  expect(untrusted.stdout).toContain("No calls until now in .kitbag/kitbag.db");
  expect(trusted.stdout).toMatch(/^5 calls until now .*\nthe store of the configuration\n/u);
});

test.for([
  [["--flame", "c4"], 2, "without a file: add --out flame.html"],
  [["--flame", "c4", "--out", "flame.svg"], 2, "without a file: add --out flame.html"],
  [["--flame", "nobody", "--out", "flame.html"], 1, 'Cannot find the call "nobody"'],
  [["--flame", "c4", "--out", "missing/flame.html"], 2, "Cannot write missing/flame.html: ENOENT"],
  [["--out", "flame.html"], 2, "Cannot use --out without --flame"],
  [["--since", "soon"], 2, 'Cannot use --since "soon"'],
  [["--store", "none"], 2, "Cannot use the store none"],
  [["--store", "file.db"], 2, "Cannot use --store"],
] as const)("kitbag stats %j says what is wrong", async ([words, code, message]) => {
  const project = createProject();
  await record(project);

  const run = await runKitbag(["stats", ...words], { project });

  expect(run.stderr).toContain(message);
  expect(run.code).toBe(code);
});

const dyingTool = `
import { defineTool } from "kitbag";

export default [
  defineTool({ name: "die", description: "Kills its process", run: () => process.kill(process.pid, "SIGKILL") }),
  defineTool({ name: "live", description: "Does nothing", run: () => 1 }),
];
`;

/** Records some calls in the store of a project. */
async function record({ folder, write }: Project, file = ".kitbag/kitbag.db"): Promise<void> {
  write(".kitbag/.gitignore", "*\n");
  const store = await sqliteStore({ file: join(folder, file) });
  const error = { code: "tool-failed", message: "no", details: {} };
  await store.log.append("calls", [
    start("c1", "geo/place"),
    end("c1", "geo/place", 10, { status: "ok", output: 1 }),
    start("c2", "geo/place"),
    { ...end("c2", "geo/place", 20, { status: "failed", error }), queuedMs: 5 },
    start("c3", "geo/place"),
    end("c3", "geo/place", 1, { status: "ok", output: 1, recalled: "cache" }),
    start("c4", "outer"),
    start("c5", "inner", "c4"),
    end("c5", "inner", 30, { status: "ok", output: 1 }),
    end("c4", "outer", 50, { status: "ok", output: 1 }),
  ]);
  await store.close();
}

function start(call: string, tool: string, parent?: string): JsonValue {
  const source = tool.includes("/") ? "skill" : "global";
  const owner = tool.includes("/") ? "geo" : "global";
  return { type: "call-start", call, tool, source, owner, input: {}, time: 0, ...(parent !== undefined && { parent }) };
}

function end(call: string, tool: string, durationMs: number, outcome: JsonValue): JsonObject {
  return { type: "call-end", call, tool, durationMs, outcome };
}
