/** Interpreters that are alike: they take the same environment and have the same packages. */
export type Family =
  | "python"
  | "node"
  | "shell"
  | "ruby"
  | "perl"
  | "php"
  | "lua"
  | "powershell"
  | "r"
  | "javascript"
  | "other";

/** What is known of an interpreter by its name. */
export interface FamilyFacts {
  readonly family: Family;
  /** Other names under which it may be there, in order. */
  readonly names: readonly string[];
  /** How to get it. */
  readonly cure: string;
}

interface Row extends FamilyFacts {
  readonly pattern: RegExp;
}

const rows: readonly Row[] = [
  row("python", /^(?:python[\d.]*|pypy3?)$/u, ["python3", "python"], installs("python3", "python")),
  row("node", /^(?:node|nodejs)$/u, ["node"], "it is the program that runs Kitbag, so this cannot be"),
  row("shell", /^(?:sh|bash|dash)$/u, [], installs("bash", "bash")),
  row("shell", /^(?:zsh|ksh|fish)$/u, [], "install it by its name: apt install zsh, or brew install zsh"),
  row("ruby", /^(?:ruby[\d.]*|jruby)$/u, ["ruby"], installs("ruby", "ruby")),
  row("perl", /^perl[\d.]*$/u, ["perl"], installs("perl", "perl")),
  row("php", /^php[\d.]*$/u, ["php"], installs("php-cli", "php")),
  row(
    "lua",
    /^(?:lua[\d.]*|luajit)$/u,
    ["lua", "lua5.4", "lua5.3", "lua5.2", "lua5.1", "luajit"],
    installs("lua5.4", "lua"),
  ),
  row(
    "powershell",
    /^(?:pwsh|powershell)$/u,
    ["pwsh"],
    "install PowerShell (https://aka.ms/install-powershell), or brew install powershell",
  ),
  row("r", /^(?:Rscript|R)$/u, ["Rscript"], installs("r-base-core", "r")),
  row("javascript", /^bun$/u, [], "install Bun (https://bun.sh), or write the script for Node"),
  row("javascript", /^deno$/u, [], "install Deno (https://deno.com), or write the script for Node"),
  row(
    "javascript",
    /^(?:tsx|ts-node)$/u,
    ["tsx"],
    "install it with npm install --global tsx, or write the script without JSX: Node runs .ts files as they are",
  ),
];

/** What is known of the interpreter `name`. */
export function findFamily(name: string): FamilyFacts {
  const found = rows.find(({ pattern }) => pattern.test(name));
  return (
    found ?? { family: "other", names: [], cure: `install it, or name another interpreter in scripts/manifest.yml` }
  );
}

function row(family: Family, pattern: RegExp, names: readonly string[], cure: string): Row {
  return { family, pattern, names, cure };
}

function installs(apt: string, brew: string): string {
  return `install it with apt install ${apt}, or brew install ${brew}`;
}

const byEnding: Readonly<Record<string, readonly string[]>> = {
  py: ["python3"],
  js: ["node"],
  mjs: ["node"],
  cjs: ["node"],
  ts: ["node"],
  mts: ["node"],
  cts: ["node"],
  tsx: ["tsx"],
  jsx: ["tsx"],
  sh: ["bash"],
  bash: ["bash"],
  zsh: ["zsh"],
  rb: ["ruby"],
  pl: ["perl"],
  php: ["php"],
  lua: ["lua"],
  ps1: ["pwsh", "-NoProfile", "-File"],
  r: ["Rscript"],
};

/** The usual interpreter of a file, by the ending of its name. */
export function findByEnding(path: string): readonly string[] | undefined {
  const ending = /\.(\w+)$/u.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
}
