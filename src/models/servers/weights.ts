/** How many bits a weight has, by the name of the rounding. Without one, that of most files. */
export function bitsOf(quantization: string = "Q4"): number {
  const [, bits] = /(?:^|[^a-z\d])(?:I?Q|FP|INT|W|BF|F)?(\d{1,2})(?:bit)?/iu.exec(quantization) ?? [];
  const number = bits === undefined ? 4 : Number(bits);
  return number >= 1 && number <= 32 ? number : 4;
}
