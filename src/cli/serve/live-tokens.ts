import { readFileSync, statSync } from "node:fs";

import { describeCause, isKitbagError } from "../../core/errors.ts";
import { anybody } from "../../gate/access/token-check.ts";
import type { GateToken } from "../../gate/gate.ts";
import { readFirstTokens, readTokens, type TokenPlaces } from "./read-tokens.ts";
import { changeTokens, hasTokenFile, makeToken, type MadeToken } from "./token-file.ts";

/** How often token files are looked at. What is seen twice is taken: a file that is being written changes. */
const lookMs = 250;

/** The tokens of a service while it runs. */
export interface LiveTokens {
  /** Those that are good now. */
  readonly current: readonly GateToken[];
  /** Keeps the token that the first start made, once it is sure that it is served. Answers with it: it is known here only. */
  keepFirst(): Promise<string | undefined>;
  /**
   * From now on follows the files: `apply` gets the tokens whenever they change. A file that cannot be used, or tokens for which `apply`
   * throws, change nothing, and `warn` is told once.
   */
  follow(apply: (tokens: readonly GateToken[]) => void, warn: (problem: string) => void): FollowedTokens;
}

/** Token files that are followed. */
export interface FollowedTokens {
  /** Looks at once. */
  reread(): void;
  stop(): void;
}

/**
 * Reads the tokens of a service. If they come from the file of `kitbag token` and there is none yet, one is made for the local user.
 *
 * @throws {KitbagError} `usage-invalid`, `config-invalid` if there is no token, or a file cannot be used.
 */
export function openTokens(places: TokenPlaces): LiveTokens {
  const missing = places.files.find(({ path, isOwn }) => isOwn && !hasTokenFile(path));
  let first = missing === undefined ? undefined : { path: missing.path, made: makeToken(anybody.id, "all") };
  let current = first === undefined ? readFirstTokens(places) : [first.made.line];

  return {
    get current() {
      return current;
    },
    async keepFirst() {
      if (first === undefined) return undefined;
      const { path, made } = first;
      first = undefined;
      const isKept = await keep(path, made);
      current = readFirstTokens(places);
      return isKept ? made.token : undefined;
    },
    follow(apply, warn) {
      return followPlaces(
        places,
        () => {
          const tokens = readTokens(places);
          apply(tokens);
          current = tokens;
        },
        warn,
      );
    },
  };
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

function followPlaces({ files }: TokenPlaces, change: () => void, warn: (problem: string) => void): FollowedTokens {
  // What is no file, as a pipe, can be read once only.
  const paths = files.map(({ path }) => path).filter(isFile);
  const look = (): string => JSON.stringify(paths.map(readText));
  let taken = look();
  let seen = taken;

  function take(text: string): void {
    taken = text;
    try {
      change();
    } catch (cause) {
      const reason = isKitbagError(cause) ? cause.message : describeCause(cause);
      warn(`${reason}; the tokens of before stay good`);
    }
  }

  const timer = setInterval(() => {
    const text = look();
    if (text !== taken && text === seen) take(text);
    seen = text;
  }, lookMs);
  timer.unref();
  return {
    reread: () => take(look()),
    stop: () => clearInterval(timer),
  };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function readText(path: string): string {
  try {
    return isFile(path) ? readFileSync(path, "latin1") : "";
  } catch (cause) {
    return describeCause(cause);
  }
}
