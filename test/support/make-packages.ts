import { createHash } from "node:crypto";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";

/** Makes a zip archive. */
function makeZip(files: Readonly<Record<string, string>>): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const path = Buffer.from(name);
    const whole = Buffer.from(text);
    const data = deflateRawSync(whole);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt16LE(33, 8);
    common.writeUInt32LE(crc32(whole), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(whole.length, 18);
    common.writeUInt16LE(path.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(0o644 * 0x10000, 6);
    rest.writeUInt32LE(offset, 10);
    bodies.push(Buffer.from("PK\u0003\u0004"), common, path, data);
    entries.push(Buffer.from("PK\u0001\u0002"), Buffer.from([20, 3]), common, rest, path);
    offset += 30 + path.length + data.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006");
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, directory, end]);
}

/** Makes a compressed tar archive. */
export function makeTarball(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const data = Buffer.from(text);
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write("0000644\0", 100);
    header.write("0000000\x000000000\0", 108);
    header.write(`${data.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0        0", 136);
    header.write("ustar\x0000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, data, Buffer.alloc((512 - (data.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

/** What a wheel is made of. */
export interface WheelParts {
  readonly name: string;
  readonly version?: string;
  /** @default "py3-none-any" */
  readonly tags?: string;
  readonly requires?: readonly string[];
  readonly requiresPython?: string;
  /** @default a module of the package's name with its version */
  readonly files?: Readonly<Record<string, string>>;
}

/** A file of a package index. */
export interface PackageFile {
  readonly file: string;
  readonly bytes: Buffer;
}

/** Makes a wheel that pip installs. */
export function makeWheel(parts: WheelParts): PackageFile {
  const { name, version = "1.0", tags = "py3-none-any", requires = [], requiresPython } = parts;
  const files = parts.files ?? { [`${name}.py`]: `version = ${JSON.stringify(version)}\n` };
  const info = `${name}-${version}.dist-info`;
  const metadata = [
    `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}`,
    ...(requiresPython === undefined ? [] : [`Requires-Python: ${requiresPython}`]),
    ...requires.map((requirement) => `Requires-Dist: ${requirement}`),
  ];
  const all: Record<string, string> = {
    ...files,
    [`${info}/METADATA`]: `${metadata.join("\n")}\n`,
    [`${info}/WHEEL`]: `Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: ${tags}\n`,
  };
  const record = Object.entries(all).map(([path, text]) => `${path},sha256=${hashOf(text)},${Buffer.byteLength(text)}`);
  const bytes = makeZip({ ...all, [`${info}/RECORD`]: `${[...record, `${info}/RECORD,,`].join("\n")}\n` });
  return { file: `${name}-${version}-${tags}.whl`, bytes };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** A crate. */
export interface Crate extends PackageFile {
  readonly name: string;
  readonly version: string;
}

/** Makes a crate with a library. */
export function makeCrate(name: string, library: string, version = "1.0.0"): Crate {
  const manifest = `[package]\nname = "${name}"\nversion = "${version}"\nedition = "2021"\n`;
  const folder = `${name}-${version}`;
  const bytes = makeTarball({ [`${folder}/Cargo.toml`]: manifest, [`${folder}/src/lib.rs`]: library });
  return { name, version, file: `${folder}.crate`, bytes };
}

/** What an npm package is made of. */
export interface NpmParts {
  readonly name: string;
  readonly version?: string;
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** An npm package. */
export interface NpmPackage extends PackageFile {
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
}

/** Makes a tarball that npm installs: a module that exports its version, unless it says what else. */
export function makeNpmPackage({ name, version = "1.0.0", manifest: more = {}, files }: NpmParts): NpmPackage {
  const manifest = { name, version, main: "index.cjs", ...more };
  const content = files ?? { "index.cjs": `module.exports = ${JSON.stringify(version)};\n` };
  const all = { "package.json": JSON.stringify(manifest), ...content };
  const bytes = makeTarball(Object.fromEntries(Object.entries(all).map(([path, text]) => [`package/${path}`, text])));
  return { file: `${name.replace("/", "-").replace("@", "")}-${version}.tgz`, bytes, manifest };
}
