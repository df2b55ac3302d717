import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";

import { gatherPrograms } from "./programs.ts";
import { makeReadableFolder, writeReadableFile } from "./host.ts";
import { emptyFile, nothing, type Mount, type Profile } from "./sandbox.ts";
import type { WorkArea } from "./work-area.ts";

/** What the file system inside looks like, whichever back end makes it. */
export interface Layout {
  /** In the order in which they must be made. */
  readonly mounts: readonly Mount[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** Parts of /usr that hold programs or things of this machine alone. */
const notMounted = new Set(["bin", "sbin", "local", "games", "src"]);

/** Parts of /etc that libraries and interpreters look for; none holds anything secret. */
const settings =
  `alternatives ld.so.cache localtime ssl/certs ssl/openssl.cnf ca-certificates pki/tls/certs fonts perl php R mime.types`.split(
    " ",
  );

/** The devices that exist inside. */
export const devices = ["null", "zero", "full", "random", "urandom"];

/** Where the socket of the egress proxy is inside. */
export const egressSocket = "/run/egress.sock";

/** Lays out the file system for a profile. */
export async function toLayout(profile: Profile, area: WorkArea): Promise<Layout> {
  const everything = profile.programs.includes("*");
  const own = writeSettings(area);
  const mounts: Mount[] = [
    ...systemMounts(everything),
    ...(everything ? [] : [{ source: await gatherOnce(profile.programs, area), target: "/usr/bin" }]),
    ...["passwd", "group", "hosts", "nsswitch.conf"].map((name) => ({
      source: join(own, name),
      target: `/etc/${name}`,
    })),
    ...settings
      .map((name) => `/etc/${name}`)
      .filter((path) => existsSync(path))
      .map((path) => ({ source: path, target: path })),
    ...(profile.egress === undefined ? [] : [{ source: profile.egress, target: egressSocket, write: true }]),
    ...profile.mounts
      .map((mount) => ({ ...mount, source: covers.has(mount.source) ? join(own, toCoverName(mount)) : mount.source }))
      .toSorted((one, other) => depthOf(one.target) - depthOf(other.target)),
  ];
  return { mounts, links: systemLinks(), environment: toEnvironment(profile), directory: directoryOf(profile) };
}

/** What hides something of the host. */
const covers: ReadonlySet<string> = new Set([nothing, emptyFile]);

function toCoverName({ source }: Mount): string {
  return source === nothing ? "nothing" : "empty";
}

/** All environment variables of a program. */
export function toEnvironment(profile: Profile): Readonly<Record<string, string>> {
  const path = profile.programs.includes("*") ? "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" : "/usr/bin:/bin";
  const base = { PATH: path, HOME: "/tmp", TMPDIR: "/tmp", LANG: "C.UTF-8", PWD: directoryOf(profile) };
  return { ...base, ...profile.environment };
}

function directoryOf({ directory = "/tmp" }: Profile): string {
  return directory;
}

function depthOf(path: string): number {
  return path.split("/").length;
}

function systemMounts(everything: boolean): Mount[] {
  const parts = everything
    ? ["/usr"]
    : readdirSync("/usr")
        .filter((name) => !notMounted.has(name))
        .map((name) => `/usr/${name}`);
  const separate = ["/lib", "/lib32", "/lib64"].filter((path) => existsSync(path) && !lstatSync(path).isSymbolicLink());
  return [...parts, ...separate]
    .filter((path) => lstatSync(path).isDirectory())
    .map((path) => ({ source: path, target: path }));
}

/** `/bin` and the like, which are links into /usr on most systems; programs are found under /usr/bin on all. */
function systemLinks(): { path: string; target: string }[] {
  const links = ["/lib", "/lib32", "/lib64", "/libx32"].filter((path) =>
    lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink(),
  );
  return [
    { path: "/bin", target: "usr/bin" },
    ...links.map((path) => ({ path, target: readlinkSync(path) })),
    { path: "/dev/fd", target: "/proc/self/fd" },
    { path: "/dev/stdin", target: "/proc/self/fd/0" },
    { path: "/dev/stdout", target: "/proc/self/fd/1" },
    { path: "/dev/stderr", target: "/proc/self/fd/2" },
  ];
}

const gathered = new Map<string, Promise<string>>();

function gatherOnce(programs: readonly string[], area: WorkArea): Promise<string> {
  const key = JSON.stringify([area.kept, programs.toSorted()]);
  let directory = gathered.get(key);
  if (directory === undefined) {
    directory = gatherPrograms(programs, area.kept);
    gathered.set(key, directory);
    directory.catch(() => gathered.delete(key));
  }
  return directory;
}

const written = new WeakMap<WorkArea, string>();

/** Files of /etc that say nothing about this machine. */
function writeSettings(area: WorkArea): string {
  let directory = written.get(area);
  if (directory === undefined) {
    directory = writeEtc(join(area.own, "etc"));
    written.set(area, directory);
  }
  return directory;
}

function writeEtc(directory: string): string {
  for (const folder of [directory, join(directory, "nothing")]) makeReadableFolder(folder);
  const files = {
    passwd: "tool:x:65534:65534:tool:/tmp:/bin/sh\n",
    group: "tool:x:65534:\n",
    hosts: "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    empty: "",
  };
  for (const [name, text] of Object.entries(files)) writeReadableFile(join(directory, name), text);
  return directory;
}
