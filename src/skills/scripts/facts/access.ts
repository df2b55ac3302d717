import type { ScriptAccess, ScriptLanguage } from "../script-interface.ts";

/** Addresses that name a format and are never fetched. */
const formatHosts =
  /^(?:www\.w3\.org|schemas\.(?:openxmlformats|microsoft|android)\.\w+|json-schema\.org|purl\.org|ns\.adobe\.com|schema\.org|xmlns\.com|docs\.python\.org|www\.apache\.org|opensource\.org|www\.gnu\.org|spdx\.org)$/u;

const mostEntries = 100;

/** What a reader already knows about a script. */
export interface KnownAccess {
  readonly programs?: readonly string[] | undefined;
  readonly modules?: readonly string[] | undefined;
  /** The files of a shell script's redirections. @default its text is searched */
  readonly redirected?: { readonly reads: readonly string[]; readonly writes: readonly string[] } | undefined;
}

/** Looks for what a script seems to touch: hosts, networks, files, programs. */
export function findAccess(
  language: ScriptLanguage,
  text: string,
  { programs = [], modules, redirected }: KnownAccess = {},
): ScriptAccess {
  const started = [...programs, ...programsIn(language, text)];
  const files = filePatterns(language);
  return {
    hosts: unique(hostsIn(text)),
    network: unique([
      ...networkIn(language, text, modules),
      ...started.filter((program) => networkPrograms.test(program)),
    ]),
    reads: unique(redirected?.reads ?? matches(text, files.reads)),
    writes: unique(redirected?.writes ?? matches(text, files.writes)),
    programs: unique(started),
  };
}

function unique(items: Iterable<string>): readonly string[] {
  return [...new Set(items)].toSorted().slice(0, mostEntries);
}

function* hostsIn(text: string): Generator<string> {
  for (const [, host = "", port] of text.matchAll(
    /\b(?:https?|wss?|ftp):\/\/(?:[\w.~%-]{1,60}@)?((?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}|localhost|\d{1,3}(?:\.\d{1,3}){3})(:\d{1,5})?/giu,
  )) {
    const name = host.toLowerCase();
    if (!formatHosts.test(name)) yield name + (port ?? "");
  }
}

const pythonNetwork = new Set(
  "requests httpx urllib3 aiohttp socket websocket websockets paramiko smtplib ftplib boto3 openai anthropic grpc playwright selenium telethon slack_sdk".split(
    " ",
  ),
);
const scriptNetwork =
  /(?<![\w.])(fetch|axios|got|WebSocket|XMLHttpRequest|EventSource)\s*[.(]|["'](node-fetch|undici|axios|got|ws|https?|node:https?|node:net|node:tls|playwright|puppeteer)["']/gu;
const networkPrograms = /^(?:curl|wget|nc|ncat|ssh|scp|sftp|rsync|telnet|ftp|gh|aws|gcloud|az|kubectl|docker)$/u;
const otherNetwork =
  /\b(Net::HTTP|open-uri|LWP::UserAgent|HTTP::Tiny|curl_init|file_get_contents\(\s*["']https?|Invoke-WebRequest|Invoke-RestMethod|socket\.http|download\.file)\b/gu;

function* networkIn(language: ScriptLanguage, text: string, modules: readonly string[] | undefined): Generator<string> {
  if (language === "python") {
    const imported =
      modules ?? Array.from(text.matchAll(/^[ \t]*(?:import|from)[ \t]+(\w+)/gmu), ([, module = ""]) => module);
    yield* imported.filter((module) => pythonNetwork.has(module));
    for (const module of ["urllib.request", "http.client", "google.genai"]) if (text.includes(module)) yield module;
  } else if (language === "javascript" || language === "typescript") {
    for (const [, called, module] of text.matchAll(scriptNetwork))
      yield (called ?? module ?? "").replace(/^node:/u, "");
  } else if (language !== "shell") {
    for (const [, used = ""] of text.matchAll(otherNetwork)) yield used;
  }
}

interface FilePatterns {
  readonly reads: readonly RegExp[];
  readonly writes: readonly RegExp[];
}

/** A literal path in quotes; `\\u0060` is the backtick. */
const path = String.raw`["'\u0060]([^"'\u0060\n$\{]{1,200})["'\u0060]`;
/** The function, and no method of a path, whose first argument is the mode. */
const opens = String.raw`(?<![\w.])(?:(?:io|codecs|gzip)\.)?open\(\s*`;
const pythonFiles: FilePatterns = {
  reads: [
    new RegExp(`${opens}[rf]?${path}\\s*(?:\\)|,\\s*(?:mode=)?["']r[bt]?["']|,\\s*encoding)`, "gu"),
    new RegExp(`Path\\(${path}\\)\\.read_(?:text|bytes)`, "gu"),
  ],
  writes: [
    new RegExp(`${opens}[rf]?${path}\\s*,\\s*(?:mode=)?["'][wax]`, "gu"),
    new RegExp(`Path\\(${path}\\)\\.write_(?:text|bytes)`, "gu"),
  ],
};
const scriptFiles: FilePatterns = {
  reads: [new RegExp(`\\b(?:readFile|readFileSync|createReadStream|readdirSync|readTextFile)\\(\\s*${path}`, "gu")],
  writes: [
    new RegExp(
      `\\b(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|mkdirSync|writeTextFile)\\(\\s*${path}`,
      "gu",
    ),
  ],
};
const shellFiles: FilePatterns = {
  // `<link rel="icon"` and `<br />` are tags.
  reads: [/(?<![<>'"/=\\])<[ \t]*"?([\w./~-]{1,200})"?(?=[\s;)]|$)(?!\s{1,8}(?:[\w:-]{1,40}=|\/>))/gmu],
  writes: [/(?<![<\d&=-]|<[\w.-]{1,60})>{1,2}[ \t]*"?([\w./~-]{1,200})"?(?=[\s;)]|$)/gmu],
};
const noFiles: FilePatterns = { reads: [], writes: [] };

const filesByLanguage: Readonly<Partial<Record<ScriptLanguage, FilePatterns>>> = {
  python: pythonFiles,
  javascript: scriptFiles,
  typescript: scriptFiles,
  shell: shellFiles,
};

function filePatterns(language: ScriptLanguage): FilePatterns {
  return filesByLanguage[language] ?? noFiles;
}

function* matches(text: string, patterns: readonly RegExp[]): Generator<string> {
  for (const pattern of patterns) {
    for (const [, found = ""] of text.matchAll(pattern))
      if (found !== "/dev/null" && !/^(?:&|\d$)/u.test(found)) yield found;
  }
}

const started =
  /\b(?:subprocess\.(?:run|call|Popen|check_output|check_call|getoutput)|os\.(?:system|popen|execvp?)|exec(?:File|Sync|FileSync)?|spawn(?:Sync)?|system|shell_exec|IO\.popen|Open3\.\w+)\(\s*\[?\s*[frb]?["'`]([\w./-]{1,80})/gu;

/** A plain search is much cheaper than the pattern, and most scripts start nothing. */
function startsPrograms(language: ScriptLanguage, text: string): boolean {
  if (language === "python") return text.includes("subprocess") || text.includes("os.");
  if (language === "shell") return false;
  return text.includes("exec") || text.includes("spawn") || text.includes("system") || text.includes("open");
}

function* programsIn(language: ScriptLanguage, text: string): Generator<string> {
  if (!startsPrograms(language, text)) return;
  for (const [, program = ""] of text.matchAll(started)) yield program.split("/").at(-1) ?? program;
}
