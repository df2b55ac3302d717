import { plural } from "../../render.ts";
import { statSync, existsSync } from "node:fs";
import { resolve, join } from "node:path";
import { createInterface } from "node:readline";

import { readConversation } from "../../../agent/memory/conversations/read-conversation.ts";
import { isKitbagError } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tool.ts";
import { resolveKitbagHome } from "../../../platform/home.ts";
import { type Answer, type Invocation, usageError } from "../../cli-command.ts";
import { getText } from "../../options.ts";
import { toPrintable } from "../../printable.ts";
import { untilInterrupted } from "../../until-interrupted.ts";
import { checkConversationId, nameModel } from "../agent-options.ts";
import { toUserMessage } from "../show-run.ts";
import type { OpenAgent } from "../open-agent.ts";
import { answerRequest, openOnly, type Chat, createChat, say } from "./chat.ts";
import { chatCommands, isChatCommand, runChatCommand } from "./chat-commands.ts";
import { openChatHistory, type Complete, createKeyboard } from "./keyboard.ts";

/** What the names of models begin with. */
const models = [
  "local",
  "anthropic/",
  "openai/",
  "openai-chat/",
  "google/",
  "ollama/",
  "lmstudio/",
  "llamacpp/",
  "vllm/",
  "llama/",
  "openai-compatible:",
];

/** Completes commands, and the names of skills, tools and models where they belong. */
export function createComplete({ session }: Pick<Chat, "session">): Complete {
  const skills = (isOpen: boolean): string[] =>
    session.getSkills().flatMap(({ skill, active }) => (active === isOpen ? [skill.name] : []));

  return (line) => {
    const [, command, rest] = /^\/(\w+)\s+(\S*)$/u.exec(line) ?? [];
    if (command !== undefined && rest !== undefined) {
      const names =
        command === "open" ? skills(false) : command === "close" ? skills(true) : command === "model" ? models : [];
      return [names.filter((name) => name.startsWith(rest)), rest];
    }
    if (/^\/\w*$/u.test(line)) {
      return [Object.keys(chatCommands).flatMap((name) => (`/${name}`.startsWith(line) ? [`/${name} `] : [])), line];
    }
    const [word = ""] = /\S*$/u.exec(line) ?? [];
    if (word === "") return [[], line];
    const names = [...skills(true), ...skills(false), ...session.getAvailableTools().map(({ address }) => address)];
    return [names.filter((name) => name.startsWith(word)), word];
  };
}

/** How a conversation goes: with a person, with a program that sends lines, or by itself to show what can be asked. */
export type ChatKind = "person" | "lines" | "show";

/** Talks until the other side has nothing more to say. */
export async function runChat(invocation: Invocation, open: OpenAgent, kind: ChatKind): Promise<Answer> {
  const chat = createChat(invocation, open);
  try {
    await begin(chat);
    if (kind === "person") await talk(chat);
    else if (kind === "show") await answerLines(chat, findExampleRequests(invocation.cwd, 3), kind);
    else await untilInterrupted((signal) => answerLines(chat, readLines(signal), kind));
  } finally {
    await chat.session.close();
  }
  // To a person every failure was said; a program asks for the exit code.
  return { document: undefined, ...(chat.hasFailed && kind === "lines" && { exitCode: 1 }) };
}

/** Goes on with a conversation that was saved, if one was named, and says who answers. */
async function begin(chat: Chat): Promise<void> {
  const { invocation, open, session, model } = chat;
  const given = getText(invocation.options, "conversation");
  if (given !== undefined) {
    chat.conversation = checkConversationId(given);
    if (open.store === undefined) throw usageError("Cannot save a conversation: nothing is kept with --store none");
    const saved = await readConversation(open.store, given);
    chat.messages = saved?.messages ?? [];
    await openOnly(session, saved?.skills ?? []);
    const count = chat.messages.filter(({ role }) => role === "user").length;
    if (!invocation.json)
      say(
        chat,
        count === 0
          ? `A new conversation, saved as ${given}`
          : `Going on with ${given}: ${plural(count, "request")} so far`,
      );
  }
  if (invocation.json) return;
  say(chat, nameModel(model) === "local" ? offline : `${nameModel(model)} answers.`);
}

const offline = `The offline model answers: no key, no network. It matches your words with tools, and calls them.
For another model: kitbag chat --model anthropic/claude-sonnet-5, or /model NAME; kitbag doctor --models
shows what works here.`;

async function talk(chat: Chat): Promise<void> {
  const { invocation } = chat;
  const { terminal, env, cwd } = invocation;
  const keyboard = createKeyboard({
    input: process.stdin,
    output: process.stderr,
    history: openChatHistory(resolveKitbagHome(env)),
    complete: createComplete(chat),
  });
  greet(chat);
  // While the person types: the first call would find the sandbox and start an interpreter.
  void chat.open.prepare(findLikelyTools(chat));
  for (;;) {
    const line = await keyboard.next(terminal.style(["bold", "cyan"], "› "));
    if (line === undefined || (await take(chat, line, cwd)) === "quit") return;
  }
}

/** Skills of which an interpreter is kept ready from the beginning. */
const mostPrepared = 4;

/** The tools that are likely to be called first: of skills that are open or that the suggestions need, then of others. */
function findLikelyTools({ session }: Chat): readonly Tool[] {
  const suggested = new Set(requests.map(({ skill }) => skill));
  const rank = ({ skill, active }: { readonly skill: { readonly name: string }; readonly active: boolean }): number =>
    active ? 0 : suggested.has(skill.name) ? 1 : 2;
  const skills = session.getSkills().toSorted((left, right) => rank(left) - rank(right));
  const scripts = skills.map(({ skill }) => skill.tools.filter(({ code }) => code.kind === "script"));
  return scripts
    .filter((tools) => tools.length > 0)
    .slice(0, mostPrepared)
    .flat();
}

function greet(chat: Chat): void {
  const { invocation, session } = chat;
  const { terminal, cwd, options } = invocation;
  const count = session.getSkills().length;
  say(
    chat,
    `${count === 0 ? "No skills" : count === 1 ? "1 skill" : `${count} skills`} here. /help lists what you can do, /quit leaves.`,
  );
  if (options["examples"] !== true) return;
  const requests = findExampleRequests(cwd, 5).map((request) => `  ${terminal.style("cyan", request)}`);
  say(chat, `\nTry one of these:\n${requests.join("\n")}\n\n`);
}

/** Takes a line: a command, or something for the model. */
async function take(chat: Chat, line: string, cwd: string): Promise<"quit" | void> {
  const text = line.trim();
  if (text === "") return undefined;
  if (isChatCommand(text)) return runChatCommand(chat, text);
  await answerRequest(chat, text, await findUsable(chat, findImages(text, cwd)));
}

/** The pictures that can be shown. A path may also be named because something is wrong with the file: that is no reason not to answer. */
async function findUsable(chat: Chat, paths: readonly string[]): Promise<readonly string[]> {
  const usable: string[] = [];
  for (const path of paths) {
    try {
      await toUserMessage("", [path]);
      usable.push(path);
    } catch (cause) {
      if (!isKitbagError(cause)) throw cause;
      say(chat, toPrintable(`${cause.message}; it is not shown to the model`));
    }
  }
  return usable;
}

/** The lines of a program, until the command is interrupted. */
async function* readLines(signal: AbortSignal): AsyncGenerator<string> {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity, signal })) {
    if (signal.aborted) return;
    yield line;
  }
}

async function answerLines(chat: Chat, lines: Iterable<string> | AsyncIterable<string>, kind: ChatKind): Promise<void> {
  const { terminal, cwd, json } = chat.invocation;
  for await (const line of lines) {
    if (line.trim() === "") continue;
    if (kind === "show") terminal.print(`\n${terminal.style(["bold", "cyan"], "›")} ${terminal.style("bold", line)}\n`);
    if ((await take(chat, line, cwd)) === "quit") return;
    if (kind === "lines" && !json) terminal.print("\n");
  }
}

const imagePath = /(?:"([^"]+)"|'([^']+)'|(\S+))/gu;
const ends = /\.(?:png|jpe?g|gif|webp)$/iu;

/** The paths of pictures in a text that are really there. Dragging a file into a terminal writes its path. */
export function findImages(text: string, cwd: string): readonly string[] {
  const words = [...text.matchAll(imagePath)].map(
    ([, double, single, bare]) => double ?? single ?? bare?.replaceAll("\\ ", " ") ?? "",
  );
  const paths = words.map((word) => word.replace(/[,;:!?)]+$/u, "")).filter((word) => ends.test(word));
  return [...new Set(paths)].map((path) => resolve(cwd, path)).filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** A request that can be tried at once, and what must be there for it. */
interface ExampleRequest {
  readonly text: string;
  readonly needs?: string;
  /** The skill that has the tool for it. */
  readonly skill: string;
}

const requests: readonly ExampleRequest[] = [
  { text: "How many words does README.md have?", needs: "README.md", skill: "text-stats" },
  { text: "What is the sha256 of 'hello world'?", skill: "checksums" },
  { text: "Make a table of contents of README.md", needs: "README.md", skill: "markdown-toc" },
  { text: "Which files change most in this repository?", needs: ".git", skill: "git-summary" },
  { text: "Is 4539 1488 0343 6467 a valid card number?", skill: "checksums" },
  { text: "Add the task 'Write the report' to the list", skill: "task-list" },
];

/** Requests over the example skills that work in a folder. */
function findExampleRequests(cwd: string, count: number): readonly string[] {
  const fit = requests.filter(({ needs }) => needs === undefined || existsSync(join(cwd, needs)));
  return fit.slice(0, count).map(({ text }) => text);
}
