/**
 * Six small tools in one file. Try them without a project, after `npm install`:
 *
 * ```sh
 * npx kitbag list --module examples/toolbox.ts
 * npx kitbag call count-words --module examples/toolbox.ts --text "to be or not to be" --top 2
 * ```
 */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { defineTool, progress } from "kitbag";
import { z } from "zod";

const add = defineTool({
  name: "add",
  description: "Adds two numbers. Use it instead of adding in your head.",
  input: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number", default: 1, description: "what to add" } },
    required: ["a"],
  },
  output: { type: "number" },
  annotations: { readOnly: true },
  examples: [{ input: { a: 2, b: 3 }, output: 5 }],
  run: ({ a, b }) => Number(a) + Number(b),
});

const slugify = defineTool({
  name: "slugify",
  description: "Turns a title into a part of an address: lower case, no accents, words joined.",
  input: z.object({
    text: z.string(),
    separator: z.enum(["-", "_"]).default("-"),
    maxLength: z.int().min(1).default(80),
  }),
  annotations: { readOnly: true },
  examples: [{ input: { text: "Crème brûlée!" }, output: "creme-brulee" }],
  run({ text, separator, maxLength }) {
    const words = text
      .normalize("NFD")
      .replaceAll(/\p{Mark}/gu, "")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu);
    return (words ?? []).join(separator).slice(0, maxLength);
  },
});

const countWords = defineTool({
  name: "count-words",
  description: "Counts the words of a text and lists the most frequent ones.",
  input: z.object({
    text: z.string(),
    top: z.int().min(1).max(100).default(5).describe("how many words to list"),
    ignore: z.array(z.string()).default([]).describe("a word to leave out"),
    matchCase: z.boolean().default(false),
  }),
  output: z.object({ total: z.number(), top: z.array(z.object({ word: z.string(), count: z.number() })) }),
  annotations: { readOnly: true },
  examples: [{ input: { text: "to be or not to be", top: 1 }, output: { total: 6, top: [{ word: "to", count: 2 }] } }],
  run({ text, top, ignore, matchCase }) {
    const words = (matchCase ? text : text.toLowerCase()).match(/[\p{L}\p{N}']+/gu) ?? [];
    const counts = new Map<string, number>();
    for (const word of words) if (!ignore.includes(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
    const sorted = [...counts].toSorted(([, left], [, right]) => right - left);
    return { total: words.length, top: sorted.slice(0, top).map(([word, count]) => ({ word, count })) };
  },
});

const lengths = z.enum(["full", "long", "medium", "short"]);

const formatDate = defineTool({
  name: "format-date",
  description: "Writes a date the way people of a country write it.",
  input: z.object({
    date: z.string().describe("like 2026-01-31T12:00:00Z"),
    locale: z.string().default("en-GB").describe("like de-CH"),
    style: z.object({ date: lengths.default("long"), time: lengths.optional() }).default({ date: "long" }),
    timeZone: z.string().default("UTC").describe("like Europe/Zurich"),
  }),
  annotations: { readOnly: true },
  examples: [{ input: { date: "2026-01-31T12:00:00Z" }, output: "31 January 2026" }],
  run({ date, locale, style, timeZone }) {
    const format = new Intl.DateTimeFormat(locale, {
      dateStyle: style.date,
      ...(style.time !== undefined && { timeStyle: style.time }),
      timeZone,
    });
    return format.format(new Date(date));
  },
});

const hashText = defineTool({
  name: "hash-text",
  description: "Computes the digest of a text, as hexadecimal digits.",
  input: z.object({ text: z.string(), algorithm: z.enum(["sha256", "sha512", "md5"]).default("sha256") }),
  annotations: { readOnly: true },
  run: ({ text, algorithm }) => createHash(algorithm).update(text).digest("hex"),
});

const countdown = defineTool({
  name: "countdown",
  description: "Counts down to zero, aloud. Shows how a tool tells its progress and streams its output.",
  input: z.object({ from: z.int().min(0).max(1000).default(3), pauseMs: z.int().min(0).default(0) }),
  annotations: { readOnly: true },
  async *run({ from, pauseMs }, { signal }) {
    for (let count = from; count > 0; count--) {
      yield progress({ done: from - count, total: from });
      yield `${count} … `;
      await wait(pauseMs, undefined, { signal });
    }
    yield "lift-off!\n";
  },
});

export default [add, slugify, countWords, formatDate, hashText, countdown];
