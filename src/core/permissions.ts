import type { Problem } from "./errors.ts";
import { showValue, toPath } from "./json.ts";
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
}

/** The kinds of permission there are. */
export const permissionKinds = ["read", "write", "network", "env", "run"] as const;

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
  const joined: Partial<Record<keyof Permissions, readonly string[]>> = {};
  for (const kind of permissionKinds) {
    const list = [...new Set(all.flatMap((permissions) => permissions[kind] ?? []))];
    if (list.length > 0) joined[kind] = list;
  }
  return joined;
}
