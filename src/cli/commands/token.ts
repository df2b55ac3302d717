import { quote } from "../../core/errors.ts";
import { digestToken } from "../../gate/access/token-check.ts";
import { resolveKitbagHome } from "../../skills/trust/kitbag-home.ts";
import type { Answer, CliCommand, Invocation } from "../cli-command.ts";
import { addOption, getText } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { renderTable } from "../render-table.ts";
import {
  changeTokens,
  checkName,
  hasTokenFile,
  loadTokens,
  makeToken,
  ownTokenFile,
  type TokenLine,
} from "../serve/token-file.ts";
import { runAction, type Action } from "../store/pick-action.ts";
import { usageError } from "../usage-error.ts";

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

async function addToken({ args: [name = ""], options, env }: Invocation): Promise<Answer> {
  try {
    checkName(name);
  } catch (cause) {
    throw usageError(`Cannot make a token: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  const { token, line } = makeToken(name, readScopes(getText(options, "scopes")));
  const path = toPath(env);
  await changeTokens(path, (lines = []) => [...lines, line]);
  const text = `${token}\n\nThe token of ${name}, shown this once. Clients send it as Authorization: Bearer.`;
  return { document: { token, ...toFacts(line), file: path }, text };
}

function readScopes(text: string | undefined): readonly string[] | "all" {
  if (text === undefined) return "all";
  const scopes = text.split(",").map((scope) => scope.trim());
  const wrong = scopes.find((scope) => !/^[\u0021\u0023-\u002B\u002D-\u005B\u005D-\u007E]+$/u.test(scope));
  if (wrong === undefined && text !== "*") return scopes;
  throw usageError(
    `Cannot use --scopes ${quote(text)}: expected scopes with commas between, as tools:read,tools:of:pdf`,
  );
}

async function listTokens({ env, terminal }: Invocation): Promise<Answer> {
  const path = toPath(env);
  const tokens = (hasTokenFile(path) ? loadTokens(path) : []).map(toFacts);
  const document = { file: path, tokens };
  if (tokens.length === 0) return { document, text: "There are no tokens. To make one: kitbag token add <name>" };
  const rows = tokens.map(({ id, user, scopes, created }) => [
    id,
    user,
    scopes === "all" ? "everything" : scopes.join(", "),
    created ?? "",
  ]);
  return { document, text: renderTable(["ID", "USER", "SCOPES", "CREATED"], rows, terminal) };
}

async function revokeTokens({ args: [name = ""], env }: Invocation): Promise<Answer> {
  const revoked: TokenFacts[] = [];
  await changeTokens(toPath(env), (lines = []) => {
    const isMeant = (line: TokenLine): boolean => [toFacts(line).id, line.id].includes(name);
    revoked.push(...lines.filter(isMeant).map(toFacts));
    return revoked.length === 0 ? undefined : lines.filter((line) => !isMeant(line));
  });
  if (revoked.length === 0) {
    throw usageError(`Cannot revoke ${quote(name)}: no token has this id or user; see kitbag token list`);
  }
  const shown = revoked.map(({ id, user }) => `${id} of ${user}`).join(", ");
  return { document: { revoked }, text: toPrintable(`Revoked ${shown}. Services refuse it within a second.`) };
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
