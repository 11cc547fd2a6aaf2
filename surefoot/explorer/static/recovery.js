// A recovery as it is watched: trials come as fast as they are simulated, and are shown one after the other.
import { decode, make } from "connection";
import { format } from "archive";

const find = (text) => document.querySelector(text);

export class Recovery {
  constructor({ archive, views, onShow, onEnd }) {
    Object.assign(this, { archive, views, onShow, onEnd });
    this.record = { trials: [] };
    find("#skip").onclick = () => this.skip();
  }

  start({ command, damage }) {
    [this.record, this.archive.tried, this.waiting] = [{ damage, trials: [] }, [], []];
    this.showing = this.skipping = this.result = false;
    find("#recovery").hidden = find("#skip").hidden = false;
    find("#again").textContent = command;
    find("#verdict").textContent = "Trying the gait that the robot walked with…";
    for (const id of ["#trials", "#causes"]) find(id).replaceChildren();
  }

  expected(map) {
    this.archive.setColors(decode(map), "Colours: what the recovery now expects of each gait on the damaged robot; rings: gaits tried");
  }

  progress({ what, share }) {
    find("#thinking").hidden = share >= 1;
    find("#thinking").value = share;
    if (share < 1) find("#verdict").textContent = `${what[0].toUpperCase()}${what.slice(1)}: ${Math.round(100 * share)}%`;
  }

  // A trial was run, and is thought about.
  ran({ number, gait, predicted, measured, fell }) {
    this.line(number, [number, gait, format(predicted), format(measured), fell ? "fell" : "walked"], fell);
  }

  trial(trial) {
    this.record.trials.push(trial);
    this.waiting.push(trial);
    if (!this.showing) this.next();
  }

  end(result) {
    this.result = result;
    if (this.skipping) this.views[0].onEnd = null;
    if (this.skipping || !this.showing) this.next();
  }

  next() {
    const trial = this.waiting.shift();
    this.showing = Boolean(trial);
    if (!trial) return this.result && this.conclude();
    this.list(trial);
    this.expected(trial.map);
    this.archive.tried.push(trial.row);
    this.archive.mark(trial.row);
    this.diagnose(trial);
    if (this.skipping && (this.waiting.length || this.result)) this.next();
    else this.watch(trial, () => this.next());
  }

  watch({ row, walk, imagined }, onEnd) {
    this.onShow(0, { ...walk, row, onEnd });
    if (onEnd) this.views[0].speed.value = "2";
    if (imagined) this.onShow(1, imagined);
  }

  repeat(trial) {
    this.mark(find("#trials").children[this.record.trials.indexOf(trial)]);
    this.watch(trial, this.showing ? () => this.next() : null); // trials that wait come after it
  }

  list(trial) {
    const again = make("button", { type: "button", ariaLabel: `Watch trial ${trial.number} again` }, trial.number);
    const outcome = trial.fell ? "fell" : trial.confirms ? "confirmation" : "walked";
    const cells = [again, trial.gait, format(trial.predicted), format(trial.measured), outcome];
    again.onclick = () => this.repeat(trial);
    this.mark(this.line(trial.number, cells, trial.fell));
    find("#verdict").textContent = `Trial ${trial.number}. ${trial.walk.facts}`;
  }

  line(number, cells, fell) {
    const line = find("#trials").children[number - 1] ?? make("tr", {});
    line.replaceChildren(...cells.map((content) => make("td", {}, content)));
    if (fell) line.lastChild.className = "bad";
    find("#trials").append(line);
    return line;
  }

  mark(line) {
    for (const other of find("#trials").children) other.className = other === line ? "now" : "";
  }

  diagnose(trial) {
    const causes = Object.entries(trial.diagnosis).slice(0, 4).map(([cause, share]) => [cause, `${Math.round(100 * share)}%`])
      .map(([cause, percent]) => make("div", {}, make("span", {}, cause), make("i", { style: `width: ${percent}` }), make("span", {}, percent)));
    if (causes.length) causes.unshift(make("p", { className: "quiet" }, `What is probably wrong, after trial ${trial.number}. ${trial.thought}`));
    find("#causes").replaceChildren(...causes);
  }

  conclude() {
    this.stopped(`After ${this.result.effort}: ${this.result.verdict}.`);
    this.views[0].speed.value = "1";
    this.record.result = this.result;
    this.result = false;
    this.onEnd(this.record.result);
  }

  skip() {
    this.skipping = true;
    this.views[0].onEnd = null;
    if (this.showing) this.next();
  }

  stopped(text) {
    [this.waiting, this.showing] = [[], false];
    find("#thinking").hidden = find("#skip").hidden = true;
    find("#verdict").textContent = text;
  }
}
