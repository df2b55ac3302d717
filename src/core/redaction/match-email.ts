import { alphanumerics, dashes, dots, foreign, kindOf, percents, pluses, underscores } from "./characters.ts";
import { undecided, type Hit, type Scan } from "./scan.ts";

const localSet = alphanumerics + underscores + dashes + dots + percents + pluses + foreign;
const domainSet = alphanumerics + dashes + dots + foreign;
/** The most that may stand before the `@`, and behind it. */
const longestLocal = 64;
const longestDomain = 253;

/** Endings of files that are no ends of hosts: `photo@2x.png` is no address. */
const fileEndings: ReadonlySet<string> = new Set([
  ..."png jpg jpeg gif svg webp js mjs cjs ts tsx jsx css scss html htm json yml yaml toml xml txt log".split(" "),
  ..."tgz gz tar whl jar exe dll pdf csv lock".split(" "),
]);

/** An e-mail address around the `@` at `index`. */
export function matchEmail(scan: Scan, index: number): Hit | undefined {
  const { text } = scan;
  const start = startOfLocal(scan, index);
  if (start === index) return undefined;
  // The user of a URL: `ssh://git@host.example`.
  if (text[start - 1] === "/" && text[start - 2] === "/") return undefined;
  const run = scan.runEnd(domainSet, index + 1);
  if (run - index > longestDomain) return undefined;
  if (scan.isOpen(run + 1)) return undecided(start);
  const domain = text.slice(index + 1, run).replace(/[.-]+$/u, "");
  const end = index + 1 + domain.length;
  // A path on a host: `git@host.example:team/repository`.
  if (text[end] === ":" && /[\w~/]/u.test(text[end + 1] ?? "")) return undefined;
  return isDomain(domain) ? { start, end } : undefined;
}

/** Where the part before an `@` at `end` begins; `end` if there is none, or it is too long for one. */
export function startOfLocal({ text, free }: Scan, end: number): number {
  let start = end;
  while (start > free && (kindOf(text.charCodeAt(start - 1)) & localSet) !== 0) {
    start -= 1;
    if (end - start > longestLocal) return end;
  }
  while (start < end && (kindOf(text.charCodeAt(start)) & (dots + dashes)) !== 0) start += 1;
  return start;
}

function isDomain(domain: string): boolean {
  const labels = domain.split(".");
  const last = (labels.at(-1) as string).toLowerCase();
  if (labels.length < 2 || labels.includes("") || /^\d+x\./u.test(domain)) return false;
  return /^(?:\p{L}{2,24}|xn--[\da-z-]+)$/u.test(last) && !fileEndings.has(last);
}
