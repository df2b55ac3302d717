/**
 * The turns that have a word, as they are kept: a text of digits in base 64, because a store keeps texts, and a text of a
 * thousand numbers is read ten times as fast as a list of them.
 */
export interface PostingList {
  /** The numbers of the turns, in rising order. */
  readonly numbers: number[];
  /** How often each turn has the word, and how many words it has. */
  readonly counts: number[];
  readonly lengths: number[];
}

/** A turn that has a word. */
export interface Posting {
  readonly number: number;
  readonly count: number;
  readonly length: number;
}

/** More of the same word, or of other words, says nothing new. */
const mostCount = 15;
const mostLength = 4095;

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const values = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, digits.indexOf(String.fromCharCode(code))));

/** Makes an empty list. */
export function createPostingList(): PostingList {
  return { numbers: [], counts: [], lengths: [] };
}

/** Adds a turn, which may be older than others in the list. One that is there stays as it is; answers whether it was added. */
export function addPosting({ numbers, counts, lengths }: PostingList, { number, count, length }: Posting): boolean {
  const place = findPlace(numbers, number);
  if (numbers[place] === number) return false;
  numbers.splice(place, 0, number);
  counts.splice(place, 0, Math.min(count, mostCount));
  lengths.splice(place, 0, Math.min(length, mostLength));
  return true;
}

/** Takes a turn out; answers whether it was there. */
export function removePosting({ numbers, counts, lengths }: PostingList, number: number): boolean {
  const place = findPlace(numbers, number);
  if (numbers[place] !== number) return false;
  for (const list of [numbers, counts, lengths]) list.splice(place, 1);
  return true;
}

/** Where a number is, or would be. The newest turns are asked for most. */
function findPlace(numbers: readonly number[], number: number): number {
  let place = numbers.length;
  while (place > 0 && (numbers[place - 1] as number) >= number) place -= 1;
  return place;
}

/** Writes a list. */
export function writePostings({ numbers, counts, lengths }: PostingList): string {
  let text = "";
  let last = 0;
  for (const [index, number] of numbers.entries()) {
    text += writeNumber(number - last) + writeNumber((lengths[index] as number) * 16 + (counts[index] as number));
    last = number;
  }
  return text;
}

/** Five bits a digit, the lowest first; the sixth says that more follow. */
function writeNumber(number: number): string {
  let text = "";
  let rest = number;
  for (; rest >= 32; rest = Math.floor(rest / 32)) text += digits[32 + (rest % 32)] as string;
  return text + (digits[rest] as string);
}

/** Reads what {@link writePostings} wrote, and adds it to `list`. What is no such text gives other postings, and never throws. */
export function readPostings(text: string, list: PostingList): void {
  let number = 0;
  for (let at = 0; at < text.length;) {
    let gap = 0;
    for (let scale = 1; at < text.length; scale *= 32) {
      const digit = values[text.charCodeAt(at++)] ?? 0;
      gap += (digit & 31) * scale;
      if (digit < 32) break;
    }
    let facts = 0;
    for (let scale = 1; at < text.length; scale *= 32) {
      const digit = values[text.charCodeAt(at++)] ?? 0;
      facts += (digit & 31) * scale;
      if (digit < 32) break;
    }
    number += gap;
    list.numbers.push(number);
    list.counts.push(facts % 16);
    list.lengths.push(Math.floor(facts / 16));
  }
}
