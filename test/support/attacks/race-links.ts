/**
 * Races a link against grants, as the user who starts it: `race-links.ts <sandbox> <way> <read|write> <calls>`. One tool may write
 * `./out/`, and swaps `./out/data` with a link to a folder that no tool was granted, as fast as it can. Another tool is granted
 * `./out/data` and is called meanwhile. Prints a line of JSON: how many calls ran, and how many reached the folder behind the link.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { createWorkspace } from "kitbag";
import { openRuntimes } from "kitbag/runtimes";

import { sandboxNames } from "../../../src/sandbox/sandbox.ts";
import { createPlainTool } from "./plain-tool.ts";

/** What became of the calls of one race. */
export interface LinkRace {
  /** Calls that ran, with the granted folder. */
  readonly inside: number;
  /** Calls that read or wrote behind the link. */
  readonly outside: number;
  /** Calls that were refused, because the link was seen before they started. */
  readonly refused: number;
  /** Calls that were refused, because the link came while their sandbox was made. */
  readonly replaced: number;
  /** Why calls failed that were neither. */
  readonly others: readonly string[];
  /** How often the link was swapped. */
  readonly swaps: number;
}

const swapper = `use POSIX;
my $renameat2 = (POSIX::uname())[4] eq "aarch64" ? 276 : 316;
chdir "out" or die $!;
open my $started, ">", "started" or die $!;
my ($count, $one, $other) = (0, "data", "link");
until (-e "stop") {
  for (1 .. 50) {
    # Both names change places in one step, so that one of them is always there.
    syscall($renameat2, -100, $one, -100, $other, 2) == 0 or die $!;
    $count++;
  }
}
print "$count\\n";
`;
const reader = `cat out/data/note.txt; for file in out/data/*; do [ -L "$file" ] && echo link; done; true`;
const writer = `echo planted > out/data/planted-$$-$RANDOM && cat out/data/note.txt`;

const [name, way, kind, calls] = process.argv.slice(2);
const sandbox = sandboxNames.find((known) => known === name);
if (sandbox === undefined) throw new TypeError(`there is no sandbox ${name}`);
const options = { sandbox, warm: way === "warm" };
console.log(JSON.stringify(await race(kind === "write" ? "write" : "read", Number(calls))));

async function race(access: "read" | "write", count: number): Promise<LinkRace> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "kitbag-race-")));
  const [project, foreign] = [join(root, "project"), join(root, "foreign")];
  mkdirSync(join(project, "out/data"), { recursive: true });
  mkdirSync(foreign);
  writeFileSync(join(project, "out/data/note.txt"), "inside");
  writeFileSync(join(foreign, "note.txt"), "outside");
  symlinkSync(foreign, join(project, "out/link"));
  const runtimes = openRuntimes({ directory: project, home: join(root, "home"), ...options });
  const victim = access === "read" ? { read: ["./out/data"] } : { write: ["./out/data/"] };
  const workspace = createWorkspace({
    tools: [
      createPlainTool(root, "swap", { source: swapper, extension: "pl", permissions: { write: ["./out/"] } }),
      createPlainTool(root, "victim", {
        source: access === "read" ? reader : writer,
        extension: "sh",
        permissions: victim,
      }),
    ],
    runtimes,
  });
  try {
    const swapping = workspace.call("swap", {});
    const hasStarted = (): boolean => existsSync(join(project, "out/started"));
    while (!hasStarted() && (await Promise.race([swapping, sleep(20)])) === undefined);
    const found = await callAll(count, () => workspace.call("victim", {}));
    writeFileSync(join(project, "out/stop"), "");
    const swapped = await swapping;
    if (swapped.status !== "ok") throw new Error(swapped.error.message);
    const planted = readdirSync(foreign).filter((file) => file !== "note.txt").length;
    return { ...found, outside: found.outside + planted, swaps: Number(swapped.output) };
  } finally {
    await runtimes.close();
    if (existsSync(root)) rmSync(root, { recursive: true, force: true });
  }
}

interface Failure {
  readonly code: string;
  readonly message: string;
}

type Outcome = Awaited<ReturnType<ReturnType<typeof createWorkspace>["call"]>>;

async function callAll(count: number, call: () => Promise<Outcome>): Promise<Omit<LinkRace, "swaps">> {
  const outcomes: Outcome[] = [];
  const one = async (): Promise<void> => {
    while (outcomes.length < count) outcomes.push(await call());
  };
  await Promise.all([one(), one()]);
  const outputs = outcomes.flatMap((outcome) => (outcome.status === "ok" ? [outcome.output] : []));
  const failures = outcomes.flatMap((outcome) => (outcome.status === "ok" ? [] : [outcome.error]));
  const isRefusal = ({ code }: Failure): boolean => ["permission-refused", "grant-changed"].includes(code);
  const isReplaced = ({ message }: Failure): boolean => message.includes("→ a granted path was replaced");
  return {
    inside: outputs.filter((output) => output === "inside").length,
    outside: outputs.filter((output) => output !== "inside").length,
    refused: failures.filter(isRefusal).length,
    replaced: failures.filter(isReplaced).length,
    others: failures.filter((error) => !isRefusal(error) && !isReplaced(error)).map(({ message }) => message),
  };
}
