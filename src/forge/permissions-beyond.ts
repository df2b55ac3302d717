import { posix } from "node:path";

import { fromScopes, permissionKinds, scopesOf, type Permissions } from "../core/permissions.ts";
import { isInside, toRealPath } from "../platform/paths.ts";
import { countOpened, toTarget, type GrantPlaces } from "../sandbox/grants.ts";

/**
 * What of `asked` is not in `granted`. A host is in a rule with `*.`, a path in a folder above it; a path that may be written may be read.
 * A grant for a folder does not include shielded places in it. What cannot be compared counts as beyond. With `places`, paths are
 * compared by their real targets, because a symlink in a granted folder may lead out of it; without, by their text.
 */
export function permissionsBeyond(asked: Permissions, granted: Permissions, places?: GrantPlaces): Permissions {
  const findLeft = (kind: keyof Permissions): readonly string[] => {
    const rules = kind === "read" ? [...(granted.read ?? []), ...(granted.write ?? [])] : scopesOf(granted, kind);
    return scopesOf(asked, kind).filter((one) => !rules.some((rule) => isIn({ kind, asked: one, rule, places })));
  };
  return fromScopes(Object.fromEntries(permissionKinds.map((kind) => [kind, findLeft(kind)])));
}

/** Tells whether nothing is asked for. */
export function isNothing(permissions: Permissions): boolean {
  return permissionKinds.every((kind) => scopesOf(permissions, kind).length === 0);
}

/** In one line: `network api.example.com; write ./data`. */
export function describePermissions(permissions: Permissions): string {
  return permissionKinds
    .filter((kind) => scopesOf(permissions, kind).length > 0)
    .map((kind) => `${kind} ${scopesOf(permissions, kind).join(", ")}`)
    .join("; ");
}

/** What a draft waits for, in one line: permissions, and promises that it takes back. */
export function describeWish({
  asks,
  laxer = [],
}: {
  readonly asks: Permissions;
  readonly laxer?: readonly string[];
}): string {
  return [...(isNothing(asks) ? [] : [describePermissions(asks)]), ...laxer].join("; ");
}

/** What a draft waits for, as the end of a sentence: `asks for network example.com`, `asks to be shared with every user`. */
export function describeAsking(wish: Parameters<typeof describeWish>[0]): string {
  const text = describeWish(wish);
  return /^(?:not )?to /u.test(text) ? `asks ${text}` : `asks for ${text}`;
}

interface Compared {
  readonly kind: keyof Permissions;
  readonly asked: string;
  readonly rule: string;
  readonly places: GrantPlaces | undefined;
}

function isIn({ kind, asked, rule, places }: Compared): boolean {
  if (asked === rule) return true;
  if (kind === "network") return isHostIn(asked, rule);
  if (kind !== "read" && kind !== "write") return false;
  if (opensMore({ kind, asked, rule, places })) return false;
  return places === undefined ? isPathIn(toPlace(asked), toPlace(rule)) : isReallyIn(asked, rule, places);
}

function opensMore({ kind, asked, rule, places }: Compared & { kind: "read" | "write" }): boolean {
  const [own, given] = [asked, /^[./~]/u.test(rule) ? rule : `./${rule}`].map((scope) =>
    countOpened(kind, scope, places ?? { directory: process.cwd() }),
  );
  return (own ?? 0) > (given ?? 0);
}

function isReallyIn(asked: string, rule: string, places: GrantPlaces): boolean {
  const target = toTarget(asked, places);
  // A policy may leave the ./ out.
  const folder = toTarget(rule, places) ?? toTarget(`./${rule}`, places);
  if (target === undefined || folder === undefined) return false;
  return isInside(target, folder) && isInside(toRealPath(target), toRealPath(folder));
}

const hostForm = /^(\*\.)?([^*:]+)(:\d+)?$/u;

/** A rule without a port is for the usual ones, so a port that is asked for by number must be granted by number. */
function isHostIn(asked: string, rule: string): boolean {
  const [, , host, port = ""] = hostForm.exec(asked.toLowerCase()) ?? [];
  const [, wildcard, suffix, rulePort = ""] = hostForm.exec(rule.toLowerCase()) ?? [];
  if (host === undefined || suffix === undefined || port !== rulePort) return false;
  return host === suffix
    ? asked.startsWith("*.") === rule.startsWith("*.")
    : wildcard !== undefined && host.endsWith(`.${suffix}`);
}

/** Without `/**` and a slash at the end, and without ways around. */
function toPlace(path: string): string {
  const plain = posix.normalize(path.replace(/\/\*\*?$/u, "/")).replace(/\/$/u, "");
  return plain === "" ? "/" : plain;
}

function isPathIn(asked: string, rule: string): boolean {
  if (asked === rule) return true;
  const isRelative = !posix.isAbsolute(asked) && !asked.startsWith("~");
  if (rule === ".") return isRelative && asked !== ".." && !asked.startsWith("../");
  const above = rule === "/" ? "/" : `${rule}/`;
  // Further up is not below, whatever it begins with.
  return asked.startsWith(above) && !/^\.\.(?:\/|$)/u.test(asked.slice(above.length));
}
