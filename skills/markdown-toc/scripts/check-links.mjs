#!/usr/bin/env node
// Find links in Markdown files that lead to no file or to no heading. Visits nothing on the web.
//
// Usage: check-links.mjs <file>... [--root <folder>] [--exit-code]
//
//   <file>           Markdown files
//   --root <folder>  the folder that links beginning with / count from
//   --exit-code      end with exit code 3 if a link leads nowhere
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { fail, findHeadings, proseLines, readMarkdown, toAnchor } from "./markdown.mjs";

const { values, positionals: files } = parseArgs({
  options: { root: { type: "string", default: "." }, "exit-code": { type: "boolean", default: false } },
  allowPositionals: true,
});
if (files.length === 0) fail("check-links: name one or more Markdown files");

const findings = [];
const anchorsByFile = new Map();
let links = 0;
let external = 0;
for (const file of files) checkFile(file);
process.stdout.write(`${JSON.stringify({ files: files.length, links, external, findings }, null, 2)}\n`);
if (values["exit-code"] && findings.length > 0) process.exitCode = 3;

function checkFile(file) {
  for (const { line, number } of proseLines(readMarkdown(file))) {
    for (const target of findTargets(line)) {
      links += 1;
      if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/iu.test(target)) external += 1;
      else checkTarget(file, number, target);
    }
  }
}

/** The targets of the links and pictures on a line: `[text](target)`, `[name]: target`. */
function findTargets(line) {
  const plain = line.replaceAll(/(`+)[^`]*\1/gu, "");
  const inline = [
    ...plain.matchAll(/\]\(\s*(?:<([^>]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:\s+["'(][^)]*)?\s*\)/gu),
  ];
  const named = /^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)/u.exec(plain);
  const targets = inline.map(([, bracketed, bare]) => bracketed ?? bare ?? "");
  return [...targets, ...(named === null ? [] : [named[1]])].filter((target) => target !== "");
}

function checkTarget(file, line, target) {
  const [path = "", ...rest] = target.split("#");
  const anchor = rest.join("#");
  const wanted = decode(path.split("?")[0] ?? "");
  const found = wanted.startsWith("/") ? join(values.root, wanted) : join(dirname(file), wanted);
  if (wanted !== "" && !existsSync(found)) {
    findings.push({ file, line, link: target, problem: "there is no such file" });
    return;
  }
  const place = wanted === "" ? file : found;
  if (anchor === "" || !/\.(?:md|markdown)$/iu.test(place) || !statSync(place).isFile()) return;
  const anchors = anchorsOf(resolve(place));
  if (anchors.has(decode(anchor).toLowerCase()) || /^L\d+/u.test(anchor)) return;
  findings.push({ file, line, link: target, problem: "there is no such heading", headings: nearest(anchor, anchors) });
}

function anchorsOf(file) {
  if (!anchorsByFile.has(file)) {
    const text = readMarkdown(file);
    const named = [...text.matchAll(/<[a-z]+\s[^>]*\b(?:id|name)=["']([^"']+)["']/giu)].map(([, name]) => name);
    const headings = findHeadings(text).map(({ anchor }) => anchor);
    anchorsByFile.set(file, new Set([...headings, ...named.map((name) => name.toLowerCase())]));
  }
  return anchorsByFile.get(file);
}

/** The headings that share the most words with what was wanted. */
function nearest(anchor, anchors) {
  const words = new Set(toAnchor(decode(anchor)).split("-"));
  const shared = (candidate) => candidate.split("-").filter((word) => words.has(word)).length;
  return [...anchors].toSorted((left, right) => shared(right) - shared(left)).slice(0, 5);
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
