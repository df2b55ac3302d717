#!/usr/bin/env python3
"""Look into ZIP and TAR archives without unpacking them."""

import argparse
import fnmatch
import json
import os
import posixpath
import re
import sys
import tarfile
import time
import zipfile
import zlib

MAX_ENTRIES = 200_000
BOMB_RATIO = 100
BOMB_BYTES = 100 * 1024 * 1024
WARNINGS = {"encrypted", "duplicate"}
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

READ_ERRORS = (OSError, ValueError, RuntimeError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error)


class Entry:
    """One entry of an archive, whichever kind it is."""

    def __init__(self, name, size, kind, **facts):
        self.name = name
        self.size = size
        self.kind = kind
        self.packed = facts.get("packed")
        self.modified = facts.get("modified")
        self.mode = facts.get("mode", 0)
        self.link = facts.get("link")
        self.encrypted = facts.get("encrypted", False)
        self.source = facts.get("source")

    def describe(self):
        facts = {"name": self.name, "kind": self.kind, "size": self.size}
        if self.packed is not None:
            facts["packed"] = self.packed
        facts["modified"] = self.modified
        if self.link is not None:
            facts["link"] = self.link
        if self.encrypted:
            facts["encrypted"] = True
        return facts


def open_archive(path):
    """The archive, its kind, and its entries."""
    if zipfile.is_zipfile(path):
        archive = zipfile.ZipFile(path)
        return archive, "zip", [from_zip(item) for item in archive.infolist()[:MAX_ENTRIES]]
    try:
        archive = tarfile.open(path, "r:*")
    except tarfile.ReadError:
        raise ValueError("it is neither a ZIP nor a TAR archive") from None
    entries = []
    for item in archive:
        entries.append(from_tar(item))
        if len(entries) >= MAX_ENTRIES:
            break
    return archive, "tar", entries


def from_zip(item):
    mode = item.external_attr >> 16
    kind = {0o120000: "link", 0o040000: "folder", 0o020000: "device", 0o060000: "device", 0o010000: "device"}.get(
        mode & 0o170000, "folder" if item.is_dir() else "file"
    )
    moment = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*item.date_time)
    return Entry(
        # The name as it is stored: zipfile changes it to what is safe, and hides what we look for.
        item.orig_filename,
        item.file_size,
        kind,
        packed=item.compress_size,
        modified=moment,
        mode=mode & 0o7777,
        encrypted=bool(item.flag_bits & 1),
        source=item,
    )


def from_tar(item):
    kind = "file"
    if item.isdir():
        kind = "folder"
    elif item.issym() or item.islnk():
        kind = "link"
    elif not item.isreg():
        kind = "device"
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(min(max(item.mtime, 0), 253402300799)))
    return Entry(
        item.name,
        item.size,
        kind,
        modified=moment,
        mode=item.mode & 0o7777,
        link=item.linkname if kind == "link" else None,
        source=item,
    )


def list_entries(args):
    _, kind, entries = open_archive(args.archive)
    chosen = [entry for entry in entries if args.match is None or fnmatch.fnmatch(entry.name, args.match)]
    if args.sort == "size":
        chosen.sort(key=lambda entry: -entry.size)
    elif args.sort == "name":
        chosen.sort(key=lambda entry: entry.name)
    answer = {
        "type": kind,
        "entries": len(entries),
        "bytes": sum(entry.size for entry in entries),
        "shown": [entry.describe() for entry in chosen[: args.limit]],
    }
    return answer, 0


def check_archive(args):
    archive, kind, entries = open_archive(args.archive)
    findings = []
    seen = {}
    for entry in entries:
        for code, reason in check_entry(entry, archive):
            findings.append({"finding": code, "entry": entry.name, "reason": reason})
        key = posixpath.normpath(entry.name).lower()
        if key in seen and entry.kind != "folder":
            findings.append({"finding": "duplicate", "entry": entry.name, "reason": f"{seen[key]} has the same path"})
        seen.setdefault(key, entry.name)
    findings.extend(check_size(entries, os.path.getsize(args.archive)))
    safe = all(item["finding"] in WARNINGS for item in findings)
    answer = {"type": kind, "entries": len(entries), "safe": safe, "findings": findings[:1000]}
    return answer, 3 if args.exit_code and not safe else 0


def check_entry(entry, archive):
    name = entry.name.replace("\\", "/")
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        yield "absolute-path", "it does not stay in the folder"
    if ".." in name.split("/"):
        yield "parent-path", "it leads out of the folder"
    if HIDDEN.search(entry.name):
        yield "odd-name", "it has characters that nobody sees"
    if entry.kind == "device":
        yield "device", "it is a device or a pipe"
    if entry.kind == "file" and entry.mode & 0o6000:
        yield "privileged", "it has the setuid or setgid bit"
    if entry.encrypted:
        yield "encrypted", "it needs a password"
    target = link_target(entry, archive)
    if target is not None and leaves_folder(entry, target):
        yield "link-outside", f"it leads to {target}"


def link_target(entry, archive):
    if entry.kind != "link":
        return None
    if entry.link is not None:
        return entry.link
    if entry.encrypted or entry.size > 4096:
        return "/"
    return archive.read(entry.source).decode("utf-8", "replace")


def leaves_folder(entry, target):
    target = target.replace("\\", "/")
    # A hard link counts from the root of the archive, a symbolic one from its own folder.
    is_hard = isinstance(entry.source, tarfile.TarInfo) and entry.source.islnk()
    base = "" if is_hard else posixpath.dirname(entry.name)
    path = posixpath.normpath(posixpath.join(base, target))
    return target.startswith("/") or path == ".." or path.startswith("../")


def check_size(entries, archive_bytes):
    # The entries of a packed TAR do not say how large they are packed; then the archive as a whole tells.
    total = Entry("", sum(entry.size for entry in entries), "archive", packed=archive_bytes)
    for entry in [*entries, total]:
        if entry.packed is not None and entry.size > BOMB_BYTES and entry.size > BOMB_RATIO * max(1, entry.packed):
            yield {"finding": "bomb", "entry": entry.name, "reason": f"{entry.size} bytes, packed in {entry.packed}"}


def show_entry(args):
    archive, _, entries = open_archive(args.archive)
    entry = next((item for item in entries if item.name == args.entry and item.kind == "file"), None)
    if entry is None:
        names = ", ".join(item.name for item in entries if item.kind == "file")[:500]
        raise ValueError(f'there is no file "{args.entry}" in it; it has {names or "no files"}')
    if entry.encrypted:
        raise ValueError(f'"{args.entry}" is encrypted')
    file = archive.open(entry.source) if isinstance(archive, zipfile.ZipFile) else archive.extractfile(entry.source)
    with file:
        data = file.read(args.max_bytes + 1)
    answer = {"name": entry.name, "size": entry.size, "cut": len(data) > args.max_bytes}
    data = data[: args.max_bytes]
    if b"\x00" in data:
        answer["hex"] = data[:256].hex(" ")
    else:
        answer["text"] = data.decode("utf-8", "replace")
    return answer, 0


def build_parser():
    parser = argparse.ArgumentParser(description="Look into ZIP and TAR archives without unpacking them.")
    commands = parser.add_subparsers(dest="command", required=True)

    listing = commands.add_parser("list", help="List what is in an archive")
    listing.add_argument("archive", help="the archive")
    listing.add_argument("--match", metavar="PATTERN", help="only entries like this, such as *.json")
    listing.add_argument("--sort", choices=["archive", "name", "size"], default="archive", help="the order")
    listing.add_argument("--limit", type=int, default=200, metavar="N", help="how many entries to show")
    listing.set_defaults(run=list_entries)

    checking = commands.add_parser("check", help="Find what is dangerous about unpacking an archive")
    checking.add_argument("archive", help="the archive")
    checking.add_argument("--exit-code", action="store_true", help="end with exit code 3 if it is not safe")
    checking.set_defaults(run=check_archive)

    showing = commands.add_parser("show", help="Read one file out of an archive")
    showing.add_argument("archive", help="the archive")
    showing.add_argument("entry", help="the path of the file inside it")
    showing.add_argument("--max-bytes", type=int, default=65_536, metavar="N", help="read at most this much")
    showing.set_defaults(run=show_entry)
    return parser


def main():
    args = build_parser().parse_args()
    try:
        answer, code = args.run(args)
    except READ_ERRORS as error:
        print(f"archive: {args.archive}: {error}", file=sys.stderr)
        return 1
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    print(json.dumps(answer, ensure_ascii=False, indent=2))
    return code


if __name__ == "__main__":
    sys.exit(main())
