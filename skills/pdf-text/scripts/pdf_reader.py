"""Reads the objects of a PDF file: enough for text, with the standard library only."""

import re
import zlib

MAX_FILE_BYTES = 256 * 1024 * 1024
MAX_STREAM_BYTES = 64 * 1024 * 1024
MAX_PAGES = 20_000
MAX_DEPTH = 100
LONGEST_NUMBER = 18
LONGEST_STRING = 1_000_000

WHITESPACE = b"\x00\t\n\x0c\r "
DELIMITERS = b"()<>[]{}/%"
REGULAR = re.compile(rb"[^\x00\t\n\x0c\r ()<>\[\]{}/%]+")
SPACE = re.compile(rb"(?:[\x00\t\n\x0c\r ]+|%[^\r\n]*)+")
OBJECT = re.compile(rb"(?<!\d)(\d{1,10})[\x00\t\n\x0c\r ]+(\d{1,5})[\x00\t\n\x0c\r ]+obj\b")
PLAIN = re.compile(rb"[^()\\]+")
OCTAL = re.compile(rb"[0-7]{1,3}")
ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)$")


class PdfError(Exception):
    """The file cannot be read; the message says why."""


class Name(str):
    """A PDF name, without its slash."""


class Word(str):
    """An operator of a content stream, or a keyword."""


class Reference(tuple):
    """A pointer to another object: number and generation."""


class Stream:
    """A dictionary with bytes that are still encoded."""

    def __init__(self, attributes, raw):
        self.attributes = attributes
        self.raw = raw


class Lexer:
    """Takes PDF syntax apart, from a position in some bytes."""

    def __init__(self, data, position=0):
        self.data = data
        self.position = position

    def skip_space(self):
        match = SPACE.match(self.data, self.position)
        if match:
            self.position = match.end()

    def read(self, depth=0):
        """The next value; None at the end."""
        if depth > MAX_DEPTH:
            raise PdfError("it is nested too deeply")
        self.skip_space()
        data, start = self.data, self.position
        if start >= len(data):
            return None
        first = data[start : start + 1]
        if first == b"/":
            return self._read_name()
        if first == b"(":
            return self._read_string()
        if data.startswith(b"<<", start):
            return self._read_dictionary(depth)
        if first == b"<":
            return self._read_hex()
        if first == b"[":
            return self._read_list(depth)
        if first in (b"]", b">", b")", b"{", b"}"):
            self.position += 2 if data.startswith(b">>", start) else 1
            return Word(data[start : self.position].decode("latin-1"))
        match = REGULAR.match(data, start)
        self.position = match.end()
        return self._to_value(match.group())

    def _to_value(self, text):
        if len(text) <= LONGEST_NUMBER and NUMBER.match(text):
            return float(text) if b"." in text else int(text)
        constants = {b"true": True, b"false": False, b"null": Word("null")}
        return constants.get(text, Word(text.decode("latin-1")))

    def _read_name(self):
        match = REGULAR.match(self.data, self.position + 1)
        if not match:
            self.position += 1
            return Name("")
        self.position = match.end()
        text = re.sub(rb"#([0-9A-Fa-f]{2})", lambda found: bytes([int(found.group(1), 16)]), match.group())
        return Name(text.decode("latin-1"))

    def _read_string(self):
        data, position, depth = self.data, self.position + 1, 1
        out = bytearray()
        while position < len(data):
            plain = PLAIN.match(data, position)
            if plain:
                out += plain.group()
                position = plain.end()
                continue
            char = data[position : position + 1]
            position += 1
            if char == b"\\":
                position = self._read_escape(position, out)
                continue
            depth += 1 if char == b"(" else -1
            if depth == 0:
                break
            out += char
        self.position = position
        return bytes(out[:LONGEST_STRING])

    def _read_escape(self, position, out):
        following = self.data[position : position + 1]
        octal = OCTAL.match(self.data, position)
        if octal:
            out.append(int(octal.group(), 8) & 0xFF)
            return octal.end()
        if following in (b"\r", b"\n"):
            return position + (2 if self.data[position : position + 2] == b"\r\n" else 1)
        out += ESCAPES.get(following, following)
        return position + 1

    def _read_hex(self):
        end = self.data.find(b">", self.position)
        end = len(self.data) if end < 0 else end
        digits = re.sub(rb"[^0-9A-Fa-f]", b"", self.data[self.position + 1 : end])
        self.position = end + 1
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))

    def _read_list(self, depth):
        self.position += 1
        items = []
        while True:
            value = self.read(depth + 1)
            if value is None or (isinstance(value, Word) and value in ("]", ">>", "endobj")):
                return items
            _append(items, value)

    def _read_dictionary(self, depth):
        self.position += 2
        items = []
        while True:
            value = self.read(depth + 1)
            if value is None or (isinstance(value, Word) and value in (">>", "endobj")):
                break
            _append(items, value)
        return {key: value for key, value in zip(items[::2], items[1::2]) if isinstance(key, Name)}


def _append(items, value):
    """`12 0 R` is one value."""
    if isinstance(value, Word) and value == "R" and len(items) >= 2 and all(type(item) is int for item in items[-2:]):
        generation, number = items.pop(), items.pop()
        items.append(Reference((number, generation)))
    else:
        items.append(value)


class Document:
    """A PDF file, read as a whole."""

    def __init__(self, data):
        if len(data) > MAX_FILE_BYTES:
            raise PdfError(f"it is larger than {MAX_FILE_BYTES // (1024 * 1024)} MB")
        if b"%PDF-" not in data[:1024]:
            raise PdfError("it is not a PDF: it does not start with %PDF-")
        self.data = data
        self.warnings = []
        self._offsets = {}
        self._inside = {}
        self._cache = {}
        # The newest version of an object stands last, so scanning needs no xref and reads damaged files too.
        for match in OBJECT.finditer(data):
            self._offsets[int(match.group(1))] = match.end()
        self.trailer = self._find_trailer()
        if "Encrypt" in self.trailer:
            return
        self._index_object_streams()

    @property
    def encrypted(self):
        return "Encrypt" in self.trailer

    @property
    def version(self):
        match = re.search(rb"%PDF-(\d\.\d)", self.data[:1024])
        return match.group(1).decode("ascii") if match else ""

    def warn(self, text):
        if text not in self.warnings:
            self.warnings.append(text)

    def get(self, value, depth=0):
        """The object behind a reference; any other value as it is."""
        if not isinstance(value, Reference):
            return None if isinstance(value, Word) and value == "null" else value
        number = value[0]
        if depth > MAX_DEPTH:
            return None
        if number not in self._cache:
            # A circle of references ends here.
            self._cache[number] = None
            self._cache[number] = self.get(self._read_object(number), depth + 1)
        return self._cache[number]

    def stream_bytes(self, stream):
        """The decoded bytes of a stream."""
        data = stream.raw
        filters = _listed(self.get(stream.attributes.get("Filter")))
        parameters = _listed(self.get(stream.attributes.get("DecodeParms")))
        for index, name in enumerate(filters):
            settings = self.get(parameters[index]) if index < len(parameters) else None
            data = self._decode(str(self.get(name)), data, settings if isinstance(settings, dict) else {})
        return data

    def _decode(self, name, data, settings):
        if name in ("FlateDecode", "Fl"):
            return _unpredict(_inflate(data), settings)
        if name in ("LZWDecode", "LZW"):
            return _unpredict(_unpack_lzw(data, 0 if settings.get("EarlyChange") == 0 else 1), settings)
        if name in ("ASCIIHexDecode", "AHx"):
            return Lexer(b"<" + data.split(b">")[0] + b">").read()
        if name in ("ASCII85Decode", "A85"):
            return _unpack_ascii85(data)
        self.warn(f"a stream is packed with {name}, which is not supported")
        return b""

    def _read_object(self, number):
        if number in self._inside:
            return self._read_packed(number)
        offset = self._offsets.get(number)
        if offset is None:
            return None
        lexer = Lexer(self.data, offset)
        value = lexer.read()
        if not isinstance(value, dict):
            return self._maybe_reference(value, lexer)
        lexer.skip_space()
        if not self.data.startswith(b"stream", lexer.position):
            return value
        start = lexer.position + len(b"stream")
        start += 2 if self.data[start : start + 2] == b"\r\n" else 1
        return Stream(value, self._raw_stream(value, start))

    def _maybe_reference(self, value, lexer):
        """An object may be nothing but a pointer to another one."""
        if type(value) is int:
            items = [value, lexer.read()]
            _append(items, lexer.read())
            if isinstance(items[0], Reference):
                return items[0]
        return value

    def _raw_stream(self, attributes, start):
        length = attributes.get("Length")
        if isinstance(length, Reference) and length[0] in self._offsets:
            length = Lexer(self.data, self._offsets[length[0]]).read()
        if type(length) is int and length >= 0:
            end = start + length
            if self.data[end : end + 20].lstrip(WHITESPACE).startswith(b"endstream"):
                return self.data[start:end]
        end = self.data.find(b"endstream", start)
        return self.data[start : end if end >= 0 else len(self.data)]

    def _find_trailer(self):
        trailer = {}
        for match in re.finditer(rb"trailer", self.data):
            found = Lexer(self.data, match.end()).read()
            if isinstance(found, dict):
                trailer.update(found)
        for number in list(self._offsets):
            offset = self._offsets[number]
            if b"/XRef" not in self.data[offset : offset + 2048]:
                continue
            found = Lexer(self.data, offset).read()
            if isinstance(found, dict) and found.get("Type") == "XRef":
                trailer.update({key: found[key] for key in ("Root", "Info", "Encrypt", "ID") if key in found})
        return trailer

    def _index_object_streams(self):
        for number in sorted(self._offsets):
            offset = self._offsets[number]
            if b"/ObjStm" not in self.data[offset : offset + 2048]:
                continue
            stream = self._read_object(number)
            if not isinstance(stream, Stream) or stream.attributes.get("Type") != "ObjStm":
                continue
            content = self.stream_bytes(stream)
            count, first = self.get(stream.attributes.get("N")), self.get(stream.attributes.get("First"))
            if type(count) is not int or type(first) is not int:
                continue
            lexer = Lexer(content)
            for _ in range(min(count, len(content))):
                inner, position = lexer.read(), lexer.read()
                if type(inner) is not int or type(position) is not int or inner in self._offsets:
                    continue
                if 0 <= first + position < len(content):
                    self._inside[inner] = (content, first + position)

    def _read_packed(self, number):
        content, position = self._inside[number]
        lexer = Lexer(content, position)
        return self._maybe_reference(lexer.read(), lexer)

    def pages(self):
        """The dictionaries of the pages, in order, with what they inherit."""
        root = self.get(self.trailer.get("Root"))
        tree = self.get(root.get("Pages")) if isinstance(root, dict) else None
        if not isinstance(tree, dict):
            return self._loose_pages()
        pages = []
        waiting = [(tree, {})]
        seen = set()
        while waiting and len(pages) < MAX_PAGES:
            node, inherited = waiting.pop()
            if not isinstance(node, dict) or id(node) in seen:
                continue
            seen.add(id(node))
            own = {**inherited, **{key: node[key] for key in ("Resources", "MediaBox", "Rotate") if key in node}}
            kids = self.get(node.get("Kids"))
            if isinstance(kids, list):
                waiting.extend((self.get(kid), own) for kid in reversed(kids))
            else:
                pages.append({**own, **node})
        return pages

    def _loose_pages(self):
        """Without a page tree: every object that says it is a page."""
        self.warn("the page tree is missing; the pages may be in another order")
        found = (self.get(Reference((number, 0))) for number in sorted({*self._offsets, *self._inside}))
        return [value for value in found if isinstance(value, dict) and value.get("Type") == "Page"][:MAX_PAGES]


def _listed(value):
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _inflate(data):
    for bits in (15, -15):
        decoder = zlib.decompressobj(bits)
        out = b""
        try:
            out = decoder.decompress(data, MAX_STREAM_BYTES)
        except zlib.error:
            out = _inflate_start(data, bits)
        if out:
            return out
    return b""


def _inflate_start(data, bits):
    """What can be read of a damaged stream."""
    decoder, out = zlib.decompressobj(bits), bytearray()
    for start in range(0, len(data), 256):
        try:
            out += decoder.decompress(data[start : start + 256], MAX_STREAM_BYTES)
        except zlib.error:
            break
        if len(out) > MAX_STREAM_BYTES:
            break
    return bytes(out)


def _unpredict(data, settings):
    if _whole(settings, "Predictor", 1) < 10:
        return data
    colors, bits = _whole(settings, "Colors", 1), _whole(settings, "BitsPerComponent", 8)
    width = max(1, _whole(settings, "Columns", 1) * colors * bits // 8)
    step = max(1, colors * bits // 8)
    before, out = bytearray(width), bytearray()
    for start in range(0, len(data), width + 1):
        kind, row = data[start], bytearray(data[start + 1 : start + 1 + width])
        for index, value in enumerate(row):
            left = row[index - step] if index >= step else 0
            above = before[index]
            corner = before[index - step] if index >= step else 0
            row[index] = (value + _prediction(kind, left, above, corner)) & 0xFF
        out += row
        before = row + bytearray(max(0, width - len(row)))
    return bytes(out)


def _whole(settings, key, fallback):
    value = settings.get(key)
    return value if type(value) is int and 0 < value < 1_000_000 else fallback


def _prediction(kind, left, above, corner):
    if kind == 1:
        return left
    if kind == 2:
        return above
    if kind == 3:
        return (left + above) // 2
    if kind == 4:
        guess = left + above - corner
        nearest = min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))
        return nearest[2]
    return 0


def _unpack_lzw(data, early):
    table = [bytes([value]) for value in range(256)] + [b"", b""]
    width, buffer, bits = 9, 0, 0
    out, before = bytearray(), b""
    for byte in data:
        buffer, bits = (buffer << 8) | byte, bits + 8
        if bits < width:
            continue
        bits -= width
        code, buffer = buffer >> bits, buffer & ((1 << bits) - 1)
        if code == 257 or len(out) > MAX_STREAM_BYTES:
            break
        if code == 256:
            table, width, before = table[:258], 9, b""
            continue
        entry = table[code] if code < len(table) else before + before[:1]
        out += entry
        if before:
            table.append(before + entry[:1])
        before = entry
        if len(table) + early >= 1 << width and width < 12:
            width += 1
    return bytes(out)


def _unpack_ascii85(data):
    text = re.sub(rb"\s", b"", data.split(b"~>")[0])
    out, group = bytearray(), []
    for char in text:
        if char == 0x7A and not group:
            out += b"\0\0\0\0"
        elif 33 <= char <= 117:
            group.append(char - 33)
            if len(group) == 5:
                out += _from_base85(group, 4)
                group = []
    if len(group) > 1:
        out += _from_base85(group + [84] * (5 - len(group)), len(group) - 1)
    return bytes(out)


def _from_base85(digits, count):
    value = 0
    for digit in digits:
        value = value * 85 + digit
    return (value & 0xFFFFFFFF).to_bytes(4, "big")[:count]
