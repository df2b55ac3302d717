/** The items of "1. … 2. … 3. …" in one line, and what stands before the first; none if it is no such list. */
export function numberedItems(text: string): { lead: string; items: string[] } {
  const found = [...text.slice(0, 4000).matchAll(/(?:^|\s)\(?(\d{1,2})[.)]\s+/gu)];
  const isCounted = found.length >= 2 && found.every(([, digits], index) => Number(digits) === index + 1);
  if (!isCounted) return { lead: text, items: [] };
  const items = found.map((match, index) => {
    const item = text.slice(match.index + match[0].length, found[index + 1]?.index ?? text.length);
    return item.trim().replace(/[,;.]?(?:\s+and)?$/u, "");
  });
  return { lead: text.slice(0, found[0]?.index).trim(), items: items.filter((item) => item !== "") };
}
