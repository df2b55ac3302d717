import { toStem } from "./stems.ts";

/** How the names of files end, and what people call files of that kind: the first is the ending, the others are words for it. */
const groups = [
  "py python",
  "js javascript",
  "ts typescript",
  "md markdown",
  "sh shell bash",
  "rb ruby",
  "rs rust",
  "go golang",
  "java",
  "c",
  "cpp c++",
  "cs c#",
  "php",
  "html",
  "css",
  "json",
  "csv",
  "xml",
  "yaml",
  "toml",
  "txt",
  "log",
  "pdf",
  "png",
  "jpg jpeg",
  "gif",
  "svg",
  "mp3",
  "mp4",
];

const endings = new Map<string, string>();
for (const group of groups) {
  const [ending = "", ...names] = group.split(" ");
  for (const name of [ending, ...names]) endings.set(name, ending);
}

/** The ending of the files that a word speaks of: `py` for "python". */
export function endingOf(word: string): string | undefined {
  return endings.get(word);
}

const kinds: Readonly<Record<string, string>> = {
  gz: "archive",
  jar: "archive",
  tar: "archive",
  tgz: "archive",
  whl: "archive",
  xz: "archive",
  zip: "archive",
  "7z": "archive",
  gif: "image",
  jpeg: "image",
  jpg: "image",
  png: "image",
  webp: "image",
  svg: "image",
  md: "markdown",
  markdown: "markdown",
  tsv: "csv",
  txt: "text",
  yml: "yaml",
  htm: "html",
  jsonl: "json",
};

/** What a file with this ending is: `zip` and "archive". */
export function toExtensionStems(extension: string): string[] {
  const ending = extension.toLowerCase();
  const word = Object.hasOwn(kinds, ending) ? kinds[ending] : undefined;
  return [...toStem(ending), ...(word === undefined ? [] : toStem(word))];
}

/** Tells whether the name of a file ends as files do. */
export function isKnownEnding(name: string): boolean {
  const ending = extensionOf(name);
  return endings.has(ending) || Object.hasOwn(kinds, ending);
}

/** The ending of a name, in lower case; empty if there is none. */
function extensionOf(name: string): string {
  return /[^/\\.*]\.([a-z0-9]{1,8})$/iu.exec(name)?.[1]?.toLowerCase() ?? "";
}

/** Formats that a tool says it works on; of others (a text, a program) any tool may make something. */
const strictFormats = new Set(
  ["archive", "csv", "image", "json", "markdown", "pdf", "toml", "xml", "yaml"].flatMap(toStem),
);

/** The formats of a file that a tool for other formats cannot read; none if it may be anything. */
export function strictFormatsOf(name: string): string[] {
  return toExtensionStems(extensionOf(name)).filter((stem) => strictFormats.has(stem));
}

/** Tells whether a stem is the name of such a format. */
export function isStrictFormat(stem: string): boolean {
  return strictFormats.has(stem);
}
