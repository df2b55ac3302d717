import type { Store } from "../../core/store.ts";
import { createVersions, type Versions } from "../../records/versions/versions.ts";
import { toDigest, type VersionSource } from "../../records/versions/content.ts";
import { toNotes } from "../../records/versions/history.ts";
import { fromSkill, fromTool } from "../../workspace/versions/keep-versions.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import type { Called } from "./on-called.ts";

/** Where versions are kept, and for whom. */
export interface KeepPlace {
  readonly store: Store;
  /** Who called it: whose version it is nobody knows better. */
  readonly author: string | undefined;
  readonly onError: (cause: unknown, address: string) => void;
}

/**
 * Keeps the versions of what was live with a tool that was called. What cannot be kept is told: the call that it belongs to is
 * recorded all the same, with its digest. A call of an earlier version (`tool@1.0.0`) does not make that the current one.
 */
export async function keepCalled(
  { tools, skill, earlier }: Called,
  { store, author, onError }: KeepPlace,
): Promise<void> {
  const versions = createVersions(store);
  const keep = async (name: string, source: VersionSource, label: string | undefined): Promise<void> => {
    await versions.keep(name, source, toNotes({ label, author })).catch((cause: unknown) => onError(cause, name));
  };
  const keepTool = ({ address, tool }: RegisteredTool): Promise<void> => keep(address, fromTool(tool), tool.version);
  if (earlier !== undefined && !(await isKept(versions, earlier))) await keepTool(earlier);
  for (const tool of tools) await keepTool(tool);
  if (skill !== undefined) await keep(skill.name, fromSkill(skill), skill.version);
}

async function isKept(versions: Versions, { address, tool }: RegisteredTool): Promise<boolean> {
  const digest = toDigest(fromTool(tool));
  return (await versions.list(address)).some((version) => version.digest === digest);
}
