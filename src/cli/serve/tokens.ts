import { statSync } from "node:fs";
import { resolve } from "node:path";

import type { GateToken } from "../../gate/gate.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { type Invocation, usageError } from "../cli-command.ts";
import { getTexts } from "../options.ts";
import {
  hasTokenFile,
  loadTokens,
  ownTokenFile,
  parseTokens,
  readTokenText,
  toGateToken,
  changeTokens,
  makeToken,
  type MadeToken,
} from "./token-file.ts";
import { describeCause, isKitbagError } from "../../core/errors.ts";
import { localCaller, createScopesOf } from "../../gate/access/token-check.ts";
import type { ScopesOf } from "../../core/scopes.ts";

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

/** How often token files are read. A change counts when two reads in a row give the same: a file that is being written still changes. */
const lookMs = 250;

/** The tokens of a service while it runs. */
export interface LiveTokens {
  /** Those that are good now. */
  readonly current: readonly GateToken[];
  /**
   * Keeps the token that the first start made, once the service is running. Answers with the token on every call: it is known only
   * here.
   */
  keepFirst(): Promise<string | undefined>;
  /**
   * From now on follows the files: `apply` gets the tokens whenever they change, and at once if they have changed since they were read
   * last. A file that cannot be used, or tokens for which `apply` throws, change nothing, and `warn` is told once.
   */
  follow(apply: (tokens: readonly GateToken[]) => void, warn: (problem: string) => void): FollowedTokens;
}

/** Token files that are followed. */
export interface FollowedTokens {
  /** Looks at once. */
  reread(): void;
  /** Looks at once if only `kitbag token` writes the file: it does so in one step, so nothing is half written. */
  refresh(): void;
  stop(): void;
}

/**
 * Reads the tokens of a service. If they come from the file of `kitbag token` and that file does not exist, makes a token for the
 * local user.
 *
 * @throws {KitbagError} `usage-invalid`, `config-invalid` if there is no token, or a file cannot be used.
 */
export function openTokens(places: TokenPlaces): LiveTokens {
  const missing = places.files.find(({ path, isOwn }) => isOwn && !hasTokenFile(path));
  const first = missing === undefined ? undefined : { path: missing.path, made: makeToken(localCaller.id, "all") };
  let kept: Promise<string | undefined> | undefined;
  // What the tokens were read from: what differs from it has changed since, also before anything follows.
  let taken = readTokenTexts(places);
  let current = first === undefined ? readFirstTokens(places, taken) : [first.made.line];

  return {
    get current() {
      return current;
    },
    async keepFirst() {
      if (first === undefined) return undefined;
      const { path, made } = first;
      kept ??= keep(path, made).then((isKept) => {
        taken = readTokenTexts(places, taken);
        current = readFirstTokens(places, taken);
        return isKept ? made.token : undefined;
      });
      return kept;
    },
    follow(apply, warn) {
      const look = (): TokenTexts => readTokenTexts(places, taken);
      const take = (texts: TokenTexts): void => {
        taken = texts;
        try {
          const tokens = readTokens(places, texts);
          apply(tokens);
          current = tokens;
        } catch (cause) {
          const reason = isKitbagError(cause) ? cause.message : describeCause(cause);
          warn(`${reason}; the tokens of before stay good`);
        }
      };
      const isNew = (texts: TokenTexts): boolean => !isSame(texts, taken);
      const timer = takeWhatIsNew(look, isNew, take);
      return {
        reread: () => take(look()),
        refresh() {
          const texts = look();
          if (places.files.every(({ isOwn }) => isOwn) && isNew(texts)) take(texts);
        },
        stop: () => clearInterval(timer),
      };
    },
  };
}

/** Takes what is new now, and from then on what two looks in a row find. */
function takeWhatIsNew(
  look: () => TokenTexts,
  isNew: (texts: TokenTexts) => boolean,
  take: (texts: TokenTexts) => void,
): NodeJS.Timeout {
  let seen = look();
  if (isNew(seen)) take(seen);
  return setInterval(() => {
    const texts = look();
    if (isNew(texts) && isSame(texts, seen)) take(texts);
    seen = texts;
  }, lookMs).unref();
}

function isSame(one: TokenTexts, other: TokenTexts): boolean {
  return one.every((text, index) => String(text) === String(other[index]));
}

/** Another service may have been started for the first time at the same moment: one of them makes the token. */
async function keep(path: string, { line }: MadeToken): Promise<boolean> {
  let isKept = false;
  await changeTokens(path, (lines) => {
    isKept = lines === undefined;
    return isKept ? [line] : undefined;
  });
  return isKept;
}

/**
 * What users may call, as far as a command knows: the person who runs it everything, others what the tokens of `kitbag serve` say.
 * Without tokens nothing is known of others.
 */
export function createLocalScopes(invocation: Invocation, person: string | undefined): ScopesOf {
  return (user) => {
    if (user === person || user === localCaller.id) return "all";
    const tokens = readTokens(withoutMissing(findTokenPlaces(invocation)));
    return tokens.length === 0 ? undefined : createScopesOf(tokens)(user);
  };
}
