/* Just enough JSON for a tool: the strings of one flat object. */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that may hold NUL. */
struct text {
  char *bytes;
  size_t length;
};

/* A string that is looked for; `value.bytes` stays NULL if it is not there. */
struct field {
  const char *name;
  struct text value;
};

/* Reads all of standard input; `bytes` is NULL if there is no memory for it. */
static struct text read_input(void) {
  struct text input = {NULL, 0};
  size_t capacity = 0;
  for (;;) {
    if (capacity - input.length < 4096) {
      capacity = capacity == 0 ? 65536 : capacity * 2;
      char *grown = realloc(input.bytes, capacity);
      if (grown == NULL) {
        free(input.bytes);
        return (struct text){NULL, 0};
      }
      input.bytes = grown;
    }
    size_t count = fread(input.bytes + input.length, 1, capacity - input.length, stdin);
    if (count == 0) return input;
    input.length += count;
  }
}

struct cursor {
  const char *at;
  const char *end;
};

static void skip_space(struct cursor *in) {
  while (in->at < in->end && strchr(" \t\r\n", *in->at) != NULL && *in->at != '\0') in->at++;
}

static bool take(struct cursor *in, char expected) {
  skip_space(in);
  if (in->at == in->end || *in->at != expected) return false;
  in->at++;
  return true;
}

/* Four hexadecimal digits, or -1. */
static long take_code_unit(struct cursor *in) {
  long value = 0;
  for (int i = 0; i < 4; i++) {
    if (in->at == in->end) return -1;
    char digit = *in->at++;
    if (digit >= '0' && digit <= '9') value = value * 16 + (digit - '0');
    else if (digit >= 'a' && digit <= 'f') value = value * 16 + (digit - 'a' + 10);
    else if (digit >= 'A' && digit <= 'F') value = value * 16 + (digit - 'A' + 10);
    else return -1;
  }
  return value;
}

static char *put_code_point(char *out, long code) {
  if (code < 0x80) *out++ = (char)code;
  else if (code < 0x800) {
    *out++ = (char)(0xc0 | code >> 6);
    *out++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out++ = (char)(0xe0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  } else {
    *out++ = (char)(0xf0 | code >> 18);
    *out++ = (char)(0x80 | (code >> 12 & 0x3f));
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  }
  return out;
}

static bool take_escape(struct cursor *in, char **out) {
  static const char names[] = "\"\\/bfnrt";
  static const char values[] = "\"\\/\b\f\n\r\t";
  if (in->at == in->end) return false;
  char name = *in->at++;
  if (name == 'u') {
    long code = take_code_unit(in);
    if (code < 0) return false;
    bool is_high = code >= 0xd800 && code < 0xdc00;
    if (is_high && in->end - in->at >= 6 && in->at[0] == '\\' && in->at[1] == 'u') {
      struct cursor ahead = {in->at + 2, in->end};
      long low = take_code_unit(&ahead);
      if (low >= 0xdc00 && low < 0xe000) {
        *in = ahead;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      }
    }
    /* Half of a pair alone is no character. */
    *out = put_code_point(*out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    return true;
  }
  const char *found = name == '\0' ? NULL : strchr(names, name);
  if (found == NULL) return false;
  *(*out)++ = values[found - names];
  return true;
}

/* Decodes a string in place: it never gets longer. */
static bool take_string(struct cursor *in, struct text *text) {
  if (!take(in, '"')) return false;
  char *out = (char *)in->at;
  text->bytes = out;
  while (in->at < in->end) {
    char next = *in->at++;
    if (next == '"') {
      text->length = (size_t)(out - text->bytes);
      return true;
    }
    if (next != '\\') *out++ = next;
    else if (!take_escape(in, &out)) return false;
  }
  return false;
}

/* Finds strings of the object in `json`, decoded to UTF-8 over the input. False if it is no flat object of strings. */
static bool read_strings(struct text json, struct field *fields, size_t count) {
  struct cursor in = {json.bytes, json.bytes + json.length};
  if (!take(&in, '{')) return false;
  if (take(&in, '}')) return true;
  do {
    struct text key;
    struct text value;
    if (!take_string(&in, &key) || !take(&in, ':') || !take_string(&in, &value)) return false;
    for (size_t i = 0; i < count; i++) {
      bool is_it = key.length == strlen(fields[i].name) && memcmp(key.bytes, fields[i].name, key.length) == 0;
      if (is_it) fields[i].value = value;
    }
  } while (take(&in, ','));
  return take(&in, '}');
}

#endif
