/** The longest description that is kept: a model reads it with every other tool's. */
const longestDescription = 500;

const decoration = /^[\s=*#~_+.─━═—–|/\\-]*$/u;
const noise =
  /^(?:-\*-.*|(?:\(c\)|©|copyright\b|@copyright\b|@licen[sc]e\b|licen[sc]e:|licensed (?:under|to)\b|all rights reserved).*|spdx-.*|eslint.*|@ts-.*|prettier.*|shellcheck .*|pylint:.*|mypy:.*|ruff:.*|noqa.*|type:.*|vim:.*|!.*|frozen_string_literal:.*|%%.*|author:.*|version:.*|date:.*|created:.*|global .*|istanbul .*|<reference.*)$/iu;
const section =
  /^(?:usage|synopsis|examples?|options?|arguments?|args|parameters?|params|flags|commands?|requirements?|requires|dependencies|prerequisites|env(?:ironment)?(?: variables?)?|exit codes?|returns?|output|notes?|see also|install(?:ation)?|setup|example usage|quick start|features|key features)\b[^.]{0,30}[:：]|^usage\b|^(?:用法|使用方法|使用方式|示例|参数|使い方|사용법)[^.]{0,30}[:：]|^\/{3} script|^@(?:param|returns?|example|module|author)\b|^:param|^>>>|^-{1,2}\w|^\$\{?[1-9]\b/iu;

/** How the paragraphs of licences begin, and lines of them that stand alone. */
const licence =
  /^(?:licensed under the apache|permission is hereby|permission to use|redistribution and use|this (?:program|library|file|software|code|source) is (?:part of|free|provided|distributed|licensed|released|subject)|unless required by|you may (?:not use|obtain)|you should have received|the software is provided|the above copyright|use of this source code|see the (?:gnu|licen[sc]e)\b|it under the terms|distributed under|without warrant|https?:\/\/(?:www\.)?(?:apache|gnu|opensource)\.org)/iu;

/** Makes a description from a docstring or a header comment: its first words about what the script does. Empty if it has no such words. */
export function toDescription(text: string, fileName = ""): string {
  const paragraphs: string[] = [];
  let current: string[] = [];
  let isLicence = false;
  const flush = (): void => {
    if (current.length > 0) paragraphs.push(current.join(" "));
    current = [];
  };
  for (const raw of text.slice(0, 8000).split("\n")) {
    const isFirst = paragraphs.length === 0 && current.length === 0;
    const line = cleanLine(raw, isFirst ? fileName : "");
    if (section.test(line) || (!isFirst && isCall(line, fileName))) break;
    if (line === "") {
      flush();
      isLicence = false;
    } else if (licence.test(line)) {
      // The rest of its paragraph belongs to it.
      isLicence = true;
    } else if (!isLicence && !noise.test(line)) current.push(line);
    if (paragraphs.length > 1) break;
  }
  flush();
  return shorten(joinTitle(paragraphs).replace(/(?<=[.!?:;)])\s+(?:usage|用法)\s*[:：].*$/iu, ""));
}

/** A line that calls the script says how it is used, not what it does. */
function isCall(line: string, fileName: string): boolean {
  if (fileName !== "" && line.startsWith(`${fileName} `) && /\s(?:[<[]|--?\w|[A-Z]{2,})/u.test(line)) return true;
  return (
    fileName !== "" &&
    /^(?:\S*(?:python[\d.]*|node|bash|sh|npx|bun|uv)\s|\.\/|\$ )/u.test(line) &&
    line.includes(fileName)
  );
}

function cleanLine(raw: string, fileName: string): string {
  const line = raw
    .trim()
    .replace(/^(?:\*+(?!\*)|#+|\/\/+|;+|--+)\s*/u, "")
    .replace(/^@(?:fileoverview|file|description|overview|brief)\b\s*/u, "")
    .trim();
  // The path of a file, as some write it into their first line.
  if (decoration.test(line) || /^(?:[\w.@-]+\/)+[\w.-]+\.\w{1,4}$/u.test(line)) return "";
  if (fileName === "") return line;
  const stem = fileName.replace(/\.\w+$/u, "");
  const lower = line.toLowerCase();
  if (lower.endsWith(`/${fileName.toLowerCase()}`) && !line.includes(" ")) return "";
  const name = [fileName, stem].find((candidate) => lower.startsWith(candidate.toLowerCase()));
  if (name === undefined) return line;
  // `extract.py - Extracts text`: the name is known already.
  const [, rest] = /^\s*[:–—|-]+\s*(.*)$/u.exec(line.slice(name.length)) ?? [];
  return rest ?? (lower === name.toLowerCase() ? "" : line);
}

/** A first paragraph that is only a title is followed by the one that explains it. */
function joinTitle(paragraphs: readonly string[]): string {
  const [first = "", second] = paragraphs;
  if (second === undefined || first.length > 60) return first;
  const title = first.replace(/[\s:.]+$/u, "");
  return `${title}. ${second}`;
}

function shorten(text: string): string {
  const plain = text.replaceAll(/\s+/gu, " ").trim();
  if (plain.length <= longestDescription) return plain;
  const cut = plain.slice(0, longestDescription - 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), longestDescription / 2))}…`;
}

const aboutCode =
  /^(?:exit (?:immediately |early )?(?:on|if|when)|fail (?:on|fast|if)|abort (?:on|if)|stop (?:on|if)|strict mode|check(?:ing|s)? (?:if|that|whether|for|we)|ensure|make sure|terminal|ansi|colou?rs?|get (?:the )?(?:script|current|project|root|directory)|set (?:up|default|the|strict|-)|set\b|defaults?|config(?:uration)?|constants?|variables|globals?|parse|load|import|source|helpers?|functions?|bail|enable|paths?|director(?:y|ies)|detect|initiali[sz]e|validate (?:arg|input)|arguments?|require[sd]?)\b/iu;

/**
 * Whether a comment of one line is about the line of code under it and not about the script: "Exit on error" above `set -e`,
 * "Terminal colours" above a constant.
 */
export function isAboutNextLine(source: string, comment: string): boolean {
  const line = comment.trim();
  // What stands at the head of a script is about the script.
  const [head = ""] = source.replace(/^#![^\n]*\n/u, "").split("\n", 1);
  const isHead = head.includes(line);
  if (isHead || line.includes("\n") || !aboutCode.test(line)) return false;
  const end = source.indexOf(line) + line.length;
  return /^[^\n]*\n[ \t]*[^\s#/*]/u.test(source.slice(end, end + 400));
}
