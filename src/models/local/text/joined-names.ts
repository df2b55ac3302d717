/** Places with an "and" in their name. There are few of them, and nothing else tells them from two places. */
const names =
  "antigua barbuda|bosnia herzegovina|kitts nevis|príncipe tomé|tomé príncipe|tome principe|trinidad tobago|turks caicos|vincent grenadines|" +
  "pierre miquelon|wallis futuna|newfoundland labrador|tyne wear|brighton hove|jammu kashmir|andaman nicobar|castile león|castile leon";

const pairs = new Set(names.split("|"));

/** How many words the rest of a name takes behind its first word: 2 for "Trinidad and Tobago"; 0 if it is none. */
export function countJoined([first = "", joint = "", second = "", third = ""]: readonly string[]): number {
  if (joint !== "and" && joint !== "&") return 0;
  if (pairs.has(`${first} ${second}`)) return 2;
  return second === "the" && pairs.has(`${first} ${third}`) ? 3 : 0;
}
