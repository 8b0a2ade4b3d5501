"""Lists of nodes as Slurm writes them."""


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
    ends = _names(after) or [""]
    found = []
    for piece in inside.split(","):
        low, dash, high = piece.strip().partition("-")
        if dash and low.isdigit() and high.isdigit() and int(high) - int(low) < 2**20:
            found += [f"{number:0{len(low)}d}" for number in range(int(low), int(high) + 1)]
        elif piece.strip():
            found.append(piece.strip())
    return [f"{before}{middle}{end}" for middle in found for end in ends]
