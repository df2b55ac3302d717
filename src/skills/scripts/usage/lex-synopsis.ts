/** A piece of a usage line before it has a meaning. */
export interface UsageToken {
  readonly kind: "open" | "close" | "or" | "dots" | "placeholder" | "choice" | "quoted" | "flag" | "word" | "separator";
  readonly text: string;
  /** No space before it. */
  readonly glued: boolean;
}

const pieces =
  /(?<space>\s+)|(?<open>[[(])|(?<close>[\])])|(?<or>\||｜|\/(?=-))|(?<dots>\.{3}|…)|<(?<placeholder>[^<>\n]{1,80})>|\{(?<choice>[^{}\n]{1,200})\}|"(?<double>[^"\n]{0,200})"|'(?<single>[^'\n]{0,200})'|(?<separator>--(?=[\s\])]|$))|(?<flag>--?[A-Za-z?@][\w.-]*=?)|(?<word>(?:[^\s[\]()|｜{}<>"'.…]|\.(?!\.\.))+)|(?<other>.)/gu;

/** Cuts a usage line, from after the program's name on, into tokens. */
export function lexSynopsis(line: string): readonly UsageToken[] {
  const tokens: UsageToken[] = [];
  let glued = false;
  for (const match of line.matchAll(pieces)) {
    const groups = match.groups ?? {};
    if (groups["space"] !== undefined) {
      glued = false;
      continue;
    }
    const token = toToken(groups, glued);
    // A lone "<" or ">" is a redirection, and what follows belongs to the shell.
    if (token === undefined) {
      if (/[<>]/u.test(match[0])) break;
      continue;
    }
    tokens.push(token);
    glued = true;
  }
  return tokens;
}

const plainKinds = ["open", "close", "or", "dots", "placeholder", "choice", "separator", "flag", "word"] as const;

function toToken(groups: Readonly<Record<string, string | undefined>>, glued: boolean): UsageToken | undefined {
  const quoted = groups["double"] ?? groups["single"];
  if (quoted !== undefined) return { kind: "quoted", text: quoted, glued };
  const kind = plainKinds.find((name) => groups[name] !== undefined);
  if (kind === undefined) return undefined;
  return { kind, text: groups[kind] ?? "", glued };
}
