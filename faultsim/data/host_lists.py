"""Lists of nodes as Slurm writes them."""

#: Most names of one item of a list; an item that has more is taken as one name.
MOST_NAMES = 2**20


def expanded(nodes: str) -> list[str]:
    """The names in a list of nodes, in its order; a bracket that is not closed is part of a name.

    Examples
    --------
    >>> expanded("g[1-2],n3,rack[08-09]-n[1,3]")
    ['g1', 'g2', 'n3', 'rack08-n1', 'rack08-n3', 'rack09-n1', 'rack09-n3']
    """
    found: list[str] = []
    depth, begin = 0, 0
    for at, letter in enumerate(nodes + ","):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and (depth <= 0 or at == len(nodes)):
            found += _names(nodes[begin:at].strip())
            begin, depth = at + 1, 0
    return found


def _names(part: str) -> list[str]:
    before, bracket, rest = part.partition("[")
    inside, closed, after = rest.partition("]")
    if not bracket or not closed:
        return [part] if part else []
    ends = _names(after) if part.count("[") < 8 else [after]
    ends = ends or [""]
    found: list[str] = []
    for piece in inside.split(","):
        low, dash, high = piece.strip().partition("-")
        if dash and _is_number(low) and _is_number(high):
            if (len(found) + int(high) - int(low)) * len(ends) > MOST_NAMES:
                return [part]
            found += [f"{number:0{len(low)}d}" for number in range(int(low), int(high) + 1)]
        elif piece.strip():
            found.append(piece.strip())
    if len(found) * len(ends) > MOST_NAMES:
        return [part]
    return [f"{before}{middle}{end}" for middle in found for end in ends]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
