import { KitbagError } from "../../core/errors.ts";
import { openDeadLetters, type DeadLetter, type DeadLetters } from "../../workspace/failures/dead-letters.ts";
import type { Answer, CliCommand, Invocation } from "../cli-command.ts";
import { addModuleOption, addOption, addSkillsOption, getText } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { readLimit } from "../read-limit.ts";
import { renderFacts } from "../render-facts.ts";
import { renderTable } from "../render-table.ts";
import { addSandboxOption } from "../sandbox/choose-sandbox.ts";
import { addStoreOption } from "../store/choose-store.ts";
import { withKept } from "../store/open-kept.ts";
import { runAction, type Action } from "../store/pick-action.ts";
import { retryLetter } from "../store/retry-letter.ts";
import { showTime } from "../store/show-time.ts";

/** `kitbag dead`: calls that failed because of their tool. */
export const deadCommand: CliCommand = {
  examples: [
    ["kitbag dead list", "which calls failed, the newest first"],
    ["kitbag dead show 3f2a91bc-1", "everything about one: its input, its error"],
    ["kitbag dead retry 3f2a91bc-1", "make the call again; if it is done now, it is off the list"],
    [`kitbag dead retry 3f2a91bc-1 --input '{"to": "somebody else"}'`, "with another input"],
    ["kitbag dead drop 3f2a91bc-1", "take it off the list"],
  ],
  define(command) {
    command.argument("[action]", "list, show, retry or drop; list unless given");
    command.argument("[id...]", "the call, as the list has it; drop takes several");
    addOption(command, "--user <name>", "list: only the calls of this user");
    addOption(command, "--limit <n>", "list: so many, at most; 20 unless set");
    addOption(command, "--input <json>", "retry: in place of its input, as JSON; - reads standard input, @file a file");
    command.option("--yes", "retry: approve it if it needs an approval");
    addModuleOption(command);
    addSkillsOption(command);
    addSandboxOption(command);
    addStoreOption(command);
  },
  run: (invocation) => runAction("dead", actions, invocation, "list"),
};

const oneId = "the id of a call, as kitbag dead list has it";

const actions: Readonly<Record<string, Action>> = {
  list: { words: [0, 0], run: listLetters },
  show: { words: [1, 1], takes: oneId, run: showLetter },
  retry: { words: [1, 1], takes: oneId, run: retryLetter },
  drop: { words: [1, Infinity], takes: "the id of one call or more", run: dropLetters },
};

async function listLetters(invocation: Invocation): Promise<Answer> {
  const limit = readLimit(getText(invocation.options, "limit"));
  const user = getText(invocation.options, "user");
  const kept = await withKept(invocation, ({ store }) => readLetters(openDeadLetters(store)));
  const all = user === undefined ? kept : kept.filter((letter) => letter.user === user);
  const letters = all.slice(0, limit);
  const document = { letters, total: all.length };
  if (letters.length === 0) return { document, text: "No call failed that is not done by now." };
  const rows = letters.map(({ id, time, tool, attempts, error }) => [
    id,
    showTime(time),
    tool,
    String(attempts),
    error.code,
    error.message,
  ]);
  const table = renderTable(["ID", "FAILED", "TOOL", "TRIED", "CODE", "ERROR"], rows, invocation.terminal);
  const more = all.length - letters.length;
  const text = more > 0 ? `${table}\n\n… and ${more} older: kitbag dead list --limit ${all.length}` : table;
  return { document, text };
}

const pageSize = 1000;

/** All of them, the newest first: a store lists the oldest first, and what failed just now is what somebody looks for. */
async function readLetters(dead: DeadLetters): Promise<readonly DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for (;;) {
    const after = letters.at(-1)?.id;
    const page = await dead.list({ limit: pageSize, ...(after !== undefined && { after }) });
    letters.push(...page);
    if (page.length < pageSize) return letters.toSorted((left, right) => right.time - left.time);
  }
}

async function showLetter(invocation: Invocation): Promise<Answer> {
  const [id = ""] = invocation.args;
  const letter = await withKept(invocation, ({ store }) => openDeadLetters(store).get(id));
  return { document: letter, text: renderLetter(letter) };
}

function renderLetter(letter: DeadLetter): string {
  const { id, tool, digest, input, isRedacted, user = "", idempotencyKey = "", error, attempts, time } = letter;
  const facts = renderFacts([
    ["Call", id],
    ["Tool", tool],
    ["Version", digest],
    ["User", user],
    ["Key", idempotencyKey],
    ["Failed", showTime(time)],
    ["Tried", String(attempts)],
    ["Error", error.code],
  ]);
  const again = isRedacted ? `kitbag dead retry ${id} --input '{…}'` : `kitbag dead retry ${id}`;
  const hint = isRedacted ? "Secrets were taken out of its input, so it must be given again:" : "To make it again:";
  const shown = toPrintable(JSON.stringify(input, null, 2));
  return `${facts}\n\n${toPrintable(error.message)}\n\nInput:\n${shown}\n\n${hint}\n  ${again}`;
}

async function dropLetters(invocation: Invocation): Promise<Answer> {
  const ids = [...new Set(invocation.args)];
  await withKept(invocation, async ({ store }) => {
    const dead = openDeadLetters(store);
    // All or none: a mistyped one is said before anything is gone.
    for (const id of ids) await dead.get(id);
    for (const id of ids) if (!(await dead.drop(id))) throw new KitbagError("dead-letter-missing", { id });
  });
  return { document: { dropped: ids }, text: toPrintable(`Dropped ${ids.join(", ")}`) };
}
