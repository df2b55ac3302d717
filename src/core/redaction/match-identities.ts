import {
  dots,
  kindOf,
  alphanumerics,
  dashes,
  foreign,
  percents,
  pluses,
  underscores,
  undecided,
  type Hit,
  type Scan,
} from "./scan.ts";

/** What may be an identity at `index`, with one character behind it; `undefined` if more is to come. */
function take(scan: Scan, index: number, characters: RegExp, longest: number): string | undefined {
  const text = scan.text.slice(index, index + longest + 1);
  const [taken] = characters.exec(text) as RegExpExecArray;
  return scan.isOpen(index + taken.length) ? undefined : text;
}

function isBehind(scan: Scan, index: number, set: number): boolean {
  return index > 0 && (kindOf(scan.text.charCodeAt(index - 1)) & set) !== 0;
}

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const version4 = new RegExp(`^(?:${octet}\\.){3}${octet}(?![\\w]|\\.\\d)`, "u");
/** Addresses that do not identify a particular machine: loopback, unspecified, broadcast. */
const anonymous = /^(?:127\.|0\.0\.0\.0|255\.255\.255\.255)/u;

/** An address of the Internet, version 4. */
export function matchIpv4(scan: Scan, index: number): Hit | undefined {
  if (isBehind(scan, index, dots)) return undefined;
  const text = take(scan, index, /^[\d.]*/u, 16);
  if (text === undefined) return undecided(index);
  const [found] = version4.exec(text) ?? [];
  return found === undefined || anonymous.test(found) ? undefined : { start: index, end: index + found.length };
}

const version6 =
  /^(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])|^(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}(?![\w:])/iu;

/** An address of the Internet, version 6: eight groups, or fewer with `::` between them. */
export function matchIpv6(scan: Scan, index: number): Hit | undefined {
  if (scan.text[index - 1] === ":") return undefined;
  const text = take(scan, index, /^[0-9a-f:]*/iu, 40);
  if (text === undefined) return undecided(index);
  const [found] = version6.exec(text) ?? [];
  // Names in programs look like it, too: std::face.
  if (found === undefined || !/\d/u.test(found) || found.split(":").length > 8) return undefined;
  return { start: index, end: index + found.length };
}

/** How the number of a country is written, and what its check digits must be. */
interface NationalId {
  readonly pattern: RegExp;
  readonly isRight: (number: string) => boolean;
}

const nationalIds: readonly NationalId[] = [
  // United States: no check digit, but numbers that are never given.
  { pattern: /^(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/u, isRight: () => true },
  // Germany, tax: one digit is there twice or three times, and the last one is a check (ISO 7064).
  { pattern: /^[1-9]\d ?\d{3} ?\d{3} ?\d{3}(?!\w|[.-]\d)/u, isRight: isGermanTaxId },
  // Poland: begins with the date of birth.
  { pattern: /^\d\d(?:[02468][1-9]|[13579][0-2])(?:0[1-9]|[12]\d|3[01])\d{5}(?!\w|[.-]\d)/u, isRight: isPesel },
  // Brazil, as it is written.
  { pattern: /^\d{3}\.\d{3}\.\d{3}-\d\d(?!\w)/u, isRight: isCpf },
  // France: sex, year, month, place, and the rest of a division by 97.
  { pattern: /^[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?\d[\dAB] ?\d{3} ?\d{3} ?\d\d(?!\w)/u, isRight: isNir },
  // China: place, date of birth, and a check that may be X.
  { pattern: /^[1-9]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX](?!\w)/u, isRight: isChinese },
  // Spain: a letter for the rest of a division by 23.
  { pattern: /^(?:\d{8}|[XYZ]\d{7})-?[A-Z](?!\w)/u, isRight: isSpanish },
  // Italy: letters of the name, the date and the place of birth, and a check.
  { pattern: /^[A-Z]{6}\d\d[ABCDEHLMPRST]\d\d[A-Z]\d{3}[A-Z](?!\w)/u, isRight: isItalian },
];

/** The number by which a state knows a person, with the right check digits. */
export function matchNationalId(scan: Scan, index: number): Hit | undefined {
  if (isBehind(scan, index, dots)) return undefined;
  const text = take(scan, index, /^[\dA-Z .-]*/u, 22);
  if (text === undefined) return undecided(index);
  for (const { pattern, isRight } of nationalIds) {
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined && isRight(found.replaceAll(/[ .-]/gu, "")))
      return { start: index, end: index + found.length };
  }
  return undefined;
}

function sum(number: string, weights: readonly number[]): number {
  return weights.reduce((total, weight, index) => total + weight * Number(number[index]), 0);
}

function isGermanTaxId(number: string): boolean {
  const counts = Array.from(number.slice(0, 10), (digit) => number.slice(0, 10).split(digit).length - 1);
  const most = Math.max(...counts);
  if (most < 2 || most > 3 || new Set(number.slice(0, 10)).size !== 11 - most) return false;
  let product = 10;
  for (const digit of number.slice(0, 10)) product = (((Number(digit) + product) % 10 || 10) * 2) % 11;
  return (11 - product) % 10 === Number(number[10]);
}

function isPesel(number: string): boolean {
  return (10 - (sum(number, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10 === Number(number[10]);
}

function isCpf(number: string): boolean {
  if (new Set(number).size === 1) return false;
  const check = (length: number): number => {
    const weights = Array.from({ length }, (_, index) => length + 1 - index);
    return ((sum(number, weights) * 10) % 11) % 10;
  };
  return check(9) === Number(number[9]) && check(10) === Number(number[10]);
}

function isNir(number: string): boolean {
  const digits = number.slice(0, 13).replace("A", "0").replace("B", "0");
  const corsican = number[6] === "A" ? 1_000_000 : number[6] === "B" ? 2_000_000 : 0;
  return 97 - ((Number(digits) - corsican) % 97) === Number(number.slice(13));
}

function isChinese(number: string): boolean {
  return "10X98765432"[sum(number, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11] === number[17];
}

function isSpanish(number: string): boolean {
  const digits = number.slice(0, -1).replace(/^[XYZ]/u, (letter) => String("XYZ".indexOf(letter)));
  return "TRWAGMYFPDXBNJZSQVHLCKE"[Number(digits) % 23] === number.at(-1);
}

/** What a character at an odd place counts. */
const oddValues = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

function isItalian(number: string): boolean {
  let total = 0;
  for (let index = 0; index < 15; index++) {
    const code = Number.parseInt(number[index] as string, 36);
    const value = code > 9 ? code - 10 : code;
    total += index % 2 === 0 ? (oddValues[value] as number) : value;
  }
  return String.fromCharCode(65 + (total % 26)) === number[15];
}

const passportWord = /^(?:passports?|passeport|pasaporte|passaporto|reisepass|paszport|paspoort)\b/iu;
const afterWord = /^(?:[ \t"']*(?:no|nr|number|nummer|num[eé]ro|n[uú]mero|numero|n°|#|is|:|=)\.?){0,3}[ \t"']*/iu;
const passportNumber = /^(?=[A-Z]*\d[A-Z\d]*\d)[A-Z\d]{6,9}(?![\w-])/u;
const longestGap = 40;

/** The number of a passport: it has no form of its own, so it is looked for behind the word. */
export function matchPassport(scan: Scan, index: number): Hit | undefined {
  const { text } = scan;
  const word = passportWord.exec(text.slice(index, index + 12))?.[0];
  if (word === undefined) return scan.isOpen(index + 11) ? undecided(index) : undefined;
  const behind = text.slice(index + word.length, index + word.length + longestGap);
  if (scan.isOpen(index + word.length + longestGap - 1)) return undecided(index);
  const gap = (afterWord.exec(behind) as RegExpExecArray)[0].length;
  const [found] = gap === 0 ? [] : (passportNumber.exec(behind.slice(gap)) ?? []);
  if (found === undefined) return undefined;
  const start = index + word.length + gap;
  return { start, end: start + found.length };
}

const machineLine = /^[A-Z\d<]{9}\d[A-Z<]{3}\d{7}[MF<]\d{7}[A-Z\d<]{14}[\d<]\d(?![\w<])/u;

/** The second line that machines read of a passport, with the right check digits. */
export function matchMachineLine(scan: Scan, index: number): Hit | undefined {
  const text = take(scan, index, /^[A-Z\d<]*/u, 45);
  if (text === undefined) return undecided(index);
  const [line] = machineLine.exec(text) ?? [];
  if (line === undefined) return undefined;
  const parts = [line.slice(0, 10), line.slice(13, 20), line.slice(21, 28)];
  return parts.every(hasMachineCheck) ? { start: index, end: index + line.length } : undefined;
}

function hasMachineCheck(part: string): boolean {
  let total = 0;
  for (let index = 0; index < part.length - 1; index++) {
    const character = part.charAt(index);
    const value = character === "<" ? 0 : Number.parseInt(character, 36);
    total += value * ([7, 3, 1][index % 3] as number);
  }
  return total % 10 === Number(part.at(-1));
}

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

/** Where the part before an `@` at `end` begins; `end` if there is no such part, or it is too long for one. */
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
