import type { ServedClient } from "../client.ts";

const longestTyped = 1024;
const limitMs = 2000;
const mostPaths = 1000;

/**
 * Finds paths that begin with what is typed. Where they may be is for `listFiles` to say; whoever types a way up (`..`) gets nothing,
 * and a search that fails or takes too long finds nothing.
 */
export async function findPaths({ listFiles }: ServedClient, typed: string): Promise<readonly string[]> {
  if (listFiles === undefined || typed.length > longestTyped || !isInside(typed)) return [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(resolve, limitMs, []);
  });
  try {
    const paths = await Promise.race([listFiles(typed), late]);
    return paths.filter(isInside).slice(0, mostPaths);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}

function isInside(path: string): boolean {
  return !path.includes("\0") && !path.split(/[/\\]/u).includes("..");
}
