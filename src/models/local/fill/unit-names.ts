const measures = [
  "km kilometer kilometre kilometers kilometres",
  "m meter metre meters metres",
  "cm centimeter centimetre centimeters centimetres",
  "mm millimeter millimetre millimeters millimetres",
  "mi mile miles",
  "ft foot feet",
  "in inch inches",
  "yd yard yards",
  "kg kilogram kilograms kilo kilos",
  "g gram grams gramme grammes",
  "lb lbs pound pounds",
  "oz ounce ounces",
  "l liter litre liters litres",
  "ml milliliter millilitre milliliters millilitres",
  "gal gallon gallons",
  "c celsius centigrade",
  "f fahrenheit",
  "k kelvin",
  "s sec second seconds",
  "min minute minutes",
  "h hr hour hours",
  "kb kilobyte kilobytes",
  "mb megabyte megabytes",
  "gb gigabyte gigabytes",
];

const currencies = [
  "usd dollar dollars buck bucks",
  "eur euro euros",
  "gbp pound pounds quid",
  "jpy yen",
  "chf franc francs",
  "cny yuan renminbi",
  "inr rupee rupees",
  "sek",
  "nok",
  "dkk",
  "pln zloty",
  "cad",
  "aud",
  "brl real reais",
  "mxn peso pesos",
];

const languages = [
  "en english",
  "de german",
  "fr french",
  "es spanish",
  "it italian",
  "pt portuguese",
  "nl dutch",
  "pl polish",
  "ru russian",
  "ja japanese",
  "zh chinese",
  "ar arabic",
  "cs czech",
  "da danish",
  "el greek",
  "fi finnish",
  "he hebrew",
  "hi hindi",
  "hu hungarian",
  "id indonesian",
  "ko korean",
  "la latin",
  "no norwegian",
  "ro romanian",
  "sv swedish",
  "th thai",
  "tr turkish",
  "uk ukrainian",
  "vi vietnamese",
];

const unitNames = new Map<string, readonly string[]>();
for (const group of [...measures, ...currencies]) {
  const names = group.split(" ");
  for (const name of names)
    unitNames.set(name, [...(unitNames.get(name) ?? []), ...names.filter((other) => other !== name)]);
}

const codes = new Map(
  currencies.flatMap((group) => {
    const names = group.split(" ");
    return names.map((name) => [name, (names[0] ?? "").toUpperCase()] as const);
  }),
);

const languageCodes = new Map(languages.map((group) => group.split(" ").toReversed() as [name: string, code: string]));

/** Other names of a unit, and the code of a language: "kilometers" for "km", "de" for "german". */
export function otherNamesOf(word: string): readonly string[] {
  const code = languageCodes.get(word);
  return code === undefined ? (unitNames.get(word) ?? []) : [code];
}

/** Tells whether a word is a unit of measurement or a currency. Letters alone may be anything. */
export function isUnitName(word: string): boolean {
  return word.length > 1 && word !== "in" && unitNames.has(word);
}

/** Tells whether a word is the name of a language. */
export function isLanguageName(word: string): boolean {
  return languageCodes.has(word);
}

/** The ISO code of a currency that a word names: `EUR` for "euros". */
export function currencyCodeOf(word: string): string | undefined {
  return codes.get(word);
}
