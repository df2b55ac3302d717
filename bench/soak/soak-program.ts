/**
 * The server of the soak: tools come, change and go, ten times a second; every few seconds one is made by the forge, tried in the
 * sandbox. Whoever started it asks it things.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWorkspace, defineTool, type Tool } from "kitbag";
import { openForge, type ForgeAnswer } from "kitbag/forge";
import { createMcpServer, openGate } from "kitbag/mcp";
import { openRuntimes } from "kitbag/runtimes";
import { sqliteStore } from "kitbag/store";

import type { Asked, Told } from "./soak-messages.ts";

const changeMs = 100;
const forgeMs = 4000;
/** So many of the tools that come and go are there at once. */
const mostTools = 20;

const directory = mkdtempSync(join(tmpdir(), "kitbag-soak-"));
const store = await sqliteStore({ file: join(directory, "calls.db") });
const runtimes = openRuntimes({ home: join(directory, "home") });
const echo = defineTool({
  name: "echo",
  description: "Echoes",
  input: { type: "object", properties: { msg: { type: "string" } }, required: ["msg"] },
  run: ({ msg }) => msg,
});
const workspace = createWorkspace({ tools: [echo], store, runtimes });
const forge = await openForge({ workspace, directory, home: join(directory, "home"), store, runtimes, watch: false });
const server = createMcpServer({ workspace, store, forge });
const gate = await openGate({ routes: [server.route()] });

/** Changes that come in one go are one. */
let changes = 0;
let isCounted = false;
workspace.onChange(() => {
  if (isCounted) return;
  isCounted = true;
  changes += 1;
  queueMicrotask(() => (isCounted = false));
});

let step = 0;
let forged = 0;
let forging: Promise<void> = Promise.resolve();
let timers: NodeJS.Timeout[] = [];

function toTool(name: string, revision: number): Tool {
  return defineTool({
    name,
    description: `Revision ${revision} of ${name}`,
    input: echo.inputSchema,
    run: () => revision,
  });
}

/** Adds, replaces and removes in turn. */
function change(): void {
  const round = Math.floor(step / 3);
  const gone = `tool-${round - mostTools}`;
  if (step % 3 === 0) workspace.add(toTool(`tool-${round}`, step));
  else if (step % 3 === 1) workspace.replace(toTool(`tool-${round}`, step));
  else if (workspace.getTool(gone) !== undefined) workspace.remove(gone);
  step += 1;
}

async function forgeOne(): Promise<void> {
  forged += 1;
  const answer: ForgeAnswer = await forge.createTool({
    name: `forged-${forged}`,
    description: "Says something",
    language: "bash",
    code: `cat > /dev/null\necho ${forged}\n`,
    examples: [{ input: {}, output: String(forged) }],
  });
  if (answer.status !== "live") throw new Error(`The forge made no tool: ${JSON.stringify(answer)}`);
  if (forged > 1) await forge.deleteTool(`forged-${forged - 1}`);
}

async function answer(asked: Asked): Promise<Told> {
  if (asked === "begin") {
    changes = 0;
    forging = forgeOne();
    timers = [
      setInterval(change, changeMs),
      setInterval(() => {
        forging = forging.then(forgeOne);
      }, forgeMs),
    ];
  }
  if (asked === "stop") {
    for (const timer of timers) clearInterval(timer);
    await forging;
  }
  if (asked === "last") workspace.add(toTool("last", 0));
  if (asked === "memory") {
    globalThis.gc?.();
    globalThis.gc?.();
  }
  const { heapUsed, rss } = process.memoryUsage();
  const names = workspace.getAvailableTools().map(({ wireName }) => wireName);
  return { port: Number(new URL(gate.url).port), changes, forged, names, heapBytes: heapUsed, rssBytes: rss };
}

process.on("message", (asked: Asked) => {
  void answer(asked).then((told) => process.send?.(told));
});
process.on("disconnect", () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
