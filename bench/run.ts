/**
 * Answers the questions of this folder, all of them or those that are named: `npm run bench`, `npm run bench call`. Each runs in a
 * process of its own, against the built package. Ends with 1 if a target is missed.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";

import { measure, type Answer } from "./measure.ts";
import type { Question } from "./question.ts";
import { renderAnswer, renderReadme, type Results } from "./report.ts";

const questions: Readonly<Record<string, () => Promise<{ default: Question }>>> = {
  agent: () => import("./agent.ts"),
  "agent-durable": () => import("./agent-durable.ts"),
  "agent-load": () => import("./agent-load.ts"),
  "agent-memory": () => import("./agent-memory.ts"),
  call: () => import("./call.ts"),
  code: () => import("./code.ts"),
  compress: () => import("./compress.ts"),
  define: () => import("./define.ts"),
  "http-api": () => import("./http-api.ts"),
  limits: () => import("./limits.ts"),
  "limits-shared": () => import("./limits-shared.ts"),
  mcp: () => import("./mcp.ts"),
  "mcp-http": () => import("./mcp-http.ts"),
  "mcp-soak": () => import("./mcp-soak.ts"),
  "mcp-start": () => import("./mcp-start.ts"),
  memory: () => import("./memory.ts"),
  sandbox: () => import("./sandbox.ts"),
  "sandbox-load": () => import("./sandbox-load.ts"),
  "sandbox-memory": () => import("./sandbox-memory.ts"),
  "skill-check": () => import("./skill-check.ts"),
  skills: () => import("./skills.ts"),
  "start-up": () => import("./start-up.ts"),
  store: () => import("./store.ts"),
  "store-log": () => import("./store-log.ts"),
  "store-queue": () => import("./store-queue.ts"),
  tokens: () => import("./tokens.ts"),
  wasm: () => import("./wasm.ts"),
};
/** Those that need packages which are measured and nowhere else needed. */
const withPeers: ReadonlySet<string> = new Set(["agent", "agent-load", "agent-memory", "mcp", "mcp-http", "mcp-start"]);
const allNames = Object.keys(questions);
const root = resolve(import.meta.dirname, "..");
const resultsFile = join(import.meta.dirname, "results.json");
const readmeFile = join(import.meta.dirname, "README.md");

const [first, ...rest] = process.argv.slice(2);
if (first === "--answer") await answerHere(rest[0] ?? "");
else answerAll(first === undefined ? allNames : [first, ...rest]);

/** Answers one question in this process, for the process that asked. */
async function answerHere(name: string): Promise<void> {
  const load = questions[name];
  if (load === undefined) throw new Error(`Cannot answer "${name}": there is no such question`);
  const { default: question } = await load();
  // Servers that are measured would keep this process alive.
  process.stdout.write(JSON.stringify(await measure(question)), () => process.exit());
}

function answerAll(names: readonly string[]): void {
  const unknown = names.filter((name) => !allNames.includes(name));
  if (unknown.length > 0) {
    console.error(`Cannot answer ${unknown.join(", ")}: the questions are ${allNames.join(", ")}`);
    process.exit(2);
  }
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], { stdio: "inherit" });
  if (names.some((name) => withPeers.has(name))) installPeers();
  const found: Record<string, Answer> = {};
  for (const name of names) {
    const args = [import.meta.filename, "--answer", name];
    const { status, stdout } = spawnSync(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit"],
      encoding: "utf8",
    });
    if (status !== 0) process.exit(1);
    const answer = JSON.parse(stdout) as Answer;
    found[name] = answer;
    console.log(`\n${renderAnswer(name, answer)}`);
  }
  keep(found);
  const missed = Object.values(found).some(({ targets }) => targets.some(({ met }) => !met));
  process.exitCode = missed ? 1 : 0;
}

/** Peers that nothing else needs have a package of their own, so that nobody installs them who measures nothing. */
function installPeers(): void {
  const folder = join(import.meta.dirname, "peers");
  if (existsSync(join(folder, "node_modules"))) return;
  execFileSync("npm", ["ci", "--ignore-scripts"], { cwd: folder, stdio: "inherit" });
}

/** Answers of other questions stay, unless they were found on another machine. */
function keep(found: Readonly<Record<string, Answer>>): void {
  const machine = { node: process.versions.node, cores: availableParallelism() };
  const before = readResults();
  const same = before !== undefined && before.node === machine.node && before.cores === machine.cores;
  const results: Results = { ...machine, answers: { ...(same ? before.answers : {}), ...found } };
  writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(readmeFile, renderReadme(readFileSync(readmeFile, "utf8"), results));
}

function readResults(): Results | undefined {
  try {
    return JSON.parse(readFileSync(resultsFile, "utf8")) as Results;
  } catch {
    return undefined;
  }
}
