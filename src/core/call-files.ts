import { quote } from "./error-texts.ts";

/** What a tool does with the file or folder that a parameter names: it reads it, or it makes or changes it. */
export type FileUse = "read" | "write";

/** The parameters of a tool that name files or folders, and what the tool does with them. */
export type FileParameters = Readonly<Record<string, FileUse>>;

/**
 * Who names the files in the input of a call. A `person` names any file that is not shielded. A `model` names ordinary files of the
 * workspace's folder, and only in parameters that are known to take files. For one who is `remote` only what Kitbag keeps for them is there.
 */
export type FileNamer = "person" | "model" | "remote";

/** What is done when a model names a file. */
export type FilePolicy = "ask" | "allow" | "deny";

/** A file or folder that the input of a call names, so that it is there for the tool in that call. */
export interface NamedFile {
  /** Where its name stands in the input: `["files", 2]`. */
  readonly at: readonly (string | number)[];
  /** As the caller wrote it. */
  readonly name: string;
  /** Where it is: on this machine, absolute and with links resolved. Not set for one that is only kept. */
  readonly path?: string;
  /** The handle under which it is kept. */
  readonly handle?: string;
  readonly use: FileUse;
  /** `nothing`: it is not there yet. */
  readonly kind: "file" | "folder" | "nothing";
}

/** A file that a tool wrote in a call. */
export interface WrittenFile {
  /** Relative to the folder in which the tool worked; below `~` or `/tmp` if it is in its home or a temporary file. */
  readonly path: string;
  readonly bytes: number;
  /** Where it is now on this machine, if the caller named that place. Without it the file is not in any folder. */
  readonly savedTo?: string;
  /** What was there before is here now. */
  readonly backup?: string;
  /** Where its bytes are kept: `workspace.readOutput` takes it. Not set for one that was saved, or is too large to be kept. */
  readonly handle?: string;
}

const mostListed = 50;

/** What a model is told of the files that a call wrote, a line each; empty if it wrote none. */
export function renderWrittenFiles(files: readonly WrittenFile[] = []): string {
  const lines = files
    .slice(0, mostListed)
    .map((file) => `- ${showName(file.path)}, ${file.bytes} bytes: ${whereIs(file)}`);
  const rest = files.length > mostListed ? [`- and ${files.length - mostListed} more`] : [];
  return files.length === 0 ? "" : ["Files that the tool wrote:", ...lines, ...rest].join("\n");
}

function whereIs({ savedTo, handle, backup }: WrittenFile): string {
  if (savedTo !== undefined) return backup === undefined ? "saved" : `saved; what was there is now ${showName(backup)}`;
  return handle === undefined ? "not kept, it is too large" : `kept as ${handle}, which names it in other calls`;
}

/** Names of files are words of the tool. */
function showName(name: string): string {
  return /^[\w./-]{1,200}$/u.test(name) ? name : quote(name);
}
