import { isKitbagError, KitbagError } from "../core/errors.ts";
import type { LinuxHost } from "./backends/linux.ts";
import { backends, whyNot } from "./backends.ts";
import { findControlGroups } from "./limits/control-groups.ts";
import { createPipes } from "./pipes.ts";
import { recallTest } from "./recall-test.ts";
import type { Guarantee, Sandbox, SandboxName } from "./sandbox.ts";
import { groupBroken, type SelfTest } from "./self-test.ts";
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

/** What a sandbox must hold a program to, or nobody takes it without having named it. */
export const needed: readonly Guarantee[] = [
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
 * @throws {KitbagError} `sandbox-missing` if there is none. `sandbox-weak` if the one that was named does not hold what it promises.
 */
export async function findSandbox(choice: SandboxChoice = {}): Promise<FoundSandbox> {
  const machine = openMachine(choice.directory);
  const tried: string[] = [];
  for (const backend of backends.filter(({ name }) => isCandidate(name, choice.name))) {
    const reason = whyNot(backend);
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

/** A sandbox that does not hold what it promises is none; one that promises too little is taken only by those who name it. */
async function tryOut(
  sandbox: Sandbox,
  { host }: Machine,
  asked: SandboxName | undefined,
): Promise<Failure | undefined> {
  if (sandbox.name === "off") return undefined;
  const lacks = needed.filter((guarantee) => !sandbox.enforces.has(guarantee));
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
