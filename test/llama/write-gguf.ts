/** Writes a tiny model file: one layer with random weights, which loads in llama.cpp and says nothing sensible. */
import { createRandom } from "../support/model-server-send.ts";

/** What the file says about itself. */
export interface GgufOptions {
  /** @default 2048 */
  readonly contextLength?: number;
  /** The same seed writes the same file. @default 1 */
  readonly seed?: number;
}

const width = 64;
const inner = 128;

/** The bytes of the file: about 350 kB. */
export function writeGguf({ contextLength = 2048, seed = 1 }: GgufOptions = {}): Buffer {
  const tokens = toTokens();
  const tensors = toTensors(tokens.length, createRandom(seed));
  const metadata = toMetadata(tokens, contextLength);
  let offset = 0;
  const entries = tensors.map(({ name, shape, data }) => {
    const entry = [toText(name), toU32(shape.length), ...shape.map(toU64), toU32(0), toU64(offset)];
    offset += aligned(data.length);
    return Buffer.concat(entry);
  });
  const counts = [toU64(tensors.length), toU64(metadata.length)];
  const head = pad(Buffer.concat([Buffer.from("GGUF"), toU32(3), ...counts, ...metadata, ...entries]));
  return Buffer.concat([head, ...tensors.map(({ data }) => pad(data))]);
}

interface Token {
  readonly text: string;
  /** 1 usual, 2 unknown, 3 control, 6 a byte. */
  readonly type: number;
}

/** Three special tokens, every byte, and the characters that JSON and words are made of. */
function toTokens(): readonly Token[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
    type: 6,
  }));
  const characters = Array.from({ length: 95 }, (_, index) => ({ text: String.fromCharCode(32 + index), type: 1 }));
  const special = [
    { text: "<unk>", type: 2 },
    { text: "<s>", type: 3 },
    { text: "</s>", type: 3 },
  ];
  return [...special, ...bytes, { text: "▁", type: 1 }, ...characters.filter(({ text }) => text !== " ")];
}

function toMetadata(tokens: readonly Token[], contextLength: number): Buffer[] {
  const texts = tokens.map(({ text }) => toText(text));
  const scores = tokens.map((_, index) => toF32(-index));
  const types = tokens.map(({ type }) => toU32(type));
  return [
    toEntry("general.architecture", 8, toText("llama")),
    toEntry("general.name", 8, toText("random")),
    toEntry("general.file_type", 4, toU32(0)),
    toEntry("llama.context_length", 4, toU32(contextLength)),
    toEntry("llama.embedding_length", 4, toU32(width)),
    toEntry("llama.block_count", 4, toU32(1)),
    toEntry("llama.feed_forward_length", 4, toU32(inner)),
    toEntry("llama.attention.head_count", 4, toU32(4)),
    toEntry("llama.attention.head_count_kv", 4, toU32(4)),
    toEntry("llama.attention.layer_norm_rms_epsilon", 6, toF32(1e-5)),
    toEntry("llama.rope.dimension_count", 4, toU32(width / 4)),
    toEntry("llama.vocab_size", 4, toU32(tokens.length)),
    toEntry("tokenizer.ggml.model", 8, toText("llama")),
    toEntry("tokenizer.ggml.tokens", 9, toList(8, texts)),
    toEntry("tokenizer.ggml.scores", 9, toList(6, scores)),
    toEntry("tokenizer.ggml.token_type", 9, toList(5, types)),
    toEntry("tokenizer.ggml.bos_token_id", 4, toU32(1)),
    toEntry("tokenizer.ggml.eos_token_id", 4, toU32(2)),
    toEntry("tokenizer.ggml.unknown_token_id", 4, toU32(0)),
  ];
}

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Buffer;
}

function toTensors(vocabulary: number, random: () => number): Tensor[] {
  const make = (name: string, ...shape: readonly number[]): Tensor => {
    const isNorm = name.includes("norm");
    const count = shape.reduce((product, size) => product * size, 1);
    const values = Float32Array.from({ length: count }, () => (isNorm ? 1 : (random() - 0.5) / 4));
    return { name, shape, data: Buffer.from(values.buffer) };
  };
  return [
    make("token_embd.weight", width, vocabulary),
    make("blk.0.attn_norm.weight", width),
    make("blk.0.attn_q.weight", width, width),
    make("blk.0.attn_k.weight", width, width),
    make("blk.0.attn_v.weight", width, width),
    make("blk.0.attn_output.weight", width, width),
    make("blk.0.ffn_norm.weight", width),
    make("blk.0.ffn_gate.weight", width, inner),
    make("blk.0.ffn_up.weight", width, inner),
    make("blk.0.ffn_down.weight", inner, width),
    make("output_norm.weight", width),
    make("output.weight", width, vocabulary),
  ];
}

const alignment = 32;

function aligned(length: number): number {
  return Math.ceil(length / alignment) * alignment;
}

function pad(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(aligned(bytes.length) - bytes.length)]);
}

function toEntry(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([toText(key), toU32(type), value]);
}

function toList(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([toU32(type), toU64(items.length), ...items]);
}

function toText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([toU64(bytes.length), bytes]);
}

function toU32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function toU64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function toF32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}
