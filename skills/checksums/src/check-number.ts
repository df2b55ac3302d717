// check-number: { "number", "kind" } in, { "valid", "kind", "reason"?, "expected"? } out. AssemblyScript, not TypeScript.

function readInput(): string {
  const piece = new ArrayBuffer(4096);
  let text = "";
  for (let count = process.stdin.read(piece); count > 0; count = process.stdin.read(piece)) {
    text += String.UTF8.decode(piece.slice(0, count));
  }
  return text;
}

/** The value of a member that is a string of plain characters, as the numbers that are checked are; else nothing. */
function findString(json: string, name: string): string {
  const key = json.indexOf('"' + name + '"');
  if (key < 0) return "";
  const start = json.indexOf('"', json.indexOf(":", key + name.length + 2));
  const end = json.indexOf('"', start + 1);
  return start < 0 || end < 0 ? "" : json.substring(start + 1, end);
}

/** Without spaces and hyphens, in capitals; nothing if there is anything else in it than letters and digits. */
function clean(number: string): string {
  let kept = "";
  for (let i = 0; i < number.length; i++) {
    const code = number.charCodeAt(i);
    if (code === 0x20 || code === 0x2d) continue;
    const isDigit = code >= 0x30 && code <= 0x39;
    const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
    if (!isDigit && !isLetter) return "";
    kept += String.fromCharCode(code >= 0x61 ? code - 0x20 : code);
  }
  return kept;
}

/** 0 to 9 for digits, 10 to 35 for letters. */
function valueAt(text: string, index: i32): i32 {
  const code = text.charCodeAt(index);
  return code <= 0x39 ? code - 0x30 : code - 0x41 + 10;
}

function areDigits(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (valueAt(text, i) > 9) return false;
  return text.length > 0;
}

/** The digit that makes the sum by Luhn a multiple of ten. */
function luhnDigit(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i++) {
    const value = valueAt(body, body.length - 1 - i);
    const weighed = i % 2 === 0 ? value * 2 : value;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return ((10 - (sum % 10)) % 10).toString();
}

/** The last digit of an EAN, which is that of an ISBN with 13 digits, too. */
function eanDigit(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i++) sum += valueAt(body, body.length - 1 - i) * (i % 2 === 0 ? 3 : 1);
  return ((10 - (sum % 10)) % 10).toString();
}

function isbn10Digit(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i++) sum += valueAt(body, i) * (10 - i);
  const digit = (11 - (sum % 11)) % 11;
  return digit === 10 ? "X" : digit.toString();
}

/** The two digits behind the country of an IBAN. */
function ibanDigits(number: string): string {
  const moved = number.substring(4) + number.substring(0, 2) + "00";
  let rest = 0;
  for (let i = 0; i < moved.length; i++) {
    const value = valueAt(moved, i);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return (98 - rest).toString().padStart(2, "0");
}

function answer(kind: string, found: string, expected: string): string {
  if (found === expected) return `{"valid":true,"kind":"${kind}"}`;
  const noun = expected.length === 1 ? "digit is" : "digits are";
  return `{"valid":false,"kind":"${kind}","reason":"the check ${noun} wrong","expected":"${expected}"}`;
}

function refuse(kind: string, reason: string): string {
  return `{"valid":false,"kind":"${kind}","reason":"${reason}"}`;
}

function checkIban(number: string): string {
  const country = number.substring(0, 2);
  const hasCountry = number.length > 4 && valueAt(country, 0) > 9 && valueAt(country, 1) > 9;
  if (!hasCountry || !areDigits(number.substring(2, 4)) || number.length < 15 || number.length > 34) {
    return refuse("iban", "an IBAN has a country of two letters, two digits, and 11 to 30 letters and digits");
  }
  return answer("iban", number.substring(2, 4), ibanDigits(number));
}

function checkCard(number: string): string {
  if (!areDigits(number) || number.length < 12 || number.length > 19) {
    return refuse("card", "a card number has 12 to 19 digits");
  }
  return answer("card", number.substring(number.length - 1), luhnDigit(number.substring(0, number.length - 1)));
}

function checkIsbn(number: string): string {
  const body = number.substring(0, number.length - 1);
  const end = number.substring(number.length - 1);
  const isLong = number.length === 13 && areDigits(number);
  const isShort = number.length === 10 && areDigits(body) && (areDigits(end) || end === "X");
  if (!isLong && !isShort) return refuse("isbn", "an ISBN has 13 digits, or 10 of which the last may be an X");
  return answer("isbn", end, isLong ? eanDigit(body) : isbn10Digit(body));
}

function checkEan(number: string): string {
  const isLong = number.length >= 12 && number.length <= 14;
  if (!areDigits(number) || (!isLong && number.length !== 8)) return refuse("ean", "an EAN has 8, 12, 13 or 14 digits");
  return answer("ean", number.substring(number.length - 1), eanDigit(number.substring(0, number.length - 1)));
}

function check(number: string, kind: string): string {
  if (number.length === 0) return refuse(kind, "it has characters other than letters and digits, or none at all");
  if (kind === "iban") return checkIban(number);
  if (kind === "card") return checkCard(number);
  return kind === "isbn" ? checkIsbn(number) : checkEan(number);
}

const input = readInput();
const kind = findString(input, "kind");
if (kind === "card" || kind === "iban" || kind === "isbn" || kind === "ean") {
  process.stdout.write(check(clean(findString(input, "number")), kind) + "\n");
} else {
  process.stderr.write("check-number knows card, iban, isbn and ean\n");
  process.exit(1);
}
