import sharp from "sharp";

import type { ScriptedReply } from "./model-server-answer.ts";
import type { ReceivedRequest } from "./model-server.ts";

/**
 * Answers like a model that sees, but sees only one thing: it decodes the picture that arrived, looks for what is red in it, and says
 * where that is, in thousandths of the picture's width and height.
 */
export async function lookForRed({ images }: ReceivedRequest): Promise<ScriptedReply> {
  const bytes = images[0]?.bytes;
  if (bytes === undefined) return { text: "There is no picture." };
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const columns: number[] = [];
  const rows: number[] = [];
  for (let pixel = 0; pixel < info.width * info.height; pixel++) {
    const [red = 0, green = 0, blue = 0] = data.subarray(pixel * 3, pixel * 3 + 3);
    if (red < 150 || green > 100 || blue > 100) continue;
    columns.push(pixel % info.width);
    rows.push(Math.floor(pixel / info.width));
  }
  if (columns.length === 0) return { text: "Nothing is red." };
  const toThousandths = (pixels: number, whole: number): number => Math.round((pixels * 1000) / whole);
  const [left, right] = findEnds(columns);
  const [top, bottom] = findEnds(rows);
  const box = {
    left: toThousandths(left, info.width),
    top: toThousandths(top, info.height),
    right: toThousandths(right + 1, info.width),
    bottom: toThousandths(bottom + 1, info.height),
  };
  return { text: JSON.stringify(box), usage: { input: 400, output: 30 } };
}

function findEnds(numbers: readonly number[]): readonly [least: number, most: number] {
  let [least, most] = [Infinity, -Infinity];
  for (const number of numbers) {
    least = Math.min(least, number);
    most = Math.max(most, number);
  }
  return [least, most];
}
