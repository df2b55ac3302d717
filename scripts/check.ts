/**
 * The one gate: `npm run check` runs every step, `npm run check lint types` only those. A step says nothing unless it fails;
 * then everything it said is shown. Tests are not part of it (`npm test`).
 */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { styleText } from "node:util";

const root = resolve(import.meta.dirname, "..");

interface Step {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** What to do when it fails, if the step does not say so itself. */
  readonly cure?: string;
}

const steps: readonly Step[] = [
  { name: "format", command: ["oxfmt", "--check"], cure: "run: npm run format" },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "types", command: ["tsc", "-p", "tsconfig.json"] },
  { name: "unused", command: ["knip", "--no-progress"], cure: "delete what nobody uses, or stop exporting it" },
  { name: "build", command: ["node", "scripts/build.ts"] },
  { name: "package", command: ["publint", "--strict"] },
  { name: "docs", command: ["node", "scripts/check-docs.ts"] },
  { name: "errors", command: ["node", "scripts/write-error-docs.ts", "--check"] },
  { name: "lock", command: ["node", "scripts/check-lock.ts"] },
];

const chosen = choose(process.argv.slice(2));
const failed: string[] = [];
const start = performance.now();
for (const step of chosen) {
  if (!(await passes(step))) failed.push(step.name);
}
const seconds = ((performance.now() - start) / 1000).toFixed(1);
if (failed.length === 0) console.log(styleText("green", `\nAll good, in ${seconds} s`));
else {
  console.log(styleText("red", `\nFailed: ${failed.join(", ")}, in ${seconds} s`));
  process.exitCode = 1;
}

function choose(names: readonly string[]): readonly Step[] {
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    console.error(`Cannot check ${unknown.join(", ")}: the steps are ${steps.map(({ name }) => name).join(", ")}`);
    process.exit(2);
  }
  return names.length === 0 ? steps : steps.filter(({ name }) => names.includes(name));
}

async function passes({ name, command, cure }: Step): Promise<boolean> {
  const begin = performance.now();
  const { code, output } = await run(command);
  const time = `${((performance.now() - begin) / 1000).toFixed(1)} s`.padStart(7);
  const mark = code === 0 ? styleText("green", "✓") : styleText("red", "✗");
  console.log(`${mark} ${name.padEnd(8)}${styleText("dim", `${time}  ${command.join(" ")}`)}`);
  if (code === 0) return true;
  const lines = output.trim().split("\n");
  if (cure !== undefined) lines.push(`→ ${cure}`);
  console.log(lines.map((line) => `    ${line}`).join("\n"));
  return false;
}

async function run([program, ...args]: Step["command"]): Promise<{ code: number; output: string }> {
  const color = styleText("red", "") === "" ? {} : { FORCE_COLOR: "1" };
  const child = spawn(program, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...color },
  });
  let output = "";
  const collect = (chunk: string): void => {
    output += chunk;
  };
  child.stdout.setEncoding("utf8").on("data", collect);
  child.stderr.setEncoding("utf8").on("data", collect);
  const { promise, resolve: finish } = Promise.withResolvers<number>();
  child.on("close", (code) => finish(code ?? 1));
  child.on("error", (cause) => {
    output += cause.message;
    finish(1);
  });
  return { code: await promise, output };
}
