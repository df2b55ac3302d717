import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";

import { isKitbagError, KitbagError } from "../core/errors.ts";
import { writeFileAtomically } from "../platform/files.ts";
import { backends, findObstacle } from "./backends.ts";
import type { LinuxHost } from "./backends/linux.ts";
import { insideFile } from "./host.ts";
import { findControlGroups } from "./limits/control-groups.ts";
import { createPipes } from "./pipes.ts";
import { findProgram } from "./programs.ts";
import type { Guarantee, Sandbox, SandboxName } from "./sandbox.ts";
import { groupBroken, probe, type SelfTest, socketProbes, testSandbox } from "./self-test.ts";
import { openWorkArea, type WorkArea } from "./work-area.ts";

/** How a sandbox is chosen. */
export interface SandboxChoice {
  /** @default the first that works here: bubblewrap, unshare, firejail, nsjail; seatbelt on macOS */
  readonly name?: SandboxName;
  /** Where its files are made. @default the system's directory for temporary files */
  readonly directory?: string;
}

/** A sandbox, and the directories that it removes when it is closed. */
export interface FoundSandbox extends Sandbox {
  readonly area: WorkArea;
}

/** What a sandbox must enforce to be used without being named. */
export const requiredGuarantees: readonly Guarantee[] = [
  "files",
  "network",
  "sockets",
  "environment",
  "processes",
  "user",
  "privileges",
];

/**
 * Finds the best sandbox that really works on this machine, or the one that was named.
 *
 * @throws {KitbagError} `sandbox-missing` if no sandbox works. `sandbox-weak` if the named one does not enforce what it claims.
 */
export async function findSandbox(choice: SandboxChoice = {}): Promise<FoundSandbox> {
  const machine = openMachine(choice.directory);
  const tried: string[] = [];
  for (const backend of backends.filter(({ name }) => isCandidate(name, choice.name))) {
    const reason = findObstacle(backend);
    const sandbox = reason === undefined ? backend.make(machine.host) : undefined;
    const failure =
      sandbox === undefined ? { reason: reason ?? "it cannot be used" } : await tryOut(sandbox, machine, choice.name);
    if (sandbox !== undefined && failure === undefined) return withArea(sandbox, machine);
    if (choice.name !== undefined && failure?.broken !== undefined) {
      await machine.close();
      throw new KitbagError("sandbox-weak", {
        sandbox: backend.name,
        lacks: failure.broken,
        found: failure.reason,
      });
    }
    const cure = backend.platform === process.platform && reason !== undefined ? ` (${backend.cure})` : "";
    tried.push(`${backend.name}: ${failure?.reason}${cure}`);
  }
  await machine.close();
  throw refuseAll(tried, choice);
}

function refuseAll(tried: readonly string[], { name }: SandboxChoice): KitbagError<"sandbox-missing"> {
  return new KitbagError("sandbox-missing", { tried, ...(name !== undefined && { asked: name }) });
}

function isCandidate(name: SandboxName, asked: SandboxName | undefined): boolean {
  return asked === undefined ? name !== "off" : name === asked;
}

/** What sandboxes of this process are made with. */
export interface Machine {
  readonly host: LinuxHost;
  close(): Promise<void>;
}

/** Opens the directories and control groups that sandboxes are made with. */
export function openMachine(directory?: string): Machine {
  const area = openWorkArea(directory);
  const groups = findControlGroups();
  return {
    host: { area, pipes: createPipes(area.private), ...(groups && { groups }) },
    async close() {
      groups?.close();
      await area.remove();
    },
  };
}

interface Failure {
  readonly reason: string;
  /** What was not held back. */
  readonly broken?: readonly string[];
}

/** A sandbox that does not enforce what it claims is not used; one that claims too little is used only if it was named. */
async function tryOut(
  sandbox: Sandbox,
  { host }: Machine,
  asked: SandboxName | undefined,
): Promise<Failure | undefined> {
  if (sandbox.name === "off") return undefined;
  const lacks = requiredGuarantees.filter((guarantee) => !sandbox.enforces.has(guarantee));
  if (lacks.length > 0 && asked === undefined) {
    return { reason: `it does not enforce ${lacks.join(", ")}; name it with --sandbox ${sandbox.name} to use it` };
  }
  const result = await testOrReason(sandbox, host.area);
  if (typeof result === "string") return { reason: result };
  if (result.broken.length === 0) return undefined;
  const broken = result.broken.map(({ guarantee }) => guarantee);
  return { reason: [...groupBroken(result).keys()].join(", "), broken };
}

/** Tests a sandbox; a text says why it could not be tested. */
export async function testOrReason(sandbox: Sandbox, area: WorkArea): Promise<SelfTest | string> {
  try {
    return await recallTest(sandbox, area);
  } catch (cause) {
    if (!isKitbagError(cause, "sandbox-failed")) throw cause;
    return cause.details.reason;
  }
}

function withArea(sandbox: Sandbox, machine: Machine): FoundSandbox {
  return {
    ...sandbox,
    area: machine.host.area,
    async close() {
      await sandbox.close();
      await machine.close();
    },
  };
}

/** Tests a sandbox, or recalls the test of the same one: same boot, same kernel, same programs, same user, same attempts. */
export async function recallTest(sandbox: Sandbox, area: WorkArea): Promise<SelfTest> {
  const path = join(area.kept, `self-test-${digestOf(sandbox)}.json`);
  const known = load(path);
  if (known !== undefined) return known;
  const result = await testSandbox(sandbox, area);
  // Only what holds is remembered: what does not may be cured.
  if (result.broken.length === 0) writeFileAtomically(path, JSON.stringify(result));
  return result;
}

function digestOf(sandbox: Sandbox): string {
  const programs = ["bwrap", "unshare", "perl", "firejail", "nsjail", "prlimit", "bash"].map(describe);
  const own = [insideFile("enter.pl"), insideFile("own-mounts.pl"), process.execPath].map(describe);
  const probes = [probe, socketProbes];
  const facts = [sandbox.name, [...sandbox.enforces], process.getuid?.(), release(), bootId(), programs, own, probes];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 32);
}

function describe(name: string): unknown {
  const path = findProgram(name) ?? name;
  const facts = statSync(path, { throwIfNoEntry: false });
  return [path, facts?.size, facts?.mtimeMs];
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
  } catch {
    return "";
  }
}

function load(path: string): SelfTest | undefined {
  try {
    const known = JSON.parse(readFileSync(path, "utf8")) as Partial<SelfTest> | null;
    const { enforced, broken } = known ?? {};
    // Only a test that all was held in is ever kept: whatever else is there was damaged.
    return Array.isArray(enforced) && Array.isArray(broken) && broken.length === 0 ? { enforced, broken } : undefined;
  } catch {
    return undefined;
  }
}
