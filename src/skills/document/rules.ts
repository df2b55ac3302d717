import type { Diagnostic } from "../../core/diagnostics.ts";

type Severity = Diagnostic["severity"];

/** How serious a finding is: when reading leniently, and when the specification is applied to the letter. */
interface Rule {
  readonly lenient: Severity | "off";
  readonly spec: Severity | "off";
}

const fatal: Rule = { lenient: "error", spec: "error" };
const tolerated: Rule = { lenient: "warning", spec: "error" };
const suspicious: Rule = { lenient: "warning", spec: "warning" };
const remark: Rule = { lenient: "info", spec: "info" };
const onlySpec: Rule = { lenient: "off", spec: "error" };

/**
 * Everything that can be said about a SKILL.md. An `error` of the lenient column means that the file cannot be used; an
 * `error` of the `spec` column that the specification, or its reference validator, refuses it.
 */
export const documentRules = {
  /** `allowed-tools` is separated by commas; the specification wants spaces. */
  "allowed-tools-commas": { lenient: "info", spec: "warning" },
  /** An entry of `allowed-tools` cannot be understood. */
  "allowed-tools-invalid": suspicious,
  /** `allowed-tools` is a list; the specification wants one text. */
  "allowed-tools-list": { lenient: "info", spec: "warning" },
  /** `arguments` declares something that cannot be a placeholder. */
  "arguments-invalid": suspicious,
  /** There are no instructions. */
  "body-empty": suspicious,
  /** The instructions are longer than recommended. */
  "body-long": remark,
  /** The file starts with a byte order mark. */
  "byte-order-mark": tolerated,
  /** A control character that terminals obey. */
  "character-control": suspicious,
  /** An invisible character. */
  "character-hidden": suspicious,
  /** `compatibility` is empty or longer than 500 characters. */
  "compatibility-length": tolerated,
  /** The instructions contain an unresolved merge. */
  "conflict-marker": suspicious,
  /** The description contains something like an XML tag. */
  "description-markup": remark,
  /** There is no description; one was taken from the instructions. */
  "description-missing": tolerated,
  /** The description is longer than 1,024 characters. */
  "description-too-long": tolerated,
  /** The file is not UTF-8. */
  "encoding-invalid": tolerated,
  /** A field that must be text is a list or a map. */
  "field-not-text": tolerated,
  /** Nothing is in the file. */
  "file-empty": fatal,
  /** `SKILL.md` is spelled `skill.md`. */
  "file-lower-case": suspicious,
  /** `SKILL.md` is spelled in some other way. */
  "file-misspelled": tolerated,
  /** There is no SKILL.md. */
  "file-missing": fatal,
  /** There are several files that could be the SKILL.md. */
  "file-several": suspicious,
  /** The file is larger than anything that is read. */
  "file-too-large": fatal,
  /** The file cannot be opened, or is no file. */
  "file-unreadable": fatal,
  /** A field that is yes or no is neither. */
  "flag-invalid": suspicious,
  /** The front matter contains an unresolved merge. */
  "front-matter-conflict": fatal,
  /** Three dashes inside the block; the reference validator cuts there. */
  "front-matter-dashes": { lenient: "off", spec: "warning" },
  /** Something follows the dashes that is harmless. */
  "front-matter-label": tolerated,
  /** The front matter is not YAML, but code or another language. */
  "front-matter-language": fatal,
  /** Something stands before the front matter. */
  "front-matter-late": tolerated,
  /** There is no front matter. */
  "front-matter-missing": tolerated,
  /** The front matter is a list or one value. */
  "front-matter-not-map": fatal,
  /** The front matter is larger than anything that is parsed. */
  "front-matter-too-large": fatal,
  /** The closing dashes are missing. */
  "front-matter-unclosed": tolerated,
  /** A key occurs twice. */
  "key-duplicate": tolerated,
  /** A key cannot be used: it is not text, or JavaScript gives it a meaning of its own. */
  "key-invalid": tolerated,
  /** A key is a known one, spelled in another way. */
  "key-misspelled": tolerated,
  /** A key that the specification does not have. */
  "key-unknown": onlySpec,
  /** Lines end as on Windows. */
  "line-ends-crlf": remark,
  /** Lines end in different ways. */
  "line-ends-mixed": suspicious,
  /** `metadata` is not a map. */
  "metadata-not-map": tolerated,
  /** A value of `metadata` is a list, a map or nothing. */
  "metadata-not-text": suspicious,
  /** A value of `metadata` is a number or a boolean, because it is not in quotes. */
  "metadata-unquoted": remark,
  /** The name has characters it cannot have. */
  "name-invalid": tolerated,
  /** The name is not that of the directory. */
  "name-mismatch": tolerated,
  /** There is no name; that of the directory was taken. */
  "name-missing": tolerated,
  /** The name is longer than 64 characters. */
  "name-too-long": tolerated,
  /** There is neither a description nor a text to take one from. */
  "skill-empty": fatal,
  /** NUL bytes: this is not text. */
  "text-binary": fatal,
  /** A declared tool cannot be understood. */
  "tools-invalid": suspicious,
  /** Aliases that grow beyond all measure. */
  "yaml-alias-bomb": fatal,
  /** Anchors and aliases. */
  "yaml-anchor": tolerated,
  /** A text stands behind the `|` or `>` that should start a block. */
  "yaml-block-inline": tolerated,
  /** Lists or maps in brackets; the reference validator refuses them. */
  "yaml-flow": onlySpec,
  /** The YAML is broken and could not be repaired. */
  "yaml-invalid": fatal,
  /** The space behind the colon of a key is missing. */
  "yaml-space-missing": tolerated,
  /** A line of text without a key, and not indented. */
  "yaml-stray-line": tolerated,
  /** Lines are indented with tabs. */
  "yaml-tab": tolerated,
  /** A YAML tag. */
  "yaml-tag": tolerated,
  /** Nested too deep. */
  "yaml-too-deep": fatal,
  /** A text that YAML reads as something else, because it is not in quotes. */
  "yaml-unquoted": tolerated,
} as const satisfies Readonly<Record<string, Rule>>;

/** The code of something that can be said about a SKILL.md. */
export type DocumentCode = keyof typeof documentRules;
