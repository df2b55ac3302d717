/** About how many tokens something costs: of most vocabularies, and of Claude's, which has fewer words of other scripts. */
export interface TokenCount {
  readonly usual: number;
  readonly claude: number;
}

/** Kinds of characters. Vocabularies do not join letters with digits, nor a capital with the small letter before it. */
const small = 1;
const capital = 2;
const digit = 3;
const space = 4;
const line = 5;
const mark = 6;
const other = 7;

const kinds = new Uint8Array(128).map((_, code) => {
  const character = String.fromCodePoint(code);
  if (character >= "a" && character <= "z") return small;
  if (character >= "A" && character <= "Z") return capital;
  if (character >= "0" && character <= "9") return digit;
  if (character === " " || character === "\t") return space;
  return character === "\n" || character === "\r" ? line : mark;
});

/** Texts that are longer are not read as a whole, but in this many places. */
const longText = 400_000;
const places = 16;
const placeLength = 16_384;
/** How many more tokens Claude's vocabulary has for what is ASCII. */
const claudeMore = 1.1;

/**
 * About how many tokens a text costs, in one pass. On English, code, JSON, numbers and other scripts it is within 12 % of what the
 * vocabulary o200k says; base64 costs a third more than it says.
 */
export function countText(text: string): TokenCount {
  if (text.length <= longText) return scan(text, 0, text.length);
  let usual = 0;
  let claude = 0;
  for (let place = 0; place < places; place++) {
    const start = Math.floor(((text.length - placeLength) * place) / (places - 1));
    const count = scan(text, start, start + placeLength);
    usual += count.usual;
    claude += count.claude;
  }
  const share = text.length / (places * placeLength);
  return { usual: Math.ceil(usual * share), claude: Math.ceil(claude * share) };
}

function scan(text: string, start: number, end: number): TokenCount {
  let ascii = 0;
  let usual = 0;
  let claude = 0;
  let before = line;
  for (let index = start; index < end;) {
    const code = text.charCodeAt(index);
    if (code >= 128) {
      const script = scriptOf(code);
      usual += script.usual;
      claude += script.claude;
      before = other;
      index += 1;
      continue;
    }
    const kind = kinds[code] as number;
    let stop = endOf(text, kind, index + 1, end);
    if (kind === capital) {
      const capitals = stop - index;
      stop = endOf(text, small, stop, end);
      ascii += wordTokens(stop - index, capitals);
    } else {
      ascii += runTokens(kind, stop - index, before, kindAt(text, stop));
    }
    before = kind;
    index = stop;
  }
  return { usual: Math.ceil(ascii + usual), claude: Math.ceil(ascii * claudeMore + claude) };
}

function kindAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code < 128) return kinds[code] as number;
  // Behind the end there is NaN, which is less than nothing.
  return code >= 128 ? other : line;
}

/** Where a run of one kind ends. */
function endOf(text: string, kind: number, from: number, end: number): number {
  let index = from;
  while (index < end) {
    const code = text.charCodeAt(index);
    if (code >= 128 || kinds[code] !== kind) break;
    index += 1;
  }
  return index;
}

function runTokens(kind: number, length: number, before: number, next: number): number {
  switch (kind) {
    case small:
      return wordTokens(length, 0);
    case digit:
      return Math.ceil(length / 3);
    case line:
      return before === mark ? 0.35 : 1;
    case space:
      return spaceTokens(length, next);
    default:
      return markTokens(length, next, before);
  }
}

function wordTokens(length: number, capitals: number): number {
  if (capitals > 1 && capitals === length) return length <= 3 ? 1 : length / 2.6;
  const known = capitals > 1 ? 6 : 8;
  return length <= known ? 1 : 1 + (length - known) / 5;
}

/** One space belongs to the word behind it, but not to a number. */
function spaceTokens(length: number, next: number): number {
  return length > 1 || next === digit ? 1 : 0;
}

/** A mark is often one token with the word behind it, or with the marks beside it. */
function markTokens(length: number, next: number, before: number): number {
  const joins = next === small || next === capital;
  if (length === 1) return joins && before !== space ? 0.45 : 1;
  return Math.max(1, length / 3) + (joins ? 0.1 : 0);
}

/** Characters of a script, and how many tokens one of them costs about: of most vocabularies, and more of Claude's. */
interface Script {
  readonly from: number;
  readonly usual: number;
  readonly claude: number;
}

/** Measured with the vocabularies o200k and claude on texts of everyday language; rare scripts are guessed with care. */
const scripts: readonly Script[] = [
  // Latin letters with marks: they break the word around them.
  { from: 0x80, usual: 0.95, claude: 1.25 },
  { from: 0x2_50, usual: 1, claude: 1.5 },
  // Greek
  { from: 0x3_70, usual: 0.47, claude: 1.25 },
  // Cyrillic
  { from: 0x4_00, usual: 0.35, claude: 0.62 },
  // Armenian, Hebrew
  { from: 0x5_30, usual: 0.7, claude: 1.5 },
  // Arabic
  { from: 0x6_00, usual: 0.42, claude: 1 },
  { from: 0x7_80, usual: 1, claude: 1.5 },
  // The scripts of India
  { from: 0x9_00, usual: 0.5, claude: 1.4 },
  // Thai, Lao
  { from: 0xe_00, usual: 0.5, claude: 1.75 },
  // Tibetan, Georgian, Ethiopic and others
  { from: 0xf_00, usual: 1, claude: 2 },
  // Punctuation, arrows, mathematics, drawings
  { from: 0x20_00, usual: 0.7, claude: 1 },
  // Kana, Chinese punctuation
  { from: 0x2e_80, usual: 0.75, claude: 1 },
  // Chinese characters
  { from: 0x34_00, usual: 0.85, claude: 1.15 },
  { from: 0xa0_00, usual: 1, claude: 2 },
  // Hangul
  { from: 0xac_00, usual: 0.8, claude: 1.25 },
  // Halves of characters beyond the first plane: emoji, rare characters
  { from: 0xd8_00, usual: 0.65, claude: 1.2 },
  { from: 0xe0_00, usual: 1, claude: 1.5 },
];

/** The script of a character that is not ASCII. */
function scriptOf(code: number): Script {
  let low = 0;
  let high = scripts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((scripts[middle] as Script).from <= code) low = middle;
    else high = middle - 1;
  }
  return scripts[low] as Script;
}
