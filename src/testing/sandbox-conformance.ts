import assert from "node:assert/strict";
import { text } from "node:stream/consumers";

import {
  defaultLimits,
  guarantees,
  type ExitStatus,
  type Guarantee,
  type Mount,
  type Profile,
  type Sandbox,
} from "../sandbox/sandbox.ts";
import { testSandbox, type SelfTest } from "../sandbox/self-test.ts";
import { openWorkArea, type WorkArea } from "../sandbox/work-area.ts";
import type { ConformanceCheck } from "./conformance.ts";
import { within } from "./store/store-check.ts";

/**
 * The checks that every {@link Sandbox} must pass: how programs start and end, and that it holds them to each guarantee it gives. A
 * guarantee that it does not give is not checked. `create` is called once for each check; the check closes the sandbox.
 *
 * @example
 * ```ts
 * import { openRuntimes } from "kitbag/runtimes";
 * import { sandboxConformance } from "kitbag/testing";
 *
 * const [check] = sandboxConformance(() => openRuntimes({ sandbox: "off" }).findSandbox());
 * await check?.run();
 * ```
 */
export function sandboxConformance(create: () => Sandbox | Promise<Sandbox>): readonly ConformanceCheck[] {
  let tested: Promise<SelfTest> | undefined;
  const guaranteed = guarantees.map((guarantee) => [
    `enforces "${guarantee}" if it says so`,
    async (stage: Stage) => {
      if (!stage.sandbox.enforces.has(guarantee)) return;
      // One test tries all of them.
      tested ??= testSandbox(stage.sandbox, stage.area);
      checkGuarantee(guarantee, await tested);
    },
  ]);
  const checks: SandboxChecks = { ...programChecks, ...mountChecks, ...Object.fromEntries(guaranteed) };
  return Object.entries(checks).map(([name, check]) => ({ name, run: () => runCheck(create, check) }));
}

function checkGuarantee(guarantee: Guarantee, { broken, enforced }: SelfTest): void {
  const found = broken.find((problem) => problem.guarantee === guarantee)?.found;
  assert.equal(found, undefined, `it does not hold programs to "${guarantee}": ${found}`);
  assert.ok(enforced.includes(guarantee), `nothing shows that it holds programs to "${guarantee}"`);
}

async function runCheck(create: () => Sandbox | Promise<Sandbox>, check: SandboxChecks[string]): Promise<void> {
  const sandbox = await create();
  const area = openWorkArea();
  try {
    await check?.({ sandbox, area });
  } finally {
    await sandbox.close();
    await area.remove();
  }
}

/** What programs are shown of the host. */
const mountChecks: SandboxChecks = {
  "start() shows what is mounted, and keeps what is written where that was granted": async ({ sandbox, area }) => {
    const mounts = [given(area, true)];

    const written = await runIn(sandbox, ["tee", "/given/file"], { mounts, input: "kept" });
    const { stdout } = await runIn(sandbox, ["cat", "/given/file"], { mounts: [given(area, false)] });

    assert.deepEqual([written.exit, stdout], [{ code: 0 }, "kept"]);
  },
  "start() lets nothing be written that was only given to read": enforcing(async ({ sandbox, area }) => {
    const { exit } = await runIn(sandbox, ["tee", "/given/file"], { mounts: [given(area, false)], input: "x" });

    assert.notEqual(exit.code, 0);
  }),
  "start() shows nothing of the host that is not mounted": enforcing(async ({ sandbox, area }) => {
    await runIn(sandbox, ["tee", "/given/file"], { mounts: [given(area, true)], input: "secret" });

    const { stdout } = await runShell(
      sandbox,
      `cat ${area.own}/file ${area.own}/../*/file /etc/shadow /proc/1/root${area.own}/file`,
    );

    assert.equal(stdout, "");
  }),
  "start() gives every program a temporary directory of its own": enforcing(async ({ sandbox }) => {
    await runShell(sandbox, "echo left > /tmp/left; echo left > /dev/shm/left");

    const { stdout } = await runShell(sandbox, "cat /tmp/left /dev/shm/left; ls -A /tmp");

    assert.equal(stdout, "");
  }),
  "start() refuses words that have a zero byte": enforcing(async ({ sandbox }) => {
    const environment = { GIVEN: "a\0--bind\0/\0/host" };

    await assert.rejects(runIn(sandbox, ["true"], { environment }));
    await assert.rejects(runIn(sandbox, ["printf", "a\0b"]));
  }),
};

function given({ own }: Stage["area"], write: boolean): Mount {
  return { source: own, target: "/given", granted: true, write };
}

/** A sandbox that does not say that it holds files back is not asked. */
function enforcing(check: (stage: Stage) => Promise<void>): (stage: Stage) => Promise<void> {
  return async (stage) => {
    if (stage.sandbox.enforces.has("files")) await check(stage);
  };
}

/** What a check works with: a sandbox of its own, and directories of the host that vanish with it. */
interface Stage {
  readonly sandbox: Sandbox;
  readonly area: WorkArea;
}

/** Checks by name. */
type SandboxChecks = Readonly<Record<string, (stage: Stage) => Promise<void>>>;

/** What a program may use that needs nothing. */
const plainProfile: Profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };

/** How a program ended, and what it said. */
interface Ended {
  readonly exit: ExitStatus;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
async function runIn(
  sandbox: Sandbox,
  command: readonly string[],
  { input, ...profile }: Partial<Profile> & { readonly input?: string } = {},
): Promise<Ended> {
  const started = await sandbox.start({ ...plainProfile, ...profile }, command, input);
  const [stdout, stderr, exit] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  return { stdout, stderr, exit };
}

/** Runs a line of the shell to its end. */
function runShell(sandbox: Sandbox, line: string, more: Parameters<typeof runIn>[2] = {}): Promise<Ended> {
  return runIn(sandbox, ["bash", "-c", line], more);
}

const hostileWords = [
  "",
  " ",
  "--",
  "-c",
  "$(id)",
  "`id`",
  "a\nb",
  "'",
  '"',
  "\\",
  "*",
  "~",
  "é😀",
  "--bind",
  "/",
  "run",
];

/** How programs are started, and how they end, whatever is enforced. */
const programChecks: SandboxChecks = {
  "start() hands on arguments as they are": async ({ sandbox }) => {
    const { stdout } = await runIn(sandbox, ["printf", "%s\\0", ...hostileWords]);

    assert.deepEqual(stdout.split("\0").slice(0, -1), hostileWords);
  },
  "start() gives a program its input, also if it opens it by name": async ({ sandbox }) => {
    const input = "line\n".repeat(50_000);

    const { stdout } = await runShell(sandbox, "cat; cat /dev/stdin", { input });

    assert.equal(stdout, input + input);
  },
  "start() keeps what is printed apart, also if a program opens the streams by name": async ({ sandbox }) => {
    const { stdout, stderr } = await runShell(
      sandbox,
      "echo out; echo err >&2; echo out2 > /dev/stdout; echo err2 > /dev/stderr",
    );

    assert.deepEqual([stdout, stderr], ["out\nout2\n", "err\nerr2\n"]);
  },
  "start() gives a program a channel as descriptor 3": async ({ sandbox }) => {
    const started = await sandbox.start(plainProfile, ["bash", "-c", 'read -r line <&3; echo "heard $line" >&3']);
    started.channel.write("hello\n");

    const answer = await within(text(started.channel), "the channel");

    assert.equal(answer, "heard hello\n");
    assert.deepEqual(await started.exit, { code: 0 });
  },
  "start() sets the variables of the profile": async ({ sandbox }) => {
    const environment = { GIVEN: "a\nb=c", __proto__: "x", LANG: "C" };

    const { stdout } = await runShell(sandbox, 'printf "%s|%s" "$GIVEN" "$LANG"', { environment });

    assert.equal(stdout, "a\nb=c|C");
  },
  "start() starts a program in the directory of the profile": async ({ sandbox }) => {
    const { stdout } = await runIn(sandbox, ["pwd"], { directory: "/usr" });

    assert.equal(stdout, "/usr\n");
  },
  "start() tells with which code a program ended": async ({ sandbox }) => {
    const { exit } = await runShell(sandbox, "exit 42");

    assert.deepEqual(exit, { code: 42 });
  },
  "start() tells which signal ended a program": async ({ sandbox }) => {
    const { exit } = await runShell(sandbox, "kill -TERM $$; sleep 5");

    assert.deepEqual(exit, { signal: "SIGTERM" });
  },
  "start() runs many programs at once without mixing them": async ({ sandbox }) => {
    const numbers = Array.from({ length: 8 }, (_, index) => String(index));

    const ended = await Promise.all(
      numbers.map((number) =>
        runShell(sandbox, `read -r line; echo "$line $N"`, { input: `${number}\n`, environment: { N: number } }),
      ),
    );

    assert.deepEqual(
      ended.map(({ stdout }) => stdout),
      numbers.map((number) => `${number} ${number}\n`),
    );
  },
  "fillInput() gives a program its input when it already runs": async ({ sandbox }) => {
    const started = await sandbox.start(plainProfile, ["bash", "-c", "read -r line <&3; cat"]);
    started.fillInput("late");
    started.channel.write("go\n");

    const printed = await within(text(started.stdout), "what it prints");

    assert.equal(printed, "late");
  },
  "kill() ends a program that ignores signals, at once": async ({ sandbox }) => {
    const line = "trap '' TERM INT HUP; echo ready; sleep 60 & sleep 60 & wait; sleep 60";
    const started = await sandbox.start(plainProfile, ["bash", "-c", line]);
    await new Promise((resolve) => {
      started.stdout.once("data", resolve);
    });

    started.kill();
    const exit = await within(started.exit, "the end of a program that was killed");

    assert.notEqual(exit.code, 0);
  },
  "kill() may be called again, and after the end": async ({ sandbox }) => {
    const started = await sandbox.start(plainProfile, ["true"]);
    await started.exit;

    started.kill();
    started.kill();

    assert.deepEqual(await started.exit, { code: 0 });
  },
  "close() ends what still runs": async ({ sandbox }) => {
    const started = await sandbox.start(plainProfile, ["sleep", "60"]);

    await within(sandbox.close(), "close()");
    const exit = await within(started.exit, "the end of a program when its sandbox was closed");

    assert.notEqual(exit.code, 0);
  },
};
