import { bubblewrapSandbox } from "./backends/bubblewrap.ts";
import { firejailSandbox } from "./backends/firejail.ts";
import type { LinuxHost } from "./backends/linux.ts";
import { nsjailSandbox } from "./backends/nsjail.ts";
import { offSandbox } from "./backends/off.ts";
import { seatbeltSandbox } from "./backends/seatbelt.ts";
import { unshareSandbox } from "./backends/unshare.ts";
import { findProgram } from "./programs.ts";
import type { Sandbox, SandboxName } from "./sandbox.ts";

/** One kind of sandbox, and what it takes to have it. */
export interface Backend {
  readonly name: SandboxName;
  readonly platform?: NodeJS.Platform;
  /** The programs that it is made with. */
  readonly needs: readonly string[];
  /** How to get them. */
  readonly cure: string;
  readonly make: (host: LinuxHost) => Sandbox;
}

const linux = "linux";

/** All kinds of sandboxes, the best first. `off` isolates nothing, and is used only if it was named. */
export const backends: readonly Backend[] = [
  {
    name: "bubblewrap",
    platform: linux,
    needs: ["bwrap", "prlimit"],
    cure: "apt install bubblewrap, or dnf install bubblewrap",
    make: bubblewrapSandbox,
  },
  {
    name: "unshare",
    platform: linux,
    needs: ["unshare", "setpriv", "perl"],
    cure: "apt install util-linux perl, and allow user namespaces",
    make: unshareSandbox,
  },
  {
    name: "firejail",
    platform: linux,
    needs: ["firejail", "prlimit", "perl"],
    cure: "apt install firejail, or dnf install firejail",
    make: firejailSandbox,
  },
  {
    name: "nsjail",
    platform: linux,
    needs: ["nsjail", "prlimit"],
    cure: "build it from github.com/google/nsjail",
    make: nsjailSandbox,
  },
  {
    name: "seatbelt",
    platform: "darwin",
    needs: ["sandbox-exec"],
    cure: "it is a part of macOS",
    make: seatbeltSandbox,
  },
  { name: "off", needs: [], cure: "", make: ({ pipes }) => offSandbox(pipes) },
];

/** Says why a kind of sandbox cannot be had here; nothing if it can be tried. */
export function findObstacle({ platform, needs }: Pick<Backend, "platform" | "needs">): string | undefined {
  if (platform !== undefined && platform !== process.platform) return `it is for ${platform} alone`;
  const missing = needs.filter((program) => findProgram(program) === undefined);
  return missing.length === 0 ? undefined : `there is no ${missing.join(" and no ")} on this machine`;
}
