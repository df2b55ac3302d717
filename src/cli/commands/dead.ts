import { KitbagError } from "../../core/errors.ts";
import {
  type DeadLetter,
  type DeadLetters,
  openDeadLetters,
  type RetryDeadOptions,
} from "../../workspace/failures/dead-letters.ts";
import { askThePerson } from "../call-options.ts";
import { createCallView } from "../call-view.ts";
import { type Answer, type CliCommand, type Invocation, usageError, type Action, runAction } from "../cli-command.ts";
import { readInput } from "../input/read-input.ts";
import {
  addModuleOption,
  addOption,
  addSkillsOption,
  getText,
  readLimit,
  addSandboxOption,
  addStoreOption,
} from "../options.ts";
import { toPrintable } from "../printable.ts";
import { plural, renderFacts, renderTable, showTime } from "../render.ts";
import { failedAnswer } from "../report-error.ts";
import { openSkillOf } from "../skills/open-skill-of.ts";
import { createLocalScopes } from "../serve/tokens.ts";
import { withKept } from "../store/open-kept.ts";
import { openProject, type Project } from "../open-project.ts";
import { untilInterrupted } from "../until-interrupted.ts";
import { parseSince } from "./stats.ts";

/** `kitbag dead`: calls that failed because of their tool. */
export const deadCommand: CliCommand = {
  examples: [
    ["kitbag dead list", "which calls failed, the newest first"],
    ["kitbag dead show 3f2a91bc-1", "everything about one: its input, its error"],
    ["kitbag dead retry 3f2a91bc-1", "make the call again; if it is done now, it is off the list"],
    [`kitbag dead retry 3f2a91bc-1 --input '{"to": "another address"}'`, "with another input"],
    ["kitbag dead drop 3f2a91bc-1", "take it off the list"],
    ["kitbag dead drop --older 30d", "take those off that failed longer ago; --all takes every one"],
  ],
  define(command) {
    command.argument("[action]", "list, show, retry or drop; list unless given");
    command.argument("[id...]", "the call, as the list has it; drop takes several");
    addOption(command, "--user <name>", "list and drop: only the calls of this user");
    command.option("--all", "drop: every call, or every one of --user");
    addOption(command, "--older <time>", "drop: calls that failed before then: 12h, 30d, 4w, or a date");
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
  drop: { words: [0, Infinity], takes: "the id of one call or more", run: dropLetters },
};

async function listLetters(invocation: Invocation): Promise<Answer> {
  const limit = readLimit(getText(invocation.options, "limit"));
  const user = getText(invocation.options, "user");
  const kept = await withKept(invocation, ({ store }) => readLetters(openDeadLetters(store)));
  const all = user === undefined ? kept : kept.filter((letter) => letter.user === user);
  const letters = all.slice(0, limit);
  const document = { letters, total: all.length };
  if (letters.length === 0) return { document, text: "No failed calls are waiting to be retried." };
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

/** All of them, the newest first: a store lists the oldest first, and a person looks for what failed just now. */
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
  const older = getText(invocation.options, "older");
  const isAll = invocation.options["all"] === true;
  if (older === undefined && !isAll) {
    if (ids.length === 0) throw usageError("Cannot drop failed calls: name their ids, or use --older or --all");
  } else if (ids.length > 0 || (older !== undefined && isAll)) {
    throw usageError("Cannot drop failed calls: use either ids, --older or --all");
  } else {
    return dropMany(invocation, older === undefined ? Infinity : parseSince(older, Date.now(), "--older"));
  }
  await withKept(invocation, async ({ store }) => {
    const dead = openDeadLetters(store);
    // All or none: a mistyped one is said before anything is gone.
    for (const id of ids) await dead.get(id);
    for (const id of ids) if (!(await dead.drop(id))) throw new KitbagError("dead-letter-missing", { id });
  });
  return { document: { dropped: ids }, text: toPrintable(`Dropped ${ids.join(", ")}`) };
}

/** Drops the calls that failed before `before`: of one user, if one is named. */
async function dropMany(invocation: Invocation, before: number): Promise<Answer> {
  const user = getText(invocation.options, "user");
  const dropped = await withKept(invocation, async ({ store }) => {
    const dead = openDeadLetters(store);
    const chosen = (await readLetters(dead)).filter(
      (letter) => letter.time < before && (user === undefined || letter.user === user),
    );
    let count = 0;
    for (const { id } of chosen) if (await dead.drop(id)) count += 1;
    return count;
  });
  return { document: { dropped }, text: `Dropped ${plural(dropped, "failed call")}` };
}

/** Makes a call again that failed, as `kitbag call` makes it. */
async function retryLetter(invocation: Invocation): Promise<Answer> {
  const given = getText(invocation.options, "input");
  const input = given === undefined ? {} : { input: await readInput(given, invocation) };
  const project = openProject(invocation);
  try {
    return await retry(project, input);
  } finally {
    await project.close();
  }
}

async function retry(project: Project, input: Pick<RetryDeadOptions, "input">): Promise<Answer> {
  const { invocation, records } = project;
  const { terminal, args } = invocation;
  const [id = ""] = args;
  const { workspace, options } = await project.open();
  if (options.store === undefined) throw usageError("Cannot retry a call from the store none: nothing is kept there");
  const dead = openDeadLetters(options.store);
  const { tool } = await dead.get(id);
  const skill = await openSkillOf(workspace, tool, terminal);
  if (skill.status === "failed") return failedAnswer(skill.error);
  const view = createCallView(invocation);
  const callOptions: RetryDeadOptions = {
    scopesOf: createLocalScopes(invocation, records.user),
    onEvent(event) {
      view.onEvent(event);
      // On a terminal the message says so.
      if (event.type === "call-kept" && !terminal.isWatched) terminal.note(`It is kept as ${event.letter}\n`);
    },
    ...(options.approve === undefined && { approve: askThePerson(invocation) }),
    maxOutputBytes: Number.MAX_SAFE_INTEGER,
  };
  const outcome = await untilInterrupted((signal) => dead.retry(workspace, id, { ...callOptions, ...input, signal }));
  await skill.close();
  return view.toAnswer(outcome);
}
