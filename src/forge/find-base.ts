import { readFileSync } from "node:fs";

import { isKitbagError, KitbagError } from "../core/errors.ts";
import type { Tool } from "../core/tool.ts";
import type { Base } from "./creation/pass-gate.ts";
import { makeTool, manifestFile, renderManifest } from "./disk/manifest.ts";
import type { StoredTool, StoredVersion } from "./disk/stored-tool.ts";
import type { ForgeEvent } from "./forge-interface.ts";
import type { ForgeParts } from "./forge-parts.ts";
import { toPipelineOptions } from "./live/pipelines.ts";
import { findWindows } from "./creation/replay-calls.ts";

/** What an edit goes on from. Files that were edited by hand and trusted are kept as a version first. */
export async function findBase(parts: ForgeParts, name: string): Promise<Base | undefined> {
  const entry = parts.live.find(name);
  const current = entry?.stored.current;
  if (entry === undefined || current === undefined) return undefined;
  if (current.isKept) return toBase(parts, entry.stored, current.label);
  await keepByHand(parts, entry.stored, { version: current });
  parts.live.refresh([name]);
  return findBase(parts, name);
}

/** A version that is kept, as what an edit goes on from. */
export function toBase(parts: ForgeParts, stored: StoredTool, version: string): Base {
  const { isTrusted } = parts.trust.judge(stored);
  const isRunnable = stored.versions.some((one) => one.label === version && isTrusted(one));
  // What may not run is not run to see what it would answer.
  const windows = isRunnable ? findWindows(stored.history, version) : [];
  return { stored, version, windows, tools: toolsOf(parts, stored) };
}

function toolsOf({ workspace }: ForgeParts, { versions }: StoredTool): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  for (const { label, manifest, folder } of versions) {
    try {
      tools.set(
        label,
        makeTool(manifest, folder, manifest.tool_type === "pipeline" ? toPipelineOptions(workspace) : {}),
      );
    } catch (cause) {
      // One that cannot be made any more cannot be compared either.
      if (!isKitbagError(cause)) throw cause;
    }
  }
  return tools;
}

/** What was written by hand, and what is known of it. */
export interface ByHand {
  readonly version: StoredVersion;
  /** The label to keep it under. @default its own */
  readonly label?: string;
  /** Whether it may run. @default if it might before */
  readonly isTrusted?: boolean;
  /** What its history says beside. */
  readonly notes?: Pick<ForgeEvent, "from" | "step" | "reasons" | "author">;
}

/** Keeps files that were edited by hand as a version. */
export async function keepByHand(
  { trust, writer }: Pick<ForgeParts, "trust" | "writer">,
  stored: StoredTool,
  byHand: ByHand,
): Promise<void> {
  const { version: current, label = current.label, notes = {} } = byHand;
  const { disabled: _, ...manifest } = current.manifest;
  const text = renderManifest({ ...manifest, version: label });
  const files = current.folder.files.map(
    ({ path }) => [path, readFileSync(`${current.folder.directory}/${path}`)] as const,
  );
  await writer.write({
    name: stored.name,
    event: { type: stored.labels.length === 0 ? "create" : "update", version: label, ...notes },
    files: new Map<string, Uint8Array>([...files, [manifestFile, new TextEncoder().encode(text)]]),
    isTrusted: byHand.isTrusted ?? trust.judge(stored).isTrusted(current),
    isDeleted: stored.isDeleted,
    check: (now) => {
      if (now?.digest === stored.digest) return;
      const found = now?.current?.label ?? "none";
      throw new KitbagError("version-conflict", {
        address: stored.name,
        expected: current.label,
        current: found,
        changed: [],
      });
    },
  });
}
