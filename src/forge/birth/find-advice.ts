import { isKitbagError, type Failure } from "../../core/errors.ts";
import type { ExampleResult } from "../forge-interface.ts";

/** How interpreters say what is missing, and what a draft says then. The first group is its name. */
const missing: readonly (readonly [pattern: RegExp, advise: (name: string) => string])[] = [
  [
    /ModuleNotFoundError: No module named '([\w-]+)/u,
    (name) => `ask for the package: "dependencies": {"python": ["${name}"]}; or do without it`,
  ],
  [
    /Cannot find (?:package|module) '((?:@[\w.-]+\/)?[\w.-]+)'/u,
    (name) => `ask for the package: "dependencies": {"npm": ["${name}"]}; or do without it`,
  ],
  [
    /cannot load such file -- ([\w/.-]+)|module '([\w.]+)' not found:|no package called .([\w.]+).|Can't locate ([\w/]+)\.pm/u,
    (name) => `${name} is not there, and packages can be asked for in Python and Node only; do without it`,
  ],
  [
    /environ[\s\S]*KeyError: '([A-Z][A-Z0-9_]*)'/u,
    (name) => `it sees no variable that it does not ask for: "permissions": {"env": ["${name}"]}`,
  ],
  [
    /(?:No such file or directory|ENOENT)[^\n]*['"](\/[^'"\n]{1,200})['"]/u,
    (path) => `it sees no file that it does not ask for: "permissions": {"read": [${JSON.stringify(path)}]}`,
  ],
  [
    /the program ([\w.+-]+) (?:does not exist inside|is not on this machine)/u,
    (name) => `ask for the program: "permissions": {"run": ["${name}"]}`,
  ],
  [/(it may not reach the network)/u, () => 'ask for the hosts: "permissions": {"network": ["api.example.com"]}'],
  [/(it may write only to \/tmp)/u, () => 'ask for the folder: "permissions": {"write": ["./data"]}; or write to /tmp'],
];

/** Says what to change in a draft whose example did not pass; nothing if that is plain, or nobody knows. */
export function findAdvice({ error, expected, got }: ExampleResult): string | undefined {
  if (error === undefined) return adviseDifference(expected, got);
  const { code } = error;
  if (code === "script-failed") return adviseFailed(error);
  if (code === "output-invalid") return adviseOutput(error);
  return code === "interpreter-missing" ? "or write it in another language" : undefined;
}

function adviseFailed({ message }: Failure): string | undefined {
  for (const [pattern, advise] of missing) {
    const name = pattern
      .exec(message)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (name !== undefined) return advise(name);
  }
  return undefined;
}

function adviseOutput({ message }: Failure): string | undefined {
  if (message.endsWith("found nothing")) {
    return "no function of the code is called for you: the program itself reads the input from standard input, and prints the output";
  }
  return message.includes("JSON on standard output")
    ? 'print one JSON value and nothing else, and anything else to standard error; or leave "output" out, then the output is text'
    : undefined;
}

/** Differences that are hard to see. */
function adviseDifference(expected: unknown, got: unknown): string | undefined {
  const [one, other] = [expected, got].map((value) => JSON.stringify(value) ?? "");
  if (one === undefined || other === undefined || one === other) return undefined;
  if (withoutSpace(one) === withoutSpace(other)) {
    return "only white space is different: write the output as it came, or have the program print it so";
  }
  return withoutNoise(one) === withoutNoise(other)
    ? "only the last digits of numbers are different: round them in the program, or write the output as it came"
    : undefined;
}

/** Numbers, as far as anybody writes them down. */
function withoutNoise(text: string): string {
  return text.replaceAll(/-?\d+\.\d{6,}(?:e[+-]?\d+)?/giu, (number) => String(Number(Number(number).toPrecision(9))));
}

/** White space, and what stands for it in JSON. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s|\\[nrt]/gu, "");
}

/** Says what to change in a draft that was not built; nothing if the compiler's words are enough. */
export function findBuildAdvice(cause: unknown): string | undefined {
  if (isKitbagError(cause, "compiler-missing")) return "or write it in another language";
  if (!isKitbagError(cause, "build-failed")) return undefined;
  const text = cause.details.lines.join("\n");
  if (text.includes("wasm-validator error")) {
    return "exported functions are not called: write a program, with statements at the top level that read process.stdin and write process.stdout";
  }
  return /undeclared crate|unlinked crate|can't find crate/u.test(text)
    ? 'there are no crates but std: do without them, or give a "Cargo.toml" and a "Cargo.lock" in "files"'
    : undefined;
}
