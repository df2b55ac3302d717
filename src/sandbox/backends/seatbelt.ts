import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { toHostPath, type Guarantee, type Mount, type Profile, type Sandbox, type SandboxProcess } from "../sandbox.ts";
import { startProgram } from "../start-program.ts";
import type { LinuxHost } from "./linux.ts";

/**
 * What its rules hold back. Any process of macOS can read the words and variables that others were started with, and nothing counts
 * memory or processes for one program, so it is taken only by those who name it.
 */
const enforced: readonly Guarantee[] = [
  "files",
  "network",
  "sockets",
  "environment",
  "user",
  "cpu",
  "open-files",
  "file-size",
];

/** Programs run under rules of macOS, written for each: nothing is mounted, so files are at their own places. */
export function seatbeltSandbox({ area, pipes }: Pick<LinuxHost, "area" | "pipes">): Sandbox {
  const running = new Set<SandboxProcess>();
  return {
    name: "seatbelt",
    enforces: new Set(enforced),
    keepsPaths: true,
    async start(profile, command, input) {
      checkProfile(profile);
      const temporary = realpathSync(mkdtempSync(join(area.own, "tmp-")));
      chmodSync(temporary, 0o700);
      const plan = toSeatbeltPlan(profile, command, temporary);
      const started = await startProgram({ sandbox: "seatbelt", ...plan, tellsSignals: true }, pipes, input);
      running.add(started);
      void started.exit.then(() => {
        // Whatever it left running in its group goes with it.
        started.kill();
        running.delete(started);
        rmSync(temporary, { recursive: true, force: true });
      });
      return started;
    },
    async close() {
      const left = [...running];
      for (const program of left) program.kill();
      await Promise.all(left.map((program) => program.exit));
    },
  };
}

function checkProfile(profile: Profile): void {
  const lacks = [
    ...(profile.egress === undefined ? [] : ["network rules, since programs share the network of this machine"]),
    ...(profile.sockets === undefined ? [] : ["Unix sockets of a program's own"]),
    ...(profile.debug === undefined ? [] : ["debuggers, which it keeps programs from"]),
    ...(profile.filter === "fork-server" ? ["namespaces for each call of a server"] : []),
  ];
  if (lacks.length > 0) throw new KitbagError("sandbox-weak", { sandbox: "seatbelt", lacks });
}

/** How a program is started under the rules of a profile. */
export interface SeatbeltPlan {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** The command and environment for a program; `temporary` is its private directory. */
export function toSeatbeltPlan(profile: Profile, command: readonly string[], temporary: string): SeatbeltPlan {
  const { limits } = profile;
  const place = (path: string): string => (path === "/tmp" ? temporary : toHostPath(profile.mounts, path));
  // The shell counts file sizes in blocks of 512 bytes.
  const limit = [
    `ulimit -t ${limits.cpuSeconds}`,
    `ulimit -f ${Math.ceil(limits.fileBytes / 512)}`,
    `ulimit -n ${limits.openFiles}`,
    "ulimit -c 0",
    'exec "$@"',
  ].join(" && ");
  return {
    words: [
      ...["/usr/bin/sandbox-exec", "-p", renderSeatbeltProfile(profile, temporary), "/bin/sh", "-c", limit, "kitbag"],
      ...command.map(place),
    ],
    environment: {
      ...{ PATH: "/usr/bin:/bin:/usr/sbin:/sbin", HOME: temporary, TMPDIR: temporary, LANG: "C.UTF-8" },
      ...profile.environment,
    },
    directory: place(profile.directory ?? "/tmp"),
  };
}

/** The system itself: programs and libraries, nothing of a person. */
const systemPlaces = ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/share", "/System"];
const systemFiles = ["/", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/private/etc/localtime"];
const writtenDevices = ["/dev/null", "/dev/zero"];

/** The rules for a profile, in the language of macOS: everything is refused but what is named. */
export function renderSeatbeltProfile(profile: Profile, temporary: string): string {
  const written = profile.mounts.filter(({ write }) => write === true);
  const hidden = profile.mounts.filter(({ source }) => !source.startsWith("/"));
  const read = profile.mounts.filter((mount) => !hidden.includes(mount));
  const places = [...systemPlaces, "/Library/Developer/CommandLineTools", "/private/var/db/dyld", temporary];
  const toSubpath = ({ source }: Mount): string => `(subpath ${quote(source)})`;
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-fork)",
    `(allow process-exec ${[...systemPlaces.map((path) => `(subpath ${quote(path)})`), ...read.map(toSubpath)].join(" ")})`,
    "(allow signal (target same-sandbox))",
    "(allow process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow file-read-metadata)",
    `(allow file-read* ${systemFiles.map((path) => `(literal ${quote(path)})`).join(" ")})`,
    `(allow file-read* ${[...places.map((path) => `(subpath ${quote(path)})`), ...read.map(toSubpath)].join(" ")})`,
    `(allow file-write* ${[`(subpath ${quote(temporary)})`, ...written.map(toSubpath)].join(" ")})`,
    `(allow file-write-data ${writtenDevices.map((path) => `(literal ${quote(path)})`).join(" ")})`,
    // The last rule that fits counts: what must not be written, or not be seen, comes after what may be.
    ...read
      .filter((mount) => written.some(({ source }) => mount.source.startsWith(`${source}/`)))
      .toSorted((one, other) => one.source.length - other.source.length)
      .map((mount) => `(${mount.write === true ? "allow" : "deny"} file-write* ${toSubpath(mount)})`),
    ...hidden.map(({ target }) => `(deny file* (subpath ${quote(target)}))`),
    "",
  ].join("\n");
}

/**
 * A string of the rules' language. A quote or a backslash would end or change it; other characters stand for themselves.
 *
 * @throws {KitbagError} `sandbox-weak` for a path with control characters, because their reading is not documented.
 */
function quote(path: string): string {
  if (/\p{Cc}/u.test(path)) {
    throw new KitbagError("sandbox-weak", { sandbox: "seatbelt", lacks: [`paths such as ${JSON.stringify(path)}`] });
  }
  return `"${path.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;
}
