import { numberedItems } from "../text/numbered-items.ts";
import type { Request } from "../text/read-request.ts";

const bullet = /^\s*(?:\d{1,2}[.)]|[-*•])\s+/u;

/** The items of a request that is a list: lines that begin with a number or a bullet, or numbers in a row ("1. … 2. …"). */
export function splitListed(request: Request): Request[] {
  const lines = request.text.split("\n").slice(0, 200);
  const items = lines.filter((line) => bullet.test(line) && line.replace(bullet, "").trim() !== "");
  const others = lines.filter((line) => line.trim() !== "").length - items.length;
  if (items.length >= 2 && others <= 1)
    return toParts(
      request,
      items.map((line) => line.replace(bullet, "").trim()),
    );
  return toParts(request, numberedItems(request.text).items);
}

/** The tokens of each of the texts, which are in the request in this order. */
function toParts(request: Request, texts: readonly string[]): Request[] {
  let from = 0;
  return texts.map((text) => {
    const start = request.text.indexOf(text, from);
    const end = start + text.length;
    from = end;
    const tokens = request.tokens.filter((token) => token.start >= start && token.end <= end);
    return {
      ...request,
      text,
      tokens: tokens.map((token) => ({ ...token, start: token.start - start, end: token.end - start })),
    };
  });
}
