import { basename, dirname, join, relative } from "node:path";

import { isInside } from "../../platform/paths.ts";
import { relayPort } from "../../sandbox/egress/relay.ts";
import type { Attempt, Observation } from "./learn-report.ts";

/** What is known of the host when observations are read. */
export interface AttemptPlaces {
  /** The working directory. */
  readonly directory: string;
  /** The home of this user. */
  readonly home: string;
  /** Whether something is there on the host. */
  readonly exists: (path: string) => boolean;
  /** Whether a program is on the host, and not inside. */
  readonly isWithheld: (name: string) => boolean;
  /** Names that the script got with this call. */
  readonly given: ReadonlySet<string>;
}

/** The system, the interpreter, and what is the script's own: they need no permission. */
const ownPlaces =
  `/skill /opt/kitbag /opt/node /opt/packages /node_modules /tmp /proc /dev /sys /run /var/run /usr /lib /lib32 /lib64
  /libx32 /bin /sbin /etc/alternatives /etc/ssl /etc/perl /etc/php /etc/R /etc/fonts /etc/pki`.split(/\s+/u);
/** Files of /etc that libraries look for, whatever a script does. */
const systemSettings =
  /^\/etc\/(?:ld\.so|resolv\.conf|host|gai\.conf|localtime|services|protocols|inputrc|profile|bash|terminfo|locale|python|debian_version|os-release|lsb-release|machine-id|environment|nsswitch|networks|mime|gitconfig|wgetrc|curlrc|passwd$|group$|ethertypes|pythonstart|ruby|gem|irbrc)/u;
const programPlaces = new Set(["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"]);
/** Names that every sandbox sets, or that only say how to print. */
const systemNames =
  /^(?:PATH|HOME|TMPDIR|TEMP|TMP|LANG|LC_\w+|LANGUAGE|PWD|OLDPWD|SHLVL|SHELL|USER|LOGNAME|TERM|COLORTERM|COLUMNS|LINES|TZ|NO_COLOR|FORCE_COLOR|NODE_\w+|PYTHON\w*|KITBAG_\w+|LD_\w+|(?:https?|all|no|ftp)_proxy|_)$/iu;

/** Picks out of what was seen what a permission would be for. */
export function toAttempts(observations: Iterable<Observation>, round: number, places: AttemptPlaces): Attempt[] {
  const seen = [...observations];
  const there = new Set(seen.flatMap(toProgramThere));
  const attempts = new Map<string, Attempt>();
  for (const observation of seen) {
    const attempt = toAttempt(observation, places);
    if (attempt === undefined || (attempt.kind === "run" && there.has(attempt.what))) continue;
    const key = `${attempt.kind} ${attempt.what}`;
    attempts.set(key, { ...attempts.get(key), ...attempt, round });
  }
  return [...attempts.values()];
}

/** A program that was found: where else it was looked for does not matter. */
function toProgramThere(seen: Observation): string[] {
  if (seen.kind !== "program" && seen.kind !== "file") return [];
  return !seen.failed && programPlaces.has(dirname(seen.path)) ? [basename(seen.path)] : [];
}

function toAttempt(seen: Observation, places: AttemptPlaces): Omit<Attempt, "round"> | undefined {
  switch (seen.kind) {
    case "variable":
      return systemNames.test(seen.name) || places.given.has(seen.name) ? undefined : { kind: "env", what: seen.name };
    case "connection":
      return toConnection(seen.host, seen.port);
    case "program":
      return seen.failed ? toProgram(seen.path, places) : undefined;
    case "file":
      return programPlaces.has(dirname(seen.path))
        ? seen.failed
          ? toProgram(seen.path, places)
          : undefined
        : toFile(seen, places);
  }
}

const nameServer = 53;

/** The relay is our own, and names are looked up outside. */
function toConnection(host: string, port: number): Omit<Attempt, "round"> | undefined {
  const isRelay = port === relayPort && /^(?:127\.0\.0\.1|localhost|::1)$/u.test(host);
  if (isRelay || port === nameServer || port === 0 || host === "") return undefined;
  return { kind: "network", what: host.includes(":") ? `[${host}]:${port}` : `${host}:${port}` };
}

/** A program that is not inside, but on the host. */
function toProgram(path: string, { isWithheld }: AttemptPlaces): Omit<Attempt, "round"> | undefined {
  const name = basename(path);
  const isByName = !path.includes("/") || programPlaces.has(dirname(path));
  if (!isByName || !isWithheld(name)) return undefined;
  return { kind: "run", what: name };
}

type SeenFile = Observation & { readonly kind: "file" };

/** Where a script has its home when nothing of yours was granted; it is also its place for temporary files. */
const homeInside = "/tmp";
/** What interpreters and programs look for in every home, whatever a script does. */
const homeSettings =
  /^\.(?:local|cache|config\/(?:git|powershell)|node_modules|node_libraries|gem|bundle|npm\w*|python\w*|R\w+|gitconfig|curlrc|wgetrc|terminfo|inputrc|irbrc)(?:\/|$)/u;

/** What of your home a script means by a path in its own: something that is there, or would be made in a directory that is there. */
function toHome({ path, access, failed }: SeenFile, { directory, home, exists }: AttemptPlaces): string | undefined {
  if (!isInside(path, homeInside) || path === homeInside || isInside(path, directory)) return undefined;
  const way = relative(homeInside, path);
  const meant = join(home, way);
  if (homeSettings.test(way) || isInside(path, home)) return undefined;
  if (exists(meant)) return failed || access === "write" ? meant : undefined;
  return failed && access !== "read" && way.includes("/") && exists(dirname(meant)) ? meant : undefined;
}

function toFile(seen: SeenFile, places: AttemptPlaces): Omit<Attempt, "round"> | undefined {
  const meant = toHome(seen, places);
  if (meant !== undefined) return toFileAttempt({ ...seen, path: meant, failed: true }, places);
  return isOwn(seen.path, places) ? undefined : toFileAttempt(seen, places);
}

/** Whether something is the sandbox's own; a project or a home that is below such a place is not. */
function isOwn(path: string, { directory, home }: AttemptPlaces): boolean {
  if (isInside(path, directory)) return false;
  const isOwnPlace = (place: string): boolean =>
    isInside(path, place) && !(isInside(path, home) && isInside(home, place));
  return ownPlaces.some(isOwnPlace) || systemSettings.test(path);
}

function toFileAttempt({ path, access, failed }: SeenFile, places: AttemptPlaces): Omit<Attempt, "round"> | undefined {
  const isInProject = isInside(path, places.directory);
  // Where the working directory is below /tmp, its stand-in can be written to.
  if (access === "write") return failed || isInProject ? { kind: "write", what: path } : undefined;
  if (access === "make") return failed || isInProject ? { kind: "write", what: path, makes: true } : undefined;
  // Only an empty stand-in of the working directory is there, so to list it fails in silence.
  if (access === "list")
    return isInProject || places.exists(path) ? { kind: "read", what: path, lists: true } : undefined;
  if (!failed || path === places.directory || isInside(places.directory, path)) return undefined;
  return places.exists(path) ? { kind: "read", what: path } : undefined;
}
