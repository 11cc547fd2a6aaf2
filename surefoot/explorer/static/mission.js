// A mission from its log: the path as the server drew it, and events; a click on either leads to its moment.
import { make } from "connection";

const find = (text) => document.querySelector(`#mission ${text}`);

export class Mission {
  constructor({ map, events, command }, view, archive, onMoment) {
    Object.assign(this, { events, view, archive });
    find("#path").innerHTML = map;
    find("code").textContent = command;
    this.lines = events.map(({ time, kind, words }) => {
      const button = make("button", { type: "button" }, `${time.toFixed(1)} s`);
      button.dataset.time = time;
      return make("li", { className: kind }, button, make("span", {}, words));
    });
    find("ol").replaceChildren(...this.lines);
    document.querySelector("#mission").onclick = ({ target }) => {
      const moment = target.closest("[data-time]");
      if (moment) onMoment(Number(moment.dataset.time));
    };
    document.querySelector("#mission").hidden = false;
  }

  // Show where the robot is at a time, given the pose of its torso, and what it is doing.
  show(time, [x, y, , w, i, j, k]) {
    const yaw = Math.atan2(2 * (w * k + i * j), 1 - 2 * (j * j + k * k)) * 180 / Math.PI;
    find("[data-robot]").setAttribute("transform", `translate(${x} ${-y}) rotate(${-yaw})`);
    const now = this.events.findLastIndex((event) => event.time <= time + 1e-6), line = this.lines[now];
    if (this.now === line) return;
    this.now = line;
    for (const other of this.lines) other.ariaCurrent = other === line ? "step" : null;
    const list = line.parentElement;
    list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 2;
    this.view.tell(this.events[now].words);
    this.archive.mark(this.events.slice(0, now + 1).findLast((event) => event.row !== null)?.row);
    this.view.row = this.archive.row;
  }
}
