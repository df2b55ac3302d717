import { text } from "node:stream/consumers";

import { defaultLimits, type ExitStatus, type Profile, type Sandbox } from "../../sandbox/sandbox.ts";
import type { WorkArea } from "../../sandbox/work-area.ts";

/** What a check works with: a sandbox of its own, and directories of the host that vanish with it. */
export interface Stage {
  readonly sandbox: Sandbox;
  readonly area: WorkArea;
}

/** Checks by name. */
export type SandboxChecks = Readonly<Record<string, (stage: Stage) => Promise<void>>>;

/** What a program may use that needs nothing. */
export const plainProfile: Profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };

/** How a program ended, and what it said. */
export interface Ended {
  readonly exit: ExitStatus;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export async function runIn(
  sandbox: Sandbox,
  command: readonly string[],
  { input, ...profile }: Partial<Profile> & { readonly input?: string } = {},
): Promise<Ended> {
  const started = await sandbox.start({ ...plainProfile, ...profile }, command, input);
  const [stdout, stderr, exit] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  return { stdout, stderr, exit };
}

/** Runs a line of the shell to its end. */
export function runShell(sandbox: Sandbox, line: string, more: Parameters<typeof runIn>[2] = {}): Promise<Ended> {
  return runIn(sandbox, ["bash", "-c", line], more);
}
