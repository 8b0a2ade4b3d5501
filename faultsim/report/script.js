"use strict";
// Tables: a click on a head sorts by that column, another one turns the order around. Cells without a number stay last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.classList.contains("number");
    const keyed = [...table.tBodies[0].rows].map((row) => {
      const cell = row.cells[column];
      const text = cell.dataset.value ?? cell.textContent;
      return [numeric ? (text === "" ? NaN : Number(text)) : text, row];
    });
    const order = (a, b) => {
      if (!numeric) return a.localeCompare(b, "en", { numeric: true });
      if (Number.isNaN(a) || Number.isNaN(b)) return 0;
      return a - b;
    };
    const last = (value) => (numeric && Number.isNaN(value) ? 1 : 0);
    keyed.sort(([a], [b]) => last(a) - last(b) || (down ? order(b, a) : order(a, b)));
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    table.tBodies[0].append(...keyed.map(([, row]) => row));
  }));
}

// Tables that are wider than their place get less space between columns. If that is not enough, those of up to four
// columns break long words, and others show each row as a card with the names of its columns.
function fit(table) {
  const place = table.parentElement, fits = () => place.scrollWidth <= place.clientWidth + 1;
  table.classList.remove("tight", "broken", "cards");
  if (fits()) return;
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
  table.classList.add("tight");
  if (fits()) return;
  if (heads.length <= 4) {
    table.classList.add("broken");
    if (fits()) return;
  }
  table.classList.remove("tight", "broken");
  for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, i) => { cell.dataset.head = heads[i]; });
  table.classList.add("cards");
}
const fitAll = () => { for (const table of document.querySelectorAll("table.sortable")) fit(table); };
addEventListener("resize", fitAll);
addEventListener("beforeprint", fitAll);
fitAll();

// Pictures that are smaller than they were drawn: a click shows them in their size.
for (const picture of document.querySelectorAll(".picture:has(img)")) {
  picture.addEventListener("click", () => picture.classList.toggle("whole"));
}

// Explanations: those that a mouse gets as titles, for the keyboard and for fingers.
const tip = document.createElement("div");
tip.className = "tip";
tip.setAttribute("role", "tooltip");
tip.hidden = true;
document.body.append(tip);

function tell(words, x, y) {
  tip.textContent = words;
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), edge = 6, width = document.documentElement.clientWidth;
  tip.style.left = Math.max(edge, Math.min(x + 12, width - box.width - edge)) + "px";
  tip.style.top = (y + 16 + box.height < innerHeight ? y + 16 : Math.max(edge, y - box.height - 12)) + "px";
}

document.addEventListener("focusin", (event) => {
  const asked = event.target.closest?.("[title]");
  if (!asked) return;
  const box = asked.getBoundingClientRect();
  tell(asked.title, box.left - 12, box.bottom - 12);
});
document.addEventListener("focusout", () => { tip.hidden = true; });
document.addEventListener("scroll", () => { tip.hidden = true; }, true);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

// Columns that the page holds, compressed.
async function columns(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function unpack(box) {
  const about = JSON.parse(box.querySelector(".about").textContent), data = {};
  const buffer = await columns(box.querySelector(".data").textContent);
  let at = 0;
  for (const [name, kind, count] of about.columns) {
    const type = { f4: Float32Array, u2: Uint16Array, u4: Uint32Array }[kind];
    data[name] = new type(buffer, at, count);
    at += count * type.BYTES_PER_ELEMENT;
    at += (4 - (at % 4)) % 4;
  }
  return [about, data];
}

// A duration: three digits, in the unit that suits it.
function duration(seconds) {
  const [size, unit] = [[172800, 86400, "d"], [7200, 3600, "h"], [120, 60, "min"], [0, 1, "s"]]
    .filter(([least]) => Math.abs(seconds) >= least).map(([, length, name]) => [length, name])[0];
  const value = seconds / size;
  const digits = value === 0 ? 0 : Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return value.toFixed(digits) + "\u00a0" + unit;
}

// Charts: the job where one points, and all of its stays outlined.
function chart(box, about, data) {
  box.querySelectorAll(".picture svg").forEach((svg, i) => chartOf(svg, about.boxes[i], about, data));
  box.dataset.ready = "yes";
}

function chartOf(svg, [left, top, width, height], about, data) {
  const [from, to] = about.span;
  const outline = document.createElementNS(svg.namespaceURI, "path");
  outline.setAttribute("class", "outline");
  svg.append(outline);
  const across = (time) => left + width * (time - from) / (to - from), up = (row) => top + height * (1 - row / about.nodes);
  const nodes = (count) => `${count.toLocaleString("en")} node${count === 1 ? "" : "s"}`;
  const forget = () => { tip.hidden = true; outline.removeAttribute("d"); };
  const find = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const time = from + (to - from) * (at.x - left) / width, row = about.nodes * (1 - (at.y - top) / height);
    const near = (to - from) / width; // a point: shorter stays can be met, too
    let found = -1, best = near;
    for (let i = 0; i < data.stay.length; i++) {
      const stay = data.stay[i];
      if (row < data.first[i] || row >= data.first[i] + data.count[i]) continue;
      const off = Math.max(data.begin[stay] - time, time - data.end[stay], 0);
      if (off <= best) { found = i; best = off; if (!off) break; }
    }
    return found;
  };
  const point = (event) => {
    const found = find(event);
    if (found < 0) return forget();
    const stay = data.stay[found], job = data.job[stay], times = data.restarts[job];
    const held = [data.begin[stay], data.end[stay]].map((time) => (time / about.seconds).toFixed(3)).join(" to ");
    tell(`job ${about.ids[job]}: ${nodes(data.size[job])}\nholds them from ${held} ${about.unit}, ` +
      `${duration(data.end[stay] - data.begin[stay])}\nwaited ${duration(data.wait[job])}, runs ` +
      duration(data.runtime[job]) + (times ? `\nrestarted ${times === 1 ? "once" : times + " times"}` : ""),
      event.clientX, event.clientY);
    let path = "";
    for (let i = 0; i < data.stay.length; i++) {
      const other = data.stay[i];
      if (data.job[other] !== job) continue;
      const [x, y] = [across(data.begin[other]), up(data.first[i] + data.count[i])];
      path += `M${x} ${y}H${across(data.end[other])}V${up(data.first[i])}H${x}Z`;
    }
    outline.setAttribute("d", path);
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.addEventListener("pointerleave", forget);
}

// Replays: the layers of a torus, side by side.
function replay(box, about, data) {
  const [nx, ny, nz] = about.shape;
  const canvas = box.querySelector("canvas"), slider = box.querySelector("input");
  const button = box.querySelector("button"), label = box.querySelector("output");
  const wide = nx + 1, high = ny + 1.4; // of a layer with its name, in cells
  let per = 1;
  for (let n = 1; n <= nz; n++) {
    const off = (k) => Math.abs(Math.log((k * wide) / (Math.ceil(nz / k) * high) / 1.5));
    if (off(n) < off(per)) per = n;
  }
  const ratio = Math.max(1, Math.min(3, devicePixelRatio || 1)), width = 720;
  const cell = Math.min(width / (per * wide), 640 / (Math.ceil(nz / per) * high));
  const height = Math.ceil(cell * Math.ceil(nz / per) * high), letters = Math.max(9, Math.min(14, 0.8 * cell));
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d"), state = new Int32Array(nx * ny * nz), colours = new Uint16Array(nx * ny * nz);
  const corner = (z) => [(z % per) * wide * cell, (Math.floor(z / per) * high + 1.2) * cell];
  const node = (x, y, z) => (x * ny + y) * nz + z;

  function draw(time) {
    const style = getComputedStyle(document.documentElement), shade = (name) => style.getPropertyValue(name).trim();
    state.fill(-1);
    for (let i = 0; i < data.fail_time.length; i++) {
      if (data.fail_time[i] <= time && time < data.fail_end[i]) state[data.fail_node[i]] = -2;
    }
    const jobs = new Set();
    let held = 0;
    for (let i = 0; i < data.begin.length && data.begin[i] <= time; i++) {
      if (time >= data.end[i]) continue;
      jobs.add(data.job[i]);
      held += data.a[i] * data.b[i] * data.c[i];
      for (let x = 0; x < data.a[i]; x++) for (let y = 0; y < data.b[i]; y++) for (let z = 0; z < data.c[i]; z++) {
        const at = node((data.x[i] + x) % nx, (data.y[i] + y) % ny, (data.z[i] + z) % nz);
        state[at] = data.job[i];
        colours[at] = data.colour[i];
      }
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = shade("--ground");
    pen.fillRect(0, 0, width, height);
    pen.font = `${letters}px system-ui, sans-serif`;
    const gap = Math.min(1.5, 0.12 * cell);
    for (let z = 0; z < nz; z++) {
      const [left, top] = corner(z);
      pen.fillStyle = shade("--soft");
      pen.fillText(`z = ${z}`, left, top - 0.25 * cell);
      for (let x = 0; x < nx; x++) for (let y = 0; y < ny; y++) {
        const at = node(x, y, z), job = state[at];
        pen.fillStyle = job >= 0 ? about.fills[colours[at]] : shade(job === -1 ? "--free" : "--down");
        pen.fillRect(left + x * cell, top + (ny - 1 - y) * cell, cell - gap, cell - gap);
      }
    }
    const words = `${(time / about.seconds).toFixed(2)} ${about.unit}: ${jobs.size} jobs on ${held} of ${state.length} nodes`;
    label.textContent = words;
    canvas.setAttribute("aria-label", `Nodes of the torus, ${words}`);
  }

  function ofJob(job) {
    const user = data.user[job], why = about.why[job];
    return [
      `job ${about.ids[job]}${user ? `, user ${user - 1}` : ""}`,
      `waited ${duration(data.wait[job])}, runs ${duration(data.runtime[job])}`,
      ...(why ? [`why it waited: ${why}`] : []),
    ].join("\n");
  }

  canvas.addEventListener("pointermove", (event) => {
    const drawn = canvas.getBoundingClientRect(), scale = width / drawn.width;
    const [u, v] = [(event.clientX - drawn.left) * scale, (event.clientY - drawn.top) * scale];
    for (let z = 0; z < nz; z++) {
      const [left, top] = corner(z), x = Math.floor((u - left) / cell), y = ny - 1 - Math.floor((v - top) / cell);
      if (x < 0 || x >= nx || y < 0 || y >= ny) continue;
      const job = state[node(x, y, z)];
      const held = job >= 0 ? ofJob(job) : job === -1 ? "free" : "down";
      return tell(`node (${x}, ${y}, ${z}): ${held}`, event.clientX, event.clientY);
    }
    tip.hidden = true;
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  let playing = 0;
  const show = () => draw(about.span * slider.valueAsNumber / slider.max);
  const step = () => {
    slider.valueAsNumber = (slider.valueAsNumber + 2) % slider.max;
    show();
    playing = setTimeout(step, 60);
  };
  slider.addEventListener("input", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  button.addEventListener("click", () => {
    if (playing) { clearTimeout(playing); playing = 0; } else step();
    button.textContent = playing ? "Pause" : "Play";
  });
  show();
  box.dataset.ready = "yes";
}

for (const [name, start] of [["chart", chart], ["replay", replay]]) {
  for (const box of document.querySelectorAll("figure." + name)) {
    unpack(box).then(([about, data]) => start(box, about, data));
  }
}
