import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { describeCause, KitbagError, quote } from "../../core/errors.ts";
import { digestToken, tokenPrefix } from "../../gate/access/token-check.ts";
import type { GateToken } from "../../gate/gate.ts";
import { makeHomeFolder, refuseForeignHome } from "../../platform/home.ts";
import { describeFileError, describeForeignOwner, writeFileAtomically } from "../../platform/files.ts";
import { withFileLock } from "../../platform/file-lock.ts";

/** More than any list of tokens has. */
const maxBytes = 1024 * 1024;

/** One line of a token file: a token, or its digest, whose it is, what it is good for and when it was made. */
export type TokenLine = GateToken & {
  /** As it was written: `2026-11-18T07:00:00Z`. */
  readonly created?: string;
};

/** The file of the tokens that `kitbag token` makes. */
export function ownTokenFile(home: string): string {
  return join(home, "tokens");
}

/** Reads the text of a token file. @throws {Error} with what is wrong. */
export function readTokenText(path: string): string {
  try {
    if (statSync(path).size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new Error(describeFileError(cause), { cause });
  }
}

/**
 * Reads the text of a token file. Each line is a token, and behind it, if that is wanted, whose it is, its scopes (`*` for all) and when it
 * was made: `<token> <name> tools:of:pdf,tools:read 2026-11-18T07:00:00Z`. `sha256:` and its digest may stand for a token.
 *
 * A last line without a newline is refused: if the rest of it is still to be written, its token would be good for more than it should, or
 * be another one.
 *
 * @throws {Error} with what is wrong and in which line; it never repeats a token.
 */
export function parseTokens(text: string): readonly TokenLine[] {
  if (text === "") {
    throw new Error("it is empty, so it may be half written; a line that begins with # makes it a file without tokens");
  }
  const lines = text.split("\n");
  if (lines.at(-1) !== "") {
    throw new Error(`line ${lines.length} does not end with a newline, so it may be half written; end it with one`);
  }
  return lines.flatMap((line, index) => {
    const trimmed = line.trim();
    return trimmed === "" || trimmed.startsWith("#") ? [] : [parseLine(trimmed, index + 1)];
  });
}

/** Reads a token as it is, or as `sha256:` and its digest. */
export function toGateToken(text: string): { readonly token: string } | { readonly sha256: string } {
  return text.startsWith("sha256:") ? { sha256: text.slice("sha256:".length).toLowerCase() } : { token: text };
}

function parseLine(line: string, number: number): TokenLine {
  const [text = "", id, scopes, created, ...more] = line.split(/\s+/u);
  const token = toGateToken(text);
  if ("sha256" in token && !/^[\da-f]{64}$/u.test(token.sha256)) {
    throw new Error(`line ${number}: "sha256:" is followed by no digest of 64 hexadecimal digits`);
  }
  if (id !== undefined) checkName(id, `line ${number}: `);
  if (more.length > 0) throw new Error(`line ${number}: there are more than a token, a name, scopes and a time`);
  return {
    ...token,
    ...(id !== undefined && { id }),
    ...(scopes !== undefined && scopes !== "*" && { scopes: scopes.split(",").filter((scope) => scope !== "") }),
    ...(created !== undefined && { created }),
  };
}

/** Letters that look alike in several alphabets, and signs that separate names elsewhere, would make two users look like one. */
export function checkName(name: string, place = ""): void {
  if (/^[A-Za-z\d][\w.@+-]{0,63}$/u.test(name)) return;
  const shown = quote(name.slice(0, 70));
  throw new Error(`${place}${shown} cannot be a name; take 1 to 64 of the letters a to z, digits and . _ @ + -`);
}

/** A token that was just made. */
export interface MadeToken {
  /** The token itself: 256 random bits. It is kept nowhere. */
  readonly token: string;
  readonly line: TokenLine & { readonly sha256: string };
}

/** Makes a random token for a user. */
export function makeToken(id: string, scopes: readonly string[] | "all"): MadeToken {
  const token = tokenPrefix + randomBytes(32).toString("base64url");
  const created = new Date().toISOString().replace(/\.\d+Z$/u, "Z");
  return { token, line: { sha256: digestToken(token), id, ...(scopes !== "all" && { scopes }), created } };
}

/**
 * Reads Kitbag's own token file, or the text that `read` has of it.
 *
 * @throws {KitbagError} `config-invalid` if it is not as Kitbag writes it, or another user could have written it.
 */
export function loadTokens(path: string, read = (): string => readTokenText(path)): readonly TokenLine[] {
  try {
    checkOwner(path);
    return parseOwn(read());
  } catch (cause) {
    throw new KitbagError("config-invalid", { path, reason: describeFileError(cause) }, { cause });
  }
}

function parseOwn(text: string): readonly TokenLine[] {
  try {
    return parseTokens(text);
  } catch (cause) {
    const cure = "mend the file, or delete it, and make new tokens with kitbag token add <name>";
    throw new Error(`${describeCause(cause)}; ${cure}`, { cause });
  }
}

/**
 * Tells whether a file is there.
 *
 * @throws {KitbagError} `home-unusable` if it would be in the home of another user.
 */
export function hasTokenFile(path: string): boolean {
  refuseForeignHome(dirname(path));
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function checkOwner(path: string): void {
  const { uid, mode } = statSync(path);
  const foreign = describeForeignOwner({ uid });
  if (foreign !== undefined) throw new Error(foreign);
  if (process.getuid !== undefined && (mode & 0o022) !== 0) {
    throw new Error("other users can write to it; look at it, then run chmod 600 on it");
  }
}

/**
 * Changes Kitbag's own token file in one step, readable by its owner alone. Several programs may do so at once. `change` gets nothing if
 * there is no file; if it answers with nothing, the file stays as it is. Tokens that a person wrote there become digests.
 *
 * @throws {KitbagError} `config-invalid` if the file cannot be read or written; `home-unusable`.
 */
export async function changeTokens(
  path: string,
  change: (lines: readonly TokenLine[] | undefined) => readonly TokenLine[] | undefined,
): Promise<void> {
  try {
    makeHomeFolder(dirname(path));
    await withFileLock(`${path}.lock`, () => {
      const changed = change(hasTokenFile(path) ? loadTokens(path) : undefined);
      if (changed !== undefined) writeFileAtomically(path, renderTokens(changed));
    });
  } catch (cause) {
    if (cause instanceof KitbagError) throw cause;
    throw new KitbagError("config-invalid", { path, reason: describeFileError(cause) }, { cause });
  }
}

function renderTokens(lines: readonly TokenLine[]): string {
  const head = "# Tokens of kitbag serve --http: digest, user, scopes (* for all), time. Change it with kitbag token.";
  const rows = lines.map((line) => {
    const digest = "sha256" in line ? line.sha256 : digestToken(line.token);
    const { id, scopes = "all", created } = line;
    const words = [id, id && (scopes === "all" ? "*" : scopes.join(",")), created];
    return [`sha256:${digest}`, ...words.filter((word) => word !== undefined)].join(" ");
  });
  return `${[head, ...rows].join("\n")}\n`;
}
