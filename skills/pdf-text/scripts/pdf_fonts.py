"""Turns the character codes of PDF fonts into text."""

import re

from pdf_reader import Lexer, Name, Stream, Word

GLYPHS = {
    "space": " ", "exclam": "!", "quotedbl": '"', "numbersign": "#", "dollar": "$", "percent": "%", "ampersand": "&",
    "quotesingle": "'", "parenleft": "(", "parenright": ")", "asterisk": "*", "plus": "+", "comma": ",", "hyphen": "-",
    "period": ".", "slash": "/", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5",
    "six": "6", "seven": "7", "eight": "8", "nine": "9", "colon": ":", "semicolon": ";", "less": "<", "equal": "=",
    "greater": ">", "question": "?", "at": "@", "bracketleft": "[", "backslash": "\\", "bracketright": "]",
    "asciicircum": "^", "underscore": "_", "grave": "`", "braceleft": "{", "bar": "|", "braceright": "}",
    "asciitilde": "~", "quoteleft": "‘", "quoteright": "’", "quotedblleft": "“", "quotedblright": "”",
    "quotesinglbase": "‚", "quotedblbase": "„", "endash": "–", "emdash": "—", "bullet": "•", "ellipsis": "…",
    "dagger": "†", "daggerdbl": "‡", "guillemotleft": "«", "guillemotright": "»", "fi": "fi", "fl": "fl", "ff": "ff",
    "ffi": "ffi", "ffl": "ffl", "Euro": "€", "sterling": "£", "yen": "¥", "cent": "¢", "section": "§", "copyright": "©",
    "registered": "®", "trademark": "™", "degree": "°", "plusminus": "±", "multiply": "×", "divide": "÷", "minus": "−",
    "germandbls": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "oslash": "ø", "Oslash": "Ø", "aring": "å",
    "Aring": "Å", "nbspace": " ", "dotlessi": "ı", "fraction": "⁄", "paragraph": "¶", "periodcentered": "·",
}  # fmt: skip

ACCENTS = {
    "grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303", "dieresis": "\u0308",
    "ring": "\u030a", "cedilla": "\u0327", "caron": "\u030c",
}  # fmt: skip

UNKNOWN = "\ufffd"
MAX_RANGE = 65_536


class Font:
    """How the strings of one font are read."""

    def __init__(self, document, attributes, label):
        self.width = 2 if attributes.get("Subtype") == "Type0" else 1
        self.by_code = {}
        self.label = label
        self.is_readable = True
        to_unicode = document.get(attributes.get("ToUnicode"))
        if isinstance(to_unicode, Stream):
            self._read_map(document.stream_bytes(to_unicode))
        elif self.width == 2:
            self.is_readable = False
            document.warn(f"the font {label} has no Unicode table; its text cannot be read")
        if self.width == 1:
            self.by_code = {**_simple_encoding(document, attributes), **self.by_code}
        self.widths, self.usual_width = _read_widths(document, attributes)

    def decode(self, data):
        """The text of a string of this font."""
        if not self.is_readable:
            return ""
        return "".join(self.by_code.get(code, UNKNOWN) for code in self._codes(data))

    def measure(self, data):
        """How wide a string is, for a size of 1."""
        return sum(self.widths.get(code, self.usual_width) for code in self._codes(data)) / 1000

    def _codes(self, data):
        return [int.from_bytes(data[at : at + self.width], "big") for at in range(0, len(data), self.width)]

    def _read_map(self, content):
        lexer, values = Lexer(content), []
        value = lexer.read()
        while value is not None:
            if isinstance(value, Word):
                self._take(str(value), values)
                values = []
            else:
                values.append(value)
            value = lexer.read()

    def _take(self, operator, values):
        if operator == "endcodespacerange":
            lengths = [len(item) for item in values if isinstance(item, bytes)]
            self.width = max(lengths, default=self.width)
        elif operator == "endbfchar":
            for code, text in zip(values[::2], values[1::2]):
                if isinstance(code, bytes):
                    self.by_code[int.from_bytes(code, "big")] = _to_text(text)
        elif operator == "endbfrange":
            for low, high, target in zip(values[::3], values[1::3], values[2::3]):
                if isinstance(low, bytes) and isinstance(high, bytes):
                    self._take_range(int.from_bytes(low, "big"), int.from_bytes(high, "big"), target)

    def _take_range(self, low, high, target):
        for step in range(min(high - low + 1, MAX_RANGE)):
            if isinstance(target, list):
                if step < len(target):
                    self.by_code[low + step] = _to_text(target[step])
            elif isinstance(target, bytes):
                last = (int.from_bytes(target[-2:], "big") + step) & 0xFFFF
                self.by_code[low + step] = _to_text(target[:-2] + last.to_bytes(min(2, len(target)) or 1, "big"))


def _read_widths(document, attributes):
    """Widths by code, in thousandths of the size, and that of all other codes."""
    widths = {}
    if attributes.get("Subtype") == "Type0":
        inner = document.get(attributes.get("DescendantFonts"))
        inner = document.get(inner[0]) if isinstance(inner, list) and inner else None
        inner = inner if isinstance(inner, dict) else {}
        usual = document.get(inner.get("DW"))
        _read_composite_widths(document, document.get(inner.get("W")), widths)
        return widths, usual if _is_number(usual) else 1000
    first, listed = document.get(attributes.get("FirstChar")), document.get(attributes.get("Widths"))
    if type(first) is int and isinstance(listed, list):
        for index, width in enumerate(listed[:256]):
            width = document.get(width)
            if _is_number(width):
                widths[first + index] = width
    return widths, 500


def _read_composite_widths(document, listed, widths):
    """`[1 [500 600] 10 20 700]`: a list from a code on, or one width for a range of codes."""
    items = [document.get(item) for item in listed] if isinstance(listed, list) else []
    while len(items) >= 2 and type(items[0]) is int:
        if isinstance(items[1], list):
            for index, width in enumerate(items[1]):
                if _is_number(width):
                    widths[items[0] + index] = width
            items = items[2:]
        elif len(items) >= 3 and type(items[1]) is int and _is_number(items[2]):
            for code in range(items[0], min(items[1], items[0] + MAX_RANGE) + 1):
                widths[code] = items[2]
            items = items[3:]
        else:
            return


def _is_number(value):
    return type(value) in (int, float)


def _to_text(value):
    if not isinstance(value, bytes):
        return UNKNOWN
    return value.decode("utf-16-be" if len(value) > 1 else "latin-1", "replace").replace("\x00", "")


def _simple_encoding(document, attributes):
    encoding = document.get(attributes.get("Encoding"))
    base = encoding.get("BaseEncoding") if isinstance(encoding, dict) else encoding
    codec = {"MacRomanEncoding": "mac_roman"}.get(str(document.get(base)), "cp1252")
    by_code = {code: bytes([code]).decode(codec, "replace") for code in range(32, 256)}
    if codec == "cp1252" and document.get(base) is None:
        # The standard encoding has typographic quotes where ASCII has straight ones.
        by_code.update({0x27: "’", 0x60: "‘"})
    differences = document.get(encoding.get("Differences")) if isinstance(encoding, dict) else None
    code = 0
    for item in differences if isinstance(differences, list) else []:
        if type(item) is int:
            code = item
        elif isinstance(item, Name):
            by_code[code] = glyph_text(item)
            code += 1
    return by_code


def glyph_text(name):
    """The text of a glyph by its name: `A`, `eacute`, `uni20AC`, `f_i`."""
    plain = name.split(".")[0]
    if plain in GLYPHS:
        return GLYPHS[plain]
    if len(plain) == 1:
        return plain
    match = re.fullmatch(r"(?:uni([0-9A-Fa-f]{4})|u([0-9A-Fa-f]{4,6}))", plain)
    if match:
        point = int(match.group(1) or match.group(2), 16)
        return chr(point) if point < 0x110000 else UNKNOWN
    if "_" in plain:
        return "".join(glyph_text(part) for part in plain.split("_") if part)
    if plain[1:] in ACCENTS:
        return plain[0] + ACCENTS[plain[1:]]
    return UNKNOWN
