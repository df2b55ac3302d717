#!/usr/bin/env python3
"""Count and rate texts: length, frequent words and phrases, readability.

All answers are JSON on standard output.
"""

import argparse
import json
import re
import sys
from collections import Counter

MAX_BYTES = 64 * 1024 * 1024
WORDS_PER_MINUTE = 230

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+")

COMMON = set(
    "a about after all also an and any are as at be because been but by can could did do does for from had has have he "
    "her him his how i if in into is it its just like may me more most my no not of on one only or other our out over "
    "she should so some such than that the their them then there these they this to two up us was we were what when "
    "which who will with would you your".split()
)


def read_text(path):
    if path == "-":
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // (1024 * 1024)} MB")
    if b"\x00" in data:
        raise ValueError("it is not a text")
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def to_prose(text):
    """Markdown without what nobody reads as a sentence."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    text = re.sub(r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[`~]*[ \t]*$", "", text, flags=re.S | re.M)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`\n]*`", "", text)
    text = re.sub(r"^[ \t]*(?:#{1,6}|[-*+]|\d+[.)]|>)[ \t]+", "", text, flags=re.M)
    return re.sub(r"^[ \t]*\|.*$", "", text, flags=re.M)


def split_sentences(text):
    """Sentences; a blank line always ends one."""
    sentences = []
    for paragraph in re.split(r"\n\s*\n", text):
        flat = " ".join(paragraph.split())
        sentences.extend(part for part in SENTENCE_END.split(flat) if WORD.search(part))
    return sentences


def count_syllables(word):
    """About how many syllables an English word has."""
    plain = re.sub(r"[^a-z]", "", word.lower())
    groups = len(re.findall(r"[aeiouy]+", plain))
    if plain.endswith("e") and not plain.endswith(("le", "ee")) and groups > 1:
        groups -= 1
    return max(1, groups)


def count(args):
    text = read_text(args.file)
    prose = text if args.raw else to_prose(text)
    words = WORD.findall(prose)
    left_out = len(WORD.findall(text)) - len(words)
    return {
        "words": len(words),
        **({"left_out": f"{left_out} words of code, tables, links and front matter; raw counts them, too"} if left_out > 0 else {}),
        "sentences": len(split_sentences(prose)),
        "paragraphs": sum(1 for part in re.split(r"\n\s*\n", prose) if WORD.search(part)),
        "lines": len(text.splitlines()),
        "characters": len(text),
        "characters_without_spaces": sum(1 for char in text if not char.isspace()),
        "distinct_words": len({word.lower() for word in words}),
        "reading_minutes": round(len(words) / WORDS_PER_MINUTE, 1),
    }


def words(args):
    prose = read_text(args.file) if args.raw else to_prose(read_text(args.file))
    found = Counter()
    total = 0
    for sentence in split_sentences(prose):
        plain = [word.lower() for word in WORD.findall(sentence)]
        total += len(plain)
        for start in range(len(plain) - args.phrase_length + 1):
            phrase = plain[start : start + args.phrase_length]
            if not args.common and (phrase[0] in COMMON or phrase[-1] in COMMON):
                continue
            if len(" ".join(phrase)) >= args.min_length:
                found[" ".join(phrase)] += 1
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[: args.top]
    return {"words": total, "top": [{"text": text, "count": times} for text, times in ranked]}


def readability(args):
    prose = read_text(args.file) if args.raw else to_prose(read_text(args.file))
    sentences = [(sentence, WORD.findall(sentence)) for sentence in split_sentences(prose)]
    total = sum(len(plain) for _, plain in sentences)
    if total == 0:
        raise ValueError("there are no words in it")
    syllables = sum(count_syllables(word) for _, plain in sentences for word in plain)
    per_sentence, per_word = total / len(sentences), syllables / total
    hardest = sorted(sentences, key=lambda item: -len(item[1]))[: args.sentences]
    return {
        "flesch_reading_ease": round(206.835 - 1.015 * per_sentence - 84.6 * per_word, 1),
        "grade_level": round(0.39 * per_sentence + 11.8 * per_word - 15.59, 1),
        "words_per_sentence": round(per_sentence, 1),
        "syllables_per_word": round(per_word, 2),
        "hardest_sentences": [{"words": len(plain), "text": sentence[:400]} for sentence, plain in hardest],
    }


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value


def build_parser():
    parser = argparse.ArgumentParser(description="Count and rate texts.")
    commands = parser.add_subparsers(dest="command", required=True)

    counting = commands.add_parser("count", help="Count words, sentences, paragraphs, lines and characters")
    counting.add_argument("file", help="the text; - reads standard input")
    counting.add_argument("--raw", action="store_true", help="count everything, also Markdown's code and links")
    counting.set_defaults(run=count)

    frequent = commands.add_parser("words", help="Find the most frequent words or phrases")
    frequent.add_argument("file", help="the text; - reads standard input")
    frequent.add_argument("--top", type=positive, default=10, metavar="N", help="how many to list")
    frequent.add_argument("--phrase-length", type=positive, default=1, metavar="N", help="words in a phrase")
    frequent.add_argument("--min-length", type=positive, default=3, metavar="N", help="characters it must have")
    frequent.add_argument("--common", action="store_true", help='also count words like "the" and "is"')
    frequent.add_argument("--raw", action="store_true", help="read everything, also Markdown's code and links")
    frequent.set_defaults(run=words)

    rating = commands.add_parser("readability", help="Rate how hard an English text is to read")
    rating.add_argument("file", help="the text; - reads standard input")
    rating.add_argument("--sentences", type=positive, default=3, metavar="N", help="how many hard sentences to list")
    rating.add_argument("--raw", action="store_true", help="read everything, also Markdown's code and links")
    rating.set_defaults(run=readability)
    return parser


def main():
    args = build_parser().parse_args()
    try:
        answer = args.run(args)
    except (OSError, ValueError) as error:
        print(f"stats: {args.file}: {error}", file=sys.stderr)
        return 1
    sys.stdout.reconfigure(encoding="utf-8")
    print(json.dumps(answer, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
