import { showValue } from "./json.ts";
import { checkPermissions, scopesOf, type Permissions } from "./permissions.ts";

/** What a person granted to a skill from outside, besides what the skill's own files ask for. Paths are relative to the project. */
export interface SkillGrant extends Omit<Permissions, "sockets"> {
  /** Packages that are installed for its scripts: `pypdf>=4` of Python, `npm:lodash@^4` of npm. */
  readonly packages?: readonly string[];
}

/** The kinds of things that are granted from outside. */
const grantKinds = ["read", "write", "network", "env", "run", "packages"] as const;

type GrantKind = (typeof grantKinds)[number];

/** What a grant lists of one kind. */
function listGranted(grant: SkillGrant, kind: GrantKind): readonly string[] {
  return kind === "packages" ? (grant.packages ?? []) : scopesOf(grant, kind);
}

/** Makes a grant of lists; a kind with an empty one is left out. */
export function toGrant(list: (kind: GrantKind) => readonly string[]): SkillGrant {
  const lists = grantKinds.map((kind) => [kind, [...new Set(list(kind))].toSorted()] as const);
  return Object.fromEntries(lists.filter(([, items]) => items.length > 0));
}

/** Everything that at least one of `all` grants. */
export function joinGrants(all: readonly SkillGrant[]): SkillGrant {
  return toGrant((kind) => all.flatMap((grant) => listGranted(grant, kind)));
}

/** What of a grant another one has, too. */
export function sharedGrant(grant: SkillGrant, other: SkillGrant): SkillGrant {
  return toGrant((kind) => listGranted(grant, kind).filter((item) => listGranted(other, kind).includes(item)));
}

/** What of a grant another one has not. */
export function withoutGrant(grant: SkillGrant, other: SkillGrant): SkillGrant {
  return toGrant((kind) => listGranted(grant, kind).filter((item) => !listGranted(other, kind).includes(item)));
}

/** Tells whether a grant lists nothing. */
export function isEmptyGrant(grant: SkillGrant): boolean {
  return grantKinds.every((kind) => listGranted(grant, kind).length === 0);
}

/** A grant in a line: `read ./data; network example.com`. Empty if it lists nothing. */
export function describeGrant(grant: SkillGrant): string {
  const said = grantKinds.filter((kind) => listGranted(grant, kind).length > 0);
  return said.map((kind) => `${kind} ${listGranted(grant, kind).join(" ")}`).join("; ");
}

/** The part of a grant that the sandbox enforces. */
export function toPermissions(grant: SkillGrant): Permissions {
  return toGrant((kind) => (kind === "packages" ? [] : listGranted(grant, kind)));
}

/** Reads a grant that was written down. Throws an `Error` for anything that is not one. */
export function parseGrant(value: unknown, place: string): SkillGrant {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`the entry ${place} is not a grant, but ${showValue(value)}`);
  const { packages, sockets, ...permissions } = value as Record<string, unknown>;
  const [problem] = sockets === undefined ? checkPermissions(permissions) : [{ path: "permissions.sockets" }];
  if (problem !== undefined) throw new Error(`the entry ${place} has a wrong grant: ${problem.path}`);
  const isList = Array.isArray(packages) && packages.every((one) => typeof one === "string" && one !== "");
  if (packages !== undefined && !isList) throw new Error(`the entry ${place} has a wrong grant: packages`);
  return value;
}
