"""Reading items: a kind, its arguments, and the modifiers beside it."""

from __future__ import annotations

from typing import Any

from paramcount.errors import SpecError, quote
from paramcount.errors.suggest import did_you_mean, nearest
from paramcount.graph.modifiers import ONLY
from paramcount.language.context import Context, describe, identifier, wrong
from paramcount.language.definitions import signature_for
from paramcount.language.items import MODIFIERS, ItemSyntax, row_error
from paramcount.language.kinds import read_kind
from paramcount.language.paths import read_path
from paramcount.language.written import ANY_KIND, Constant, Several, read_new_name, read_template, read_value
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence

SAID_OTHERWISE = {"trainable": "frozen: true", "as": "name", "id": "name", "if": "when", "times": "repeat"}


def read_item(node: Node, context: Context) -> ItemSyntax:
    """One item: a kind, its arguments, and modifiers beside it."""
    if isinstance(node, Sequence):
        raise wrong(
            node,
            "found a list where a layer was expected",
            "write `kind: arguments`, or `do: [...]` for several layers",
        )
    if isinstance(node, Scalar):
        if not node.text:
            raise wrong(node, "found nothing where a layer was expected", "remove the `-`, or write a layer")
        item = ItemSyntax(node.position, node.text)
        read_kind(item, node, Scalar("", node.position), context)
        return item
    return read_mapping(node, context)


def read_mapping(node: Mapping, context: Context) -> ItemSyntax:
    modifiers = {key.text: (key, value) for key, value in node.entries if key.text in MODIFIERS}
    kinds = [(key, value) for key, value in node.entries if key.text not in MODIFIERS]
    if len(kinds) > 1:
        raise two_kinds(kinds, context)
    if not kinds and "repeat" in modifiers and not {"from", "name", "into", "push"} & modifiers.keys():
        raise wrong(modifiers["repeat"][0], "`repeat` has nothing beside it", "write what to repeat: `do: [...]`")
    key, value = kinds[0] if kinds else (None, None)
    item = ItemSyntax(key.position if key else node.position, key.text if key else "")
    inner = read_modifiers(item, modifiers, node, context)
    if key is not None and value is not None:
        read_kind(item, key, value, inner)
    elif not modifiers:
        raise wrong(node, "found nothing where a layer was expected", "write `kind: arguments`")
    item.plain = not modifiers
    item.marks = any(key in modifiers for key in ("name", "into", "share", "push", "only", "frozen"))
    if item.name and item.name.constant:
        context.declared.setdefault(item.name.text, item.name.position)
    for each in item.into:
        if each.constant:
            context.declared.setdefault(each.text, each.position)
    return item


def read_modifiers(item: ItemSyntax, modifiers: dict, node: Mapping, context: Context) -> Context:
    """Note the modifiers in their order; returns what the kind's arguments see."""
    if ("for" in modifiers) != ("in" in modifiers):
        present = "for" if "for" in modifiers else "in"
        raise wrong(modifiers[present][0], "`for` and `in` go together", "write `for: [c, n]` and `in: [[16, 1], ...]`")
    if "for" in modifiers:
        given = modifiers["for"][1]
        names = given.items if isinstance(given, Sequence) else [given]
        item.variables = tuple(identifier(each, "a loop variable") for each in names)
        if len(set(item.variables)) < max(len(names), 1):
            raise wrong(given, "`for` needs at least one name, and none twice", "write `for: [c, n]`")
        item.rows = read_value(modifiers["in"][1], context, ANY_KIND, "in")
        if isinstance(item.rows, Several) and len(names) > 1:
            for row in item.rows.parts:
                if isinstance(row, Constant) or (isinstance(row, Several) and len(row.parts) != len(names)):
                    count = row.parts if isinstance(row, Several) else row.value
                    context.file.note(row_error(count, item.variables, row.position))
        context = context.in_loop(*item.variables)
    if "from" in modifiers:
        item.start = read_path(modifiers["from"][1], context)
    if "repeat" in modifiers:
        item.repeat = read_value(modifiers["repeat"][1], context, what="repeat")
        context = context.in_loop()
    for key in ("when", "frozen"):
        if key in modifiers:
            setattr(item, key, read_value(modifiers[key][1], context, what=key))
    for key in ("name", "push"):
        if key in modifiers:
            setattr(item, key, read_new_name(modifiers[key][1], context, f"`{key}`"))
    if "into" in modifiers:
        given = modifiers["into"][1]
        item.into = tuple(
            read_new_name(each, context, "`into`") for each in (given.items if isinstance(given, Sequence) else [given])
        )
    if "only" in modifiers:
        item.only = read_only(modifiers["only"][1])
    if "share" in modifiers:
        item.share = read_share(modifiers["share"][1], item, context)
    item.places.update({key: value.position for key, (_, value) in modifiers.items()})
    return context


def read_only(node: Node) -> str:
    if isinstance(node, Scalar) and node.text in ONLY:
        return node.text
    raise wrong(node, f"`only` must be `training` or `stored`, not {describe(node)}")


def read_share(node: Node, item: ItemSyntax, context: Context) -> Any:
    if isinstance(node, Scalar) and node.text in ("true", "false") and not node.quoted:
        if node.text == "false":
            return None
        if item.repeat is None:
            raise wrong(node, "`share: true` needs a `repeat`", "give a key, `share: KEY`, to share between items")
        return True
    template = read_template(node, context, "`share`")
    if template.constant:
        context.keys.note(template.text, 1 + bool(context.loops), template.position)
    return template


def two_kinds(kinds: list[tuple[Scalar, Node]], context: Context) -> SpecError:
    """The error for two keys that are not modifiers: most likely an argument outside the braces, or a typo."""
    words = [key.text for key, _ in kinds]
    known = [key for key, _ in kinds if context.is_kind(key.text) or key.text in context.kinds()]
    if known:
        other = next(key for key, _ in kinds if key is not known[0])
        signature = signature_for(known[0].text, context)
        if signature and other.text in signature.words:
            value = next(value for key, value in kinds if key is other)
            shown = value.text if isinstance(value, Scalar) else "..."
            return SpecError(
                f"{quote(other.text)} stands beside {quote(known[0].text)}, not inside it",
                hint=f"write `- {known[0].text}: {{..., {other.text}: {shown}}}`, or indent it further",
                position=other.position,
            )
        meant = SAID_OTHERWISE.get(other.text)
        hint = did_you_mean(meant or nearest(other.text, MODIFIERS), "start each layer with its own `-`")
        return SpecError(
            f"{quote(other.text)} beside {quote(known[0].text)} is neither a modifier nor an argument of it",
            hint=hint,
            position=other.position,
        )
    return SpecError(
        f"one item has several kinds: {', '.join(quote(word) for word in words)}",
        hint="start each layer with its own `-`",
        position=kinds[1][0].position,
    )
