/** Folders that are never part of a skill: neither hashed, nor watched, nor mounted. */
const ignoredFolders = new Set([".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".kitbag"]);

/** What systems and editors leave beside the files that a user works on. */
const ignoredFiles = /^(?:\.DS_Store|Thumbs\.db|desktop\.ini|\.#.*|#.*#|.*~|\..*\.sw[a-p]|4913)$/u;

/** Tells whether a folder of this name is never part of a skill. */
export function isIgnoredFolder(name: string): boolean {
  return ignoredFolders.has(name);
}

/** Tells whether a file of this name is never part of a skill. */
export function isIgnoredFile(name: string): boolean {
  return ignoredFiles.test(name);
}
