import { statSync } from "node:fs";
import { resolve } from "node:path";

import type { GateToken } from "../../gate/gate.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { Invocation } from "../cli-command.ts";
import { getTexts } from "../options.ts";
import { usageError } from "../usage-error.ts";
import { hasTokenFile, loadTokens, ownTokenFile, parseTokens, readTokenText, toGateToken } from "./token-file.ts";

/** Where the tokens of a service come from. */
export interface TokenPlaces {
  /** Those that were given as they are. */
  readonly given: readonly GateToken[];
  readonly files: readonly TokenPlace[];
}

/** A file with tokens. */
export interface TokenPlace {
  readonly path: string;
  /** What the person called it. */
  readonly name: string;
  /** Whether it is the file of `kitbag token`, which is made when it is needed. */
  readonly isOwn: boolean;
}

type Asked = Pick<Invocation, "options" | "env" | "cwd">;

/**
 * Finds where the tokens come from: `--token`, else `KITBAG_TOKEN`, each a text or `@file`, else the file of `kitbag token`.
 *
 * @throws {KitbagError} `usage-invalid` for an empty token; `option-invalid` for a `KITBAG_HOME` that cannot be used.
 */
export function findTokenPlaces({ options, env, cwd }: Asked): TokenPlaces {
  const flags = getTexts(options, "token");
  const source = flags.length > 0 ? "--token" : "KITBAG_TOKEN";
  const texts = flags.length > 0 ? flags : [env["KITBAG_TOKEN"] ?? ""].filter((text) => text !== "");
  // An empty text must not mean that everybody is let in, nor that another token is good.
  if (texts.includes("")) throw noToken(source);
  const isFile = (text: string): boolean => text.startsWith("@");
  const named = texts.filter(isFile).map((text) => ({
    path: resolve(cwd, text.slice(1)),
    name: `${source} ${text}`,
    isOwn: false,
  }));
  const path = ownTokenFile(resolveKitbagHome(env));
  return {
    given: texts.filter((text) => !isFile(text)).map(toGateToken),
    files: texts.length > 0 ? named : [{ path, name: path, isOwn: true }],
  };
}

/** What is in each file of the places: its text, or why it cannot be read. */
export type TokenTexts = readonly (string | Error)[];

/** Reads the files of the places. What is no file, as a pipe, can be read once only, and stays as it was `before`. */
export function readTokenTexts({ files }: TokenPlaces, before: TokenTexts = []): TokenTexts {
  return files.map(({ path }, index) => {
    const known = before[index];
    if (known !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() === false) return known;
    try {
      return readTokenText(path);
    } catch (cause) {
      return cause as Error;
    }
  });
}

/**
 * Reads all tokens of the places, from texts that are known or as the files are now.
 *
 * @throws {KitbagError} `usage-invalid`, `config-invalid` for a file that cannot be read. It never repeats a token.
 */
export function readTokens(places: TokenPlaces, texts = readTokenTexts(places)): readonly GateToken[] {
  return [...places.given, ...places.files.flatMap((place, index) => readPlace(place, texts[index] ?? ""))];
}

/** Without the file of `kitbag token` if it was not made yet. */
export function withoutMissing(places: TokenPlaces): TokenPlaces {
  return { ...places, files: places.files.filter(({ path, isOwn }) => !isOwn || hasTokenFile(path)) };
}

function readPlace({ path, name, isOwn }: TokenPlace, text: string | Error): readonly GateToken[] {
  const read = (): string => {
    if (text instanceof Error) throw text;
    return text;
  };
  if (isOwn) return loadTokens(path, read);
  try {
    return parseTokens(read());
  } catch (cause) {
    throw usageError(`Cannot read ${name}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/**
 * Reads the tokens to begin with: there must be one.
 *
 * @throws {KitbagError} as {@link readTokens}, and `usage-invalid` if there is no token.
 */
export function readFirstTokens(places: TokenPlaces, texts?: TokenTexts): readonly GateToken[] {
  const tokens = readTokens(places, texts);
  if (tokens.length === 0) throw noToken(places.files.map(({ name }) => name).join(" and "));
  return tokens;
}

function noToken(source: string): Error {
  return usageError(
    `Cannot use ${source}: there is no token in it; make one with kitbag token add <name>, or serve this machine without one by --no-token`,
  );
}
