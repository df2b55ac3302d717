import {
  alphanumerics,
  blanks,
  dashes,
  digits,
  dots,
  kindOf,
  parentheses,
  pluses,
  slashes,
  type Hit,
  type Scan,
  undecided,
} from "./scan.ts";

/** What stands in a number that a person writes. */
const numberSet = digits + blanks + dashes + dots + parentheses + slashes;
const longestNumber = 32;

/** What may be a number at `index`, with two characters behind it; `undefined` if more is to come, empty if it is too short. */
function takeNumber(scan: Scan, index: number, shortest: number): string | undefined {
  // Most numbers are ruled out by one character: they are too short.
  const last = index + shortest - 1;
  if (last < scan.text.length && (kindOf(scan.text.charCodeAt(last)) & numberSet) === 0) return "";
  const end = Math.min(scan.runEnd(numberSet, index), index + longestNumber);
  if (scan.isOpen(end + 1)) return undefined;
  return end - index < shortest ? "" : scan.text.slice(index, end + 2);
}

function isBehind(scan: Scan, index: number, set: number): boolean {
  return index > 0 && (kindOf(scan.text.charCodeAt(index - 1)) & set) !== 0;
}

const plainCard = /^\d{13,19}(?![\w]|[-.]\d)/u;
const groupedCard = /^\d{4}([ -])(?:\d{4}\1\d{4}\1\d{4}|\d{6}\1\d{4,5})(?![\w]|-\d)/u;

/** The number of a payment card: of a known kind, and with the right check digit. */
export function matchCard(scan: Scan, index: number): Hit | undefined {
  if (isBehind(scan, index, dots)) return undefined;
  const text = takeNumber(scan, index, 13);
  if (text === undefined) return undecided(index);
  if (text === "") return undefined;
  const [found = ""] = plainCard.exec(text) ?? groupedCard.exec(text) ?? [];
  const number = found.replaceAll(/\D/gu, "");
  return isKnownCard(number) && hasCheckDigit(number) ? { start: index, end: index + found.length } : undefined;
}

/** Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Maestro: how each begins, and how long it is. */
const cards: readonly RegExp[] = [
  /^4(?:\d{12}|\d{15}|\d{18})$/u,
  /^(?:5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d+$/u,
  /^3[47]\d{13}$/u,
  /^3(?:0[0-5]|[68]\d)\d{11}$/u,
  /^6(?:011|4[4-9]\d|5\d\d)\d{12,15}$/u,
  /^35(?:2[89]|[3-8]\d)\d{12,15}$/u,
  /^62\d{14,17}$/u,
  /^(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15}$/u,
];

function isKnownCard(number: string): boolean {
  const isMastercardLength = number.length === 16;
  return cards.some((card, index) => (index !== 1 || isMastercardLength) && card.test(number));
}

/** The sum of the digits, with every second one doubled, ends with 0 (Luhn). */
function hasCheckDigit(number: string): boolean {
  let sum = 0;
  for (let index = 0; index < number.length; index++) {
    const digit = number.charCodeAt(number.length - 1 - index) - 48;
    const value = index % 2 === 0 ? digit : digit * 2;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** How the number of a country begins: its calling code. */
const callingCode =
  /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|2[1-689]\d|3[578]\d|42\d|50\d|59\d|6[789]\d|8[0578]\d|9[679]\d)/u;

/** A telephone number that says from which country it is: `+49 30 1234567`. */
export function matchInternationalPhone(scan: Scan, index: number): Hit | undefined {
  if (isBehind(scan, index, alphanumerics + pluses)) return undefined;
  const text = takeNumber(scan, index + 1, 8);
  if (text === undefined) return undecided(index);
  let number = "";
  let length = 0;
  for (const { 0: group, index: start } of text.matchAll(/\d+/gu)) {
    // Another number may follow: one with more than 15 digits is no phone number.
    if (start - length > 2 || number.length + group.length > 15) break;
    number += group;
    length = start + group.length;
  }
  if (number.length < 8 || !callingCode.test(number) || /^\w/u.test(text.slice(length))) return undefined;
  return { start: index, end: index + 1 + length };
}

const national = /^(?:\([2-9]\d\d\) ?|(?:1[-. ])?[2-9]\d\d[-. ])[2-9]\d\d[-. ]\d{4}(?![\w]|[-.]\d)/u;

/** A telephone number as it is written in North America: `(555) 234-5678`, `555-234-5678`. */
export function matchNationalPhone(scan: Scan, index: number): Hit | undefined {
  if (isBehind(scan, index, alphanumerics + dots + dashes + pluses)) return undefined;
  const text = takeNumber(scan, index, 12);
  if (text === undefined) return undecided(index);
  const found = national.exec(text);
  return found === null ? undefined : { start: index, end: index + found[0].length };
}

/** The number of a bank account, with the length of its country and the right check digits. */
export function matchIban(scan: Scan, index: number): Hit | undefined {
  const { text } = scan;
  // Most words are ruled out by their third character.
  if (index + 2 < text.length && (kindOf(text.charCodeAt(index + 2)) & digits) === 0) return undefined;
  const begin = text.slice(index, index + 4);
  if (!/^[A-Za-z]{2}\d\d$/u.test(begin)) {
    return scan.isOpen(index + 3) && /^[A-Za-z]{1,2}\d?$/u.test(begin) ? undecided(index) : undefined;
  }
  const length = ibanLengths.get(begin.slice(0, 2).toUpperCase());
  if (length === undefined) return undefined;
  const { number, end } = takeAccount(text, index, length);
  if (scan.isOpen(end)) return undecided(index);
  if (number.length < length || (kindOf(text.charCodeAt(end)) & alphanumerics) !== 0) return undefined;
  return hasCheckDigits(number) ? { start: index, end } : undefined;
}

/** Up to `length` letters and digits, with a blank between groups of four, and where they end. */
function takeAccount(text: string, index: number, length: number): { readonly number: string; readonly end: number } {
  let number = "";
  let end = index;
  for (; number.length < length; end++) {
    if (text[end] === " " && number.length % 4 === 0) end += 1;
    if ((kindOf(text.charCodeAt(end)) & alphanumerics) === 0) break;
    number += text[end];
  }
  return { number, end };
}

/** With its first four characters at the end and letters as numbers, the rest of a division by 97 is 1 (ISO 7064). */
function hasCheckDigits(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const lengths =
  "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 " +
  "GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 " +
  "MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20";

/** How long the account numbers of a country are. */
const ibanLengths: ReadonlyMap<string, number> = new Map(
  lengths.split(" ").map((row) => [row.slice(0, 2), Number(row.slice(2))]),
);
