/** What to look at: a 32-bit word of what the kernel shows a filter (`struct seccomp_data`), by its offset. */
export const word = {
  number: 0,
  architecture: 4,
  /** The low half of an argument. The kernel ignores the high half of every argument that we test. */
  argument: (index: number): number => 16 + 8 * index,
};

/** What the kernel does with a call. */
export const verdict = {
  allow: 0x7fff_0000,
  kill: 0x8000_0000,
  fail: (errno: number): number => 0x0005_0000 | errno,
};

/** A decision: a verdict, or a question about one word with what follows from each answer. */
export type Decision = number | Question;

/** A question about one word. */
export interface Question {
  readonly word: number;
  /** `equal` to the value, `atLeast` the value (without sign), or any of its `bits` set. */
  readonly test: "equal" | "atLeast" | "bits";
  readonly value: number;
  readonly yes: Decision;
  readonly no: Decision;
}

/** Decides the same for all numbers from `from` to `to`, both included. */
export interface Range {
  readonly from: number;
  readonly to: number;
  readonly decision: Decision;
}

interface Instruction {
  readonly code: number;
  readonly yes: number;
  readonly no: number;
  readonly value: number;
}

const code = { load: 0x20, jump: 0x05, return: 0x06, equal: 0x15, atLeast: 0x35, bits: 0x45 };
const farthestBranch = 255;

/** The largest number that there can be. */
export const largestWord = 0xffff_ffff;

/** Writes a decision as a classic BPF program, as the kernel takes it on little-endian machines. */
export function assemble(decision: Decision): Uint8Array {
  const instructions = compile(decision);
  const bytes = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [index, instruction] of instructions.entries()) {
    bytes.setUint16(index * 8, instruction.code, true);
    bytes.setUint8(index * 8 + 2, instruction.yes);
    bytes.setUint8(index * 8 + 3, instruction.no);
    bytes.setUint32(index * 8 + 4, instruction.value, true);
  }
  return new Uint8Array(bytes.buffer);
}

/** Asks for the number's range by halves, so that a call costs few steps however many ranges there are. */
export function search(ranges: readonly Range[], otherwise: Decision): Decision {
  const sorted = ranges.toSorted((left, right) => left.from - right.from);
  const starts: { readonly at: number; readonly decision: Decision }[] = [];
  let next = 0;
  for (const { from, to, decision } of sorted) {
    if (from > next) starts.push({ at: next, decision: otherwise });
    starts.push({ at: from, decision });
    next = to + 1;
  }
  if (next <= largestWord) starts.push({ at: next, decision: otherwise });
  const merged = starts.filter(({ decision }, index) => index === 0 || decision !== starts[index - 1]?.decision);

  function half(low: number, high: number): Decision {
    const first = merged[low];
    if (first === undefined) return otherwise;
    if (high - low === 1) return first.decision;
    const middle = (low + high) >> 1;
    const value = merged[middle]?.at ?? 0;
    return { word: word.number, test: "atLeast", value, yes: half(middle, high), no: half(low, middle) };
  }
  return half(0, merged.length);
}

function compile(decision: Decision, loaded?: number): Instruction[] {
  if (typeof decision === "number") return [{ code: code.return, yes: 0, no: 0, value: decision }];
  const yes = compile(decision.yes, decision.word);
  const no = compile(decision.no, decision.word);
  const { value } = decision;
  const load = loaded === decision.word ? [] : [{ code: code.load, yes: 0, no: 0, value: decision.word }];
  const branch =
    yes.length <= farthestBranch
      ? [{ code: code[decision.test], yes: 0, no: yes.length, value }]
      : [
          { code: code[decision.test], yes: 1, no: 0, value },
          { code: code.jump, yes: 0, no: 0, value: yes.length },
        ];
  return [...load, ...branch, ...yes, ...no];
}
