import { describeCause, isKitbagError } from "../../core/errors.ts";
import { anybody } from "../../gate/access/token-check.ts";
import type { GateToken } from "../../gate/gate.ts";
import { readFirstTokens, readTokens, readTokenTexts, type TokenPlaces, type TokenTexts } from "./read-tokens.ts";
import { changeTokens, hasTokenFile, makeToken, type MadeToken } from "./token-file.ts";

/** How often token files are looked at. What is seen twice is taken: a file that is being written changes. */
const lookMs = 250;

/** The tokens of a service while it runs. */
export interface LiveTokens {
  /** Those that are good now. */
  readonly current: readonly GateToken[];
  /**
   * Keeps the token that the first start made, once it is sure that it is served. Answers with it, as often as it is asked: it is known here
   * only.
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
 * Reads the tokens of a service. If they come from the file of `kitbag token` and there is none yet, one is made for the local user.
 *
 * @throws {KitbagError} `usage-invalid`, `config-invalid` if there is no token, or a file cannot be used.
 */
export function openTokens(places: TokenPlaces): LiveTokens {
  const missing = places.files.find(({ path, isOwn }) => isOwn && !hasTokenFile(path));
  const first = missing === undefined ? undefined : { path: missing.path, made: makeToken(anybody.id, "all") };
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
