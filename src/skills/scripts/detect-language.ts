import type { ScriptLanguage } from "./script-interface.ts";

/** A language and the program that runs it. */
export interface DetectedLanguage {
  readonly language: ScriptLanguage;
  readonly interpreter: readonly string[];
}

const byEnding: Readonly<Record<string, DetectedLanguage>> = {
  py: { language: "python", interpreter: ["python3"] },
  js: { language: "javascript", interpreter: ["node"] },
  mjs: { language: "javascript", interpreter: ["node"] },
  cjs: { language: "javascript", interpreter: ["node"] },
  ts: { language: "typescript", interpreter: ["node"] },
  mts: { language: "typescript", interpreter: ["node"] },
  cts: { language: "typescript", interpreter: ["node"] },
  tsx: { language: "typescript", interpreter: ["tsx"] },
  jsx: { language: "javascript", interpreter: ["tsx"] },
  sh: { language: "shell", interpreter: ["bash"] },
  bash: { language: "shell", interpreter: ["bash"] },
  zsh: { language: "shell", interpreter: ["zsh"] },
  rb: { language: "ruby", interpreter: ["ruby"] },
  pl: { language: "perl", interpreter: ["perl"] },
  php: { language: "php", interpreter: ["php"] },
  lua: { language: "lua", interpreter: ["lua"] },
  ps1: { language: "powershell", interpreter: ["pwsh", "-NoProfile", "-File"] },
  r: { language: "r", interpreter: ["Rscript"] },
};

/** Endings of code that nothing here can run without being told how. */
const unsupported = new Set(
  "bat cmd cs csx swift go rs java kt kts c cc cpp awk tcl fish nu vbs applescript scpt ex exs jl groovy clj scala dart hs ml fs vb m".split(
    " ",
  ),
);

const byProgram: readonly (readonly [RegExp, ScriptLanguage])[] = [
  [/^(?:python[\d.]*|pypy3?|uv|uvx)$/u, "python"],
  [/^(?:node|nodejs|bun|deno)$/u, "javascript"],
  [/^(?:tsx|ts-node)$/u, "typescript"],
  [/^(?:bash|sh|zsh|dash|ksh)$/u, "shell"],
  [/^ruby[\d.]*$/u, "ruby"],
  [/^perl[\d.]*$/u, "perl"],
  [/^php[\d.]*$/u, "php"],
  [/^(?:lua[\d.]*|luajit)$/u, "lua"],
  [/^(?:pwsh|powershell)$/u, "powershell"],
  [/^Rscript$/u, "r"],
];

/**
 * The language of a script, by its ending and its first line. `unsupported` for code that needs an interpreter we do not know;
 * nothing for a file that is not a script at all.
 */
export function detectLanguage(fileName: string, text: string): DetectedLanguage | "unsupported" | undefined {
  const ending = /\.(\w+)$/u.exec(fileName)?.[1]?.toLowerCase() ?? "";
  const known = Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
  const interpreter = parseShebang(text);
  if (interpreter === undefined) return known ?? (unsupported.has(ending) ? "unsupported" : undefined);
  const language = languageOf(interpreter);
  if (known === undefined) return { language, interpreter };
  if (isSameFamily(language, known.language)) return { language: known.language, interpreter };
  // A first line that names another language than the ending wins, as it does when the file is started; only one that starts the
  // program of the ending, or a program that is not known, does not.
  const starts = language === "shell" && /\bexec\b/u.test(text.slice(0, 400));
  return language === "other" || starts ? known : { language, interpreter };
}

function isSameFamily(left: ScriptLanguage, right: ScriptLanguage): boolean {
  const isScript = (language: ScriptLanguage): boolean => language === "javascript" || language === "typescript";
  return left === right || (isScript(left) && isScript(right));
}

function languageOf(interpreter: readonly string[]): ScriptLanguage {
  for (const word of interpreter) {
    const found = byProgram.find(([pattern]) => pattern.test(word));
    if (found !== undefined) return found[1];
  }
  return "other";
}

/** The command of a `#!` line, without the folders that are particular to a machine. */
function parseShebang(text: string): readonly string[] | undefined {
  const line = /^#!([^\n]{1,300})/u.exec(text.trimStart())?.[1]?.trim();
  if (line === undefined || line === "") return undefined;
  const [first = "", ...rest] = line.split(/\s+/u);
  const program = first.split("/").at(-1) ?? "";
  if (program !== "env") return finish([program, ...rest]);
  const words = rest.filter(
    (word, index) => !/^(?:-S|-i|--split-string|-)$/u.test(word) && !(index < 3 && /^\w+=/u.test(word)),
  );
  return words.length === 0
    ? undefined
    : finish(words.map((word, index) => (index === 0 ? word.replace(/^-S/u, "") : word)));
}

function finish(words: readonly string[]): readonly string[] {
  const [program = "", ...rest] = words;
  // `python` is missing on many machines, or is an old one.
  return [program === "python" ? "python3" : program === "nodejs" ? "node" : program, ...rest];
}

/** Says what a file is by its name alone: configuration or a test, whatever is in it. */
export function classifyByName(
  fileName: string,
): { readonly kind: "config" | "test"; readonly reason: string } | undefined {
  if (/\.(?:test|spec)\.[cm]?[jt]sx?$|\.test\.sh$|\.bats$|_spec\.rb$|\.Tests\.ps1$/u.test(fileName)) {
    return { kind: "test", reason: "its name says that it is a test" };
  }
  if (
    /\.config\.[cm]?[jt]s$|^\.?(?:eslintrc|prettierrc|babelrc|gulpfile|gruntfile|karma\.conf|webpack\.\w+)(?:\.[cm]?js)?$|^setup\.py$/iu.test(
      fileName,
    )
  ) {
    return { kind: "config", reason: "its name says that it configures another program" };
  }
  return undefined;
}
