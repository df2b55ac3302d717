import type { Option } from "commander";

import { commands, createParser } from "../commands.ts";
import { type Answer, type CliCommand, type CliContext, type Invocation, usageError } from "../cli-command.ts";
import { loadReports } from "../skills/load-reports.ts";

/**
 * `kitbag completion`: the program text that completes command lines in a shell. All shells ask `kitbag completion words`, which knows
 * what may stand next; nothing of the project is run for that.
 */
export const completionCommand: CliCommand = {
  examples: [
    ['eval "$(kitbag completion bash)"', "in ~/.bashrc"],
    ['eval "$(kitbag completion zsh)"', "in ~/.zshrc, after compinit"],
    ["kitbag completion fish | source", "in ~/.config/fish/config.fish"],
    ["kitbag completion words -- call csv", "what may stand in the place of the last word, one a line"],
  ],
  define(command) {
    command.argument(
      "<what>",
      "bash, zsh or fish: its program text; words: what may stand in the place of the last word",
    );
    command.argument(
      "[word...]",
      "with words: those of the command line after kitbag, the last one perhaps incomplete",
    );
  },
  async run(invocation) {
    const [what = "", ...words] = invocation.args;
    if (what === "words") return toAnswer(await complete(words, invocation));
    const script = Object.hasOwn(scripts, what) ? scripts[what] : undefined;
    if (script === undefined)
      throw usageError(`Cannot complete command lines in "${what}": it must be bash, zsh or fish`);
    return { document: { shell: what, script }, text: script };
  },
};

function toAnswer(words: readonly string[]): Answer {
  return { document: { words }, text: words.length === 0 ? "" : `${words.join("\n")}\n` };
}

/** What may stand in the place of the last word. */
async function complete(words: readonly string[], invocation: Invocation): Promise<readonly string[]> {
  const [name = "", ...rest] = words;
  const typed = rest.at(-1);
  const startsWith = (start: string) => (word: string) => word.startsWith(start);
  if (typed === undefined)
    return [...commands.map((entry) => entry.name), "--help", "--version"].filter(startsWith(name));
  const entry = commands.find((candidate) => candidate.name === name);
  if (entry === undefined || rest.slice(0, -1).includes("--")) return [];
  const parser = await createParser(entry, await entry.load());
  const before = rest.at(-2) ?? "";
  const asking = parser.options.find((option) => takesValue(option) && [option.long, option.short].includes(before));
  if (asking !== undefined) return (asking.argChoices ?? []).filter(startsWith(typed));
  if (typed.startsWith("-")) return [...parser.options.flatMap(spellings), "--help"].filter(startsWith(typed));
  const subject = subjects[name];
  if (subject === undefined) return [];
  const folders = rest.flatMap((word, index) => (rest[index - 1] === "--skills" ? [word] : []));
  return (await namesOf(subject, folders, invocation)).filter(startsWith(typed));
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function spellings({ long, short }: Option): readonly string[] {
  const spelling = long ?? short;
  return spelling === undefined || spelling === null ? [] : [spelling];
}

/** What the words of a command name. */
type Subject = "tools" | "skills" | "both";

const subjects: Readonly<Record<string, Subject>> = {
  call: "tools",
  show: "both",
  check: "skills",
  test: "both",
  dev: "skills",
  trust: "skills",
  grant: "skills",
  revoke: "skills",
  update: "skills",
  remove: "skills",
  freeze: "skills",
  build: "both",
  versions: "both",
  rollback: "both",
};

/** The names of skills and of their tools. Tools of the configuration are not among them: it would have to be run. */
async function namesOf(subject: Subject, folders: readonly string[], context: CliContext): Promise<readonly string[]> {
  const reports = await loadReports(context, folders).catch(() => []);
  const usable = reports.filter(({ skill }) => skill !== undefined);
  const skills = subject === "tools" ? [] : usable.map(({ name }) => name);
  const tools = subject === "skills" ? [] : usable.flatMap((report) => report.tools.map(({ address }) => address));
  // What a shell would take apart, or take for more than a name, is not offered.
  return [...new Set([...skills, ...tools])].filter((name) => /^[\w./@-]+$/u.test(name)).toSorted();
}

const bash = String.raw`_kitbag() {
  local IFS=$'\n'
  COMPREPLY=($(kitbag completion words -- "${"${COMP_WORDS[@]:1:COMP_CWORD}"}" 2>/dev/null))
}
complete -o default -F _kitbag kitbag
`;

const zsh = String.raw`_kitbag() {
  local -a found
  found=("${'${(@f)$(kitbag completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}'}")
  if (( ${"${#found}"} )) && [[ -n $found[1] ]]; then compadd -- "${"${found[@]}"}"; else _files; fi
}
compdef _kitbag kitbag
`;

const fish = String.raw`function __kitbag_words
  set -l typed (commandline -opc) (commandline -ct)
  kitbag completion words -- $typed[2..-1] 2>/dev/null
end
complete -c kitbag -a '(__kitbag_words)'
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };
