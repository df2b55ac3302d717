#!/usr/bin/env python3
"""Greet a person."""
import click


@click.command()
@click.argument("name")
@click.option("--times", default=1, type=int, help="how often")
@click.option("--style", type=click.Choice(["quiet", "loud"]), default="quiet")
def main(name, times, style):
    """Greet a person."""
    for _ in range(times):
        click.echo(f"Hello {name}" + ("!" if style == "loud" else ""))


if __name__ == "__main__":
    main()
