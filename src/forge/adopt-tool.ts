import { KitbagError } from "../core/errors.ts";
import type { Tool } from "../core/tool.ts";
import { refuseDraft, toDiagnostics } from "./birth/answer.ts";
import { proveTool, toChange } from "./birth/pass-gate.ts";
import { makeTool } from "./disk/make-tool.ts";
import { manifestFile } from "./disk/manifest.ts";
import type { StoredTool, StoredVersion } from "./disk/stored-tool.ts";
import { notFound, withPassed } from "./edits.ts";
import { keepByHand, toBase } from "./find-base.ts";
import type { AdoptOptions, Forge, ForgeAnswer, RefusedTool } from "./forge-interface.ts";
import type { ForgeParts } from "./forge-parts.ts";
import { toPipelineOptions } from "./live/pipelines.ts";
import { toLiveAnswer } from "./live/to-live-answer.ts";

/** Makes what takes in what a person wrote by hand. */
export function createAdoption(parts: ForgeParts): Pick<Forge, "adoptTool"> {
  const { live, trust } = parts;
  return {
    async adoptTool(name, options = {}) {
      live.refresh([name]);
      const { stored, status } = live.find(name) ?? {};
      if (stored === undefined || status === "deleted") throw notFound(parts, name);
      refuseOther(stored, options);
      const { current, versions } = stored;
      await trust.trust(versions.map(({ folder }) => folder));
      if (current === undefined || current.isKept) {
        live.refresh([name]);
        return toLiveAnswer(parts, name);
      }
      return adopt(parts, { stored, current }, options);
    },
  };
}

interface Edited {
  readonly stored: StoredTool;
  readonly current: StoredVersion;
}

async function adopt(parts: ForgeParts, { stored, current }: Edited, options: AdoptOptions): Promise<ForgeAnswer> {
  const { name, history, versions } = stored;
  const tool = make(parts, current);
  if ("status" in tool) return tool;
  const from = history.findLast(({ type }) => type !== "delete")?.version ?? versions.at(-1)?.label;
  const base = from === undefined ? undefined : toBase(parts, stored, from);
  const proof = await proveTool(parts, tool, { base, signal: options.signal, call: options.call });
  if ("status" in proof) return proof;
  const { version: label = current.label, change } = base === undefined ? {} : toChange(base, tool);
  const author = options.author ?? parts.author;
  const notes = { ...change, ...(author !== undefined && { author }) };
  await keepByHand(parts, stored, { version: current, label, isTrusted: true, notes });
  parts.live.refresh([name]);
  return withPassed(toLiveAnswer(parts, name), { ...proof, ...(change !== undefined && { change }) });
}

/** Somebody may have written something else since it was read. */
function refuseOther({ name, digest, current }: StoredTool, options: AdoptOptions): void {
  if (options.digest === undefined || options.digest === digest) return;
  const label = current?.label ?? "none";
  throw new KitbagError("version-conflict", { address: name, expected: label, current: label, changed: [] });
}

function make({ workspace }: ForgeParts, { manifest, folder }: StoredVersion): Tool | RefusedTool {
  try {
    const tool = makeTool(manifest, folder, toPipelineOptions(workspace));
    if (tool.examples.length > 0) return tool;
  } catch (cause) {
    return refuseDraft(manifest.name, toDiagnostics(cause));
  }
  const message = "it has no example; add at least one to its manifest: each is run before the tool is live";
  return refuseDraft(manifest.name, [{ severity: "error", code: "examples-missing", message, file: manifestFile }]);
}
