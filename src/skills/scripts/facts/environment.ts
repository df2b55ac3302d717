import type { EnvironmentVariable, ScriptLanguage } from "../script-interface.ts";

const name = "[A-Za-z_][A-Za-z0-9_]{0,80}";

/** How each language reads a variable. The first group is the name; patterns under `required` stop the script without it. */
const patterns: Readonly<
  Partial<Record<ScriptLanguage, { readonly optional: readonly RegExp[]; readonly required: readonly RegExp[] }>>
> = {
  python: {
    optional: [
      new RegExp(`(?:os\\.)?(?:environ\\.(?:get|setdefault|pop)|getenv)\\(\\s*["'](${name})["']`, "gu"),
      new RegExp(`["'](${name})["'] (?:not )?in os\\.environ`, "gu"),
    ],
    required: [new RegExp(`environ\\[\\s*["'](${name})["']\\s*\\](?!\\s*=[^=])`, "gu")],
  },
  javascript: {
    optional: [
      new RegExp(`(?:process|Bun|import\\.meta)\\.env\\??\\.(${name})`, "gu"),
      new RegExp(`(?:process|Bun)\\.env\\[\\s*["'\`](${name})["'\`]`, "gu"),
      new RegExp(`Deno\\.env\\.get\\(\\s*["'\`](${name})["'\`]`, "gu"),
    ],
    required: [],
  },
  ruby: {
    optional: [new RegExp(`ENV\\[\\s*["'](${name})["']`, "gu")],
    required: [new RegExp(`ENV\\.fetch\\(?\\s*["'](${name})["']`, "gu")],
  },
  perl: { optional: [new RegExp(`\\$ENV\\{\\s*["']?(${name})["']?\\s*\\}`, "gu")], required: [] },
  php: { optional: [new RegExp(`(?:getenv\\(\\s*|\\$_(?:ENV|SERVER)\\[\\s*)["'](${name})["']`, "gu")], required: [] },
  lua: { optional: [new RegExp(`os\\.getenv\\(\\s*["'](${name})["']`, "gu")], required: [] },
  r: { optional: [new RegExp(`Sys\\.getenv\\(\\s*["'](${name})["']`, "gu")], required: [] },
  powershell: { optional: [new RegExp(`\\$env:(${name})`, "giu")], required: [] },
};

const mostVariables = 200;

/** Finds the environment variables that a script reads. */
export function findEnvironment(language: ScriptLanguage, text: string): readonly EnvironmentVariable[] {
  if (language === "shell") return findShellEnvironment(text);
  // Most scripts read none; a plain search is much cheaper than the patterns.
  if (!text.includes("env") && !text.includes("ENV") && !text.includes("Env")) return [];
  const isJavascript = language === "javascript" || language === "typescript";
  const forms = patterns[isJavascript ? "javascript" : language] ?? { optional: [], required: [] };
  const found = new Map<string, boolean>();
  for (const variable of namesIn(text, forms.required)) found.set(variable, true);
  for (const variable of namesIn(text, forms.optional)) found.set(variable, false);
  if (isJavascript) addDestructured(found, text);
  return toList(found);
}

function* namesIn(text: string, forms: readonly RegExp[]): Generator<string> {
  for (const form of forms) for (const [, variable = ""] of text.matchAll(form)) yield variable;
}

/** `const { API_KEY, HOST = "x" } = process.env` */
function addDestructured(found: Map<string, boolean>, text: string): void {
  for (const [, names = ""] of text.matchAll(/\{([^{}]{1,500})\}\s*=\s*process\.env\b/gu)) {
    for (const part of names.split(",")) {
      const variable = /^\s*([A-Za-z_]\w*)/u.exec(part)?.[1];
      if (variable !== undefined) found.set(variable, false);
    }
  }
}

/** What the shell itself provides, or what says nothing about the script. */
const usual = new Set(
  "HOME PATH PWD OLDPWD USER LOGNAME SHELL BASH BASH_SOURCE BASH_VERSION BASH_REMATCH BASH_VERSINFO LINENO RANDOM OSTYPE HOSTNAME HOSTTYPE MACHTYPE IFS OPTARG OPTIND OPTERR UID EUID PPID SECONDS FUNCNAME PIPESTATUS REPLY COLUMNS LINES TERM TMPDIR LANG LC_ALL SHLVL PS1 PS4 ZSH_VERSION EPOCHSECONDS DIRSTACK GROUPS SHELLOPTS COMP_WORDS COMP_CWORD COMPREPLY".split(
    " ",
  ),
);

const shellUse = /\$(?:([A-Z_][A-Z0-9_]+)|\{([A-Z_][A-Z0-9_]+)(:?[-?=+])?)/gu;

/** In a shell every upper-case variable that is read and not set in the script comes from outside. */
function findShellEnvironment(text: string): readonly EnvironmentVariable[] {
  const code = text.replaceAll(/^[ \t]*#.*$/gmu, "");
  const own = assignedIn(code);
  const found = new Map<string, boolean>();
  for (const [, plain, braced, operator] of code.matchAll(shellUse)) {
    const variable = plain ?? braced ?? "";
    if (usual.has(variable) || own.has(variable)) continue;
    const isRequired = operator?.endsWith("?") === true;
    found.set(variable, isRequired || found.get(variable) === true);
  }
  return toList(found);
}

const assignment = /(?:^|[\s;(&|])(?:export |local |readonly |declare (?:-\w+ )?)?([A-Z_][A-Z0-9_]*)\+?=(\S*)/gmu;
const readers =
  /\b(?:read(?: -\w+)*|for|select|mapfile(?: -\w+)*|readarray(?: -\w+)*|getopts \S+)((?: +[A-Za-z_]\w*)+)/gu;

function assignedIn(code: string): ReadonlySet<string> {
  const assigned = new Set<string>();
  for (const [, variable = "", value = ""] of code.matchAll(assignment)) {
    // `NAME="${NAME:-default}"` is how a script takes one from outside.
    const isOwn = value.includes(`$${variable}`) || value.includes(`\${${variable}`);
    if (!isOwn) assigned.add(variable);
  }
  for (const [, list = ""] of code.matchAll(readers))
    for (const variable of list.trim().split(/\s+/u)) assigned.add(variable);
  return assigned;
}

function toList(found: ReadonlyMap<string, boolean>): readonly EnvironmentVariable[] {
  return [...found]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .slice(0, mostVariables)
    .map(([variable, required]) => ({ name: variable, ...(required && { required }) }));
}
