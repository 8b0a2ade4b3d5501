"""What a reader sees of a page in a browser: boxes of text that overlap, and text that is hard to read."""

#: Quads of all texts that can be seen, with their words: lines of HTML, and words of figures, turned as they are.
_QUADS = """
const clip = (element) => {
  let [left, top, right, bottom] = [-1e9, -1e9, 1e9, 1e9];
  for (let up = element; up && up !== document.body; up = up.parentElement) {
    if (!/auto|hidden|scroll/.test(getComputedStyle(up).overflow)) continue;
    const box = up.getBoundingClientRect();
    [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
    [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
  }
  return [left, top, right, bottom];
};
const quads = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, inside = node.parentElement;
  if (!node.data.trim() || inside.closest("script, style, .tip") || !inside.checkVisibility()) continue;
  if (inside.ownerSVGElement) {
    if (inside.tagName !== "text") continue;
    const box = inside.getBBox(), place = inside.getScreenCTM();
    const [x, y, a, b] = [box.x, box.y + 0.15 * box.height, box.x + box.width, box.y + 0.85 * box.height];
    const corners = [[x, y], [a, y], [a, b], [x, b]].map(([u, v]) => new DOMPoint(u, v).matrixTransform(place));
    const turned = corners.map((corner) => [corner.x, corner.y]);
    quads.push({ words: node.data, of: inside.ownerSVGElement, corners: turned, element: inside });
  } else {
    const range = document.createRange(), [left, top, right, bottom] = clip(inside);
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const [l, r] = [Math.max(box.left, left), Math.min(box.right, right)];
      const [t, b] = [Math.max(box.top + 2, top), Math.min(box.bottom - 2, bottom)];
      if (l < r && t < b) {
        quads.push({ words: node.data, of: null, corners: [[l, t], [r, t], [r, b], [l, b]], element: inside });
      }
    }
  }
}
"""

#: Pairs of texts that overlap by more than a pixel.
OVERLAPS = (
    _QUADS
    + """
const apart = (one, other) => {
  for (const [here, there] of [[one, other], [other, one]]) {
    for (let i = 0; i < 4; i++) {
      const [p, q] = [here[i], here[(i + 1) % 4]], length = Math.hypot(q[0] - p[0], q[1] - p[1]) || 1;
      const along = (c) => ((q[1] - p[1]) * (c[0] - p[0]) - (q[0] - p[0]) * (c[1] - p[1])) / length;
      const [mine, yours] = [here.map(along), there.map(along)];
      if (Math.min(...yours) > Math.max(...mine) - 1 || Math.min(...mine) > Math.max(...yours) - 1) return true;
    }
  }
  return false;
};
const found = [];
for (let i = 0; i < quads.length; i++) {
  for (let j = i + 1; j < quads.length; j++) {
    if (quads[i].of === quads[j].of && !apart(quads[i].corners, quads[j].corners)) {
      found.push([quads[i].words, quads[j].words]);
    }
  }
}
return [quads.length, found];
"""
)

#: Texts whose contrast is below 4.5, with it, by the formula of WCAG 2.1.  The window must hold the whole page.
FAINT = (
    _QUADS
    + """
const parts = (colour) => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data];
};
const light = (rgb) => {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const cache = new Map();
const colour = (name) => { if (!cache.has(name)) cache.set(name, parts(name)); return cache.get(name); };
const paper = (element) => {
  for (let up = element; up; up = up.parentElement) {
    const found = colour(getComputedStyle(up).backgroundColor);
    if (found[3] > 127) return found;
  }
  return [255, 255, 255, 255];
};
const below = (element, x, y) => {
  for (const under of document.elementsFromPoint(x, y)) {
    if (under === element || !under.ownerSVGElement || under.tagName === "text") continue;
    if (under.ownerSVGElement !== element.ownerSVGElement) continue;
    const style = getComputedStyle(under), fill = style.fill;
    if (under.tagName === "image") return null;
    if (fill === "none" || style.fillOpacity * style.opacity < 0.5) continue;
    return colour(fill);
  }
  return paper(element.ownerSVGElement);
};
const found = [];
let seen = 0;
for (const { words, of, corners, element } of quads) {
  const x = corners.reduce((sum, c) => sum + c[0], 0) / 4, y = corners.reduce((sum, c) => sum + c[1], 0) / 4;
  const style = getComputedStyle(element);
  const ground = of ? below(element, x, y) : paper(element);
  if (!ground) continue;
  seen += 1;
  const [one, other] = [light(colour(of ? style.fill : style.color).slice(0, 3)), light(ground.slice(0, 3))];
  const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  if (contrast < 4.5) found.push([words, contrast.toFixed(2), of ? style.fill : style.color, String(ground)]);
}
return [seen, found];
"""
)


def crosses(ax):
    """Where the crosses of failures are, shape (n, 2), by what the legend says of them."""
    # Each has its halo below it.
    marks = {str(drawn.get_label()): drawn.get_offsets() for drawn in ax.collections}
    return {label: where[::2] for label, where in marks.items() if label.startswith("failure")}
