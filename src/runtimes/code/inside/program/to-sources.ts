import { stripTypeScriptTypes } from "node:module";

import type { ProgramStart } from "./messages.ts";

/** A program in one of the ways it may be meant, as JavaScript, each thing in the line where it was. */
export interface ProgramSource {
  readonly text: string;
  /** Statements of which the last one's value is the result; otherwise the body of a function that returns its result. */
  readonly isStatements: boolean;
}

/**
 * The ways a program may be meant, likeliest first: the first that can be parsed counts. JavaScript that cannot be parsed may be
 * TypeScript, so types are taken out and it is tried again; that costs nothing for a program that needs it not.
 *
 * @throws {SyntaxError} where one is asked for that is no TypeScript either.
 */
export function* toSources({ source, language }: ProgramStart): Generator<ProgramSource> {
  if (language === "javascript") {
    // To find out that it cannot be parsed takes longer than to look.
    if (!endsWithReturn(source)) yield { text: source, isStatements: true };
    yield { text: toBody(source), isStatements: false };
    if (endsWithReturn(source)) yield { text: source, isStatements: true };
  }
  const stripped = strip(source);
  if (typeof stripped === "string") {
    yield { text: stripped, isStatements: true };
    yield { text: toBody(stripped), isStatements: false };
    return;
  }
  // A `return` is no statement of its own, but may stand in a function.
  const body = strip(toBody(source));
  if (typeof body !== "string") throw body;
  yield { text: body, isStatements: false };
}

/** Whether the last line begins with a `return` that no bracket, comment or text around it can hold. */
function endsWithReturn(source: string): boolean {
  return /(?:^|(?<!\\)\n)[ \t]*return\b[^\n`}*]*$/u.test(source.trimEnd());
}

function toBody(source: string): string {
  return `(async()=>{${source}\n})()`;
}

function strip(source: string): string | SyntaxError {
  try {
    return stripTypeScriptTypes(source);
  } catch (cause) {
    const { message, stack = "", code } = cause as NodeJS.ErrnoException;
    if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") return transform(source);
    const error = new SyntaxError(message);
    // The platform's own trace begins with the line.
    error.stack = stack.replace(/^:(\d+)\n/u, "program:$1:\n");
    return error;
  }
}

/** Types that leave something behind, such as enums, cannot only be taken out; the lines after them may move. */
function transform(source: string): string | SyntaxError {
  try {
    return stripTypeScriptTypes(source, { mode: "transform" });
  } catch (cause) {
    return new SyntaxError((cause as Error).message);
  }
}
