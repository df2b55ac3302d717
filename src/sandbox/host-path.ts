import type { Mount } from "./sandbox.ts";

/** Where something of inside is on the host: at its mount's source. What no mount has is the same on both sides. */
export function toHostPath(mounts: readonly Mount[], path: string): string {
  for (const { source, target } of mounts) {
    if (path === target) return source;
    if (path.startsWith(`${target}/`)) return source + path.slice(target.length);
  }
  return path;
}
