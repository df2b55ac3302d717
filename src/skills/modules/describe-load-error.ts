import { fileURLToPath } from "node:url";

import { describeCause, isKitbagError } from "../../core/errors.ts";
import { isProjectFile } from "./project-files.ts";

/** Says what loading a module threw, and where in the project it came from. Never throws, whatever it was. */
export function describeLoadError(cause: unknown): string {
  const text = describeCause(cause);
  try {
    if (!(cause instanceof Error)) return text;
    const place = findPlace(String(cause.stack));
    return `${isKitbagError(cause) ? "" : `${cause.name}: `}${text}${place === undefined ? "" : ` (${place})`}`;
  } catch {
    return text;
  }
}

/** The first place in a stack that is in the user's project, as `path:line:column`. */
function findPlace(stack: string): string | undefined {
  const frames = [...stack.matchAll(/(?<url>file:\/\/[^\s)]+?)(?<place>(?::\d+){1,2})(?=[\s)]|$)/gu)];
  return frames.map(({ groups }) => toPath(groups?.["url"] ?? "") + (groups?.["place"] ?? "")).find(isProjectFile);
}

function toPath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}
