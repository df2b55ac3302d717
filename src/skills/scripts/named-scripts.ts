import { codePieces, splitCommandLine } from "./examples/add-examples.ts";

/** The scripts that a text tells its reader to run. */
export interface NamedScripts {
  /** Files of the skill. */
  readonly found: Set<string>;
  /** What the text says is in the skill's folder, but is not. */
  readonly missing: readonly MissingScript[];
}

/** A script that a text names and that is not there. */
export interface MissingScript {
  readonly path: string;
  /** Counts from 1. */
  readonly line: number;
}

/**
 * Finds the scripts that the instructions of a skill (`text`) tell the model to run, among the files of the skill (`paths`): a command
 * in a code block or between backticks, or a path in a sentence that says "run". A path that only stands in the text is not one.
 *
 * Contract: never throws; takes time in proportion to the text.
 */
export function findNamedScripts(text: string, paths: readonly string[]): NamedScripts {
  const files = new Set(paths);
  const found = new Set<string>();
  const missing = new Map<string, MissingScript>();
  for (const { code, line, before } of codePieces(text)) {
    // A comment in a code block is prose, and most lines are no command with a path.
    if (!/[./]/u.test(code) || /^\s*#/u.test(code)) continue;
    for (const { word, isCommand } of toProgramWords(code)) {
      if (!isCommand && before !== undefined && !tellsToRun.test(before)) continue;
      const { file, absent } = resolveWord(word, files);
      if (file !== undefined) found.add(file);
      else if (absent !== undefined && isCommand && !missing.has(absent)) missing.set(absent, { path: absent, line });
    }
  }
  return { found, missing: [...missing.values()] };
}

/** The end of what stands before a path in the same sentence. */
const tellsToRun =
  /\b(?:run|runs|running|execute|executes|executing|invoke|invokes|launch|launches|calls?)\b[^.!?]{0,80}$|(?:运行|执行|実行|실행)[^。]{0,40}$/iu;

const programs =
  /^(?:python[\d.]*|pypy3?|node|nodejs|bash|sh|zsh|ruby|perl|php|lua|pwsh|powershell|Rscript|uv|npx|bun|bunx|deno|tsx|ts-node|poetry|pipenv|pnpm|yarn|npm)$/u;
/** What may stand before a program or a script without being one. */
const prefixes = /^(?:\$|>|!|sudo|env|time|exec|nohup|if|then|do|run|x|dlx|[A-Za-z_]\w*=.*)$/u;
/** A variable that holds a program: `$PYTHON`, `${BUN_X}`, `{python}`. */
const programVariable = /^(?:\$\{?\w+\}?|\{\w+\}|<\w+>)$/u;

/** A word that may be the path of a script that is run. */
interface ProgramWord {
  readonly word: string;
  /** A program or arguments stand beside it. */
  readonly isCommand: boolean;
}

/** Tells at once of most lines of code that they name no script. */
const mayNameScript = /\/|\.(?:py|[cm]?[jt]sx?|sh|bash|zsh|rb|pl|php|lua|ps1|R)\b|\s-m\s/u;

/** The words of a line of code that are run: of each command in it at most one. */
function toProgramWords(code: string): readonly ProgramWord[] {
  return code
    .slice(0, 2000)
    .split(/&&|\|\||[;|]/u)
    .filter((command) => mayNameScript.test(command))
    .flatMap((command) => toProgramWord(splitCommandLine(command).words));
}

const mostWordsBefore = 8;

function toProgramWord(words: readonly string[]): readonly ProgramWord[] {
  const first = words.slice(0, mostWordsBefore).findIndex((word) => !prefixes.test(word));
  const isRun = isProgram(words[first] ?? "") || programVariable.test(words[first] ?? "");
  if (isRun) return toArgument(words.slice(first + 1, first + mostWordsBefore));
  const word = words[first] ?? "";
  return isPath(word) ? [{ word, isCommand: first + 1 < words.length }] : [];
}

function isProgram(word: string): boolean {
  return programs.test(word.split("/").at(-1) ?? "");
}

/** The script among the words that follow a program: behind its options and the programs that it starts. */
function toArgument(words: readonly string[]): readonly ProgramWord[] {
  for (const [index, word] of words.entries()) {
    if (/^-(?:[ce]|-eval|-command)$/u.test(word)) return [];
    if (word === "-m") return toModule(words[index + 1]);
    if (word.startsWith("-") || prefixes.test(word) || isProgram(word)) continue;
    if (isPath(word)) return [{ word, isCommand: true }];
    // The value of an option of the program may stand before the script.
    if (!(words[index - 1] ?? "").startsWith("-")) return [];
  }
  return [];
}

/** `python -m scripts.report` runs `scripts/report.py`. */
function toModule(name: string | undefined): readonly ProgramWord[] {
  return name?.includes(".") === true && /^[\w.]+$/u.test(name)
    ? [{ word: `${name.replaceAll(".", "/")}.py`, isCommand: true }]
    : [];
}

function isPath(word: string): boolean {
  return word.includes("/")
    ? !word.includes("://")
    : /^[\w.-]+\.(?:py|[cm]?[jt]sx?|sh|bash|zsh|rb|pl|php|lua|ps1|R)$/u.test(word);
}

/** Names for the skill's own folder, as other clients fill them in and as authors write them. */
const ownFolder = /^(?:\$\{?|\{|<)?(?:CLAUDE_)?(?:SKILL|PLUGIN|base)[\w -]*(?:DIR|ROOT|PATH|FOLDER|HOME)\w*[}>]?$/iu;

interface Resolved {
  readonly file?: string;
  /** The path that the text says is in the skill. */
  readonly absent?: string;
}

function resolveWord(word: string, files: ReadonlySet<string>): Resolved {
  const steps = word.split("/").filter((step, index) => step !== "." && !(step === "" && index > 0));
  const variable = steps.findLastIndex((step) => /[{}$<>~*]/u.test(step));
  const skills = steps.findLastIndex((step) => step === "skills" || step === ".skills");
  const start = Math.max(variable + 1, skills === -1 ? 0 : skills + 2);
  const inside = steps.slice(start);
  if (inside.length === 0 || inside.includes("..")) return {};
  const path = inside.join("/");
  if (files.has(path)) return { file: path };
  if (files.has(`scripts/${path}`)) return { file: `scripts/${path}` };
  // "path/to/skill/scripts/x.py": without a mark it is not known where the skill's folder begins.
  for (let from = 1; from < inside.length - 1; from += 1) {
    const rest = inside.slice(from).join("/");
    if (files.has(rest)) return { file: rest };
  }
  const isOwn = start === 0 ? inside[0] === "scripts" && inside.length > 1 : ownFolder.test(steps[variable] ?? "");
  return isOwn && /\.\w{1,5}$/u.test(path) ? { absent: path } : {};
}
