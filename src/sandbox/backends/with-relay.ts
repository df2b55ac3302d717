import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import {
  debugPort,
  relayPort,
  findRelayInterpreter,
  relayPrograms,
  relaySource,
  relayTarget,
  toRelayCommand,
  toRelayEnvironment,
  type RelayRoute,
} from "../egress/relay.ts";
import { egressSocket } from "../layout.ts";
import { writeReadableFile } from "../host.ts";
import type { Profile, SandboxName } from "../sandbox.ts";
import { renderFilter } from "../seccomp/render-filter.ts";
import type { FilterArchitecture } from "../seccomp/syscalls.ts";
import type { ControlGroups } from "../limits/control-groups.ts";
import type { WorkArea } from "../work-area.ts";

/** What a filter is made for, and where it is written. */
interface FilterHost {
  readonly area: WorkArea;
  readonly groups?: ControlGroups;
}

const debugSocket = "/run/kitbag-debug.sock";
const filterTarget = "/opt/kitbag/filter";

/**
 * The system-call filter of a profile. It leaves memory that belongs to no process only where a control group counts it for one program;
 * that of a fork server counts all of its calls together.
 */
export function filterOf({ filter = "tool", sockets }: Profile, { groups }: Pick<FilterHost, "groups">): Uint8Array {
  return renderFilter(filter, filterArchitecture(), {
    ...(sockets === "private" && { unixSockets: true }),
    memoryFiles: groups !== undefined && filter !== "fork-server",
  });
}

/** What starts in the place of a program that needs the egress proxy or a debugger. */
export interface RelayedStart {
  readonly profile: Profile;
  readonly command: readonly string[];
}

/**
 * Lets a program reach the sockets of the egress proxy and of the debugger through ports of its own loopback interface. The relay
 * starts under a filter that leaves it Unix sockets, and puts on that of the program before it becomes the program.
 */
export function withRelay(start: RelayedStart, host: FilterHost, sandbox: SandboxName): RelayedStart {
  const { profile, command } = start;
  const routes = toRoutes(profile);
  if (routes.length === 0) return start;
  const interpreter = findRelayInterpreter();
  if (interpreter === undefined) {
    throw new KitbagError("sandbox-weak", { sandbox, lacks: ["network rules and debuggers without Perl or Python 3"] });
  }
  return {
    profile: {
      ...profile,
      sockets: "private",
      programs: [...profile.programs, relayPrograms[interpreter]],
      mounts: [
        ...profile.mounts,
        { source: relaySource, target: relayTarget },
        { source: writeFilter(profile, host), target: filterTarget },
        ...(profile.debug === undefined ? [] : [{ source: profile.debug, target: debugSocket, write: true }]),
      ],
      environment: toRelayEnvironment(profile.environment),
    },
    command: toRelayCommand({ interpreter, routes, filter: filterTarget }, command),
  };
}

function toRoutes({ egress, debug }: Profile): RelayRoute[] {
  return [
    ...(egress === undefined ? [] : [{ port: relayPort, socket: egressSocket }]),
    ...(debug === undefined ? [] : [{ port: debugPort, socket: debugSocket }]),
  ];
}

function writeFilter(profile: Profile, host: FilterHost): string {
  const bytes = filterOf(profile, host);
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const path = join(host.area.own, `filter-${digest}`);
  if (!existsSync(path)) writeReadableFile(path, bytes);
  return path;
}

/** The processor whose system calls a filter must know; other processors have no filter. */
export function filterArchitecture(): FilterArchitecture {
  if (process.arch === "x64" || process.arch === "arm64") return process.arch;
  throw new KitbagError("sandbox-failed", { sandbox: process.arch, reason: "there is no filter for this processor" });
}
