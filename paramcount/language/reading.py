"""Reading items: a kind, its arguments, and the modifiers beside it."""

from __future__ import annotations

from typing import Any

from paramcount.errors import SpecError, quote
from paramcount.errors.suggest import did_you_mean, nearest
from paramcount.graph.modifiers import ONLY
from paramcount.language.context import Context, describe, identifier, refuse_null, wrong
from paramcount.language.definitions import signature_for
from paramcount.language.items import MODIFIERS, ItemSyntax, row_error
from paramcount.language.kinds import read_kind
from paramcount.language.paths import read_path
from paramcount.language.written import ANY_KIND, Constant, Several, read_new_name, read_template, read_value
from paramcount.language.yaml.nodes import Mapping, Node, Scalar, Sequence

USEFUL_ALONE = ("from", "name", "into", "push")  # modifiers that mean something without a kind
SAID_OTHERWISE = {"trainable": "frozen: true", "as": "name", "id": "name", "if": "when", "times": "repeat"}


def read_item(node: Node, context: Context, before: Node | None = None) -> ItemSyntax:
    """One item: a kind, its arguments, and modifiers beside it; `before` is the item before it, for hints."""
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
    return read_mapping(node, context, before)


def read_mapping(node: Mapping, context: Context, before: Node | None) -> ItemSyntax:
    modifiers = {key.text: (key, value) for key, value in node.entries if key.text in MODIFIERS}
    kinds = [(key, value) for key, value in node.entries if key.text not in MODIFIERS]
    if len(kinds) > 1:
        raise two_kinds(kinds, context)
    if not kinds:
        refuse_idle({word: key for word, (key, _) in modifiers.items()}, node, before)
    elif len(kinds) == 1 and before is not None:
        refuse_outside(kinds[0][0], node, before, context)
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
    for key in ("repeat", "when", "frozen"):
        if key in modifiers:
            refuse_null(modifiers[key][1], key, "leave it out where it does not hold")
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


def refuse_idle(keys: dict[str, Scalar], node: Mapping, before: Node | None) -> None:
    """Raise SpecError for an item without a kind if one of its modifiers would do nothing.

    What names or keeps the value that arrives is useful without a kind, also in a loop or under a condition; `from` is
    useful alone, since it is looked at before `repeat` and `when`.
    """
    useful = [word for word in USEFUL_ALONE if word in keys]
    never = ("share", "frozen", "only") if useful else keys
    if useful == ["from"]:
        never = [word for word in keys if word != "from"]
    idle = next((word for word in keys if word in never), None)
    if idle is None:
        return
    key = keys[idle]
    if idle in ("for", "in", "repeat"):
        raise wrong(key, f"{quote(idle)} has nothing beside it", "write what to repeat: `do: [...]`")
    if idle == "when" and useful:
        hint = "`from` is looked at before `when`; write `{when: ..., do: [from: ...]}`"
        raise wrong(key, "`when` beside `from` has no layer to skip", hint)
    hint = f"a modifier stands in the braces of its layer, as in {quote(beside(before, spelled(node)[1:-1]))}"
    raise wrong(key, f"{quote(idle)} has no layer beside it", hint)


def refuse_outside(key: Scalar, node: Mapping, before: Node, context: Context) -> None:
    """Raise SpecError for an item that is an argument of the layer before it."""
    kind = before.text if isinstance(before, Scalar) else ""
    if isinstance(before, Mapping):
        kind = next((word.text for word, _ in before.entries if word.text not in MODIFIERS), "")
    signature = None if context.is_kind(key.text) or not context.is_kind(kind) else signature_for(kind, context)
    if signature is not None and key.text in signature.words:
        hint = f"write it inside: {quote(f'{kind}: {{..., {spelled(node)[1:-1]}}}')}"
        raise wrong(key, f"{quote(key.text)} is an argument of {quote(kind)}, not an item", hint)


def beside(before: Node | None, modifiers: str) -> str:
    """An item with modifiers, as one would write it."""
    item = "dense: 8" if before is None or isinstance(before, Sequence) else spelled(before).removeprefix("{")
    return f"{{{item.removesuffix('}') if isinstance(before, Mapping) else item}, {modifiers}}}"


def spelled(node: Node) -> str:
    """A node as it could be written on one line."""
    if isinstance(node, Scalar):
        return f'"{node.text}"' if node.quoted else node.text
    if isinstance(node, Sequence):
        return f"[{', '.join(map(spelled, node.items))}]"
    entries = [f"{key.text}: {spelled(value)}".removesuffix(": ") for key, value in node.entries]
    return f"{{{', '.join(entries)}}}"


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
            inside = quote(f"- {known[0].text}: {{..., {other.text}: {shown}}}")
            return SpecError(
                f"{quote(other.text)} stands beside {quote(known[0].text)}, not inside it",
                hint=f"write {inside}, or indent it further",
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
