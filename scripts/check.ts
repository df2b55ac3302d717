/**
 * The one gate: `npm run check` runs every step, as many at once as there are processors; `npm run check lint docs` only those, and what they
 * need. A step says nothing unless it fails; then everything it said is shown. Tests are not part of it (`npm test`).
 */
import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { styleText } from "node:util";

const root = resolve(import.meta.dirname, "..");

interface Step {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** The step that must have passed before. */
  readonly needs?: string;
  /** What to do when it fails, if the step does not say so itself. */
  readonly cure?: string;
}

const oxlint = ["oxlint", "--deny-warnings"] as const;
/** What tsconfig.json includes. */
const typed = ["src", "test", "scripts", "examples", "bench", ...globSync("*.ts", { cwd: root })];

/** The longest come first. The types are checked once, by the linter, which needs them anyway. */
const steps: readonly Step[] = [
  { name: "lint", command: [...oxlint, "--type-aware", "--type-check", ...typed] },
  { name: "build", command: ["node", "scripts/build.ts"] },
  { name: "docs", command: ["node", "scripts/check-docs.ts", "--built"], needs: "build" },
  {
    name: "unused",
    command: ["knip", "--no-progress", "--cache"],
    cure: "delete what is not used, or stop exporting it",
  },
  // What is packed is tested in test/package.test.ts: packing takes npm ten times as long as all the rest.
  { name: "package", command: ["publint", "--strict", "--pack", "false"], needs: "build" },
  { name: "skills", command: [...oxlint, "skills"] },
  { name: "size", command: ["node", "scripts/size.ts", "--check"] },
  { name: "format", command: ["oxfmt", "--check"], cure: "run: npm run format" },
  { name: "errors", command: ["node", "scripts/write-error-docs.ts", "--check"] },
  { name: "schemas", command: ["node", "scripts/write-schemas.ts", "--check"] },
  { name: "lock", command: ["node", "scripts/check-lock.ts"] },
];

const waiting = [...choose(process.argv.slice(2))];
const passed = new Set<string>();
const failed: string[] = [];
const start = performance.now();
await Promise.all(Array.from({ length: availableParallelism() }, work));
for (const { name, needs } of waiting)
  console.log(`${styleText("red", "✗")} ${name.padEnd(8)} not run: ${needs} failed`);
failed.push(...waiting.map(({ name }) => name));
const seconds = ((performance.now() - start) / 1000).toFixed(1);
if (failed.length === 0) console.log(styleText("green", `\nAll good, in ${seconds} s`));
else {
  console.log(styleText("red", `\nFailed: ${failed.join(", ")}, in ${seconds} s`));
  process.exitCode = 1;
}

/** The steps that are named, and those that they need. */
function choose(names: readonly string[]): readonly Step[] {
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    console.error(`Cannot check ${unknown.join(", ")}: the steps are ${steps.map(({ name }) => name).join(", ")}`);
    process.exit(2);
  }
  if (names.length === 0) return steps;
  const chosen = steps.filter(({ name }) => names.includes(name));
  const needed = new Set(chosen.map(({ needs }) => needs));
  return steps.filter((step) => chosen.includes(step) || needed.has(step.name));
}

/** Runs one step after the other until none is left that can be run. */
async function work(): Promise<void> {
  for (;;) {
    const index = waiting.findIndex(({ needs }) => needs === undefined || passed.has(needs));
    const [step] = index === -1 ? [] : waiting.splice(index, 1);
    if (step === undefined) return;
    if (await passes(step)) passed.add(step.name);
    else failed.push(step.name);
  }
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
