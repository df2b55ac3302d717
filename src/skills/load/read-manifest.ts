import type { Diagnostic } from "../../core/diagnostics.ts";
import type { FolderSnapshot } from "../folder/read-folder.ts";
import { readKitbagToml } from "../manifests/read-kitbag-toml.ts";
import { readPluginToml } from "../manifests/read-plugin-toml.ts";
import { isToolManifest, readToolJson } from "../manifests/read-tool-json.ts";
import type { SkillManifest } from "../manifests/skill-manifest.ts";

/** What the manifests of a folder say. */
export interface ManifestReading {
  readonly manifest?: SkillManifest;
  readonly diagnostics: readonly Diagnostic[];
}

const readers = [
  ["kitbag.toml", readKitbagToml],
  ["manifest.toml", readPluginToml],
  ["manifest.json", readToolJson],
] as const;

/** Reads the manifest of a folder, if it has one. Ours goes before those of other systems, and says that it does. */
export function readManifest(snapshot: FolderSnapshot): ManifestReading {
  // Most folders have none.
  if (!readers.some(([name]) => snapshot.contents.has(name))) return { diagnostics: [] };
  const files = new Set(snapshot.files.map((file) => file.path));
  const present = readers.filter(([name]) => {
    const bytes = snapshot.contents.get(name);
    return bytes !== undefined && (name !== "manifest.json" || isMeant(bytes, files));
  });
  const [first, ...others] = present;
  if (first === undefined) return { diagnostics: [] };
  const [name, read] = first;
  const reading = read(name, snapshot.contents.get(name) ?? new Uint8Array(), files);
  const ignored = others.map(([other]): Diagnostic => {
    const message = `Did not read ${other}: ${name} goes before it`;
    return { severity: "info", code: "manifest-ignored", message, file: other };
  });
  return { ...reading, diagnostics: [...reading.diagnostics, ...ignored] };
}

/** Beside a SKILL.md, or without the kind of a tool, `manifest.json` may belong to another program (a web app's, a browser extension's). */
function isMeant(bytes: Uint8Array, files: ReadonlySet<string>): boolean {
  return isToolManifest(bytes) && !files.values().some((path) => /^skill\.md$/iu.test(path));
}
