import type { LineRule, Match } from "./finding.ts";
import { isRunSubstitution, readPipeline, runsInput } from "./pipeline.ts";

const cure = "Write the code out, so that it can be read";

/** Code that is hidden from readers and then run. */
export const obfuscationRule: LineRule = {
  trigger:
    /base64|b64decode|b85decode|b32decode|a85decode|atob|xxd|openssl|marshal|decompress|gzinflate|rot_?13|fromcharcode|unescape|fromhex|powershell|pwsh|\bncat |\bnc |\\x[0-9a-f]{2}\\x|\\u00[0-9a-f]{2}\\u/i,
  find: (line) => [...findDecodedPipelines(line), ...findPatterns(line)],
};

const decoder =
  /(?<![\w./-])(?:base64\s{1,4}(?:-d|-D|--decode|-di)\b|xxd\s{1,4}-r\b|openssl\s{1,4}(?:enc|base64)\s[^|\n]{0,60}-d\b)/gu;

function findDecodedPipelines(line: string): Match[] {
  const matches: Match[] = [];
  for (let from = 0; ;) {
    decoder.lastIndex = from;
    const found = decoder.exec(line);
    if (found === null) return matches;
    const { parts, end } = readPipeline(line, found.index);
    from = end;
    if (!parts.slice(1).some(runsInput) && !isRunSubstitution(line, found.index)) continue;
    const message = "Decodes a text and runs it";
    matches.push({ code: "decode-and-run", risk: "high", message, cure, start: found.index, end });
  }
}

const run =
  "(?<![\\w.])(?:exec|eval|Function|assert|system|runInThisContext)\\s{0,4}\\(\\s{0,4}" +
  "(?:compile\\s{0,4}\\(\\s{0,4}|\\(\\s{0,4}|__import__\\s{0,4}\\(\\s{0,4}[\"']\\w{1,10}[\"']\\s{0,4}\\)\\s{0,4}\\.|(?:base64|zlib|marshal|codecs|bz2|lzma|bytes)\\.){0,5}";
const decode =
  "(?:(?:b64decode|b85decode|b32decode|a85decode|decompress|loads|atob|unescape|fromhex|gzinflate|gzuncompress|base64_decode|str_rot13|String\\.fromCharCode)\\s{0,4}\\(" +
  "|Buffer\\.from\\s{0,4}\\([^)\\n]{1,2000},\\s{0,4}[\"'](?:base64|hex)[\"']|decode\\s{0,4}\\([^)\\n]{1,2000}rot_?13)";

const reverseShell = {
  code: "shell-reverse",
  risk: "high",
  message: "Gives a shell on this machine to another one",
} as const;

const patterns: readonly { readonly pattern: RegExp; readonly match: Pick<Match, "code" | "risk" | "message"> }[] = [
  {
    pattern: new RegExp(`${run}${decode}`, "u"),
    match: { code: "decode-and-run", risk: "high", message: "Decodes a text and runs it" },
  },
  {
    pattern:
      /\b(?:iex|invoke-expression)\b[^\n]{0,100}\bFromBase64String\b|\bFromBase64String\b[^\n|]{0,400}\|\s{0,4}(?:iex|invoke-expression)\b/iu,
    match: { code: "decode-and-run", risk: "high", message: "Decodes a text and runs it" },
  },
  {
    pattern:
      /\b(?:powershell|pwsh)(?:\.exe)?\s[^\n]{0,100}?\s-e(?:c|nc|ncodedcommand)?\s{1,4}["']?[A-Za-z0-9+/=]{40}/iu,
    match: { code: "decode-and-run", risk: "high", message: "Runs an encoded PowerShell command" },
  },
  {
    pattern: /\b(?:nc|ncat)\s[^\n|]{0,80}(?:-e|-c|--exec)\s{0,4}(?:\/bin\/)?(?:ba|z)?sh\b/u,
    match: reverseShell,
  },
  {
    pattern:
      /(?:\\x[0-9a-f]{2}){40}|(?:\\u00[0-9a-f]{2}){40}|fromCharCode\s{0,4}\(\s{0,4}(?:\d{1,3}\s{0,4},\s{0,4}){30}/iu,
    match: { code: "text-encoded", risk: "medium", message: "Spells a text in character codes" },
  },
];

function findPatterns(line: string): Match[] {
  const matches: Match[] = [];
  for (const { pattern, match } of patterns) {
    const found = pattern.exec(line);
    if (found !== null) matches.push({ ...match, cure, start: found.index, end: found.index + found[0].length });
  }
  return matches;
}

const socket = /\/dev\/tcp\/[\w.${}-]{1,100}\/[\d$]/u;
const shellOnLine = /(?<![\w.-])(?:ba|z|k|da)?sh\b\s{0,4}(?:-[il]{1,2}\b|[\d<>&])/u;
const descriptor = /(\d{1,3})\s{0,2}<>\s{0,4}\/dev\/tcp\//u;

/**
 * Finds shells on Bash's own sockets: one that is started on the socket, or later on its descriptor. A line that only opens a socket asks
 * whether a port is open.
 */
export function createSocketRule(text: string): (line: string) => Match | undefined {
  if (!text.includes("/dev/tcp/")) return () => undefined;
  let served: ReadonlySet<string> | undefined;
  return (line) => {
    const found = socket.exec(line);
    if (found === null) return undefined;
    const [, number] = descriptor.exec(line) ?? [];
    served ??= findServed(text);
    if (!shellOnLine.test(line) && (number === undefined || !served.has(number))) return undefined;
    return { ...reverseShell, cure, start: found.index, end: found.index + found[0].length };
  };
}

const from = String.raw`<\s{0,2}&\s{0,2}(\d{1,3})\b`;
const runsLine = String.raw`while\s{1,3}read[^\n]{0,80}?do\s{1,4}(?:\$\w|eval\b|(?:ba|z)?sh\b)`;
const service = new RegExp(
  [
    String.raw`(?<![\w.-])(?:(?:ba|z|k|da)?sh|eval)\b[^\n|;]{0,60}${from}`,
    String.raw`${from}[^\n]{0,20}\|[^\n]{0,20}(?:${runsLine}|\b(?:ba|z)?sh\b)`,
    String.raw`${runsLine}[^\n]{0,80}${from}`,
  ].join("|"),
  "gu",
);

/** The descriptors from which a shell, or a loop that runs each line, reads. */
function findServed(text: string): ReadonlySet<string> {
  return new Set(Array.from(text.matchAll(service), ([, one, two, three]) => one ?? two ?? three ?? ""));
}

/** Commands that are in base64 to hide them, whether or not something near them runs them. */
export const encodedCommandRule: LineRule = {
  trigger: new RegExp(
    ["curl ", "wget ", "/bin/sh", "/bin/bash", "/bin/zsh", "powershell", "Invoke-"].flatMap(toBase64Pieces).join("|"),
    "u",
  ),
  find: findEncodedCommands,
};

/** What `text` looks like in base64, at each of the three places in a group of bytes at which it can begin. */
function toBase64Pieces(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const whole = Buffer.from("\0".repeat(before) + text).toString("base64");
    const known = Math.floor(((before + text.length) * 8) / 6);
    return whole
      .slice(Math.ceil((before * 8) / 6), known)
      .replaceAll("+", "\\+")
      .replaceAll("/", "\\/");
  });
}

const encoded = /[A-Za-z0-9+/]{16,}={0,2}/gu;
const command =
  /\b(?:curl|wget)\s{1,4}(?:-\S{1,40}\s{1,4}){0,5}["']?(?:https?:|\$)|\/bin\/(?:ba|z)?sh\b|\bpowershell\b|\bInvoke-(?:Expression|WebRequest)\b/iu;

function findEncodedCommands(line: string): Match[] {
  const matches: Match[] = [];
  for (const { index, 0: text } of line.matchAll(encoded)) {
    if (!command.test(Buffer.from(text, "base64").toString("latin1"))) continue;
    const message = "Contains an encoded command";
    matches.push({ code: "command-encoded", risk: "high", message, cure, start: index, end: index + text.length });
  }
  return matches;
}

/** Unreadable texts longer than this are worth a word. */
export const longEncodedText = 512;

/** Finds long encoded texts in a line that is at least as long as {@link longEncodedText}. */
export function findLongTexts(line: string): Match[] {
  const matches: Match[] = [];
  for (const { index, 0: text } of line.matchAll(encoded)) {
    if (text.length < longEncodedText || !isMixed(text) || isKnownUse(line, index)) continue;
    const message = `Contains an encoded text of ${text.length} characters`;
    matches.push({ code: "text-encoded", risk: "low", message, cure, start: index, end: index + text.length });
  }
  return matches;
}

/** A file with a signature: what is encoded in it is checked with a key, and never run. */
export function isSignature(file: string, text: string): boolean {
  if (!/\.(?:sig|sigstore|bundle|intoto\.jsonl|sigstore\.json)$/iu.test(file)) return false;
  return text.includes('"verificationMaterial"') && /"(?:dsseEnvelope|messageSignature)"/u.test(text);
}

/** A long word, a row of one letter or a number is not encoded. */
function isMixed(text: string): boolean {
  return /[a-z]/u.test(text) && /[A-Z]/u.test(text) && /[0-9]/u.test(text) && new Set(text).size > 16;
}

/** Pictures, fonts, certificates, public keys and digests are encoded for a good reason. */
function isKnownUse(line: string, index: number): boolean {
  const before = line.slice(Math.max(0, index - 120), index);
  return /data:[\w.+-]{1,40}\/[\w.+-]{1,40}[^\s"']{0,60},$|ssh-(?:rsa|ed25519|dss)\s{1,4}$|sha(?:256|384|512)-$|-----BEGIN/iu.test(
    before,
  );
}
