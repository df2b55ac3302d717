import type { FileUse } from "../../../core/call-files.ts";
import type { Alias, Groups } from "./path-holders.ts";

/** `"$file"`, `${1:-.}`, `"$dir"/index.txt` */
const word = String.raw`["']?\$\{?(?<name>\w+)(?::?[-?%#][^}\n]{0,60})?\}?["']?(?:/[^\s;)|&<>]{0,80})?(?=[\s;)\]|&]|$)`;
const reads = new RegExp(
  String.raw`(?:(?<![<])<\s*|(?:\[\[?|\btest)\s+(?:!\s+)?-[efdrs]\s+|\b(?:cat|head|tail|wc|source|less|pdftotext|unzip|pandoc|python3?|node|file|stat|md5sum|sha256sum|basename|ls|find)\s+(?:-\S+\s+)*|\b(?:grep|jq|sed|awk)\s+(?:-\S+\s+)*(?:"[^"\n]*"|'[^'\n]*')\s+|\bcd\s+)${word}`,
  "gmu",
);
const writes = new RegExp(
  String.raw`(?:(?<![<&=-])>{1,2}\s*|\b(?:mkdir|touch|tee|rm|rmdir|truncate|chmod)\s+(?:-\S+\s+|\d+\s+)*|\s(?:-o|--output|--output-file|-O)[ =]|\b(?:cp|mv|ln)\s+(?:-\S+\s+)*\S+\s+|\bmv\s+(?:-\S+\s+)*|\bsed\s+(?:-\w+\s+)*-i\S*\s+(?:-\S+\s+)*(?:"[^"\n]*"|'[^'\n]*')\s+|\bperl\s+-\S*i\S*\s+(?:-\S+\s+)*(?:"[^"\n]*"|'[^'\n]*')\s+)${word}`,
  "gmu",
);
/** `dir="${1:-.}"` */
const given = new RegExp(String.raw`(?:^|[\s;])(?:local\s+|readonly\s+)?(?<alias>[A-Za-z_]\w*)=${word}`, "gmu");
/** `for file in "$dir"/*.md`, `find "$dir" -name '*.md' | while read -r file` */
const looped = new RegExp(
  String.raw`\bfor\s+(?<alias>[A-Za-z_]\w*)\s+in\s+["']?\$\{?(?<name>\w+)[^\s}]{0,60}\}?|\b(?:find|ls)\s+["']?\$\{?(?<from>\w+)[^|\n]{0,200}\|\s*(?:sort[^|\n]{0,40}\|\s*)?while\s+(?:IFS=\S*\s+)?read\s+(?:-\S+\s+(?:''\s+)?)*(?<line>[A-Za-z_]\w*)`,
  "gmu",
);

const functions = /^[ \t]*(?:function\s+)?(?<name>[\w-]+)\s*\(\)\s*\{(?:[^\n]*\}[ \t]*$|[\s\S]{0,20000}?^[ \t]*\})/gmu;

/** In a function, `$1` is the function's own argument, unless the function gets all arguments of the script. */
function withoutOthers(text: string): string {
  return text.replaceAll(functions, (body, name: string) =>
    new RegExp(String.raw`^[ \t]*${name}\s+"?\$[@*]`, "mu").test(text)
      ? body
      : body.replaceAll(/\$(?=\{?\d)/gu, "$own_"),
  );
}

/** What a shell script does with files that variables and arguments name. */
export function* shellUses(source: string): Generator<readonly [Groups, FileUse]> {
  const text = withoutOthers(source);
  for (const { groups } of text.matchAll(reads)) yield [groups, "read"];
  for (const { groups } of text.matchAll(writes)) yield [groups, "write"];
}

/** The variables of a shell script that are given paths. */
export function shellAliases(source: string): readonly Alias[] {
  const text = withoutOthers(source);
  const found = Array.from(text.matchAll(given), ({ groups }) => ({ groups, isInside: false }));
  const inside = Array.from(text.matchAll(looped), ({ groups }) => {
    const { alias, name, line, from } = groups ?? {};
    return { groups: { alias: alias ?? line, name: name ?? from }, isInside: true };
  });
  return [...found, ...inside];
}
