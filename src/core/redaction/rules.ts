import {
  matchEmail,
  matchIpv4,
  matchIpv6,
  matchMachineLine,
  matchNationalId,
  matchPassport,
} from "./match-identities.ts";
import { matchCard, matchIban, matchInternationalPhone, matchNationalPhone } from "./match-numbers.ts";
import {
  matchAssigned,
  matchBasic,
  matchBearer,
  matchDiscord,
  matchJwt,
  matchPrivateKey,
  matchTelegram,
  matchUrlPassword,
} from "./match-secrets.ts";
import { matchToken, tokenRows } from "./match-token.ts";
import type { Hit, Scan } from "./scan.ts";

/**
 * What a pattern finds: what opens doors, or what says who a person is. The last three are looked for only where they are named: what
 * they find is more often something else.
 */
export type RedactionKind = "credentials" | "personal" | "national-id" | "passport" | "ip";

/** One pattern: where it is tried, and what decides. */
export interface Rule {
  /** What is shown in place of what it finds, in brackets. */
  readonly name: string;
  readonly kind: RedactionKind;
  /** The characters it is tried at. */
  readonly at: string;
  /** Whether it is tried only where a word begins. */
  readonly atWord: boolean;
  /** The character that must follow, to rule out most words at once. */
  readonly then?: string;
  /** Takes time in proportion to the text, over all places together. */
  readonly match: (scan: Scan, index: number) => Hit | undefined;
}

const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const letters = `abcdefghijklmnopqrstuvwxyz${capitals}`;
const digits = "0123456789";

/** All patterns. Of two that are tried at one place the first wins. */
export const rules: readonly Rule[] = [
  ...tokenRows.flatMap((row) =>
    row.prefixes.map((prefix): Rule => ({
      name: row.name,
      kind: "credentials",
      at: prefix.charAt(0),
      atWord: true,
      then: prefix.charAt(1),
      match: (scan, index) => matchToken(scan, index, prefix, row),
    })),
  ),
  { name: "jwt", kind: "credentials", at: "e", atWord: true, then: "y", match: matchJwt },
  { name: "private-key", kind: "credentials", at: "-", atWord: false, then: "-", match: matchPrivateKey },
  { name: "telegram-token", kind: "credentials", at: digits, atWord: true, match: matchTelegram },
  { name: "discord-token", kind: "credentials", at: "MNO", atWord: true, match: matchDiscord },
  { name: "bearer-token", kind: "credentials", at: "Bb", atWord: true, then: "e", match: matchBearer },
  { name: "basic-auth", kind: "credentials", at: "Bb", atWord: true, then: "a", match: matchBasic },
  { name: "url-password", kind: "credentials", at: ":", atWord: false, then: "/", match: matchUrlPassword },
  { name: "secret", kind: "credentials", at: "=:", atWord: false, match: matchAssigned },
  { name: "card", kind: "personal", at: digits, atWord: true, match: matchCard },
  { name: "iban", kind: "personal", at: letters, atWord: true, match: matchIban },
  { name: "email", kind: "personal", at: "@", atWord: false, match: matchEmail },
  { name: "phone", kind: "personal", at: "+", atWord: false, match: matchInternationalPhone },
  { name: "phone", kind: "personal", at: `(${digits}`, atWord: true, match: matchNationalPhone },
  { name: "passport", kind: "passport", at: "Pp", atWord: true, then: "a", match: matchPassport },
  { name: "passport", kind: "passport", at: "Pp", atWord: true, then: "A", match: matchPassport },
  { name: "passport", kind: "passport", at: "Rr", atWord: true, then: "e", match: matchPassport },
  { name: "passport", kind: "passport", at: capitals + digits, atWord: true, match: matchMachineLine },
  { name: "national-id", kind: "national-id", at: capitals + digits, atWord: true, match: matchNationalId },
  { name: "ip", kind: "ip", at: digits, atWord: true, match: matchIpv4 },
  { name: "ip", kind: "ip", at: "abcdefABCDEF" + digits, atWord: true, match: matchIpv6 },
];
