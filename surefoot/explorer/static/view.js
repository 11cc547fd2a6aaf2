// One view: a robot that walks, the feet's contacts and the reward over time, and buttons to play it.
import { decode } from "connection";
import { format } from "archive";
import { Stage } from "stage";

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const ROW = 9, CURVE = 44, LABEL = 84; // of the timeline [pixels]

export class View {
  constructor(index, { onLeg, onActive }) {
    this.index = index;
    this.element = document.querySelector("#view").content.firstElementChild.cloneNode(true);
    const find = (text) => this.element.querySelector(text);
    [this.image, this.play, this.slider, this.output, this.facts, this.code, this.timeline, this.cursor] =
      ["img", ".play", "input", "output", ".facts", "code", ".timeline canvas", ".timeline i"].map(find);
    this.title = find("figcaption b");
    this.subtitle = find("figcaption span");
    this.speed = find(".row select");
    this.element.addEventListener("pointerdown", () => onActive(this));
    this.element.addEventListener("focusin", () => onActive(this));
    this.play.onclick = () => this.setPlaying(!this.playing);
    this.slider.oninput = () => { this.setPlaying(false); this.time = Number(this.slider.value); this.show(); };
    try {
      this.stage = new Stage(find(".stage canvas"), onLeg);
    } catch {
      this.stage = null; // no WebGL: the server draws
      find(".stage canvas").hidden = true;
      this.image.hidden = false;
    }
    this.recording = null;
    new ResizeObserver(() => this.recording && this.drawTimeline()).observe(this.element);
    this.time = this.frames = 0;
  }

  load(scene, { seconds = scene.step, title, subtitle = "", facts = "", command = "", parts = [], onEnd = null, duration = 0 }) {
    this.recording = { scene, seconds, rows: 0, poses: new Float32Array(), touching: [], rewards: [], pictures: new Map(), duration };
    this.title.textContent = title;
    this.subtitle.textContent = subtitle;
    this.facts.textContent = facts;
    this.code.textContent = command;
    this.time = 0;
    this.onEnd = onEnd;
    this.stage?.setRobot(scene);
    parts.forEach((part) => this.add(part));
    this.setPlaying(true);
  }

  add(part) {
    const kept = this.recording;
    if (!kept || part.start !== kept.rows) return;
    const more = decode(part.poses), joined = new Float32Array(kept.poses.length + more.length);
    joined.set(kept.poses);
    joined.set(more, kept.poses.length);
    kept.poses = joined;
    kept.touching.push(...decode(part.touching, Uint8Array));
    kept.rewards.push(...decode(part.rewards));
    kept.rows += part.rows;
    for (const [row, picture] of Object.entries(part.pictures)) kept.pictures.set(Number(row), `data:image/jpeg;base64,${picture}`);
    this.slider.max = Math.max(this.end, kept.duration);
    this.drawTimeline();
    if (part.start === 0) this.show();
  }

  get end() { return this.recording ? Math.max(0, this.recording.rows - 1) * this.recording.seconds : 0; }

  setPlaying(on) {
    this.playing = on;
    this.play.textContent = on ? "❚❚" : "▶";
    this.play.ariaLabel = on ? "Pause" : "Play";
  }

  tick(seconds) {
    if (this.playing && this.recording?.rows) {
      this.time += seconds * Number(this.speed.value);
      if (this.time > this.end && this.end >= this.recording.duration - this.recording.seconds) {
        const over = this.onEnd;
        this.onEnd = null;
        if (over) over();
        else this.time = 0;
      }
      this.time = Math.min(this.time, this.end);
      this.show();
    }
    if (!this.stage?.draw()) return;
    this.frames += 1;
    this.stage.slowDown(seconds);
  }

  show() {
    const kept = this.recording;
    if (!kept?.rows) return;
    const place = this.time / kept.seconds, row = Math.min(Math.floor(place), kept.rows - 1);
    const next = Math.min(row + 1, kept.rows - 1);
    this.stage?.pose(kept.poses, row, next, Math.min(1, place - row));
    if (!this.stage) this.showPicture(row);
    this.slider.value = this.time;
    this.output.textContent = `${this.time.toFixed(1)} s, ${format(kept.rewards[row])}`;
    this.cursor.style.left = `${this.label + (this.timeline.clientWidth - this.label) * this.time / this.total}px`;
  }

  showPicture(row) {
    for (let at = row; at >= 0; at--) {
      const picture = this.recording.pictures.get(at);
      if (!picture) continue;
      if (this.image.getAttribute("src") !== picture) { this.image.src = picture; this.frames += 1; }
      return;
    }
  }

  drawTimeline() {
    const { scene, rows, touching, rewards, seconds, duration } = this.recording;
    const scale = Math.min(devicePixelRatio, 2), width = this.timeline.clientWidth, feet = scene.feet.length;
    const height = feet * ROW + CURVE + 6, pen = this.timeline.getContext("2d");
    const label = this.label = width < 500 ? 62 : LABEL;
    this.timeline.style.height = `${height}px`;
    this.timeline.width = width * scale;
    this.timeline.height = height * scale;
    pen.scale(scale, scale);
    pen.font = "10px system-ui, sans-serif";
    const total = this.total = Math.max(duration, rows * seconds), across = (row) => label + (row * seconds / total) * (width - label);
    scene.feet.forEach((name, foot) => {
      pen.fillStyle = color("--quiet");
      pen.fillText(name.replaceAll("_", " ").replace(/ foot$/, "").replace("front", "fr.").replace("middle", "mid."), 0, foot * ROW + 8, label - 6);
      pen.fillStyle = color("--empty");
      pen.fillRect(label, foot * ROW + 1, width - label, ROW - 3);
      pen.fillStyle = `rgb(${scene.colors[foot].join(",")})`;
      for (let row = 0, from = -1; row <= rows; row++) {
        const touches = row < rows && touching[row * feet + foot];
        if (touches && from < 0) from = row;
        if (!touches && from >= 0) { pen.fillRect(across(from), foot * ROW + 1, across(row) - across(from), ROW - 3); from = -1; }
      }
    });
    const top = feet * ROW + 8, low = Math.min(0, ...rewards), high = Math.max(1e-9, ...rewards);
    pen.fillStyle = color("--quiet");
    pen.fillText("reward so far", 0, top + 10, label - 6);
    pen.fillText(format(high), 0, top + 22, label - 6);
    pen.strokeStyle = color("--accent");
    pen.lineWidth = 1.5;
    pen.beginPath();
    rewards.forEach((value, row) => pen.lineTo(across(row), top + (CURVE - 8) * (1 - (value - low) / (high - low))));
    pen.stroke();
  }
}
