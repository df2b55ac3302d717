import type { GitSession } from "./git-session.ts";
import { createFileTree, type FileTree } from "./file-tree.ts";

/** The files of a commit. */
export interface CommitFiles {
  readonly tree: FileTree;
  /** What was left out, in words. */
  readonly notes: readonly string[];
}

interface CommitEntry {
  readonly mode: string;
  readonly object: string;
  readonly bytes: number;
  readonly path: string;
}

/**
 * Reads the files of a commit, or of one folder in it, into memory. All names and sizes are checked before anything is read.
 *
 * @throws {KitbagError} `import-failed`, `import-refused`
 */
export async function readCommit(session: GitSession, commit: string): Promise<CommitFiles> {
  const { source, limits } = session;
  const tree = createFileTree(session.shown, limits);
  const root = source.folder === undefined ? commit : `${commit}:${source.folder}`;
  const listed = await session.run(["ls-tree", "-r", "-l", "-z", "--full-tree", root]).catch((cause: unknown) => {
    if (source.folder === undefined) throw cause;
    return session.fail(`there is no folder ${JSON.stringify(source.folder)} in it`);
  });
  const entries = parseEntries(listed);
  if (entries.length === 0) session.fail("there are no files in it");
  const modules = entries.filter(({ mode }) => mode === "160000");
  const wanted = entries.filter(({ mode }) => mode !== "160000");
  for (const { mode, path, bytes } of wanted) {
    if (mode !== "120000") tree.announce(path, bytes);
    else if (bytes > longestLink) tree.refuse(path, "is a link that leads out");
  }
  const contents = await readObjects(session, wanted);
  for (const [index, { mode, path }] of wanted.entries()) {
    const bytes = contents[index] as Uint8Array;
    if (mode === "120000") tree.addLink(path, new TextDecoder().decode(bytes));
    else tree.addFile(path, { bytes, isExecutable: mode === "100755" });
  }
  return { tree, notes: modules.map(({ path }) => `left out ${path} (another repository)`) };
}

const longestLink = 4096;

/** `100644 blob 0123… 42\tpath`, each with a NUL behind it. */
function parseEntries(listed: Buffer): CommitEntry[] {
  const lines = listed.toString("utf8").split("\0");
  return lines.flatMap((line) => {
    const [, mode, object, bytes = "", path] = /^(\d{6}) \w+ ([0-9a-f]{40,64}) +(-|\d+)\t([^]*)$/u.exec(line) ?? [];
    if (mode === undefined || object === undefined || path === undefined) return [];
    return [{ mode, object, bytes: bytes === "-" ? 0 : Number(bytes), path }];
  });
}

/** Reads files by their digests, in one go: `<digest> blob <bytes>`, a line feed, the bytes, a line feed. */
async function readObjects(session: GitSession, entries: readonly CommitEntry[]): Promise<Uint8Array[]> {
  const sum = entries.reduce((total, { bytes }) => total + bytes + 128, 0);
  const input = entries.map(({ object }) => `${object}\n`).join("");
  const output = await session.run(["cat-file", "--batch"], { input, maxOutputBytes: sum });
  let place = 0;
  return entries.map(({ object, bytes, path }) => {
    const end = output.indexOf(0x0a, place);
    const head = output.toString("latin1", place, end);
    if (end === -1 || head !== `${object} blob ${bytes}`) session.fail(`the file ${JSON.stringify(path)} is missing`);
    place = end + 1 + bytes + 1;
    return output.subarray(end + 1, end + 1 + bytes);
  });
}
