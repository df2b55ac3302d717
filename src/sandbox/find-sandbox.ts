import { isKitbagError, KitbagError } from "../core/errors.ts";
import { bubblewrapSandbox } from "./backends/bubblewrap.ts";
import type { LinuxHost } from "./backends/linux.ts";
import { offSandbox } from "./backends/off.ts";
import { unshareSandbox } from "./backends/unshare.ts";
import { findControlGroups, type ControlGroups } from "./limits/control-groups.ts";
import { createPipes } from "./pipes.ts";
import { findProgram } from "./programs.ts";
import { recallTest } from "./recall-test.ts";
import type { Sandbox, SandboxName } from "./sandbox.ts";
import { openWorkArea, type WorkArea } from "./work-area.ts";

/** How a sandbox is chosen. */
export interface SandboxChoice {
  /** @default the first that works here: bubblewrap, unshare */
  readonly name?: SandboxName;
  /** Where its files are made. @default the system's directory for temporary files */
  readonly directory?: string;
}

interface Backend {
  readonly needs: readonly string[];
  readonly make: (host: LinuxHost) => Sandbox;
}

const backends: Partial<Record<SandboxName, Backend>> = {
  bubblewrap: { needs: ["bwrap", "prlimit"], make: bubblewrapSandbox },
  unshare: { needs: ["unshare", "perl"], make: unshareSandbox },
  off: { needs: [], make: ({ pipes }) => offSandbox(pipes) },
};
const inOrder: readonly SandboxName[] = ["bubblewrap", "unshare"];

/** A sandbox, and the directories that it removes when it is closed. */
export interface FoundSandbox extends Sandbox {
  readonly area: WorkArea;
}

/** Finds the best sandbox that really works on this machine; refuses if there is none. */
export async function findSandbox(choice: SandboxChoice = {}): Promise<FoundSandbox> {
  const area = openWorkArea(choice.directory);
  const groups = findControlGroups();
  const host = { area, pipes: createPipes(area.private), ...(groups && { groups }) };
  const tried: string[] = [];
  for (const name of choice.name === undefined ? inOrder : [choice.name]) {
    const reason = whyNot(name);
    const sandbox = reason === undefined ? backends[name]?.make(host) : undefined;
    const failure = sandbox === undefined ? reason : await tryOut(sandbox, area);
    if (sandbox !== undefined && failure === undefined) return withArea(sandbox, area, groups);
    tried.push(`${name}: ${failure ?? "it cannot be used"}`);
  }
  await area.remove();
  throw new KitbagError("sandbox-missing", { tried });
}

function whyNot(name: SandboxName): string | undefined {
  const missing = backends[name]?.needs.filter((program) => findProgram(program) === undefined);
  if (missing === undefined) return "it does not work on this system";
  return missing.length === 0 ? undefined : `there is no ${missing.join(" and no ")} on this machine`;
}

/** A sandbox that does not hold what it promises is none. */
async function tryOut(sandbox: Sandbox, area: WorkArea): Promise<string | undefined> {
  if (sandbox.enforces.size === 0 || sandbox.name === "off") return undefined;
  try {
    const { broken } = await recallTest(sandbox, area);
    return broken.length === 0 ? undefined : broken.map(({ guarantee, found }) => `${guarantee}: ${found}`).join(", ");
  } catch (cause) {
    if (!isKitbagError(cause, "sandbox-failed")) throw cause;
    return cause.details.reason;
  }
}

function withArea(sandbox: Sandbox, area: WorkArea, groups: ControlGroups | undefined): FoundSandbox {
  return {
    ...sandbox,
    area,
    async close() {
      await sandbox.close();
      groups?.close();
      await area.remove();
    },
  };
}
