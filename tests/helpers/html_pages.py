"""A page of HTML that is well formed, whose links lead somewhere, and that fetches nothing."""

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "img", "br"}


class Checked(HTMLParser):
    """Reads a page and complains of what a browser would mend silently."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.refers, self.fetched, self.tags = [], [], [], [], []
        self.text = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        assert len(found) == len(attributes)
        if tag not in VOID:
            self.open.append(tag)
        self._look(tag, found)

    def handle_startendtag(self, tag, attributes):
        self._look(tag, dict(attributes))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        where = self.open[-1] if self.open else ""
        self.text[where] = self.text.get(where, "") + data

    def _look(self, tag, found):
        self.tags.append((tag, found))
        if "id" in found:
            self.ids.append(found["id"])
        self.refers += re.findall(r"url\(#([^)]+)\)", " ".join(filter(None, found.values())))
        for name in ("src", "href", "data", "srcset", "poster", "action"):
            value = found.get(name) or ""
            if value.startswith("#"):
                self.refers.append(value[1:])
            elif value:
                self.fetched.append(value)


def checked(text):
    page = Checked(text)
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.refers) <= set(page.ids)
    assert all(value.startswith("data:") for value in page.fetched)
    assert "@import" not in text
    # A namespace is a name and nothing to fetch; there is no other address.
    text = text.replace("/*! https://github.com/leeoniya/uPlot", "")  # a library names itself
    assert not re.search(r"https?://", text)
    return page
