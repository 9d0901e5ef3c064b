"""The blocks that a file defines, and those that it includes from other files."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from paramcount.errors import SpecError, quote
from paramcount.graph.builder import DEPTH
from paramcount.language.blocks import read_body, read_signature
from paramcount.language.context import Context, Enough, File, empty, mapping_of, text_of, wrong
from paramcount.language.forms import FORMS
from paramcount.language.kinds import read_defaults
from paramcount.language.yaml.nodes import Mapping, Node, Sequence
from paramcount.language.yaml.reader import read_text
from paramcount.language.yaml.source import read_source
from paramcount.layers import MODULES, registry

DEEPEST = 32  # files that include each other


def read_blocks(node: Node, context: Context, defaults: Node | None = None) -> None:
    """Blocks: first all signatures, so that they may call each other; then the defaults; then the bodies."""
    found = []
    for key, value in mapping_of(node, "`blocks`").entries:
        if key.text in registry or key.text in MODULES or key.text in FORMS:
            hint = "choose another name; a block may stand for a shipped block, never for a kind"
            context.file.note(wrong(key, f"{quote(key.text)} is a kind", hint))
            continue
        block = context.attempt(read_signature, key, value, context)
        if block is None:
            context.file.broken.add(key.text)
        else:
            context.file.blocks[block.name] = block
            found.append((block, value))
    if defaults is not None and not empty(defaults):
        context.attempt(lambda: read_defaults(mapping_of(defaults, "`defaults`"), context))
    for block, value in found:
        context.attempt(read_body, block, value, context)
    context.attempt(refuse_circles, context.file)


def read_includes(node: Node, context: Context, path: str, chain: tuple[str, ...] = ()) -> None:
    """Blocks of other files in the same folder or below, with their own defaults."""
    for each in node.items if isinstance(node, Sequence) else [node]:
        context.attempt(read_include, each, context, path, (*chain, os.path.abspath(path)))


def read_include(node: Node, context: Context, path: str, trail: tuple[str, ...]) -> None:
    """The blocks of one file; `trail` are the files that include each other up to here."""
    folder = os.path.dirname(os.path.abspath(path))
    name = text_of(node, "a file to include")
    target = os.path.abspath(os.path.join(folder, name))
    if not os.path.realpath(target).startswith(os.path.realpath(folder) + os.sep) or os.path.isabs(name):
        raise wrong(node, f"{quote(name)} is outside the spec's folder", "include files in the same folder or below")
    if target in trail:
        names = [os.path.basename(file) for file in (*trail[trail.index(target) :], target)]
        raise wrong(node, f"files include each other in a circle: {' -> '.join(names)}", "remove one `include`")
    if not os.path.isfile(target):
        raise wrong(node, f"there is no file {quote(name)} to include", f"it is looked for in {quote(folder)}")
    if len(trail) == DEEPEST:
        raise wrong(node, f"more than {DEEPEST} files include each other", "put the blocks into fewer files")
    for block in included_blocks(target, os.path.join(os.path.dirname(path), name), trail):
        context.file.blocks[block.name] = block


def included_blocks(target: str, name: str, trail: tuple[str, ...]) -> list[Any]:
    root = mapping_of(read_text(read_source(target), name), "an included file")
    file = File(name)
    with suppress(Enough):
        read_included(root, file, name, trail)
    file.report()
    return list(file.blocks.values())


def read_included(root: Mapping, file: File, name: str, trail: tuple[str, ...]) -> None:
    context = Context(file)
    for key, _ in root.entries:
        if key.text not in ("blocks", "defaults", "include", "name", "about", "source"):
            hint = "an included file has `blocks:` and their `defaults:`; its blocks see no variables"
            file.note(wrong(key, f"{quote(key.text)} has no meaning in an included file", hint))
    include, blocks = root.get("include"), root.get("blocks")
    if include is not None:
        context.attempt(read_includes, include, context, name, trail)
    if blocks is None:
        file.note(wrong(root, f"{quote(name)} has no `blocks:`", "an included file gives blocks"))
    else:
        context.attempt(read_blocks, blocks, context, root.get("defaults"))


def refuse_circles(file: File) -> None:
    """Note an error for blocks that contain themselves, directly or through others."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> None:
        if name in path:
            circle = [*path[path.index(name) :], name]
            position = file.blocks[path[-1]].calls[name]
            raise SpecError(
                f"the block {quote(name)} calls itself: {' -> '.join(circle)}",
                hint="a network has no recursion; use `repeat`",
                position=position,
            )
        if len(path) > DEPTH:
            message = f"more than {DEPTH} blocks inside each other: {' -> '.join(path[:3])} -> ..."
            raise SpecError(message, hint="use `repeat`", position=file.blocks[path[0]].position)
        if name not in done and name in file.blocks:
            for called in file.blocks[name].calls:
                visit(called, [*path, name])
            done.add(name)

    for name in file.blocks:
        visit(name, [])
