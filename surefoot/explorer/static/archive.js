// The archive as a heat map. One real button stands on the chosen cell; arrow keys and clicks move it.
import { decode } from "connection";

export const format = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value), digits = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
};
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Archive {
  constructor(about, choosable, onChoose) {
    this.about = about;
    this.onChoose = onChoose;
    this.canvas = document.querySelector("#map canvas");
    this.cursor = document.querySelector("#cursor");
    for (const name of ["x", "y", "objectives", "measures"]) this[name] = decode(about[name]);
    this.cells = decode(about.cells, Uint32Array);
    this.choosable = choosable ?? [...this.cells.keys()];
    this.best = this.choosable.reduce((best, row) => (this.objectives[row] > this.objectives[best] ? row : best), this.choosable[0]);
    this.row = -1;
    this.setColors(null);
    document.querySelector("#filled").textContent = about.filled;
    document.querySelector("#axes").textContent = about.axes;
    ["across", "up"].forEach((side, i) => {
      const label = document.querySelector(`#${side}`);
      label.textContent = label.title = `${about.labels[i]} →`;
    });
    this.canvas.onclick = (event) => this.choose(this.nearest(event), true);
    this.canvas.onmousemove = (event) => this.tell(this.nearest(event));
    this.canvas.onmouseleave = () => this.tell(this.row);
    this.cursor.onkeydown = (event) => this.move(event);
    this.cursor.onclick = () => this.onChoose(this.row);
    document.querySelector("#best").onclick = () => this.choose(this.best, true);
    new ResizeObserver(() => this.draw()).observe(this.canvas.parentElement);
  }

  name(row) {
    let left = this.cells[row];
    const index = [];
    for (const size of [...this.about.grid].reverse()) { index.unshift(left % size); left = Math.floor(left / size); }
    return index.join(",");
  }

  describe(row) {
    if (!(row >= 0)) return this.choosable.length ? "Choose a cell: click on it, or use the arrow keys." : "";
    const count = this.about.names.length;
    const words = (value) => (this.about.shares ? `${Math.round(100 * value)}%` : format(value));
    const parts = this.about.names.map((name, i) => `${name.replaceAll("_", " ")} ${words(this.measures[row * count + i])}`);
    const expected = this.colors === this.objectives ? "" : `, now expected ${format(this.colors[row])}`;
    return `Cell ${this.name(row)}: ${this.about.objective} ${format(this.objectives[row])}${expected}; ${parts.join(", ")}`;
  }

  // Colour by objectives as trained, or by what is expected now; then rings tell what was tried.
  setColors(values, words) {
    if (!values) this.tried = [];
    this.colors = values ?? this.objectives;
    const shown = Array.from(this.colors).filter(Number.isFinite);
    this.low = shown.reduce((a, b) => Math.min(a, b), Infinity);
    this.high = shown.reduce((a, b) => Math.max(a, b), -Infinity);
    const ends = document.querySelectorAll("#legend span");
    [this.low, this.high].forEach((end, i) => { ends[i].textContent = shown.length ? format(end) : ""; });
    document.querySelector("#legend i").style.background = `linear-gradient(90deg, ${this.about.shades.join(",")})`;
    document.querySelector("#colors").textContent = words ?? `Colours: ${this.about.objective}, as trained`;
    this.draw();
  }

  mark(row) {
    if (!(row < this.x.length)) return; // a gait without a cell
    this.row = row;
    this.cursor.hidden = row < 0;
    this.cursor.style.left = `${100 * this.x[row]}%`;
    this.cursor.style.top = `${100 * this.y[row]}%`;
    this.cursor.ariaLabel = this.describe(row);
    this.tell(row);
  }

  tell(row) { document.querySelector("#cell").textContent = this.describe(row); }

  choose(row, focus) {
    if (row === undefined) return;
    this.mark(row);
    if (focus) this.cursor.focus({ preventScroll: true });
    this.onChoose(row);
  }

  nearest(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
    const away = (row) => Math.hypot((this.x[row] - x) * box.width, this.about.kind === "profile" ? 0 : (this.y[row] - y) * box.height);
    return this.closest(away);
  }

  closest(away) {
    let best, least = Infinity, distance;
    for (const row of this.choosable) if ((distance = away(row)) < least) [best, least] = [row, distance];
    return best;
  }

  move(event) {
    if (!(event.key in DIRECTIONS)) return;
    event.preventDefault();
    const [dx, dy] = DIRECTIONS[event.key], { x, y, row } = this;
    this.choose(this.closest((other) => {
      const along = (x[other] - x[row]) * dx + (y[other] - y[row]) * dy;
      const across = Math.abs((x[other] - x[row]) * dy + (y[other] - y[row]) * dx);
      return along > 1e-6 ? along + 3 * across : Infinity;
    }), true);
  }

  shade(value) {
    const { shades } = this.about, share = this.high > this.low ? (value - this.low) / (this.high - this.low) : 1;
    return shades[Math.round(Math.min(1, Math.max(0, share)) * (shades.length - 1))];
  }

  draw() {
    const { kind, columns, rows, corners, rules } = this.about, scale = Math.min(devicePixelRatio, 2);
    const width = this.canvas.parentElement.clientWidth * scale;
    const tall = kind === "profile" ? 0.5 : kind === "grid" ? Math.min(1.2, Math.max(0.4, rows / columns)) : 1;
    const height = Math.round(width * tall), pen = this.canvas.getContext("2d");
    Object.assign(this.canvas, { width, height });
    const style = getComputedStyle(document.documentElement);
    pen.fillStyle = style.getPropertyValue("--empty");
    pen.fillRect(0, 0, width, height);
    const cellWidth = width / columns, cellHeight = height / rows;
    this.colors.forEach((value, row) => {
      if (!Number.isFinite(value)) return;
      pen.fillStyle = this.shade(value);
      const x = this.x[row] * width, y = this.y[row] * height;
      if (kind === "regions") {
        const path = new Path2D(), own = corners[row];
        for (let i = 0; i < own.length; i += 2) path.lineTo(own[i] * width, own[i + 1] * height);
        pen.fill(path);
      } else if (kind === "profile") {
        const share = 0.06 + 0.9 * ((value - this.low) / (this.high - this.low || 1));
        pen.fillRect(x - cellWidth / 2, height * (1 - share), Math.max(1, cellWidth), height * share);
      } else pen.fillRect(x - cellWidth / 2, y - cellHeight / 2, cellWidth, cellHeight);
    });
    pen.fillStyle = style.getPropertyValue("--card");
    for (const [axis, share, pixels] of rules) {
      const thick = pixels * scale;
      if (axis) pen.fillRect(0, share * height - thick / 2, width, thick);
      else pen.fillRect(share * width - thick / 2, 0, thick, height);
    }
    Object.assign(pen, { strokeStyle: "#fff", lineWidth: 1.5 * scale });
    for (const row of this.tried) {
      const ring = new Path2D();
      ring.arc(this.x[row] * width, this.y[row] * height, 4 * scale, 0, 7);
      pen.stroke(ring);
    }
  }
}
