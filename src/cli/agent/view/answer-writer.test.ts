import { expect, test } from "vitest";

import { toPrintable } from "../../printable.ts";
import { createAnswerWriter } from "./answer-writer.ts";

test("createAnswerWriter() takes a line end that comes in two pieces for one", () => {
  const { pieces, writer } = createWriter();

  for (const piece of ["a\r", "\nb", "\r", "c"]) writer.write(piece);

  expect(pieces.join("")).toBe(String.raw`a` + "\n" + String.raw`b\u000dc`);
});

test("createAnswerWriter() ends a line that is open, once", () => {
  const { pieces, writer } = createWriter();

  writer.endLine();
  writer.write("a");
  writer.endLine();
  writer.endLine();
  writer.write("b\n");
  writer.endLine();

  expect(pieces.join("")).toBe("a\nb\n");
});

function createWriter(): { readonly pieces: string[]; readonly writer: ReturnType<typeof createAnswerWriter> } {
  const pieces: string[] = [];
  return { pieces, writer: createAnswerWriter({ print: (text) => void pieces.push(text), toShown: toPrintable }) };
}
