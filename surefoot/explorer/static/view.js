// One view: a robot that walks, the feet's contacts and a curve over time, and buttons to play it.
import { decode, make } from "connection";
import { format } from "archive";
import { Stage } from "stage";

// A drawing as wide as there is room: `width` units, one unit high.
const draw = (width, line) => `<svg viewBox="0 0 ${width} 1" preserveAspectRatio="none">${line}</svg>`;

export class View {
  constructor(index, { onLeg, onActive }) {
    this.index = index;
    this.element = document.querySelector("#view").content.firstElementChild.cloneNode(true);
    const find = (text) => this.element.querySelector(text);
    [this.play, this.slider, this.output, this.timeline, this.speed] = [".play", "input", "output", ".timeline", ".row select"].map(find);
    this.texts = ["figcaption b", "figcaption span", ".facts", "code"].map(find);
    for (const touched of ["pointerdown", "focusin"]) this.element.addEventListener(touched, () => onActive(this));
    this.play.onclick = () => this.setPlaying(!this.playing);
    this.slider.oninput = () => { this.setPlaying(false); this.goTo(Number(this.slider.value)); };
    try {
      this.stage = new Stage(find(".stage canvas"), onLeg);
    } catch {
      this.stage = null; // no WebGL
    }
    [this.recording, this.time, this.frames] = [null, 0, 0];
  }

  load(scene, { title, subtitle, facts, command = "", parts = [], onEnd = null, ...more }) {
    this.recording = { scene, rows: 0, poses: new Float32Array(), touching: [], heights: [], duration: 0, curve: "metres ahead", ...more };
    this.output.title = `Time, and ${this.recording.curve}`;
    [title, subtitle, facts, command].forEach((text, i) => { this.texts[i].textContent = text; });
    [this.time, this.onEnd] = [0, onEnd];
    this.stage?.setRobot(scene);
    parts.forEach((part) => this.add(part));
    this.setPlaying(true);
  }

  add(part) {
    const kept = this.recording;
    if (!kept || part.start !== kept.rows) return;
    const more = decode(part.poses), { poses } = kept;
    kept.poses = new Float32Array(poses.length + more.length);
    [[poses, 0], [more, poses.length]].forEach((placed) => kept.poses.set(...placed));
    kept.touching.push(...decode(part.touching, Uint8Array));
    kept.heights.push(...decode(part.curve));
    kept.rows += part.rows;
    this.slider.max = Math.max(this.end, kept.duration);
    this.drawTimeline();
    if (part.start === 0) this.show();
  }

  get end() { return this.recording ? Math.max(0, this.recording.rows - 1) * this.recording.seconds : 0; }

  setPlaying(on) {
    this.playing = on;
    Object.assign(this.play, { textContent: on ? "❚❚" : "▶", ariaLabel: on ? "Pause" : "Play" });
  }

  goTo(time) {
    this.time = time;
    this.show();
  }

  tell(words) { this.texts[2].textContent = words; }

  tick(seconds) {
    if (this.playing && this.recording?.rows) {
      const complete = this.end >= this.recording.duration - this.recording.seconds;
      if (complete || this.time < this.end) this.time += seconds * Number(this.speed.value);
      if (complete && this.time > this.end) {
        const over = this.onEnd ?? (() => { this.time = 0; });
        this.onEnd = null;
        over();
      }
      this.show();
    }
    if (this.stage?.draw(seconds)) this.frames += 1;
  }

  show() {
    const kept = this.recording;
    if (!kept?.rows) return;
    const place = this.time / kept.seconds, row = Math.min(Math.floor(place), kept.rows - 1);
    const next = Math.min(row + 1, kept.rows - 1);
    this.stage?.pose(kept.poses, row, next, Math.min(1, place - row));
    this.slider.value = this.time;
    this.output.textContent = `${this.time.toFixed(1)} s, ${format(kept.heights[row])}`;
    this.timeline.style.setProperty("--share", this.time / this.total);
    const torso = 7 * (row * kept.scene.bodies + kept.scene.torso);
    kept.onTime?.(this.time, kept.poses.subarray(torso, torso + 7));
  }

  drawTimeline() {
    const { scene, rows, touching, heights, seconds, duration, curve, lane } = this.recording, count = scene.feet.length;
    this.total = Math.max(duration, rows * seconds);
    const width = this.total / seconds, lines = scene.feet.map((name, foot) => {
      let path = "", down = 0;
      for (let row = 0; row <= rows; row++) {
        const touches = row < rows ? touching[row * count + foot] : 0;
        if (touches !== down) path += touches ? `M${row} .5` : `H${row}`;
        down = touches;
      }
      return [name.replaceAll("_", " ").replace(/ foot$/, ""), draw(width, `<path d="${path}" stroke="rgb(${scene.colors[foot]})"/>`)];
    });
    const low = Math.min(0, ...heights), high = Math.max(1e-9, ...heights);
    const points = heights.map((value, row) => `${row},${0.96 - 0.92 * (value - low) / (high - low)}`).join(" ");
    lines.push([`${curve}, up to ${format(high)}`, draw(width, `<polyline points="${points}"/>`)]);
    if (lane) lines.unshift(["what it does", lane]);
    const parse = (drawing) => make("p", { innerHTML: drawing }).firstChild;
    this.timeline.replaceChildren(...lines.flatMap(([name, drawing]) => [make("span", {}, name), parse(drawing)]), make("i"));
  }
}
