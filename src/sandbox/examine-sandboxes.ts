import { backends, findObstacle, type Backend } from "./backends.ts";
import { requiredGuarantees, openMachine, testOrReason, type Machine } from "./find-sandbox.ts";
import { guarantees, type Guarantee, type SandboxName } from "./sandbox.ts";
import { groupBroken } from "./self-test.ts";

/** The result of testing one kind of sandbox. */
export interface ExaminedSandbox {
  readonly name: SandboxName;
  /** `broken`: it is installed, but let a test program do something that it must prevent. */
  readonly status: "works" | "missing" | "broken";
  /** Why it does not work. */
  readonly found?: string;
  /** How to install it. */
  readonly cure?: string;
  /** The guarantees that it kept in the test. */
  readonly enforced: readonly Guarantee[];
}

/** One guarantee of the chosen sandbox, and the mechanism that enforces it. */
export interface ExaminedGuarantee {
  readonly guarantee: Guarantee;
  readonly enforced: boolean;
  readonly how: string;
}

/** The results of testing all kinds of sandboxes on this machine. */
export interface SandboxExamination {
  readonly sandboxes: readonly ExaminedSandbox[];
  /** The sandbox that Kitbag uses; not set if none works. */
  readonly used?: SandboxName;
  /** Why Kitbag uses it, or why it uses none. */
  readonly why: string;
  /** Of the sandbox that Kitbag uses. */
  readonly guarantees: readonly ExaminedGuarantee[];
}

/** Tests every kind of sandbox at the same time, and says which one Kitbag uses. */
export async function examineSandboxes(asked?: SandboxName): Promise<SandboxExamination> {
  const machine = openMachine();
  try {
    const kinds = backends.filter(({ name }) => name !== "off");
    const tests = kinds.map((backend) => examine(backend, machine));
    // The work area of the tests is removed below: no test may still use it, even if one of them failed.
    await Promise.allSettled(tests);
    const sandboxes = await Promise.all(tests);
    const used = choose(sandboxes, asked);
    return {
      sandboxes,
      ...used,
      guarantees: describeAll(used.used, sandboxes, machine.host.groups?.version),
    };
  } finally {
    await machine.close();
  }
}

async function examine(backend: Backend, machine: Machine): Promise<ExaminedSandbox> {
  const { name, cure } = backend;
  const reason = findObstacle(backend);
  if (reason !== undefined) {
    return {
      name,
      status: "missing",
      found: reason,
      ...(backend.platform === process.platform && { cure }),
      enforced: [],
    };
  }
  const sandbox = backend.make(machine.host);
  const result = await testOrReason(sandbox, machine.host.area);
  await sandbox.close();
  if (typeof result === "string") return { name, status: "broken", found: result, enforced: [] };
  const { broken, enforced } = result;
  if (broken.length === 0) return { name, status: "works", enforced };
  const found = [...groupBroken(result)]
    .map(([what, names]) => `${what} (so it does not enforce ${names.join(", ")})`)
    .join("; ");
  return { name, status: "broken", found, enforced };
}

function choose(
  sandboxes: readonly ExaminedSandbox[],
  asked: SandboxName | undefined,
): Pick<SandboxExamination, "used" | "why"> {
  if (asked === "off") return { used: "off", why: "it was asked for; nothing holds programs back" };
  if (asked !== undefined) {
    const works = sandboxes.some(({ name, status }) => name === asked && status === "works");
    return works ? { used: asked, why: "it was asked for" } : { why: `${asked} was asked for, and does not work here` };
  }
  const first = sandboxes.find(
    ({ status, enforced }) => status === "works" && requiredGuarantees.every((name) => enforced.includes(name)),
  );
  if (first === undefined) return { why: "none works here; scripts and WASM tools are refused" };
  return { used: first.name, why: "it is the first that works here" };
}

function describeAll(
  used: SandboxName | undefined,
  sandboxes: readonly ExaminedSandbox[],
  groups: 1 | 2 | undefined,
): ExaminedGuarantee[] {
  if (used === undefined) return [];
  const enforced = sandboxes.find(({ name }) => name === used)?.enforced ?? [];
  return guarantees.map((guarantee) => {
    // Even without a sandbox a program gets no variable that was not named.
    const holds = used === "off" ? guarantee === "environment" : enforced.includes(guarantee);
    return {
      guarantee,
      enforced: holds,
      how: holds ? describeHow(used, guarantee, groups) : (lacking[guarantee] ?? "not enforced"),
    };
  });
}

const lacking: Partial<Record<Guarantee, string>> = {
  disk: "not enforced: a program can fill the temporary directory",
  files: "not enforced: a program reads and writes what you can",
  network: "not enforced: a program reaches what you can",
};

function describeHow(used: SandboxName, guarantee: Guarantee, groups: 1 | 2 | undefined): string {
  const group = groups === undefined ? undefined : `control group v${groups}`;
  if (guarantee === "memory") return group ?? "watched from outside, ten times a second";
  if (guarantee === "process-count")
    return group === undefined ? "a limit of the kernel" : `${group}, and a limit of the kernel`;
  if (used === "seatbelt") return guarantee === "environment" ? "set anew" : "rules of macOS";
  return means[guarantee];
}

/** How Linux enforces each guarantee. */
const means: Record<Guarantee, string> = {
  files: "a mount namespace with what was granted, all else is not there",
  network: "a network namespace without a way out, but for the proxy",
  sockets: "the seccomp filter refuses Unix sockets, unless they were granted",
  environment: "set anew",
  processes: "a PID namespace",
  user: "a user that owns nothing",
  privileges: "no capabilities, no new privileges",
  syscalls: "a seccomp filter",
  programs: "only the basic programs and those that were granted are there",
  memory: "",
  cpu: "a limit of the kernel",
  "process-count": "",
  "open-files": "a limit of the kernel",
  "file-size": "a limit of the kernel",
  disk: "temporary file systems with a size",
};
