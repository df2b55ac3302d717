/** Small files of the kinds that the example skills read. */
import { execFileSync } from "node:child_process";
import { crc32, deflateRawSync, deflateSync } from "node:zlib";

import { createFolder, writeFiles } from "./temporary-folder.ts";

/** Sales of two regions, with a number that is none. */
export const sales: string =
  'region,amount,day\nnorth,"1,234.5",2024-01-01\nsouth,-2.5,2024-01-01\nnorth,5,2024-01-02\nsouth,n/a,2024-01-02\n';

/** Two users and an odd key. */
export const users: string = '{"users":[{"name":"Ann","age":3,"role":"admin"},{"name":"Bob","age":4}],"odd key":1}';

/** One page of a document. */
export interface PdfPage {
  readonly text: string;
  readonly compress?: boolean;
  /** The Unicode character, in hexadecimal, that "a" stands for; those of the other letters follow. */
  readonly unicode?: string;
}

/** A document that is as simple as the format allows. */
export function createPdf(pages: readonly PdfPage[], trailer = ""): Buffer {
  const kids = pages.map((_, index) => `${10 + index * 10} 0 R`).join(" ");
  const parts: (string | Buffer)[] = [
    "%PDF-1.4\n1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj\n",
    `2 0 obj <</Type /Pages /Count ${pages.length} /Kids [${kids}]>> endobj\n`,
  ];
  for (const [index, page] of pages.entries()) parts.push(...pdfPage(page, 10 + index * 10));
  parts.push(`trailer <</Root 1 0 R ${trailer}>>\n%%EOF\n`);
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

function pdfPage({ text, compress = false, unicode }: PdfPage, number: number): (string | Buffer)[] {
  const escaped = text.replaceAll(/[()\\]/gu, String.raw`\$&`);
  const plain = Buffer.from(text === "" ? "0 0 10 10 re f" : `BT /F1 12 Tf 72 700 Td (${escaped}) Tj ET`);
  const data = compress ? deflateSync(plain) : plain;
  const map = unicode === undefined ? "" : `1 beginbfrange <61> <7A> <${unicode}> endbfrange`;
  const toUnicode = unicode === undefined ? "" : `/ToUnicode ${number + 3} 0 R`;
  const fonts = `<</Font <</F1 ${number + 2} 0 R>>>>`;
  return [
    `${number} 0 obj <</Type /Page /Parent 2 0 R /Resources ${fonts} /Contents ${number + 1} 0 R>> endobj\n`,
    `${number + 1} 0 obj <</Length ${data.length}${compress ? " /Filter /FlateDecode" : ""}>> stream\n`,
    data,
    "\nendstream endobj\n",
    `${number + 2} 0 obj <</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding ${toUnicode}>> endobj\n`,
    `${number + 3} 0 obj <</Length ${map.length}>> stream\n${map}\nendstream endobj\n`,
  ];
}

/** A ZIP archive with these files. */
export function createZip(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const index: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = Buffer.from(path);
    const data = deflateRawSync(content);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(0x0800, 2);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt16LE(0x21, 8);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(data.length, 14);
    facts.writeUInt32LE(Buffer.byteLength(content), 18);
    facts.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), facts, name, data]);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(offset, 10);
    index.push(Buffer.concat([Buffer.from("PK\u0001\u0002\u0014\0"), facts, end, name]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(index);
  const tail = Buffer.alloc(18);
  tail.writeUInt16LE(index.length, 4);
  tail.writeUInt16LE(index.length, 6);
  tail.writeUInt32LE(directory.length, 8);
  tail.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from("PK\u0005\u0006"), tail]);
}

/** A repository with three commits of two people. */
export function createRepository(): string {
  const folder = createFolder({ "a file.txt": "1\n" });
  const git = (words: readonly string[], env: Record<string, string> = {}): void => {
    const base = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
    execFileSync("git", words, { cwd: folder, stdio: "pipe", env: { ...base, ...env } });
  };
  const commit = (name: string, date: string, message: string): void => {
    git(["add", "."]);
    git(["-c", "commit.gpgsign=false", "commit", "-m", message], {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: `${name.slice(0, 3).toLowerCase()}@example.com`,
      GIT_AUTHOR_DATE: `${date}T12:00:00Z`,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: "x@example.com",
      GIT_COMMITTER_DATE: `${date}T12:00:00Z`,
    });
  };
  git(["init", "-q"]);
  commit('Ann "A" \\ Ö', "2024-01-01", "First");
  writeFiles(folder, { "a file.txt": "1\n2\n" });
  commit("Bob", "2024-01-02", "Second");
  writeFiles(folder, { "a file.txt": "1\n3\n", "b.txt": "x\n" });
  commit('Ann "A" \\ Ö', "2024-01-03", 'Say "hi"\\n');
  return folder;
}
