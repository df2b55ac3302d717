import { parseSpokenDate } from "../text/date-words.ts";
import { type Token, wordAt } from "../text/token.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";
import { rolesOf } from "./roles.ts";

/** Values that are made of two: "between v1 and v2", "the last two weeks", "on Friday at 3 pm". */
export function rangeCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  if (parameter.type !== "string" || parameter.choices.length > 0) return [];
  return [
    ...revisionCandidates(place, parameter),
    ...periodCandidates(place, parameter),
    ...momentCandidates(place, parameter),
  ];
}

/** "between v1.2 and v1.3", "from v1.2 to v1.3", "since v1.2", where something like `main..HEAD` is wanted. */
function revisionCandidates({ tokens, request }: FillPlace, parameter: Parameter): Candidate[] {
  const sample = parameter.samples.find((text) => /^[^.\s]\S*\.\.\S+$/u.test(text));
  if (sample === undefined) return [];
  const newest = sample.slice(sample.indexOf("..") + 2);
  const textOf = (token: Token): string => request.text.slice(token.start, token.end);
  return tokens.flatMap((cue, at) => {
    const first = tokens[at + 1];
    const last = tokens[at + 3];
    if (first === undefined || !isRevision(first)) return [];
    const joint = wordAt(tokens, at + 2);
    const isPair =
      (cue.word === "between" && joint === "and") || (cue.word === "from" && /^(?:to|until)$/u.test(joint));
    if (isPair && last !== undefined && isRevision(last))
      return [{ parameter, value: `${textOf(first)}..${textOf(last)}`, from: at, to: at + 4, score: 66 }];
    const isSince = /^(?:since|after)$/u.test(cue.word) && /\d/u.test(first.text);
    return isSince ? [{ parameter, value: `${textOf(first)}..${newest}`, from: at, to: at + 2, score: 58 }] : [];
  });
}

function isRevision({ kind, text, stem }: Token): boolean {
  return (kind === "word" && (stem !== "" || /\d/u.test(text))) || (kind === "path" && /\d/u.test(text));
}

/** "in the last two weeks": since two weeks ago. */
function periodCandidates({ tokens, request }: FillPlace, parameter: Parameter): Candidate[] {
  const isSince = /^(?:since|from|start|after|begin)$/u.test(parameter.words[0] ?? "");
  if (!isSince || !rolesOf(parameter).has("date")) return [];
  return tokens.flatMap(({ word }, at) => {
    const amount = tokens[at + 1];
    const unit = /^(?:day|week|month|year)s?$/u.exec(wordAt(tokens, at + 2))?.[0];
    if (!/^(?:last|past)$/u.test(word) || amount?.kind !== "number" || unit === undefined) return [];
    const words = [String(Number(amount.value)), unit, "ago"];
    const iso = parseSpokenDate(words, request.today)?.iso;
    const token: Token = { ...amount, kind: "date", text: words.join(" "), value: iso ?? null };
    const value = convertToken(parameter, token);
    return value === undefined ? [] : [{ parameter, value, from: at, to: at + 3, score: 60 }];
  });
}

/** A day and a time of day, for what takes both as one. */
function momentCandidates({ tokens }: FillPlace, parameter: Parameter): Candidate[] {
  if (parameter.schema["format"] !== "date-time") return [];
  return tokens.flatMap((token, at) => {
    const near = [at + 1, at + 2, at - 1, at - 2].find((place) => tokens[place]?.kind === "time");
    if (token.kind !== "date" || near === undefined || typeof token.value !== "string") return [];
    const clock = convertToken({ ...parameter, schema: { format: "time" } }, tokens[near] as Token);
    if (typeof clock !== "string" || token.value.includes("T")) return [];
    const value = `${token.value}T${clock}Z`;
    return [{ parameter, value, from: Math.min(at, near), to: Math.max(at, near) + 1, score: 68 }];
  });
}
