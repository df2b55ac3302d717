import type { Token } from "../text/token.ts";
import { findTold, type ToldMessage } from "../text/told-message.ts";
import type { Candidate, FillPlace } from "./candidate.ts";
import { convertToken } from "./convert-token.ts";
import type { Parameter } from "./parameter.ts";
import { readValue } from "./read-value.ts";
import { hasForm, rolesOf } from "./roles.ts";

/** "tell Anna that lunch is ready": who gets the message, and the message. */
export function toldCandidates(place: FillPlace, parameter: Parameter): Candidate[] {
  const told = findTold(place);
  if (told === undefined || parameter.choices.length > 0) return [];
  if (/^(?:message|text|body|content)$/u.test(parameter.words.at(-1) ?? "")) return messageFrom(place, parameter, told);
  const found = getsMessages(parameter) ? readValue(place, parameter, told.to) : undefined;
  if (found === undefined || found.to >= told.text) return [];
  return [{ parameter, value: found.value, from: told.to, to: found.to, score: 45 }];
}

function messageFrom({ tokens, request }: FillPlace, parameter: Parameter, { text }: ToldMessage): Candidate[] {
  const first = tokens[text] as Token;
  const value = convertToken(parameter, { ...first, kind: "quoted", value: request.text.slice(first.start).trim() });
  if (value === undefined) return [];
  return [{ parameter, value, from: text, to: tokens.length, cueFrom: text - 1, score: 75 }];
}

function getsMessages(parameter: Parameter): boolean {
  const roles = rolesOf(parameter);
  if (roles.has("email")) return true;
  return !hasForm(parameter) && (roles.has("person") || roles.has("target") || parameter.isRequired);
}
