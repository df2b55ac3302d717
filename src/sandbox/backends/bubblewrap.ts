import { devices } from "../layout.ts";
import { findProgram } from "../programs.ts";
import { guarantees, type Profile, type Sandbox } from "../sandbox.ts";
import { limitWords, startIn, type HeldLayout, type LinuxHost } from "./linux.ts";
import { filterOf } from "./with-relay.ts";

/** Programs run in bubblewrap: namespaces, mounts, a system-call filter; no rights of root are needed. */
export function bubblewrapSandbox(host: LinuxHost): Sandbox {
  return startIn(host, {
    name: "bubblewrap",
    enforces: new Set(guarantees),
    toCommand(profile, layout, command, strays) {
      const held = layout.mounts.flatMap((mount) => mount.held ?? []);
      const closed = strays.filter((stray) => stray >= firstHeld + held.length);
      const forks = profile.filter === "fork-server";
      const filter = filterOf(profile, host);
      const words = [...toArguments(profile, layout), ...(forks ? forkServerArguments : toolArguments)];
      return {
        // In a file instead of the command line, where every user of the machine could read the environment.
        files: [words.map((word) => `${word}\0`).join(""), filter],
        descriptors: held.map(({ descriptor }) => descriptor),
        words: [
          ...[findProgram("bwrap") ?? "bwrap", "--args", "4"],
          // It closes what it has read arguments from: these are empty.
          ...closed.flatMap((stray) => ["--args", String(stray)]),
          ...["--", ...limitWords(profile, command), ...command],
        ],
      };
    },
  });
}

/** Room for the places of mounts, and no more. */
const sealedBytes = String(1024 * 1024);

/** The number of the first descriptor after the arguments and the filter. */
const firstHeld = 6;

const toolArguments = ["--disable-userns", "--cap-drop", "ALL"];
/** It makes namespaces for its children, so it keeps the rights for that over what is inside. */
const forkServerArguments = ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"];

function toArguments(profile: Profile, layout: HeldLayout): string[] {
  const { limits, sealed = [] } = profile;
  let next = firstHeld;
  return [
    ...["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"],
    ...["--uid", "65534", "--gid", "65534", "--hostname", "tool", "--die-with-parent", "--new-session", "--clearenv"],
    ...Object.entries(layout.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--proc", "/proc", "--tmpfs", "/dev"],
    ...devices.flatMap((name) => ["--dev-bind", `/dev/${name}`, `/dev/${name}`]),
    ...["--size", String(limits.temporaryBytes), "--perms", "1777", "--tmpfs", "/tmp"],
    ...["--size", String(limits.temporaryBytes), "--perms", "1777", "--tmpfs", "/dev/shm"],
    ...sealed.flatMap((folder) => ["--size", sealedBytes, "--perms", "0755", "--tmpfs", folder]),
    ...layout.links.flatMap(({ path, target }) => ["--symlink", target, path]),
    ...layout.mounts.flatMap(({ source, target, write, held }) => {
      const flag = write === true ? "--bind" : "--ro-bind";
      // It mounts what the descriptor means, or fails if the path leads elsewhere by then; and closes it.
      return held === undefined ? [flag, source, target] : [`${flag}-fd`, String(next++), target];
    }),
    ...sealed.flatMap((folder) => ["--remount-ro", folder]),
    ...["--chdir", layout.directory, "--remount-ro", "/dev", "--remount-ro", "/", "--seccomp", "5"],
  ];
}
