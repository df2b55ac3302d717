"""Reads the text of a page: follows its operators and puts the pieces into lines."""

import unicodedata

from pdf_fonts import Font
from pdf_reader import Lexer, Name, Stream, Word

MAX_FORMS = 20
MAX_OPERATIONS = 5_000_000
IDENTITY = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)

SETTINGS = {
    "TL": lambda value: ("leading", value),
    "Tc": lambda value: ("letter_space", value),
    "Tw": lambda value: ("word_space", value),
    "Tz": lambda value: ("stretch", value / 100),
}


def page_text(document, page):
    """The text of a page, line by line."""
    reader = _PageReader(document)
    contents = document.get(page.get("Contents"))
    parts = contents if isinstance(contents, list) else [contents]
    streams = [stream for stream in map(document.get, parts) if isinstance(stream, Stream)]
    reader.read(b"\n".join(document.stream_bytes(stream) for stream in streams), page.get("Resources"), 0)
    return unicodedata.normalize("NFC", reader.text())


def _multiply(first, second):
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


class _PageReader:
    def __init__(self, document):
        self.document = document
        self.fonts = {}
        self.font = None
        self.size = 1.0
        self.leading = 0.0
        self.letter_space = 0.0
        self.word_space = 0.0
        self.stretch = 1.0
        self.page_matrix = IDENTITY
        self.matrix = IDENTITY
        self.line_matrix = IDENTITY
        self.saved = []
        self.lines = []
        self.last = None
        self.operations = 0

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).strip("\n")

    def read(self, content, resources, depth):
        lexer, operands = Lexer(content), []
        value = lexer.read()
        while value is not None:
            self.operations += 1
            if self.operations > MAX_OPERATIONS:
                self.document.warn("a page has too many operations; its text is cut")
                return
            if not isinstance(value, Word):
                operands.append(value)
            elif value == "BI":
                self._skip_image(lexer)
                operands = []
            else:
                self._run(str(value), operands, resources, depth)
                operands = []
            value = lexer.read()

    def _skip_image(self, lexer):
        end = lexer.data.find(b"EI", lexer.position)
        while end >= 0 and lexer.data[end + 2 : end + 3].strip():
            end = lexer.data.find(b"EI", end + 2)
        lexer.position = len(lexer.data) if end < 0 else end + 2

    def _run(self, operator, operands, resources, depth):
        numbers = [float(value) for value in operands if type(value) in (int, float)]
        strings = [value for value in operands if isinstance(value, bytes)]
        if operator == "BT":
            self.matrix = self.line_matrix = IDENTITY
        elif operator == "q":
            self.saved.append((self.page_matrix, self.font, self.size, self.leading))
        elif operator == "Q" and self.saved:
            self.page_matrix, self.font, self.size, self.leading = self.saved.pop()
        elif operator == "cm" and len(numbers) == 6:
            self.page_matrix = _multiply(tuple(numbers), self.page_matrix)
        elif operator == "Tf" and operands and isinstance(operands[0], Name):
            self.font = self._find_font(operands[0], resources)
            self.size = numbers[0] if numbers else 1.0
        elif operator in SETTINGS and numbers:
            setattr(self, *SETTINGS[operator](numbers[0]))
        elif operator in ("Td", "TD") and len(numbers) == 2:
            self.leading = -numbers[1] if operator == "TD" else self.leading
            self._move(*numbers)
        elif operator == "Tm" and len(numbers) == 6:
            self.matrix = self.line_matrix = tuple(numbers)
        elif operator == "T*":
            self._move(0, -self.leading)
        elif operator == "Tj":
            self._show(strings)
        elif operator in ("'", '"'):
            self._move(0, -self.leading)
            self._show(strings)
        elif operator == "TJ" and operands and isinstance(operands[-1], list):
            self._show(operands[-1])
        elif operator == "Do" and operands and isinstance(operands[0], Name) and depth < MAX_FORMS:
            self._draw(operands[0], resources, depth)

    def _move(self, x, y):
        self.line_matrix = self.matrix = _multiply((1, 0, 0, 1, x, y), self.line_matrix)

    def _lookup(self, kind, name, resources):
        resources = self.document.get(resources)
        group = self.document.get(resources.get(kind)) if isinstance(resources, dict) else None
        return self.document.get(group.get(name)) if isinstance(group, dict) else None

    def _find_font(self, name, resources):
        attributes = self._lookup("Font", name, resources)
        if not isinstance(attributes, dict):
            return None
        if id(attributes) not in self.fonts:
            label = str(self.document.get(attributes.get("BaseFont")) or name)
            self.fonts[id(attributes)] = Font(self.document, attributes, label)
        return self.fonts[id(attributes)]

    def _draw(self, name, resources, depth):
        form = self._lookup("XObject", name, resources)
        if not isinstance(form, Stream) or form.attributes.get("Subtype") != "Form":
            return
        before = (self.page_matrix, self.font, self.size, self.leading)
        matrix = self.document.get(form.attributes.get("Matrix"))
        if isinstance(matrix, list) and len(matrix) == 6 and all(type(value) in (int, float) for value in matrix):
            self.page_matrix = _multiply(tuple(matrix), self.page_matrix)
        self.read(self.document.stream_bytes(form), form.attributes.get("Resources", resources), depth + 1)
        self.page_matrix, self.font, self.size, self.leading = before

    def _show(self, items):
        for item in items:
            if isinstance(item, bytes):
                self._place(item)
            elif type(item) in (int, float):
                self._advance(-item / 1000)

    def _advance(self, width):
        self.matrix = _multiply((1, 0, 0, 1, width * self.size * self.stretch, 0), self.matrix)

    def _place(self, data):
        text = self.font.decode(data) if self.font else data.decode("cp1252", "replace")
        before = _multiply(self.matrix, self.page_matrix)
        self._advance(self.font.measure(data) if self.font else len(data) * 0.5)
        extra = self.letter_space * len(text) + self.word_space * text.count(" ")
        self.matrix = _multiply((1, 0, 0, 1, extra * self.stretch, 0), self.matrix)
        if not text:
            return
        height = max(abs(self.size * (before[3] or before[1] or 1)), 0.1)
        self._start_line(text, before[4], before[5], height)
        self.lines[-1].append(text)
        self.last = _multiply(self.matrix, self.page_matrix)[4:]

    def _start_line(self, text, x, y, height):
        """Ends the line when the text goes on elsewhere, and puts a space where there is a gap."""
        if self.last is None or abs(y - self.last[1]) > height * 0.4:
            if self.last is not None and abs(y - self.last[1]) > height * 1.9:
                self.lines.append([])
            self.lines.append([])
        elif abs(x - self.last[0]) > height * 0.15 and not self.lines[-1][-1].endswith(" ") and not text.startswith(" "):
            self.lines[-1].append(" ")
