const replacements: readonly (readonly [RegExp, string])[] = [
  [
    /\bwhat(?:'s| is| are)\b|\bhow much is\b|\bcalculate\b|\bcompute\b|\bevaluate\b|\bsolve\b|\bthe result of\b|\bplease\b|\bwork out\b/giu,
    " ",
  ],
  [/\b(?:add|sum(?: of)?)\s+([\d.,]+)\s+(?:and|to|with)\s+([\d.,]+)/giu, "$1 + $2"],
  [/\bsubtract\s+([\d.,]+)\s+from\s+([\d.,]+)/giu, "$2 - $1"],
  [/\bmultiply\s+([\d.,]+)\s+(?:by|with|and)\s+([\d.,]+)/giu, "$1 * $2"],
  [/\b(?:the )?product of\s+([\d.,]+)\s+and\s+([\d.,]+)/giu, "$1 * $2"],
  [/\bdivide\s+([\d.,]+)\s+by\s+([\d.,]+)/giu, "$1 / $2"],
  [/([\d.,]+)\s*(?:%|percent)\s+of\s+([\d.,]+)/giu, "$1 / 100 * $2"],
  [/\b(?:the )?square root of\s+([\d.,]+)/giu, "sqrt($1)"],
  [/\bto the power of\b|\braised to\b/giu, " ^ "],
  [/\bsquared\b/giu, " ^ 2 "],
  [/\bcubed\b/giu, " ^ 3 "],
  [/\bplus\b/giu, " + "],
  [/\bminus\b|\bless\b/giu, " - "],
  [/\btimes\b|\bmultiplied by\b|\bx\b/giu, " * "],
  [/\bdivided by\b|\bover\b/giu, " / "],
];

/** Reads arithmetic in words ("12 plus 30", "15% of 240") as an expression; `undefined` if it is none. */
export function toSpokenExpression(request: string): string | undefined {
  if (request.length > 500) return undefined;
  let text = request.replaceAll(/(\d),(?=\d{3}\b)/gu, "$1");
  for (const [pattern, replacement] of replacements) text = text.replaceAll(pattern, replacement);
  const expression = text
    .replaceAll(/[?=!]/gu, " ")
    .replaceAll(/\s+/gu, " ")
    .replace(/[.\s]+$/u, "")
    .trim();
  const isExpression =
    /^(?:[\d\s.()+*/^-]|sqrt)+$/u.test(expression) && /\d/u.test(expression) && /[+*/^(-]/u.test(expression);
  return isExpression ? expression : undefined;
}
