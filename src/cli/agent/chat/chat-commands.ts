import { resolve } from "node:path";

import { openConversation } from "../../../agent/memory/conversations/open-conversation.ts";
import { readConversation } from "../../../agent/memory/conversations/read-conversation.ts";
import { type Failure, isKitbagError } from "../../../core/errors.ts";
import { nearestNames } from "../../../core/nearest.ts";
import type { Store } from "../../../core/store.ts";
import { toPrintable, toPrintableLine } from "../../printable.ts";
import { renderTable } from "../../render.ts";
import { usageError } from "../../cli-command.ts";
import { checkConversationId, checkModel, nameModel } from "../agent-options.ts";
import { renderCostTable, showCount, showDollars } from "../view/describe-end.ts";
import { answerRequest, type Chat, say } from "./chat.ts";

/** What a person can tell the program, and not the model. */
export interface ChatCommand {
  /** What follows its name. */
  readonly words: string;
  readonly summary: string;
  /** Answers whether the conversation is over. */
  run(chat: Chat, rest: string): Promise<"quit" | void> | "quit" | void;
}

/** All commands, by what follows the slash. */
export const chatCommands: Readonly<Record<string, ChatCommand>> = {
  help: { words: "", summary: "this list", run: (chat) => say(chat, renderHelp()) },
  skills: { words: "", summary: "the skills, and which are open", run: listSkills },
  tools: { words: "", summary: "the tools that the model can call now", run: listTools },
  open: { words: "NAME", summary: "open a skill", run: openSkill },
  close: { words: "NAME", summary: "close a skill", run: closeSkill },
  model: {
    words: "[NAME]",
    summary: "answer with another model from now on: anthropic/…, ollama/…, local",
    run: setModel,
  },
  image: { words: "PATH [TEXT]", summary: "show a picture to the model", run: showImage },
  cost: { words: "", summary: "what the last answer was spent on, and the whole conversation", run: showCost },
  debug: { words: "", summary: "go through the next request step by step", run: toggleDebugging },
  memory: {
    words: "[WORDS]",
    summary: "what is remembered across conversations; with words, what is remembered about them",
    run: showMemory,
  },
  save: {
    words: "[NAME]",
    summary: "save the conversation; kitbag chat --conversation NAME goes on with it",
    run: save,
  },
  new: { words: "", summary: "forget what was said, and close all skills", run: startAnew },
  quit: { words: "", summary: "leave; so do Ctrl-D, and Ctrl-C twice", run: () => "quit" },
};

/**
 * Tells whether a line is for the program and not for the model: it begins with a slash, and its first word is no path. A command that
 * does not exist is for the program, too: a model would take a mistyped `/quit` for a request.
 */
export function isChatCommand(line: string): boolean {
  return /^\/[^\s/]*(?:\s|$)/u.test(line);
}

/** Runs a command. Never throws for what can be cured. */
export async function runChatCommand(chat: Chat, line: string): Promise<"quit" | void> {
  const [, typed = "", rest = ""] = /^\/(\S*)\s*(.*)$/su.exec(line) ?? [];
  const name = typed.toLowerCase();
  const command = Object.hasOwn(chatCommands, name) ? chatCommands[name] : undefined;
  if (command === undefined) {
    const [nearest] = nearestNames(name, Object.keys(chatCommands), 1);
    const cure = nearest === undefined ? "/help lists them" : `did you mean /${nearest}?`;
    return sayFailure(chat, { message: `There is no command /${typed}; ${cure}` });
  }
  try {
    return await command.run(chat, rest.trim());
  } catch (cause) {
    if (!isKitbagError(cause)) throw cause;
    return sayFailure(chat, cause);
  }
}

function renderHelp(): string {
  const lines = Object.entries(chatCommands).map(([name, { words, summary }]) => {
    return `  ${`/${name} ${words}`.padEnd(20)}${summary}`;
  });
  return [
    ...lines,
    "",
    "Everything else is said to the model. The path of a picture in it shows the picture. A \\ at the end of a line goes on with",
    "the next one. Tab completes names; Ctrl-C stops an answer.",
  ].join("\n");
}

function listSkills(chat: Chat): void {
  const { session, invocation } = chat;
  const rows = session.getSkills().map(({ skill, active }) => [active ? "open" : "", skill.name, skill.description]);
  if (rows.length === 0) return say(chat, "There are no skills here. Name a folder with --skills");
  say(chat, renderTable(["", "SKILL", "DESCRIPTION"], rows, invocation.terminal));
}

function listTools(chat: Chat): void {
  const { session, invocation } = chat;
  const rows = session.getAvailableTools().map(({ address, tool }) => [address, tool.description]);
  const closed = session.getSkills().filter(({ active }) => !active).length;
  const hint =
    closed === 0
      ? ""
      : `\n${closed === 1 ? "1 skill is" : `${closed} skills are`} closed; the model opens what it needs, and you can with /open NAME`;
  if (rows.length === 0) return say(chat, `No tools are available now.${hint}`);
  say(chat, renderTable(["TOOL", "DESCRIPTION"], rows, invocation.terminal) + hint);
}

async function openSkill(chat: Chat, name: string): Promise<void> {
  if (name === "") return say(chat, "Say which: /open NAME; /skills lists them");
  const outcome = await chat.session.activateSkill(name);
  if (outcome.status === "failed") return sayFailure(chat, outcome.error);
  if (outcome.opened.length === 0) return say(chat, `${toPrintableLine(name)} is open already`);
  say(chat, `Opened ${outcome.opened.join(", ")}`);
}

async function closeSkill(chat: Chat, name: string): Promise<void> {
  const outcome = await chat.session.deactivateSkill(name === "" ? undefined : name);
  if (outcome.status === "failed") return sayFailure(chat, outcome.error);
  await saveSkills(chat);
  for (const warning of outcome.warnings) sayFailure(chat, warning);
  if (outcome.closed.length > 0) return say(chat, `Closed ${outcome.closed.join(", ")}`);
  if (outcome.warnings.length === 0) say(chat, `${toPrintableLine(name)} is not open`);
}

function sayFailure(chat: Chat, { message }: Pick<Failure, "message">): void {
  say(chat, toPrintable(message));
}

async function setModel(chat: Chat, name: string): Promise<void> {
  if (name === "") return say(chat, `The model is ${nameModel(chat.model)}; /model NAME takes another`);
  await checkModel(name, chat.invocation.env);
  chat.model = name;
  say(chat, `From now on ${toPrintableLine(name)} answers`);
}

async function showImage(chat: Chat, rest: string): Promise<void> {
  const [, double, single, bare = "", text = ""] = /^(?:"([^"]*)"|'([^']*)'|(\S*))\s*(.*)$/su.exec(rest) ?? [];
  const path = double ?? single ?? bare;
  if (path === "") return say(chat, "Say which: /image PATH, and what you want to know about it");
  await answerRequest(chat, text === "" ? "What is in this picture?" : text, [resolve(chat.invocation.cwd, path)]);
}

function showCost(chat: Chat): void {
  const { lastRun, open, invocation } = chat;
  if (lastRun === undefined) return say(chat, "Nothing was asked yet, so nothing was spent");
  const { totalTokens, totalCost } = open.agent;
  const total = `The whole conversation: ${showCount(totalTokens)} tokens, ${totalCost === undefined ? "price unknown" : showDollars(totalCost)}`;
  say(chat, `${renderCostTable(lastRun.breakdown(), invocation.terminal)}\n${total}`);
}

async function showMemory(chat: Chat, words: string): Promise<void> {
  const { longTerm, user } = chat.open;
  if (longTerm === undefined) return say(chat, "Nothing is remembered here: with --no-memory, or with --store none");
  const { listFacts, searchMemory } = await import("../../commands/memory.ts");
  const memory = longTerm.of({ user });
  const shown = await (words === ""
    ? listFacts(memory, chat.invocation, {})
    : searchMemory(memory, chat.invocation, words));
  say(chat, shown.text ?? "");
}

function toggleDebugging(chat: Chat): void {
  // In a pipe the lines are requests: no person can say where to go on.
  if (!chat.invocation.terminal.canAsk) return say(chat, "Step by step needs a terminal; or use kitbag run --debug");
  chat.isDebugging = !chat.isDebugging;
  say(
    chat,
    chat.isDebugging ? "The next request stops at each step; h lists what you can do there" : "Not step by step",
  );
}

async function save(chat: Chat, name: string): Promise<void> {
  const { store } = chat.open;
  if (store === undefined) return say(chat, "Nothing is kept with --store none");
  const id = checkConversationId(name === "" ? (chat.conversation ?? toName(new Date())) : name);
  if (id !== chat.conversation) await saveConversation(store, id, chat);
  chat.conversation = id;
  say(chat, `Saved, and from now on after every answer. To go on with it: kitbag chat --conversation ${id}`);
}

/** What a person closes stays closed, also in what is saved. */
async function saveSkills({ open: { store }, conversation, session }: Chat): Promise<void> {
  if (store !== undefined && conversation !== undefined) {
    await saveConversationSkills(store, conversation, session.getActiveSkills());
  }
}

function toName(now: Date): string {
  return `chat-${now.toISOString().slice(0, 16).replaceAll(/[T:]/gu, "-")}`;
}

async function startAnew(chat: Chat): Promise<void> {
  for (const name of chat.session.getActiveSkills()) await chat.session.deactivateSkill(name);
  chat.messages = [];
  chat.conversation = undefined;
  say(chat, "Begun anew");
}

/**
 * Saves what was said so far under a name; from then on the agent itself saves what follows.
 *
 * @throws {KitbagError} `usage-invalid` if there is another conversation of this name.
 */
async function saveConversation(
  store: Store,
  id: string,
  { messages, session, lastRun }: Pick<Chat, "messages" | "session" | "lastRun">,
): Promise<void> {
  const conversation = await openConversation(store, id);
  if (conversation.messages.length > 0) {
    throw usageError(`Cannot save the conversation as ${id}: there is another one of this name; take another name`);
  }
  if (messages.length === 0) return;
  const skills = session.getActiveSkills();
  await conversation.save({ run: lastRun?.id ?? id, status: "ok", messages, skills, view: undefined });
}

/** Saves which skills are open now, as it was at the end of the last run. */
async function saveConversationSkills(store: Store, id: string, skills: readonly string[]): Promise<void> {
  const last = (await readConversation(store, id))?.runs.at(-1);
  if (last === undefined) return;
  await (await openConversation(store, id)).save({ ...last, skills, view: undefined });
}
