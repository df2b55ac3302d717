import { expect, test } from "vitest";

import { countText } from "./count-text.ts";

// What the vocabularies o200k (gpt-tokenizer 4.0.0) and claude (ai-tokenizer 1.0.6) say about these texts.
const measured = [
  {
    kind: "English",
    text: "A skill is a folder; opening it is what makes its tools exist. A tool that is not available cannot be called, whatever the model says: availability is checked when a call is made, not only when the prompt is written. Every tool call takes the same way, phase by phase, and there is no second route with fewer checks.",
    o200k: 69,
    claude: 69,
  },
  {
    kind: "code",
    text: 'export function createRegistry(tools: Iterable<Tool> = []): Registry {\n  const byName = new Map<string, Tool>();\n  for (const tool of tools) {\n    if (byName.has(tool.name)) throw new KitbagError("tool-duplicate", { tool: tool.name });\n    byName.set(tool.name, tool);\n  }\n  return { get: (name) => byName.get(name), list: () => [...byName.values()] };\n}\n',
    o200k: 97,
    claude: 110,
  },
  {
    kind: "JSON",
    text: '{"type":"object","properties":{"path":{"type":"string","description":"The path of the file to read, relative to the folder of the skill"},"limit":{"type":"integer","minimum":1,"maximum":1000,"description":"How many lines"},"mode":{"enum":["fast","slow"]}},"required":["path"],"additionalProperties":false}',
    o200k: 74,
    claude: 72,
  },
  {
    kind: "a table",
    text: Array.from(
      { length: 20 },
      (_, row) => `${row},2024-0${1 + (row % 9)}-12,${(row * 37.31).toFixed(2)},open,Anna Smith`,
    ).join("\n"),
    o200k: 359,
    claude: 359,
  },
  {
    kind: "UUIDs",
    text: "3f1c2b9e-7a54-4d0e-9b61-2c8f5e1d7a30\nb7e4a1d2-09c3-4f58-8e6a-51d0f2c9b874\n0d9a6c3e-e182-47b5-a3f4-98c7b1e25d60",
    o200k: 94,
    claude: 96,
  },
  {
    kind: "Russian",
    text: "Кошка сидела на окне и смотрела, как падает снег. Вчера мы ходили в магазин и купили хлеб, молоко и яблоки. Программа читает файл и выводит результат на экран.",
    o200k: 48,
    claude: 84,
  },
  {
    kind: "Chinese",
    text: "猫坐在窗台上看着雪花飘落。昨天我们去商店买了面包、牛奶和苹果。程序读取文件并将结果输出到屏幕上。",
    o200k: 41,
    claude: 51,
  },
  {
    kind: "Japanese",
    text: "猫は窓辺に座って雪が降るのを見ていた。昨日、私たちは店に行ってパンと牛乳とりんごを買いました。",
    o200k: 39,
    claude: 55,
  },
  {
    kind: "Korean",
    text: "고양이는 창가에 앉아 눈이 내리는 것을 보고 있었다. 어제 우리는 가게에 가서 빵과 우유와 사과를 샀습니다.",
    o200k: 38,
    claude: 59,
  },
  {
    kind: "German",
    text: "Die Katze saß am Fenster und sah zu, wie der Schnee fiel. Gestern gingen wir in den Laden und kauften Brot, Milch und Äpfel. Das Programm liest die Datei und gibt das Ergebnis aus.",
    o200k: 44,
    claude: 59,
  },
  {
    kind: "Arabic",
    text: "جلس القط على النافذة يراقب تساقط الثلج. ذهبنا أمس إلى المتجر واشترينا الخبز والحليب والتفاح.",
    o200k: 34,
    claude: 79,
  },
  {
    kind: "Thai",
    text: "แมวนั่งอยู่ที่หน้าต่างมองดูหิมะตก เมื่อวานเราไปที่ร้านและซื้อขนมปัง นม และแอปเปิ้ล",
    o200k: 39,
    claude: 142,
  },
  { kind: "emoji", text: "😀🎉🚀❤️👍🔥✨😂🙏🤔😀🎉🚀", o200k: 18, claude: 31 },
] as const;

test.for(measured)("countText() is near what the vocabularies say about $kind", ({ text, o200k, claude }) => {
  const count = countText(text);

  expect(count.usual / o200k).toBeGreaterThan(0.88);
  expect(count.usual / o200k).toBeLessThan(1.12);
  expect(count.claude / claude).toBeGreaterThan(0.75);
  expect(count.claude / claude).toBeLessThan(1.25);
});

test.for([
  ["", 0],
  ["a", 1],
  ["12", 1],
  ["1234567", 3],
  ["\n", 1],
  [" ", 0],
  ["\u{0}", 1],
  ["\ud800", 1],
  ["\uffff", 1],
] as const)("countText() takes %j for %d tokens", ([text, expected]) => {
  expect(countText(text).usual).toBe(expected);
});

test("countText() looks at a very long text in some places only, and is as near", () => {
  const sentence = "The quick brown fox jumps over the lazy dog, and 42 others do so too. ";
  const long = sentence.repeat(100_000);

  const { usual } = countText(long);
  const expected = (countText(sentence.repeat(1000)).usual / 1000) * 100_000;

  expect(usual / expected).toBeGreaterThan(0.98);
  expect(usual / expected).toBeLessThan(1.02);
});
