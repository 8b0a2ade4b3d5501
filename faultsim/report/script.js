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

// Explanations: those that a mouse gets as titles, for the keyboard and for fingers.
const tip = document.createElement("div");
tip.className = "tip";
tip.id = "tip";
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

// Replays: the nodes of a torus as cubes, from compressed columns that the page holds.
async function columns(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function replay(box, about, buffer) {
  const data = {};
  let at = 0;
  for (const [name, kind, count] of about.columns) {
    const type = { f4: Float32Array, u2: Uint16Array, u4: Uint32Array }[kind];
    data[name] = new type(buffer, at, count);
    at += count * type.BYTES_PER_ELEMENT;
    at += (4 - (at % 4)) % 4;
  }
  const [nx, ny, nz] = about.shape;
  const canvas = box.querySelector("canvas"), slider = box.querySelector("input");
  const button = box.querySelector("button"), label = box.querySelector("output");
  const cos = Math.sqrt(3) / 2, sin = 0.5;
  const flat = (x, y, z) => [(x - y) * cos, z - (x + y) * sin];
  const cells = [];
  for (let x = 0; x < nx; x++) for (let y = 0; y < ny; y++) for (let z = 0; z < nz; z++) cells.push([x, y, z]);
  cells.sort((a, b) => a[0] + a[1] + a[2] - b[0] - b[1] - b[2]);
  const left = -ny * cos - 0.5, right = nx * cos + 0.5, low = -(nx + ny) * sin - 0.5, high = nz + 0.5;
  const width = 720, scale = width / (right - left), height = Math.min(640, Math.ceil((high - low) * scale));
  const fit = Math.min(scale, height / (high - low));
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  const faces = [[[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], [[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]],
    [[-1, 1, -1], [1, 1, -1], [1, 1, 1], [-1, 1, 1]]];
  const shade = (colour, light) => "rgb(" + [1, 3, 5].map((i) => Math.round(parseInt(colour.slice(i, i + 2), 16) * light)) + ")";
  const paint = [...about.fills, about.free, about.down].map((c) => [1, 0.82, 0.64].map((light) => shade(c, light)));
  const ground = () => getComputedStyle(document.body).backgroundColor;
  const free = about.fills.length, down = free + 1, state = new Int32Array(nx * ny * nz);

  function draw(time) {
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
        state[(((data.x[i] + x) % nx) * ny + (data.y[i] + y) % ny) * nz + (data.z[i] + z) % nz] = data.job[i];
      }
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.fillStyle = ground();
    pen.fillRect(0, 0, width, height);
    pen.setTransform(fit, 0, 0, -fit, width / 2 - fit * (left + right) / 2, fit * high);
    for (const [x, y, z] of cells) {
      const job = state[(x * ny + y) * nz + z], half = job === -1 ? 0.08 : 0.37;
      const colours = paint[job >= 0 ? job % free : job === -1 ? free : down];
      faces.forEach((corners, k) => {
        pen.fillStyle = colours[k];
        pen.beginPath();
        corners.forEach(([i, j, l], n) => {
          const [u, v] = flat(x + half * i, y + half * j, z + half * l);
          if (n) pen.lineTo(u, v); else pen.moveTo(u, v);
        });
        pen.fill();
      });
    }
    const words = `${(time / about.seconds).toFixed(2)} ${about.unit}: ${jobs.size} jobs on ${held} of ${state.length} nodes`;
    label.textContent = words;
    canvas.setAttribute("aria-label", `Nodes of the torus, ${words}`);
  }

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

for (const box of document.querySelectorAll(".replay")) {
  const about = JSON.parse(box.querySelector(".about").textContent);
  columns(box.querySelector(".data").textContent).then((buffer) => replay(box, about, buffer));
}
