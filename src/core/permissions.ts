import type { Problem } from "./errors.ts";
import { showValue, toPath, type JsonObject } from "./json.ts";
import { nearestNames } from "./nearest.ts";

/** What a tool may touch. What is not listed is denied. */
export interface Permissions {
  /** Paths it may read. */
  readonly read?: readonly string[];
  /** Paths it may write. */
  readonly write?: readonly string[];
  /** Hosts it may reach: `api.github.com`, `api.github.com:443`, `*.example.com`. */
  readonly network?: readonly string[];
  /** Environment variables it may see. */
  readonly env?: readonly string[];
  /** Programs it may start. */
  readonly run?: readonly string[];
  /** `private`: it may make Unix sockets of its own. None that is in a folder it was given is among them. */
  readonly sockets?: "private";
}

/** The kinds of permission there are. */
export const permissionKinds = ["read", "write", "network", "env", "run", "sockets"] as const;

const texts = { type: "array", items: { type: "string", minLength: 1 } };

/** The JSON Schema of permissions as manifests and configurations write them. */
export const permissionsSchema: JsonObject = {
  type: "object",
  properties: Object.fromEntries(
    permissionKinds.map((kind) => [kind, kind === "sockets" ? { const: "private" } : texts]),
  ),
  additionalProperties: false,
};

/** All that permissions list of one kind. */
export function scopesOf(permissions: Permissions, kind: keyof Permissions): readonly string[] {
  return [permissions[kind] ?? []].flat();
}

/** Permissions of lists; a kind with an empty one is left out. */
export function fromScopes(lists: { readonly [Kind in keyof Permissions]?: readonly string[] }): Permissions {
  const filled = permissionKinds.filter((kind) => (lists[kind]?.length ?? 0) > 0);
  return Object.fromEntries(filled.map((kind) => [kind, kind === "sockets" ? "private" : lists[kind]]));
}

/** What is wrong with `permissions`; unknown words are refused, because nothing would enforce them. */
export function checkPermissions(permissions: unknown): Problem[] {
  if (typeof permissions !== "object" || permissions === null || Array.isArray(permissions)) {
    return [{ path: "permissions", expected: "an object", found: showValue(permissions) }];
  }
  const problems: Problem[] = [];
  for (const [kind, list] of Object.entries(permissions)) {
    const path = toPath(["permissions", kind]);
    if (!permissionKinds.includes(kind as keyof Permissions)) {
      const [nearest] = nearestNames(kind, permissionKinds, 1);
      const expected = `one of ${permissionKinds.join(", ")}`;
      problems.push({
        path,
        expected,
        found: "an unknown permission",
        ...(nearest !== undefined && { didYouMean: nearest }),
      });
    } else if (kind === "sockets") {
      if (list !== undefined && list !== "private") {
        problems.push({ path, expected: '"private"', found: showValue(list) });
      }
    } else if (list !== undefined && !isTextList(list)) {
      problems.push({ path, expected: "a list of texts", found: showValue(list) });
    }
  }
  return problems;
}

function isTextList(list: unknown): boolean {
  return Array.isArray(list) && list.every((item) => typeof item === "string" && item !== "");
}

/** Everything that at least one of `all` may touch. */
export function joinPermissions(all: readonly Permissions[]): Permissions {
  const join = (kind: keyof Permissions): readonly string[] => [
    ...new Set(all.flatMap((permissions) => scopesOf(permissions, kind))),
  ];
  return fromScopes(Object.fromEntries(permissionKinds.map((kind) => [kind, join(kind)])));
}
