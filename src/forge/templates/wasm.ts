import { putIn, toAssemblyScriptJson, toRustJson, type Filling, type ToolTemplate } from "./template.ts";
import { closed } from "../drafts/draft-schema.ts";

const parameters = closed({
  label: {
    type: "string",
    maxLength: 1000,
    default: "words",
    description: "A text that stands in every answer, so that one can tell who counted",
  },
});

function toHead({ name, description, values }: Filling): Omit<ReturnType<ToolTemplate["toDraft"]>, "steps"> {
  return {
    name,
    description: description ?? "Counts the bytes and words of a text.",
    input: closed({ text: { type: "string" } }, ["text"]),
    annotations: { readOnly: true, idempotent: true },
    examples: [
      { input: { text: 'one "two"\nthr\u00EAe' }, output: { label: values["label"] ?? "", bytes: 16, words: 3 } },
      { input: { text: "" }, output: { label: values["label"] ?? "", bytes: 0, words: 0 } },
    ],
  };
}

const output = {
  type: "object",
  properties: { label: { type: "string" }, bytes: { type: "integer" }, words: { type: "integer" } },
  required: ["label", "bytes", "words"],
};

/** A tool in Rust, compiled to WASM. */
export const wasmRust: ToolTemplate = {
  name: "wasm-rust",
  makes: "tool",
  description:
    "A WebAssembly (WASM) tool in Rust to start from: fast, and it reaches nothing; here it counts the words of a text",
  parameters,
  toDraft: (filling) => ({
    ...toHead(filling),
    language: "wasm-rust",
    output,
    code: putIn(rustProgram, toRustJson(filling.values["label"] ?? "")),
  }),
};

/** A tool in AssemblyScript, compiled to WASM. */
export const wasmAssemblyScript: ToolTemplate = {
  name: "wasm-assemblyscript",
  makes: "tool",
  description:
    "A WebAssembly (WASM) tool in AssemblyScript, which looks like TypeScript, to start from: fast, and it reaches nothing; here it counts the words of a text",
  parameters,
  toDraft: (filling) => ({
    ...toHead(filling),
    language: "wasm-assemblyscript",
    output,
    code: putIn(assemblyScriptProgram, toAssemblyScriptJson(filling.values["label"] ?? "")),
  }),
};

const rustProgram = String.raw`use std::io::Read;

const LABEL_JSON: &str = @VALUES@;

fn main() {
    let mut input = String::new();
    if let Err(error) = std::io::stdin().read_to_string(&mut input) {
        fail(&format!("cannot read the input: {error}"));
    }
    let text = match read_text(&input) {
        Some(text) => text,
        None => fail("text: it is missing"),
    };
    let words = text.split_whitespace().count();
    println!("{{\"label\":{},\"bytes\":{},\"words\":{}}}", LABEL_JSON, text.len(), words);
}

fn fail(reason: &str) -> ! {
    eprintln!("{reason}");
    std::process::exit(1)
}

/// Reads the text of {"text": "…"}: all the JSON that this tool takes.
fn read_text(json: &str) -> Option<String> {
    let rest = json.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"text\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut units: Vec<u16> = Vec::new();
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '"' => return Some(String::from_utf16_lossy(&units)),
            '\\' => units.push(match letters.next()? {
                'n' => 10,
                't' => 9,
                'r' => 13,
                'b' => 8,
                'f' => 12,
                'u' => {
                    let digits: String = letters.by_ref().take(4).collect();
                    u16::from_str_radix(&digits, 16).ok()?
                }
                other => other as u16,
            }),
            letter => units.extend(letter.encode_utf16(&mut [0; 2]).iter()),
        }
    }
}
`;

const assemblyScriptProgram = String.raw`const labelJson: string = @VALUES@;

function readInput(): string {
  const bytes = new Array<u8>();
  const piece = new ArrayBuffer(4096);
  const view = Uint8Array.wrap(piece);
  for (let length = process.stdin.read(piece); length > 0; length = process.stdin.read(piece)) {
    for (let index = 0; index < length; index++) bytes.push(view[index]);
  }
  const whole = new Uint8Array(bytes.length);
  for (let index = 0; index < bytes.length; index++) whole[index] = bytes[index];
  return String.UTF8.decode(whole.buffer);
}

/** Reads the text of {"text": "…"}: all the JSON that this tool takes. */
function readText(json: string): string {
  let at = json.indexOf('"', json.indexOf(":")) + 1;
  let text = "";
  for (; at < json.length && json.charAt(at) != '"'; at++) {
    if (json.charAt(at) != "\\") {
      text += json.charAt(at);
      continue;
    }
    const escape = json.charAt(++at);
    if (escape == "u") {
      text += String.fromCharCode(<i32>parseInt(json.substring(at + 1, at + 5), 16));
      at += 4;
    } else if (escape == "n") text += "\n";
    else if (escape == "t") text += "\t";
    else if (escape == "r") text += "\r";
    else if (escape == "b") text += "\b";
    else if (escape == "f") text += "\f";
    else text += escape;
  }
  return text;
}

function countWords(text: string): i32 {
  let words = 0;
  let inside = false;
  for (let index = 0; index < text.length; index++) {
    const isSpace = text.charCodeAt(index) <= 32;
    if (!isSpace && !inside) words++;
    inside = !isSpace;
  }
  return words;
}

const text = readText(readInput());
const bytes = String.UTF8.byteLength(text);
process.stdout.write(
  '{"label":' + labelJson + ',"bytes":' + bytes.toString() + ',"words":' + countWords(text).toString() + "}",
);
`;
