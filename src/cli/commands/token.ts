import { userInfo } from "node:os";
import { dirname } from "node:path";

import { KitbagError, quote } from "../../core/errors.ts";
import { nearestNames } from "../../core/nearest.ts";
import { localUser } from "../../core/scopes.ts";
import { digestToken } from "../../gate/access/token-check.ts";
import { makeHomeFolder, resolveKitbagHome } from "../../platform/home.ts";
import { type Answer, type CliCommand, type Invocation, usageError, runAction, type Action } from "../cli-command.ts";
import { addOption, getText } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { renderTable } from "../render.ts";
import {
  changeTokens,
  checkName,
  hasTokenFile,
  loadTokens,
  makeToken,
  ownTokenFile,
  type TokenLine,
} from "../serve/token-file.ts";

/** `kitbag token`: who may use `kitbag serve --http`. */
export const tokenCommand: CliCommand = {
  examples: [
    ["kitbag token add ann", "make a token for the user ann, and print it this once"],
    ["kitbag token add ci --scopes tools:of:checksums,tools:read", "one that is good for these tools only"],
    ["kitbag token list", "whose tokens there are, and what they are good for"],
    ["kitbag token revoke ann", "all tokens of ann are refused within a second, in open streams too"],
    ["kitbag token revoke 3f2a91bc", "one token, as the list names it"],
  ],
  define(command) {
    command.argument("[action]", "add, list or revoke; list unless given");
    command.argument("[name]", "add: whose token it is; revoke: a user, or one token");
    addOption(command, "--scopes <list>", "add: what it is good for, with commas between; everything unless given");
  },
  run: (invocation) => runAction("token", actions, invocation, "list"),
};

const actions: Readonly<Record<string, Action>> = {
  add: { words: [1, 1], takes: "the name of a user", run: addToken },
  list: { words: [0, 0], run: listTokens },
  revoke: { words: [1, 1], takes: "the name of a user, or the id of a token", run: revokeTokens },
};

async function addToken({ args: [name = ""], options, env, terminal }: Invocation): Promise<Answer> {
  checkNewName(name);
  const { token, line } = makeToken(name, readScopes(getText(options, "scopes")));
  const path = toPath(env);
  let users: readonly string[] = [];
  await changeTokens(path, (lines = []) => {
    users = [localUser, ...lines.map((one) => toFacts(one).user)];
    return [...lines, line];
  });
  const alike = users.find((user) => user !== name && user.toLowerCase() === name.toLowerCase());
  if (alike !== undefined) {
    terminal.note(`There is a user ${quote(alike)} too: names that differ in case are two users\n`);
  }
  const isLocal = [localUser, findAccount()].includes(name);
  const whose = isLocal ? `${name}: it is the token of the local user, the one of kitbag on this machine` : name;
  const told = `The token of ${whose}. It is good for ${showScopes(toFacts(line))}.`;
  const text = `${token}\n\n${told}\nIt is shown this once. Clients send it as Authorization: Bearer.`;
  return { document: { token, ...toFacts(line), file: path }, text };
}

function checkNewName(name: string): void {
  try {
    checkName(name);
    if (/^[\da-f]{8}$/iu.test(name)) {
      throw new Error(
        `${quote(name)} looks like the id of a token, which kitbag token revoke takes; take another name`,
      );
    }
  } catch (cause) {
    throw usageError(`Cannot make a token: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** The name of who runs this, who is the local user; in a container there may be none. */
function findAccount(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** The scopes of `kitbag serve`. A misspelt scope would silently allow no call. */
const knownScope = /^(?:tools|tools:read|tools:write|tools:of:[^:]+(?::[^:]+)?|runs)$/u;

function readScopes(text: string | undefined): readonly string[] | "all" {
  if (text === undefined) return "all";
  const scopes = text.split(",").map((scope) => scope.trim());
  if (text === "*" || scopes.some((scope) => !/^[\u0021\u0023-\u002B\u002D-\u005B\u005D-\u007E]+$/u.test(scope))) {
    throw usageError(
      `Cannot use --scopes ${quote(text)}: expected scopes with commas between, as tools:read,tools:of:pdf`,
    );
  }
  const wrong = scopes.find((scope) => !knownScope.test(scope));
  if (wrong === undefined) return scopes;
  const ofSkill = wrong.startsWith("tools:") ? [`tools:of:${wrong.slice(wrong.lastIndexOf(":") + 1)}`] : [];
  const [nearest] = nearestNames(wrong, ["tools:read", "tools:write", "runs", ...ofSkill], 1);
  const cure =
    nearest === undefined
      ? "there are tools, tools:read, tools:write, tools:of:<skill>, tools:of:<skill>:<tool> and runs"
      : `did you mean ${nearest}?`;
  throw usageError(`Cannot use --scopes: ${quote(wrong)} is no scope; ${cure}`);
}

function showScopes({ scopes }: TokenFacts): string {
  return scopes === "all" ? "everything" : scopes.join(", ");
}

async function listTokens({ env, terminal }: Invocation): Promise<Answer> {
  const path = toPath(env);
  // Where no file can be, there may be one in another home.
  if (!hasTokenFile(path)) makeHomeFolder(dirname(path));
  const tokens = (hasTokenFile(path) ? loadTokens(path) : []).map(toFacts);
  const document = { file: path, tokens };
  if (tokens.length === 0) return { document, text: "There are no tokens. To make one: kitbag token add <name>" };
  const rows = tokens.map((facts) => [facts.id, facts.user, showScopes(facts), facts.created ?? ""]);
  return { document, text: renderTable(["ID", "USER", "SCOPES", "CREATED"], rows, terminal) };
}

async function revokeTokens({ args: [name = ""], env }: Invocation): Promise<Answer> {
  const revoked: TokenFacts[] = [];
  await changeTokens(toPath(env), (lines = []) => {
    const isMeant = (line: TokenLine): boolean => [toFacts(line).id, toFacts(line).user].includes(name);
    revoked.push(...lines.filter(isMeant).map(toFacts));
    checkMeaning(name, revoked);
    return revoked.length === 0 ? undefined : lines.filter((line) => !isMeant(line));
  });
  if (revoked.length === 0) {
    throw new KitbagError("name-not-found", {
      what: "token",
      name,
      cure: "no token has this id or user; see kitbag token list",
    });
  }
  const shown = revoked.map(({ id, user }) => `${id} of ${user}`).join(", ");
  return { document: { revoked }, text: toPrintable(`Revoked ${shown}. Services refuse it within a second.`) };
}

/** A file that a person wrote may have a user whose name is the id of another user's token. */
function checkMeaning(word: string, found: readonly TokenFacts[]): void {
  const byId = found.find(({ id, user }) => id === word && user !== word);
  const ofUser = found.filter(({ user }) => user === word);
  if (byId === undefined || ofUser.length === 0) return;
  const ids = ofUser.map(({ id }) => id).join(", ");
  throw usageError(
    `Cannot revoke ${quote(word)}: it is the id of a token of ${byId.user}, and the user of the token ${ids}; ` +
      `revoke ${byId.user} or ${ids} instead`,
  );
}

/** What is told of a token: nothing of the token itself. */
interface TokenFacts {
  /** The first digits of its digest. */
  readonly id: string;
  readonly user: string;
  readonly scopes: readonly string[] | "all";
  readonly created?: string;
}

function toFacts(line: TokenLine): TokenFacts {
  const digest = "sha256" in line ? line.sha256 : digestToken(line.token);
  const { id: user = `token-${digest.slice(0, 12)}`, scopes = "all", created } = line;
  return { id: digest.slice(0, 8), user, scopes, ...(created !== undefined && { created }) };
}

function toPath(env: Invocation["env"]): string {
  return ownTokenFile(resolveKitbagHome(env));
}
