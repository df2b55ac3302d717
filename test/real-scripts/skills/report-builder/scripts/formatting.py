"""Helpers for tables; imported by the other scripts."""


def table(rows):
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"| {name.ljust(width)} | {value:>8.2f} |" for name, value in rows)
