import { readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { isOpenToTools, isRoot, toolGroup, toolUsers, writeReadableFile } from "../host.ts";
import { toHostPath, guarantees, type Guarantee, type Mount, type Profile, type Sandbox } from "../sandbox.ts";
import type { Layout } from "../layout.ts";
import { copyProgram, findProgram } from "../programs.ts";
import { limitWords, startIn, type LinuxHost } from "./linux.ts";
import { filterOf } from "./with-relay.ts";

/**
 * Programs run in firejail, which is a program of root: for machines where ordinary users may not make namespaces. It shows files at their
 * own places only, and does not bound what is written to `/tmp`.
 */
export function firejailSandbox(host: LinuxHost): Sandbox {
  const sandbox = startIn(host, {
    name: "firejail",
    enforces: new Set(guarantees.filter((name) => !lacks(host).includes(name))),
    keepsPaths: true,
    takesPaths: true,
    staged: isRoot ? [{ mount: { source: writeUsers(host), target: "/etc/passwd" }, place: "/etc/passwd" }] : [],
    toCommand(profile, layout, command) {
      checkProfile(profile, layout);
      const words = toFirejailWords(profile, layout, findPlaces());
      if (words.length > mostWords) {
        throw new KitbagError("sandbox-weak", {
          sandbox: "firejail",
          lacks: [`${layout.mounts.length} places at once`],
        });
      }
      return {
        files: [renderPlan(profile, layout, command), filterOf(profile, host)],
        lifeline: true,
        words: [
          ...["/bin/sh", "-c", endWithUs, "kitbag", findProgram("firejail") ?? "firejail"],
          ...[...words, "--", toHostPath(layout.mounts, perl), "-e", enter],
        ],
      };
    },
  });
  return {
    ...sandbox,
    async start(profile, command, input) {
      const source = await copyProgram(realpathSync(findProgram("perl") ?? "perl"), host.area.kept);
      const mounts = [...profile.mounts, { source, target: perl }];
      const started = await sandbox.start({ ...profile, mounts }, command, input);
      // The one who waits for our end waits no longer.
      void started.exit.then(() => started.kill());
      return started;
    },
  };
}

/** A program of root does not end with its parent, so a helper beside it waits for that: descriptor 6 ends when this process does. */
const endWithUs = `(read -r end <&6; kill -9 -$$) 3<&- 4<&- 5<&- </dev/null >/dev/null 2>&1 & exec 6<&-; exec "$@"`;

/** Perl, which is not among the programs of a tool. */
const perl = "/opt/kitbag/perl";

/**
 * The first program inside. Firejail's own filter knows no arguments and no new calls, so ours, of descriptor 5, is put on before
 * anything of the tool is there. Firejail sets variables of its own, takes few and short words only, and a command line is no place for
 * secrets: descriptor 4 has how many variables there are, their names and values, and the command, each word with a zero byte after it.
 */
const enter = [
  `sub slurp { open my $file, "<&=:raw", $_[0] or fail("reading the plan"); local $/; my $text = <$file>; close $file; $text }`,
  `sub fail { print STDERR "kitbag: sandbox: $_[0]: $!\\n"; exit 125 }`,
  `my ($filter, @words) = (slurp(5), split /\\0/, slurp(4), -1)`,
  `my $program = pack "S x6 P", length($filter) / 8, $filter`,
  `syscall(${process.arch === "x64" ? 157 : 167}, 22, 2, $program, 0, 0) == 0 or fail("setting the filter")`,
  `pop @words; %ENV = splice @words, 0, 2 * shift @words`,
  `exec { $words[0] } @words or fail("starting $words[0]")`,
].join("; ");

/** The kernel counts the processes of a user, so without control groups those of the person would count, too. */
function lacks({ groups }: LinuxHost): Guarantee[] {
  return isRoot || groups !== undefined ? ["disk"] : ["disk", "process-count"];
}

/** Firejail runs only for users that the machine knows: root gives it a list of users. */
function writeUsers(host: LinuxHost): string {
  const path = join(host.area.own, "users");
  const lines = [
    "root:x:0:0:root:/root:/bin/sh",
    ...toolUsers().map((id) => `tool${id}:x:${id}:${toolGroup}::/nonexistent:/bin/sh`),
  ];
  writeReadableFile(path, `${lines.join("\n")}\n`);
  return path;
}

function limitsOf(profile: Profile, command: readonly string[]): string[] {
  return limitWords(profile, command).filter((word) => isRoot || !word.startsWith("--nproc="));
}

/** Firejail takes less than 128 words; the command has some of them. */
const mostWords = 120;

function renderPlan(profile: Profile, { environment, mounts }: Layout, command: readonly string[]): string {
  const path = (environment["PATH"] ?? "").split(":").map((part) => toHostPath(mounts, part));
  const all = { ...environment, PATH: [...new Set([...path, "/usr/bin", "/bin"])].join(":") };
  const inside = [...limitsOf(profile, command), ...command].map((word) => toHostPath(mounts, word));
  return [String(Object.keys(all).length), ...Object.entries(all).flat(), ...inside]
    .map((word) => `${word}\0`)
    .join("");
}

/** Firejail reads these as something else, or takes no path that has them. */
const unreadable = /["'*?[\]{}<>&!;,%^\\$|`~]|\p{Cc}/u;

function checkProfile(profile: Profile, { mounts }: Layout): void {
  if (profile.filter === "fork-server") {
    throw new KitbagError("sandbox-weak", { sandbox: "firejail", lacks: ["namespaces for each call of a server"] });
  }
  const moved = profile.mounts.find(({ granted, source, target }) => granted === true && source !== target);
  if (moved !== undefined) {
    throw new KitbagError("sandbox-weak", {
      sandbox: "firejail",
      lacks: [`the link ${moved.target}, which leads to ${moved.source}`],
    });
  }
  const system = profile.mounts.find(({ granted, source }) => granted === true && isOfSystem(source, profile));
  if (system !== undefined) {
    throw new KitbagError("sandbox-weak", {
      sandbox: "firejail",
      lacks: [`${system.source}, which is of the system, of which it shows a part of its own`],
    });
  }
  const closed = isRoot ? profile.mounts.find(({ source }) => !isOpenToTools(source)) : undefined;
  if (closed !== undefined) {
    throw new KitbagError("sandbox-weak", {
      sandbox: "firejail",
      lacks: [`the way to ${closed.source}, which only root can go`],
    });
  }
  const paths = [...mounts.map(({ source }) => source), ...hiddenPlaces(profile)];
  const odd = paths.find((path) => unreadable.test(path));
  if (odd !== undefined) {
    throw new KitbagError("sandbox-weak", { sandbox: "firejail", lacks: [`paths such as ${JSON.stringify(odd)}`] });
  }
}

/** Whether firejail shows something else in the place of `path`, or of something below it. */
function isOfSystem(path: string, { programs }: Profile): boolean {
  const replaced = programs.includes("*") ? ["/etc"] : ["/etc", ...programPlaces, ...otherPlaces];
  return replaced.some((place) => `${path}/`.startsWith(`${place}/`) || place.startsWith(`${path}/`));
}

/** What there is at the top of the host's file system, and in its directory of services. */
export interface HostPlaces {
  readonly top: readonly string[];
  readonly services: readonly string[];
  /** The home of who starts it; none where that is a user without one. */
  readonly home?: string;
}

function findPlaces(): HostPlaces {
  return { top: readdirSync("/"), services: readdirSync("/run"), ...(!isRoot && { home: homedir() }) };
}

/** What firejail makes itself, or needs. */
const kept = new Set([
  "bin",
  "sbin",
  "lib",
  "lib32",
  "lib64",
  "libx32",
  "usr",
  "etc",
  "dev",
  "proc",
  "tmp",
  "run",
  "home",
]);
const etc = [
  "alternatives",
  "ld.so.cache",
  "localtime",
  "ssl",
  "ca-certificates",
  "pki",
  "fonts",
  "perl",
  "php",
  "R",
  "mime.types",
];
/** Where firejail shows only the programs that it is told. */
const programPlaces = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];
/** What of /usr is hidden, since it holds things of this machine alone. */
const otherPlaces = ["/usr/local/etc", "/usr/local/src", "/usr/games", "/usr/src"];
/** Shells and scripts look for them by their full names. */
const fixedPrograms = ["sh", "dash", "bash", "env"];

/** What every sandbox of firejail has, and no tool needs. */
const terminals = ["/dev/ptmx", "/dev/pts", "/dev/tty"];

/** The flags of firejail for a profile: everything at the top is hidden but the system, and of the rest only what is mounted is left. */
export function toFirejailWords(profile: Profile, layout: Layout, { top, services, home }: HostPlaces): string[] {
  const everything = profile.programs.includes("*");
  const mounts = layout.mounts.filter(({ source }) => !/^\/(?:usr|lib\w*|etc)(?:\/|$)/u.test(source));
  const used = new Set(mounts.map(({ source }) => source.split("/")[1] ?? ""));
  const hidden = [
    ...top.filter((name) => !kept.has(name) && !used.has(name)).map((name) => `/${name}`),
    ...services.filter((name) => name !== "firejail").map((name) => `/run/${name}`),
    ...(everything ? [] : otherPlaces),
  ];
  return [
    ...["--noprofile", "--quiet", "--net=none", "--caps.drop=all", "--nonewprivs", "--nogroups", "--seccomp"],
    ...[
      "--seccomp.block-secondary",
      "--private-dev",
      "--hostname=tool",
      "--ipc-namespace",
      "--machine-id",
      "--keep-fd=3,4,5",
    ],
    ...[
      "--deterministic-exit-code",
      "--deterministic-shutdown",
      `--private-cwd=${toHostPath(layout.mounts, layout.directory)}`,
    ],
    ...(used.has("tmp") ? [] : ["--private-tmp"]),
    ...(home === undefined || mounts.some(({ source }) => source.startsWith(`${home}/`)) ? [] : ["--private"]),
    `--private-etc=${etc.join(",")}`,
    ...(everything ? [] : [`--private-bin=${fixedPrograms.join(",")}`]),
    ...[...hidden, ...terminals].map((path) => `--blacklist=${path}`),
    ...mounts.flatMap((mount) => toWhitelist(mount, mounts)),
    ...hiddenPlaces(profile).map((path) => `--blacklist=${path}`),
  ];
}

/** What must stay hidden in what was granted: firejail mounts nothing over it, but can remove it. */
function hiddenPlaces({ mounts }: Profile): string[] {
  return mounts.filter(({ source }) => !source.startsWith("/")).map(({ target }) => target);
}

/** What is below something else that is mounted is there already. */
function toWhitelist({ source, write }: Mount, mounts: readonly Mount[]): string[] {
  const isBelow = mounts.some((other) => source.startsWith(`${other.source}/`));
  const flag = write === true ? `--read-write=${source}` : `--read-only=${source}`;
  // What can be written already would stay a part of the mount above it, and could be moved away.
  if (isBelow) return write === true ? [`--read-only=${source}`, flag] : [flag];
  return write === true ? [`--whitelist=${source}`] : [`--whitelist=${source}`, flag];
}
