import type { Command } from "commander";

import { usageError } from "./usage-error.ts";

/** Adds `--module` to a command that works on tools. */
export function addModuleOption(command: Command): void {
  addOption(command, "--module <file>", "take the tools of this file instead of kitbag.config.ts");
}

/** Adds `--skills` to a command that works on skills and takes no folders as arguments. */
export function addSkillsOption(command: Command): void {
  addListOption(command, "--skills <dir>", "look for skills in this folder first; may be given again");
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
