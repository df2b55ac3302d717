import type { Command } from "commander";

import { sandboxNames } from "../sandbox/sandbox.ts";
import { usageError, type Invocation } from "./cli-command.ts";
import { toShellWord } from "./render.ts";

/** Adds `--module` to a command that works on tools. */
export function addModuleOption(command: Command): void {
  addOption(command, "--module <file>", "take the tools of this file instead of kitbag.config.ts");
}

/** Adds `--skills` to a command that works on skills and takes no folders as arguments. */
export function addSkillsOption(command: Command): void {
  addListOption(command, "--skills <dir>", "look for skills in this folder first; may be given again");
}

/** Adds `--sandbox` to a command that runs tools. */
export function addSandboxOption(command: Command): void {
  addOption(command, "--sandbox <name>", `where scripts run: ${sandboxNames.join(", ")}; the best there is by default`);
}

/** Adds `--store` to a command that keeps something, or shows what is kept. */
export function addStoreOption(command: Command): void {
  addOption(
    command,
    "--store <where>",
    "where records and state are kept: sqlite:FILE, postgres://…, memory or none; .kitbag/kitbag.db of the project by default",
  );
}

/** Adds an option with a value that may be given again. */
export function addListOption(command: Command, flags: string, description: string): void {
  const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
  command.option(flags, description, collect);
}

/** Adds an option with a value that may be given once. */
export function addOption(command: Command, flags: string, description: string): void {
  command.option(flags, description, (value: string, previous: string | undefined) => {
    if (previous === undefined) return value;
    throw usageError(`Cannot use ${flags.split(" ")[0] ?? flags} twice: it takes one value`);
  });
}

/** The value of an option that takes a text. */
export function getText(options: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** The values of an option that may be given again. */
export function getTexts(options: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** A command to type next, for the same store: one that was named with a flag must be named again. It shows no password. */
export function showCommand(words: string, { options }: Pick<Invocation, "options">): string {
  const flag = getText(options, "store");
  if (flag === undefined) return `kitbag ${words}`;
  return `kitbag ${words} --store ${/:\/\//u.test(flag) ? flag.replace(/:\/\/.*$/su, "://…") : toShellWord(flag)}`;
}

/**
 * Reads a whole number from 1 to `most` that a flag or a variable gives; nothing if neither is given.
 *
 * @throws {KitbagError} `usage-invalid` for any other text.
 */
export function readCount(
  source: string,
  text: string | undefined,
  most: number,
  expected = `a whole number from 1 to ${most}`,
): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,12}$/u.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw usageError(`Cannot use ${source} ${text}: expected ${expected}`);
}

/** How many rows a list has, as `--limit` says. @throws {KitbagError} `usage-invalid` */
export function readLimit(text = "20"): number {
  return readCount("--limit", text, 999_999) as number;
}

/** How much is logged: each says what those behind it say, and more. */
export const logLevels = ["debug", "info", "warn", "error", "off"] as const;

/** How important a line is, or how important a line must be. */
export type LogLevel = (typeof logLevels)[number];

/**
 * How much the person wants to read, by `--log` or `KITBAG_LOG`; nothing unless said.
 *
 * @throws {KitbagError} `usage-invalid` for a level that there is not.
 */
export function readLogLevel({ options, env }: Pick<Invocation, "options" | "env">): LogLevel {
  const flag = getText(options, "log");
  const text = flag ?? (env["KITBAG_LOG"] || "off");
  const level = logLevels.find((candidate) => candidate === text);
  if (level !== undefined) return level;
  const source = flag === undefined ? "KITBAG_LOG" : "--log";
  throw usageError(`Cannot use ${source} ${JSON.stringify(text)}: expected ${logLevels.join(", ")}`);
}
