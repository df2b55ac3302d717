import { crc32, deflateRawSync, gzipSync } from "node:zlib";

/** An entry of an archive, as raw as the format allows. */
export interface RawEntry {
  readonly name: string;
  readonly content?: string | Uint8Array;
  /** With the type of the file: `0o120777` is a link. Only zip. @default a plain file */
  readonly mode?: number;
  /** `0` file, `1` hard link, `2` link, `3` and `4` device, `5` folder, `6` pipe. Only tar. @default "0" */
  readonly type?: string;
  readonly link?: string;
  /** The size that the archive says it has. @default the size that it has */
  readonly said?: number;
  /** The name that stands beside the content. Only zip. @default the name */
  readonly innerName?: string;
  /** Only zip. @default 0 */
  readonly flags?: number;
  /** Only zip. @default 8 */
  readonly method?: number;
}

/** Makes a zip archive of whatever is asked for. */
export function makeRawZip(entries: readonly RawEntry[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content = "", mode = 0o100644, said, innerName = name, flags = 0, method = 8 } of entries) {
    const whole = Buffer.from(content as string);
    const data = method === 8 ? deflateRawSync(whole) : whole;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc32(whole), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(said ?? whole.length, 18);
    const inner = Buffer.from(innerName);
    const outer = Buffer.from(name);
    const innerHead = Buffer.from(common);
    innerHead.writeUInt16LE(inner.length, 22);
    common.writeUInt16LE(outer.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(mode * 0x10000, 6);
    rest.writeUInt32LE(offset, 10);
    bodies.push(Buffer.from("PK\u0003\u0004"), innerHead, inner, data);
    directory.push(Buffer.from("PK\u0001\u0002"), Buffer.from([20, 3]), common, rest, outer);
    offset += 30 + inner.length + data.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, listed, end]);
}

/** Makes a tar archive of whatever is asked for; its headers are written by hand. */
export function makeRawTar(entries: readonly RawEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, content = "", type = "0", link = "", said }) => {
    const data = Buffer.from(content as string);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write("0000755\0", 100);
    header.write("0000000\x000000000\0", 108);
    header.write(`${(said ?? data.length).toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0        ", 136);
    header.write(type, 156);
    header.write(link, 157, 100);
    header.write("ustar\x0000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** The same, packed. */
export function makeRawTgz(entries: readonly RawEntry[]): Buffer {
  return gzipSync(makeRawTar(entries));
}
