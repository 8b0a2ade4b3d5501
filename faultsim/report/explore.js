"use strict";
// Charts: a button replaces the picture by a view that zooms, drawn by uPlot; it shows job, user, nodes and reasons.
function explore(box, about, data) {
  const button = box.querySelector("button.explore"), place = box.querySelector(".view"), seconds = about.seconds;
  const controls = box.querySelector(".controls"), [from, to] = about.span, whole = { min: from / seconds, max: to / seconds };
  const shade = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const nodes = (count) => `${count.toLocaleString("en")} node${count === 1 ? "" : "s"}`;
  let plot = null, pointed = -1;

  // Letters that can be read on a colour.
  function on(fill) {
    const light = (shade) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => {
      const c = parseInt(shade.slice(1 + 2 * i, 3 + 2 * i), 16) / 255;
      return sum + part * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    }, 0.05);
    return light(fill) ** 2 < light("#fafafa") * light("#1b1c1e") ? "#fafafa" : "#1b1c1e";
  }

  // Rectangle of rows and times in device pixels, null if it is out of view.
  function rectangle(u, begin, end, first, count) {
    const x = u.valToPos(begin / seconds, "x", true), right = u.valToPos(end / seconds, "x", true);
    const top = u.valToPos(first + count, "y", true), low = u.valToPos(first, "y", true), b = u.bbox;
    if (right < b.left || x > b.left + b.width || low < b.top || top > b.top + b.height) return null;
    return [x, top, Math.max(right - x, 1), Math.max(low - top, 1)];
  }

  function paint(u) {
    const pen = u.ctx, ratio = devicePixelRatio || 1;
    pen.save();
    pen.beginPath();
    pen.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    pen.clip();
    pen.fillStyle = shade("--down");
    for (let i = 0; i < data.down_node.length; i++) {
      const r = rectangle(u, data.down_begin[i], data.down_end[i], data.down_node[i], 1);
      if (r) pen.fillRect(...r);
    }
    pen.font = `${11 * ratio}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const ground = shade("--ground"), ink = shade("--ink");
    for (let i = 0; i < data.stay.length; i++) {
      const stay = data.stay[i], r = rectangle(u, data.begin[stay], data.end[stay], data.first[i], data.count[i]);
      if (!r) continue;
      const job = data.job[stay], fill = about.fills[data.colour[job]];
      pen.globalAlpha = data.lost[stay] ? 0.55 : 1;
      pen.fillStyle = fill;
      pen.fillRect(...r);
      pen.globalAlpha = 1;
      if (r[2] > 3 * ratio && r[3] > 3 * ratio) {
        pen.strokeStyle = ground;
        pen.lineWidth = 0.6 * ratio;
        pen.strokeRect(...r);
      }
      if (job === pointed) {
        pen.strokeStyle = ink;
        pen.lineWidth = 2 * ratio;
        pen.strokeRect(...r);
      }
      if (r[3] < 14 * ratio || r[2] < 20 * ratio) continue;
      const words = about.ids[job], left = Math.max(r[0], u.bbox.left);
      const right = Math.min(r[0] + r[2], u.bbox.left + u.bbox.width);
      if (pen.measureText(words).width + 6 * ratio > right - left) continue;
      pen.fillStyle = data.lost[stay] ? ink : on(fill);
      pen.fillText(words, (left + right) / 2, r[1] + r[3] / 2);
    }
    pen.restore();
  }

  // The bar at a place; one that is shorter than two pixels can be met, too.
  function find(u, across, up) {
    const time = u.posToVal(across, "x") * seconds, row = u.posToVal(up, "y");
    const near = Math.abs(u.posToVal(across + 2, "x") * seconds - time);
    let found = -1, best = near;
    for (let i = 0; i < data.stay.length; i++) {
      if (row < data.first[i] || row >= data.first[i] + data.count[i]) continue;
      const stay = data.stay[i], off = Math.max(data.begin[stay] - time, time - data.end[stay], 0);
      if (off <= best) { found = i; best = off; if (!off) break; }
    }
    return found;
  }

  function places(stay) {
    if (data.x) {
      const at = (name) => data[name][stay];
      return `box ${at("a")}x${at("b")}x${at("c")} at (${at("x")}, ${at("y")}, ${at("z")})`;
    }
    const runs = [];
    for (let i = 0; i < data.stay.length; i++) {
      if (data.stay[i] === stay) runs.push([data.first[i], data.first[i] + data.count[i] - 1]);
    }
    runs.sort((one, other) => one[0] - other[0]);
    const words = runs.map(([low, high]) => (low === high ? `${low}` : `${low}-${high}`));
    return (words.length > 8 ? [...words.slice(0, 8), `and ${words.length - 8} more runs`] : words).join(" ");
  }

  function words(stay) {
    const job = data.job[stay], times = data.restarts[job], user = data.user[job];
    const held = [data.begin[stay], data.end[stay]].map((time) => (time / seconds).toFixed(3)).join(" to ");
    const why = about.why[job], after = about.after[job], followers = about.followers[job];
    return [
      `job ${about.ids[job]}${user ? `, user ${user - 1}` : ""}: ${nodes(data.size[job])}`,
      `${data.x ? "" : "on nodes "}${places(stay)}`,
      `holds them from ${held} ${about.unit}, ${duration(data.end[stay] - data.begin[stay])}`,
      `waited ${duration(data.wait[job])}, runs ${duration(data.runtime[job])}`,
      ...(times ? [`restarted ${times === 1 ? "once" : times + " times"}`] : []),
      ...(after ? [`depends on: ${after}`] : []),
      ...(followers ? [`jobs that depend on it: ${followers}`] : []),
      ...(why ? [`why it waited: ${why}`] : []),
    ].join("\n");
  }

  function forget() {
    tip.hidden = true;
    if (pointed < 0) return;
    pointed = -1;
    plot.redraw(false);
  }

  function point(event) {
    const over = plot.over.getBoundingClientRect();
    const found = find(plot, event.clientX - over.left, event.clientY - over.top);
    if (found < 0) return forget();
    const stay = data.stay[found];
    tell(words(stay), event.clientX, event.clientY);
    if (pointed === data.job[stay]) return;
    pointed = data.job[stay];
    plot.redraw(false);
  }

  // By a factor of the width around the middle, or by a share of it sideways, within the run.
  function zoom(factor, aside = 0) {
    const { min, max } = plot.scales.x, half = Math.min(factor * (max - min), whole.max - whole.min) / 2;
    const middle = (min + max) / 2 + aside * (max - min);
    const low = Math.max(whole.min, Math.min(middle - half, whole.max - 2 * half));
    plot.setScale("x", { min: low, max: low + 2 * half });
  }

  function all() {
    plot.batch(() => {
      plot.setScale("x", whole);
      plot.setScale("y", { min: 0, max: about.nodes });
    });
  }

  const size = () => ({ width: Math.max(280, box.clientWidth), height: Math.max(260, Math.min(560, 0.6 * innerHeight)) });

  function axis(label, extra) {
    const line = { stroke: () => shade("--line"), width: 1 };
    return { label, stroke: () => shade("--ink"), grid: line, ticks: line, font: "12px system-ui, sans-serif",
      labelFont: "13px system-ui, sans-serif", ...extra };
  }

  function start() {
    const range = (_, min, max) => [min, max];
    plot = new uPlot({
      ...size(),
      legend: { show: false },
      cursor: { drag: { x: true, y: true, uni: 24 }, points: { show: false } },
      scales: { x: { time: false, range }, y: { range } },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [axis(`time since the first submit (${about.unit})`), axis(about.rows, { size: 58 })],
      hooks: { draw: [paint] },
    }, [[whole.min, whole.max], [0, about.nodes]], place);
    plot.over.addEventListener("pointermove", point);
    plot.over.addEventListener("pointerdown", point);
    plot.over.addEventListener("pointerleave", forget);
    plot.over.addEventListener("dblclick", (event) => { event.stopImmediatePropagation(); all(); }, true);
    plot.over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // else the page scrolls
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8);
    }, { passive: false });
    addEventListener("resize", () => plot.setSize(size()));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot.redraw(false, true));
    box.plot = plot;
  }

  const actions = { in: () => zoom(0.5), out: () => zoom(2), earlier: () => zoom(1, -0.4), later: () => zoom(1, 0.4), all };
  for (const control of controls.querySelectorAll("button")) {
    control.addEventListener("click", () => actions[control.dataset.action]());
  }
  button.addEventListener("click", () => {
    const opened = box.classList.toggle("live");
    button.setAttribute("aria-expanded", String(opened));
    button.textContent = opened ? "Show the picture" : "Zoom in";
    controls.hidden = !opened;
    place.hidden = !opened;
    if (opened && !plot) start();
    forget();
  });
  button.hidden = false;
}

for (const box of document.querySelectorAll("figure.chart")) {
  unpack(box).then(([about, data]) => {
    explore(box, about, data);
    box.dataset.explore = "yes";
  });
}
