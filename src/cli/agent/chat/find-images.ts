import { statSync } from "node:fs";
import { resolve } from "node:path";

const imagePath = /(?:"([^"]+)"|'([^']+)'|(\S+))/gu;
const ends = /\.(?:png|jpe?g|gif|webp)$/iu;

/** The paths of pictures in a text that are really there. Dragging a file into a terminal writes its path. */
export function findImages(text: string, cwd: string): readonly string[] {
  const words = [...text.matchAll(imagePath)].map(
    ([, double, single, bare]) => double ?? single ?? bare?.replaceAll("\\ ", " ") ?? "",
  );
  const paths = words.map((word) => word.replace(/[,;:!?)]+$/u, "")).filter((word) => ends.test(word));
  return [...new Set(paths)].map((path) => resolve(cwd, path)).filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
