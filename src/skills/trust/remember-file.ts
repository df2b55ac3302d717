import { statSync } from "node:fs";

/**
 * Makes a reader that loads a file again only when it was replaced by another one. For files that are always replaced as a whole.
 * What `load` throws is thrown, each time.
 */
export function rememberFile<Content>(path: string, load: () => Content): () => Content {
  let known: { readonly version: string; readonly content: Content } | undefined;
  return () => {
    const version = versionOf(path);
    if (known?.version === version) return known.content;
    known = undefined;
    const content = load();
    known = { version, content };
    return content;
  };
}

function versionOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return "none";
  }
}
