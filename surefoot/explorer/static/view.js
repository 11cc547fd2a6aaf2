// One view: a robot that walks, the feet's contacts and the reward over time, and buttons to play it.
import { decode, make } from "connection";
import { format } from "archive";
import { Stage } from "stage";

// A drawing as wide as there is room: `width` units, one unit high, with a line through it.
function draw(width, kind, line) {
  const [drawing, drawn] = ["svg", kind].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name));
  drawing.setAttribute("viewBox", `0 0 ${width} 1`);
  drawing.setAttribute("preserveAspectRatio", "none");
  for (const [name, value] of Object.entries(line)) drawn.setAttribute(name, value);
  drawing.append(drawn);
  return drawing;
}

export class View {
  constructor(index, { onLeg, onActive, onFilm }) {
    this.index = index;
    this.element = document.querySelector("#view").content.firstElementChild.cloneNode(true);
    const find = (text) => this.element.querySelector(text);
    [this.image, this.play, this.slider, this.output, this.timeline, this.film, this.speed] =
      ["img", ".play", "input", "output", ".timeline", ".film", ".row select"].map(find);
    this.texts = ["figcaption b", "figcaption span", ".facts", "code"].map(find);
    for (const touched of ["pointerdown", "focusin"]) this.element.addEventListener(touched, () => onActive(this));
    this.play.onclick = () => this.setPlaying(!this.playing);
    this.slider.oninput = () => { this.setPlaying(false); this.time = Number(this.slider.value); this.show(); };
    this.film.hidden = !onFilm;
    this.film.onclick = () => onFilm(this);
    try {
      this.stage = new Stage(find(".stage canvas"), onLeg);
    } catch {
      this.stage = null; // no WebGL: the server draws
      find(".stage canvas").hidden = true;
      this.image.hidden = false;
    }
    [this.recording, this.time, this.frames] = [null, 0, 0];
  }

  load(scene, { seconds = scene.step, title, subtitle = "", facts = "", command = "", parts = [], onEnd = null, duration = 0 }) {
    this.recording = { scene, seconds, rows: 0, poses: new Float32Array(), touching: [], rewards: [], pictures: new Map(), duration };
    [title, subtitle, facts, command].forEach((text, i) => { this.texts[i].textContent = text; });
    [this.time, this.onEnd] = [0, onEnd];
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
    this.timeline.style.setProperty("--share", this.time / this.total);
  }

  showPicture(row) {
    const { pictures } = this.recording, picture = pictures.get([...pictures.keys()].filter((at) => at <= row).at(-1));
    if (!picture || this.image.getAttribute("src") === picture) return;
    this.image.src = picture;
    this.frames += 1;
  }

  drawTimeline() {
    const { scene, rows, touching, rewards, seconds, duration } = this.recording, count = scene.feet.length;
    this.total = Math.max(duration, rows * seconds);
    const width = this.total / seconds, lines = scene.feet.map((name, foot) => {
      let path = "", down = 0;
      for (let row = 0; row <= rows; row++) {
        const touches = row < rows ? touching[row * count + foot] : 0;
        if (touches !== down) path += touches ? `M${row} .5` : `H${row}`;
        down = touches;
      }
      return [name.replaceAll("_", " ").replace(/ foot$/, ""), draw(width, "path", { d: path, stroke: `rgb(${scene.colors[foot].join(",")})` })];
    });
    const low = Math.min(0, ...rewards), high = Math.max(1e-9, ...rewards);
    const points = rewards.map((value, row) => `${row},${0.96 - 0.92 * (value - low) / (high - low)}`).join(" ");
    lines.push([`reward so far, up to ${format(high)}`, draw(width, "polyline", { points })]);
    this.timeline.replaceChildren(...lines.flatMap(([name, drawing]) => [make("span", {}, name), drawing]), make("i"));
  }
}
