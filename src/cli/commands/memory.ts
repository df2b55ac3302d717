import type { Fact, LongTermMemory, RecalledTurn, UserMemory } from "../../agent/memory/long-term/long-term-memory.ts";
import type { FactQuery } from "../../agent/memory/long-term/facts.ts";
import type { MemorySource, MemoryTrust } from "../../agent/memory/long-term/memory-rows.ts";
import { type Answer, type CliCommand, type Invocation, usageError, type Action, runAction } from "../cli-command.ts";
import { openMemory } from "../agent/open-memory.ts";
import { addOption, addStoreOption, getText, readLimit } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { plural, renderFacts, renderTable, showTime } from "../render.ts";
import { withKept } from "../store/open-kept.ts";

/** `kitbag memory`: what is remembered across conversations. */
export const memoryCommand: CliCommand = {
  examples: [
    ["kitbag memory", "the facts that are remembered, with where each is from"],
    ['kitbag memory search "favourite colour"', "facts and earlier turns that fit these words, the best first"],
    ["kitbag memory show f12", "everything about one fact or turn, and the facts that it took the place of"],
    ["kitbag memory forget f12", "forget it for good, with the turns that say it"],
    ["kitbag memory export > memory.jsonl", "everything, one record a line"],
    ["kitbag memory list --user ann", "what is remembered of a user of the service"],
  ],
  json: "one JSON document; for export, one record a line,",
  define(command) {
    command.argument("[action]", "list, show, search, forget or export; list unless given");
    command.argument("[words...]", "show: an id; search: words; forget: ids");
    addOption(command, "--user <name>", "the memory of this user; yours unless set");
    addOption(command, "--skill <name>", "what this skill remembers of the user");
    addOption(command, "--limit <n>", "list, search: so many, at most; 20 unless set");
    command.option("--all", "list: also the facts that do not hold any more");
    addStoreOption(command);
  },
  run: (invocation) => runAction("memory", actions, invocation, "list"),
};

const oneId = "the id of a fact or a turn, as kitbag memory list and search have it";

const actions: Readonly<Record<string, Action>> = {
  list: {
    words: [0, 0],
    run: (invocation) =>
      withMemory(invocation, (memory) => listFacts(memory, invocation, { closed: invocation.options["all"] === true })),
  },
  show: { words: [1, 1], takes: oneId, run: showMemory },
  search: {
    words: [1, Infinity],
    takes: "words",
    run: (invocation) =>
      withMemory(invocation, (memory) => searchMemory(memory, invocation, invocation.args.join(" "))),
  },
  forget: { words: [1, Infinity], takes: oneId, run: forgetMemories },
  export: { words: [0, 0], run: exportMemory },
};

/** Does `work` with the memory that the command is about. */
async function withMemory<Result>(
  invocation: Invocation,
  work: (memory: UserMemory) => Promise<Result>,
): Promise<Result> {
  const user = getText(invocation.options, "user");
  const skill = getText(invocation.options, "skill");
  return withKept(invocation, async ({ store }) => {
    const memory: LongTermMemory = openMemory(invocation, store);
    return work(memory.of({ user, skill }));
  });
}

/** The facts of a memory, for `kitbag memory` and for `/memory` in a chat. */
export async function listFacts(
  memory: UserMemory,
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
  query: FactQuery,
): Promise<Answer> {
  const limit = readLimit(getText(options, "limit"));
  const facts: Fact[] = [];
  for await (const fact of memory.facts(query)) facts.push(fact);
  const { turns } = await memory.count();
  const files = await memory.files.list();
  const shown = facts.slice(0, limit);
  const document = { facts: shown, total: facts.length, turns, files };
  const table =
    shown.length === 0
      ? 'No facts are remembered. In kitbag chat, say "remember that …"'
      : renderTable(["ID", "ABOUT", "FACT", "SINCE", "FROM"], shown.map(toRow), terminal);
  const more =
    facts.length > limit ? [`… and ${facts.length - limit} more: kitbag memory list --limit ${facts.length}`] : [];
  const paths = files.length === 0 ? [] : [`Files: ${files.map(({ path }) => path).join(", ")}`];
  const rest = `${plural(turns, "turn")} of conversations can be found: kitbag memory search WORDS`;
  return { document, text: toPrintable([table, ...more, ...paths, rest].join("\n")) };
}

function toRow({ id, subject, key, value, from, to, trust, source }: Fact): readonly string[] {
  const until = to === undefined ? "" : `, until ${showTime(to)}`;
  return [id, subject, `${key}: ${value}`, `${showTime(from)}${until}`, describeSource(trust, source)];
}

/** Where something is from, for a person. */
function describeSource(trust: MemoryTrust, { conversation, run, by }: MemorySource): string {
  const who = trust === "user" ? "the user" : trust === "tool" ? "a tool (not confirmed)" : "the model (not confirmed)";
  const place =
    conversation === undefined ? (run === undefined ? "" : `, run ${run}`) : `, conversation ${conversation}`;
  return `${who}${place}${by === undefined ? "" : `, by ${by}`}`;
}

async function showMemory(invocation: Invocation): Promise<Answer> {
  const [id = ""] = invocation.args;
  return withMemory(invocation, async (memory) => {
    const found = await memory.get(id);
    if (found === undefined) throw usageError(`Cannot find the memory ${JSON.stringify(id)}: expected ${oneId}`);
    const before = "key" in found ? await listBefore(memory, found) : [];
    const facts = renderFacts("key" in found ? describeFact(found) : describeTurn(found));
    const history = before.map(
      (fact) => `  ${fact.id}  ${fact.value} (${showTime(fact.from)} – ${showTime(fact.to ?? fact.from)})`,
    );
    const text = [facts, ...(history.length === 0 ? [] : ["", "Before:", ...history])].join("\n");
    return { document: { ...found, ...(before.length > 0 && { earlier: before }) }, text: toPrintable(text) };
  });
}

async function listBefore(memory: UserMemory, fact: Fact): Promise<readonly Fact[]> {
  const before: Fact[] = [];
  for (let id = fact.before; id !== undefined;) {
    const found = await memory.get(id);
    if (found === undefined || !("key" in found)) break;
    before.push(found);
    id = found.before;
  }
  return before;
}

function describeFact({ id, subject, key, value, trust, source, from, to }: Fact): (readonly [string, string])[] {
  return [
    ["Fact", id],
    ["About", subject],
    ["Key", key],
    ["Value", value],
    ["Since", showTime(from)],
    ["Until", to === undefined ? "" : showTime(to)],
    ["Said by", describeSource(trust, source)],
    ["Run", source.run ?? ""],
  ];
}

function describeTurn({ id, who, text, time, trust, source }: RecalledTurn): (readonly [string, string])[] {
  return [
    ["Turn", id],
    ["Who", who],
    ["Said", text],
    ["When", showTime(time)],
    ["From", describeSource(trust, source)],
    ["Run", source.run ?? ""],
  ];
}

/** What fits words, for `kitbag memory search` and for `/memory` in a chat. */
export async function searchMemory(
  memory: UserMemory,
  { options, terminal }: Pick<Invocation, "options" | "terminal">,
  words: string,
): Promise<Answer> {
  const limit = readLimit(getText(options, "limit"));
  const document = await memory.recall(words, { facts: limit, turns: limit });
  const facts = document.facts.map((fact) => {
    const what = `${fact.subject} · ${fact.key}: ${fact.value}`;
    return [fact.id, what, showTime(fact.from), describeSource(fact.trust, fact.source)];
  });
  const turns = document.turns.map((turn) => {
    const what = `${turn.who}: ${turn.text.replaceAll(/\s+/gu, " ")}`;
    return [turn.id, what, showTime(turn.time), describeSource(turn.trust, turn.source)];
  });
  const rows = [...facts, ...turns];
  if (rows.length === 0) return { document, text: "Nothing is remembered about this." };
  return { document, text: toPrintable(renderTable(["ID", "WHAT", "WHEN", "FROM"], rows, terminal)) };
}

async function forgetMemories(invocation: Invocation): Promise<Answer> {
  const ids = [...new Set(invocation.args)];
  return withMemory(invocation, async (memory) => {
    const all = [];
    for (const id of ids) all.push(await memory.forget({ id, by: "kitbag memory forget" }));
    const document = {
      facts: all.flatMap(({ facts }) => facts),
      turns: all.flatMap(({ turns }) => turns),
      runs: [...new Set(all.flatMap(({ runs }) => runs))],
      conversations: [...new Set(all.flatMap(({ conversations }) => conversations))],
      files: [...new Set(all.flatMap(({ files }) => files))],
    };
    const { facts, turns, runs, conversations, files } = document;
    const lines = [`Forgotten: ${[...facts, ...turns].join(", ")}`];
    if (files.length > 0) lines.push(`These files of the memory have it, too: ${files.join(", ")}`);
    if (runs.length > 0) lines.push(`The logs of these runs still have what was said: ${runs.join(", ")}`);
    if (conversations.length > 0) lines.push(`So have these conversations: ${conversations.join(", ")}`);
    return { document, text: toPrintable(lines.join("\n")) };
  });
}

async function exportMemory(invocation: Invocation): Promise<Answer> {
  return withMemory(invocation, async (memory) => {
    const records = [];
    for await (const record of memory.export()) records.push(record);
    return { document: { records }, text: records.map((record) => JSON.stringify(record)).join("\n") };
  });
}
