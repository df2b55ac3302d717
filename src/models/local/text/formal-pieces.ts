/** A piece of a request that is written in a formal language: its words are no words of the request. */
export interface FormalPiece {
  readonly kind: "command" | "regex" | "sql";
  readonly end: number;
}

/** Finds a statement in SQL, a command for a shell or a regular expression that begins at a place. */
export function readFormalPiece(text: string, at: number): FormalPiece | undefined {
  if (at > 0 && /[\p{L}\p{N}_]/u.test(text[at - 1] as string)) return undefined;
  if (matchesAt(sqlStart, text, at) || matchesAt(spokenSelect, text, at))
    return { kind: "sql", end: withoutPlace(text, at, findEnd(text, at, sqlEnd)) };
  if (matchesAt(program, text, at) && shellCue.test(text.slice(Math.max(0, at - 24), at))) {
    const end = findEnd(text.slice(0, at + longestCommand), at, commandEnd);
    return shellSign.test(text.slice(at, end)) ? { kind: "command", end } : undefined;
  }
  return readRegex(text, at);
}

/** As it is written by hand: keywords in capitals. */
const sqlStart =
  /(?:SELECT|INSERT INTO|DELETE FROM|UPDATE [\w."]{1,80} SET|WITH [\w"]{1,80} AS|(?:CREATE|DROP|ALTER) (?:TABLE|VIEW|INDEX)|EXPLAIN SELECT|TRUNCATE TABLE)\s(?!THE\b|MY\b|A\b|ALL THE\b)/uy;

/** "select the rows from the list" is said to a person. */
const spokenSelect =
  /select\s(?:distinct\s)?(?:\*|[\w.]{1,80}(?:\([\w.*]{0,80}\))?(?:,\s?[\w.]{1,80}(?:\([\w.*]{0,80}\))?){0,40})\sfrom\s(?!(?:the|a|an|my|our|your|this|that|these|those|all)\b)[\w"]/iuy;

/** What no statement has in it: "on the sales database", "and then …". */
const sqlEnd = /;|\n\s{0,4}\n|\s(?:on|in|against|using|with|for) (?:the|my|our)\s|,? and then\s|, then\s/giu;

/** "… on prod" at the end, where nothing is joined, says where it is to be run. */
function withoutPlace(text: string, at: number, end: number): number {
  const statement = text.slice(at, end);
  const [place = ""] = /\s(?:on|in|against) [\w-]{1,60}[.?!]?$/u.exec(statement) ?? [];
  return /\bjoin\b/iu.test(statement) ? end : end - place.length;
}

const program =
  /(?:ls|cat|grep|rg|git|npm|npx|pnpm|yarn|node|python3?|pip3?|docker|kubectl|curl|wget|ssh|scp|rsync|sed|awk|find|rm|cp|mv|mkdir|chmod|chown|tar|make|cargo|go|echo|ps|kill|df|du|psql|sqlite3|systemctl|bash|sh|sudo|brew|apt|apt-get|terraform|aws)(?=\s)/uy;

/** Longer ones are in a block of code. */
const longestCommand = 500;

const shellCue = /(?:\b(?:run|execute|exec|command|shell|terminal|bash)\b:? |\$ )$/iu;

/** What a sentence has not: options, pipes, redirections. */
const shellSign = /\s--?[a-z\d]|\s\|\s|&&|\s>{1,2}\s/iu;

const commandEnd = /\n|,? and then\s|, then\s/giu;

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

function findEnd(text: string, at: number, stop: RegExp): number {
  stop.lastIndex = at;
  const end = stop.exec(text)?.index ?? text.length;
  return at + text.slice(at, end).trimEnd().length;
}

/** Longer ones are no longer written in a sentence. */
const longestRegex = 200;

/** What regular expressions have, and names of files and words have not. */
const regexSign = /\\[dwsbDWSB](?![a-z])|\\[.+*?()[\]$^|/]|\[\^?[\w-]{1,40}\](?:[+*?]|\{\d)|\(\?[:=!<]|^\^.*[+*?$\]]/u;

function readRegex(text: string, at: number): FormalPiece | undefined {
  // It begins where a word would: after a space.
  if (at > 0 && !/\s/u.test(text[at - 1] as string)) return undefined;
  const [piece = ""] = /^\S+/u.exec(text.slice(at, at + longestRegex)) ?? [];
  const bare = piece.replace(/[,;?]$/u, "");
  const isPath = /^(?:[a-z]:)?\\\w|^https?:|^[[{"'`]["{[]?.*["}\]]$/iu.test(bare);
  return bare.length > 1 && !isPath && regexSign.test(bare) ? { kind: "regex", end: at + bare.length } : undefined;
}
