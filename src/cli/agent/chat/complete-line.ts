import type { Chat } from "./chat.ts";
import { chatCommands } from "./chat-commands.ts";
import type { Complete } from "./keyboard.ts";

/** What the names of models begin with. */
const models = [
  "local",
  "anthropic/",
  "openai/",
  "openai-chat/",
  "google/",
  "ollama/",
  "lmstudio/",
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
