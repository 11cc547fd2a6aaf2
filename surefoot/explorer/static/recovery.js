// A recovery as it is watched: trials come as fast as they are simulated, and are shown one after the other.
import { decode } from "connection";
import { format } from "archive";

const SHOWN_SECONDS = 2.5; // that a trial is shown
const find = (text) => document.querySelector(text);
const element = (tag, text, className = "") => Object.assign(document.createElement(tag), { textContent: text, className });

export class Recovery {
  constructor({ archive, views, scenes, onImagined, onEnd }) {
    Object.assign(this, { archive, views, scenes, onImagined, onEnd });
    this.record = { trials: [] };
    find("#skip").onclick = () => this.skip();
    find("#colouring").onclick = () => this.toggleColors();
  }

  start({ command, damage }) {
    this.waiting = [];
    this.record = { damage, trials: [] };
    this.showing = this.skipping = false;
    this.result = null;
    this.trained = false;
    find("#recovery").hidden = find("#skip").hidden = find("#colouring").hidden = false;
    find("#again").textContent = command;
    find("#verdict").textContent = "Trying the gait that the robot walked with…";
    find("#verdict").className = "";
    find("#trials").replaceChildren();
    find("#causes").replaceChildren();
    this.archive.tried = [];
  }

  expected(map) {
    this.map = decode(map);
    this.color();
  }

  progress({ what, share }) {
    find("#thinking").hidden = share >= 1;
    find("#thinking").value = share;
    if (share < 1) find("#verdict").textContent = `${what[0].toUpperCase()}${what.slice(1)}: ${Math.round(100 * share)}%`;
  }

  trial(trial) {
    this.record.trials.push(trial);
    this.waiting.push(trial);
    if (!this.showing) this.next();
  }

  end(result) {
    this.result = result;
    if (this.skipping) this.skip();
    else if (!this.showing) this.next();
  }

  next() {
    const trial = this.waiting.shift();
    this.showing = Boolean(trial);
    if (!trial) {
      if (this.result) this.conclude();
      return;
    }
    this.list(trial);
    this.expected(trial.map);
    if (trial.row < this.archive.x.length) {
      this.archive.tried.push(trial.row);
      this.archive.mark(trial.row);
    }
    this.diagnose(trial);
    if (this.skipping && (this.waiting.length || this.result)) { this.next(); return; }
    this.watch(trial, () => this.next());
  }

  watch(trial, onEnd) {
    const [view] = this.views, rows = trial.walk.parts.reduce((sum, part) => sum + part.rows, 0);
    const scene = this.scenes.get(trial.walk.damage);
    view.load(scene, {
      ...trial.walk, onEnd, title: `Trial ${trial.number}`, facts: this.outcome(trial),
      subtitle: `gait ${this.name(trial)} with ${trial.walk.damage}`,
    });
    if (onEnd) view.speed.value = rows * trial.walk.seconds > 1.5 * SHOWN_SECONDS ? "2" : "1";
    const { imagined } = trial;
    if (imagined) {
      const cause = imagined.damage || "nothing wrong", gait = imagined.row < this.archive.x.length ? this.archive.name(imagined.row) : `row ${imagined.row}`;
      this.onImagined(this.scenes.get(imagined.damage), {
        ...imagined, title: "Imagined", subtitle: `gait ${gait} with ${cause}`,
        facts: `The gait now expected to be best, ${format(imagined.expected)}, simulated with the likeliest cause.`,
      });
    }
  }

  name({ row, cell, refined, specialist }) {
    if (refined) return `refined from ${cell.join(",")}`;
    return specialist ? `row ${row}` : cell.join(",");
  }

  outcome(trial) {
    const fall = trial.fell ? ", the robot fell" : "";
    return `Predicted ${format(trial.predicted)}, measured ${format(trial.measured)}: ${format(trial.distance)} m${fall}.`;
  }

  list(trial) {
    const line = document.createElement("tr"), again = element("button", trial.number);
    again.type = "button";
    again.ariaLabel = `Watch trial ${trial.number} again`;
    again.onclick = () => { this.mark(line); this.watch(trial, null); };
    const what = trial.fell ? "fell" : trial.confirms ? "confirmation" : "walked";
    const cells = [again, this.name(trial), format(trial.predicted), format(trial.measured), what];
    line.append(...cells.map((content) => {
      const cell = document.createElement("td");
      cell.append(content);
      return cell;
    }));
    if (trial.fell) line.lastChild.className = "bad";
    find("#trials").append(line);
    this.mark(line);
    find("#verdict").textContent = `Trial ${trial.number}: ${this.outcome(trial)}`;
  }

  mark(line) {
    for (const other of find("#trials").children) other.className = other === line ? "now" : "";
  }

  diagnose(trial) {
    const causes = Object.entries(trial.diagnosis).slice(0, 4);
    find("#causes").replaceChildren(...causes.map(([cause, share]) => {
      const line = document.createElement("div"), bar = document.createElement("i");
      bar.style.width = `${100 * share}%`;
      line.append(element("span", cause), bar, element("span", `${Math.round(100 * share)}%`));
      return line;
    }));
    if (causes.length) find("#causes").prepend(element("p", `What is probably wrong, after trial ${trial.number}. ${trial.thought}`, "quiet"));
  }

  conclude() {
    const { verdict, effort } = this.result;
    find("#thinking").hidden = find("#skip").hidden = true;
    find("#verdict").textContent = `After ${effort}: ${verdict}.`;
    find("#verdict").className = verdict.startsWith("recovered") ? "good" : "";
    this.views[0].speed.value = "1";
    this.record.result = this.result;
    this.result = null;
    this.onEnd(this.record.result);
  }

  skip() {
    this.skipping = true;
    const [view] = this.views;
    view.onEnd = null;
    if (this.showing) this.next();
  }

  stopped(text) {
    this.waiting = [];
    this.showing = false;
    find("#thinking").hidden = find("#skip").hidden = true;
    find("#verdict").textContent = text;
  }

  toggleColors() {
    this.trained = !this.trained;
    this.color();
  }

  color() {
    find("#colouring").textContent = this.trained ? "Colours as expected now" : "Colours as trained";
    if (this.trained || !this.map) this.archive.setColors(null);
    else this.archive.setColors(this.map, "Colours: what the recovery now expects of each gait on the damaged robot; rings: gaits tried");
  }
}
