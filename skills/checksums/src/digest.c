/* digest: { "text", "algorithm" } in, { "algorithm", "hex", "bytes" } out. */
#include "json.h"

#include <stdint.h>

static uint32_t crc32(struct text text) {
  uint32_t crc = 0xffffffff;
  for (size_t i = 0; i < text.length; i++) {
    crc ^= (uint8_t)text.bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

static uint32_t adler32(struct text text) {
  uint32_t low = 1;
  uint32_t high = 0;
  for (size_t i = 0; i < text.length; i++) {
    low = (low + (uint8_t)text.bytes[i]) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

static uint32_t fnv1a(struct text text) {
  uint32_t hash = 2166136261;
  for (size_t i = 0; i < text.length; i++) hash = (hash ^ (uint8_t)text.bytes[i]) * 16777619;
  return hash;
}

static uint32_t rotate(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static void sha256_block(uint32_t state[8], const uint8_t block[64]) {
  uint32_t words[64];
  for (int i = 0; i < 16; i++) {
    const uint8_t *at = block + i * 4;
    words[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
  }
  for (int i = 16; i < 64; i++) {
    uint32_t near = rotate(words[i - 15], 7) ^ rotate(words[i - 15], 18) ^ words[i - 15] >> 3;
    uint32_t far = rotate(words[i - 2], 17) ^ rotate(words[i - 2], 19) ^ words[i - 2] >> 10;
    words[i] = words[i - 16] + near + words[i - 7] + far;
  }
  uint32_t s[8];
  memcpy(s, state, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    uint32_t one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice + sha256_constants[i] + words[i];
    uint32_t two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += one;
    s[0] = one + two;
  }
  for (int i = 0; i < 8; i++) state[i] += s[i];
}

static void sha256(struct text text, uint32_t state[8]) {
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(state, start, sizeof start);
  size_t whole = text.length / 64 * 64;
  for (size_t at = 0; at < whole; at += 64) sha256_block(state, (const uint8_t *)text.bytes + at);
  /* What is left, a single bit, and the length in bits at the end of the last block. */
  uint8_t last[128] = {0};
  size_t rest = text.length - whole;
  size_t length = rest < 56 ? 64 : 128;
  memcpy(last, text.bytes + whole, rest);
  last[rest] = 0x80;
  uint64_t bits = (uint64_t)text.length * 8;
  for (int i = 0; i < 8; i++) last[length - 1 - i] = (uint8_t)(bits >> i * 8);
  for (size_t at = 0; at < length; at += 64) sha256_block(state, last + at);
}

static bool is(struct text text, const char *word) {
  return text.length == strlen(word) && memcmp(text.bytes, word, text.length) == 0;
}

int main(void) {
  struct field fields[] = {{"text", {NULL, 0}}, {"algorithm", {NULL, 0}}};
  struct text input = read_input();
  if (input.bytes == NULL || !read_strings(input, fields, 2) || fields[0].value.bytes == NULL) {
    fputs("digest needs an object with the strings \"text\" and \"algorithm\"\n", stderr);
    return 1;
  }
  struct text text = fields[0].value;
  struct text algorithm = fields[1].value.bytes == NULL ? (struct text){"sha256", 6} : fields[1].value;
  uint32_t state[8];
  int words = 1;
  if (is(algorithm, "sha256")) {
    sha256(text, state);
    words = 8;
  } else if (is(algorithm, "crc32")) state[0] = crc32(text);
  else if (is(algorithm, "adler32")) state[0] = adler32(text);
  else if (is(algorithm, "fnv1a")) state[0] = fnv1a(text);
  else {
    fputs("digest knows sha256, crc32, adler32 and fnv1a\n", stderr);
    return 1;
  }
  printf("{\"algorithm\":\"%.*s\",\"hex\":\"", (int)algorithm.length, algorithm.bytes);
  for (int i = 0; i < words; i++) printf("%08x", (unsigned)state[i]);
  printf("\",\"bytes\":%zu}\n", text.length);
  return 0;
}
