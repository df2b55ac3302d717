/**
 * Starts a script that sleeps, says which processes it took, and waits to be killed: `start-and-wait.ts <sandbox> <way>`.
 */
import { readFileSync } from "node:fs";

import { corners, countProcesses, openArena, sleep } from "./arena.ts";

const [sandbox, way] = process.argv.slice(2);
const corner = corners.find((known) => known.sandbox === sandbox && known.way === way);
if (corner === undefined) throw new TypeError(`there is no corner ${sandbox} ${way}`);
const { bait, call } = await openArena(corner);
const daemon = `(setsid sleep ${bait.mark} &)`;
const ended = call({
  language: "bash",
  program: `trap '' TERM HUP; ${daemon}; sleep ${bait.mark} & sleep ${bait.mark}`,
});
while (countProcesses(bait.mark) === 0) await sleep(10);
// What is made for the next call, too.
await sleep(300);
process.kill(bait.victim, "SIGKILL");
console.log(JSON.stringify({ mark: bait.mark, started: findDescendants(process.pid), root: bait.root }));
await ended;

function findDescendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => (child === bait.victim ? [] : [child, ...findDescendants(child)]));
}
