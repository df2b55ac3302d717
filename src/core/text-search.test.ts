import fc from "fast-check";
import { expect, test } from "vitest";

import { createTextIndex, toWords } from "./text-search.ts";

const documents = [
  {
    id: "pdf/extract-text",
    texts: [
      ["extract-text", 3],
      ["Extract the text of a PDF file", 1],
    ],
  },
  {
    id: "pdf/merge",
    texts: [
      ["merge", 3],
      ["Merge several PDF files into one document", 1],
    ],
  },
  {
    id: "mail/send",
    texts: [
      ["send", 3],
      ["Send an e-mail to somebody", 1],
    ],
  },
  {
    id: "csv/readFiles",
    texts: [
      ["readFiles", 3],
      ["Reads tables", 1],
    ],
  },
] as const;

test("search() puts the document with the rarest words of the query first", () => {
  const index = createTextIndex(documents);

  expect(index.search("merging the PDFs").map((hit) => hit.id)).toEqual(["pdf/merge", "pdf/extract-text"]);
  expect(index.search("read_file")[0]?.id).toBe("csv/readFiles");
});

test("search() finds what a misspelt word was meant to be", () => {
  const hits = createTextIndex(documents).search("extrcat");

  expect(hits.map((hit) => hit.id)).toEqual(["pdf/extract-text"]);
});

test("search() finds nothing for a query without words", () => {
  const index = createTextIndex(documents);

  expect(index.search("")).toEqual([]);
  expect(index.search("the of !!! 🙂")).toEqual([]);
  expect(createTextIndex([]).search("pdf")).toEqual([]);
});

test("search() gives equal hits in the order of their ids, and no more than asked for", () => {
  const same = ["b", "c", "a"].map((id) => ({ id, texts: [["same words", 1]] as const }));

  expect(
    createTextIndex(same)
      .search("same", 2)
      .map((hit) => hit.id),
  ).toEqual(["a", "b"]);
});

test("search() finds text without spaces between words", () => {
  const index = createTextIndex([
    { id: "zh", texts: [["提取文本", 1]] },
    { id: "one", texts: [["文", 1]] },
  ]);

  expect(index.search("文本").map((hit) => hit.id)).toEqual(["zh"]);
  expect(index.search("文").map((hit) => hit.id)).toEqual(["one"]);
});

test("toWords() folds forms of one word together", () => {
  expect(toWords("readFiles read_file Reading")).toEqual(["read", "fil", "read", "fil", "read"]);
  expect(toWords("run running merges merge queries class bus")).toEqual([
    "run",
    "run",
    "merg",
    "merg",
    "query",
    "class",
    "bus",
  ]);
});

test("search() never throws and never repeats a document, whatever the texts and the query are", () => {
  const text = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(fc.array(text), text, (texts, query) => {
      const index = createTextIndex(texts.map((one, id) => ({ id: String(id), texts: [[one, 1]] })));

      const ids = index.search(query, 100).map((hit) => hit.id);

      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});
