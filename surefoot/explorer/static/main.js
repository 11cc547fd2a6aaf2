// The page: passes on what a visitor asks for, and shows what comes back.
import { Archive, format } from "archive";
import { connect, make, recorded } from "connection";
import { Mission } from "mission";
import { Recovery } from "recovery";
import { View } from "view";

const find = (text) => document.querySelector(text);
const scenes = new Map(), views = [];
let archive, recovery, mission, hello, active, recovering = false;
globalThis.surefoot = { views, get recovery() { return recovery; }, get archive() { return archive; }, get mission() { return mission; } };

const ask = connect(receive);

function receive(message) {
  const act = {
    hello: () => greet(message),
    scene: () => scenes.set(message.damage, message),
    walk: () => walk(message),
    ran: () => recovery.ran(message),
    part: () => views[message.view]?.add(message),
    recovery: () => recovery.start(message),
    expected: () => recovery.expected(message.map),
    progress: () => recovery.progress(message),
    trial: () => recovery.trial(message),
    recovered: () => recovery.end(message),
    stopped: () => message.do === "recover" && endRecovery("The recovery was stopped."),
    error: () => fail(message),
  }[message.type];
  act?.();
}

function note(text, bad = false) {
  if ([...find("#notes").children].some((line) => line.textContent === text)) return;
  const line = make("p", { className: bad ? "bad" : "" }, text);
  find("#notes").append(line);
  if (bad) setTimeout(() => line.remove(), 10000);
}

function fail({ text, do: what }) {
  if (what === "recover") return endRecovery(text);
  if (what !== "walk" || !active) return note(text, true);
  const shown = active.recording;
  if (!shown && active.damage) show(active.row, active, ""); // of an address with a mistyped damage
  active.damage = !shown || shown.lane ? "" : shown.scene.damage;
  activate(active);
  find("#wrong").textContent = text;
  find("#wrong").scrollIntoView({ block: "nearest" });
}

function endRecovery(text) {
  setRecovering(false);
  recovery?.stopped(text);
}

function greet(message) {
  const again = hello?.file === message.file && archive; // the server was started again
  if (recovering) endRecovery("The server was started again: press Recover to start over.");
  hello = message;
  if (again) return;
  for (const name of ["title", "file"]) find(`#${name}`).textContent = hello[name];
  document.title = `${hello.title} – Surefoot explorer`;
  find("#notes").replaceChildren();
  hello.notes.forEach((text) => note(text));
  archive = new Archive(hello.archive, hello.recorded, (row) => hello.walks && show(row));
  find("#breaking").hidden = !hello.walks;
  const [row, broken] = place();
  archive.mark(row ?? hello.start ?? hello.archive.best);
  if (!hello.walks) return note("There is no robot to show: this is the archive alone.");
  addView();
  recovery = new Recovery({ archive, views, onShow: play, onEnd: finish });
  if (!views[0].stage) note("This browser has no WebGL, which draws the robot: the map and the numbers are all that it shows.");
  fillForm();
  if (hello.mission) {
    mission = new Mission(hello.mission, views[0], archive, moment);
    moment(0);
  } else show(archive.row, active, broken);
  globalThis.onhashchange = () => {
    const [chosen, damaged] = place();
    if (chosen !== null && !(chosen === active.row && damaged === active.damage)) show(chosen, active, damaged);
  };
  frame(0, 0);
}

// The gait and the damage that the address names.
function place() {
  const named = new URLSearchParams(location.hash.slice(1)), row = Number(named.get("gait") ?? NaN);
  return [Number.isInteger(row) && row >= 0 && row < hello.gaits ? row : null, named.get("damage") ?? ""];
}

function rename(view) {
  if (view.row >= hello.gaits) return; // another visitor would not have it
  const named = new URLSearchParams({ gait: view.row, ...(view.damage && { damage: view.damage }) });
  history.replaceState(null, "", `#${named}`);
}

function fillForm() {
  find("#damage").replaceChildren(...Object.entries(hello.damages).map(([kind, texts]) => make("optgroup", { label: kind }, ...texts.map((text) => new Option(text)))));
  find("#selector").replaceChildren(...Object.keys(hello.selectors).map((name) => new Option(name, name, false, name === hello.selector)));
  (find("#selector").onchange = () => { find("#about").textContent = hello.selectors[find("#selector").value]; })();
  find("#text").placeholder = `${find("#damage").value}+all:weak@0.7`;
  find("#damage").onchange = () => { find("#text").value = ""; };
  find("#text").disabled = find("#selector").disabled = Boolean(recorded);
  find("form").onsubmit = (event) => { event.preventDefault(); damage(find("#text").value.trim() || find("#damage").value); };
  find("#repair").onclick = () => damage("");
  find("#refined").onchange = () => show(Number(find("#refined").value));
  find("#compare").onclick = () => (views[1] ? removeView() : addView(true));
  find("#recover").onclick = () => recover();
  find("#stop").onclick = () => (recovery.result ? recovery.skip() : ask({ do: "stop" }));
}

function addView(copy = false) {
  const onLeg = (leg) => recovering || active.damage || damage(`${leg}:lost`);
  const view = new View(views.length, { onLeg, onActive: activate });
  view.damage = copy ? views[0].damage : "";
  views.push(view);
  find("#views").append(view.element);
  activate(copy || !active ? view : active); // what is imagined is not what is broken next
  if (copy) show(views[0].row, view);
  return view;
}

function removeView() {
  views.pop().element.remove();
  activate(views[0]);
}

function activate(view) {
  active = view;
  find("#views").classList.toggle("two", views.length > 1);
  find("#compare").ariaPressed = String(views.length > 1);
  for (const other of views) other.element.classList.toggle("active", other === view && views.length > 1);
  if (!recovering) archive.mark(view.row);
  find("#repair").disabled = find("#recover").disabled = !view.damage || recovering;
  find("#why").textContent = recovering ? "A recovery is under way: Stop ends it." : view.damage ? "" : "Recover needs a robot that is broken: break something first.";
}

function free(view) {
  const taken = recovering && view === views[0];
  if (taken) note("A recovery is under way: stop it first. The second view answers once the recovery is computed.", true);
  return !taken;
}

function show(row, view = active, broken = view.damage) {
  if (!free(view)) return;
  find("#wrong").textContent = "";
  view.row = row;
  view.damage = broken;
  activate(view);
  ask({ do: "walk", row, view: view.index, damage: broken });
}

function walk(message) {
  const view = views[message.view], scene = scenes.get(message.damage);
  if (!view) return;
  view.load(scene, message.lane ? { ...message, onTime: (...now) => mission.show(...now) } : message);
  if (!message.lane) return view === active && rename(view);
  [view.damage, view.time] = ["", mission.from];
  activate(view);
}

// Go to a moment of the mission, which is shown anew if something else is.
function moment(time) {
  const [view] = views;
  [mission.from, mission.now] = [time, null];
  if (view.recording?.lane) view.goTo(time);
  else if (free(view)) ask({ do: "mission" });
}

function damage(text) {
  archive.setColors(null);
  show(active.row, active, text);
}

function recover() {
  setRecovering(true);
  find("#views").scrollIntoView({ block: "nearest" });
  views[0].damage = active.damage;
  ask({ do: "recover", damage: active.damage, selector: find("#selector").value });
}

// The gait that was found walks on.
function finish({ row, refined }) {
  setRecovering(false);
  const choices = refined.map(({ row: gait, label }) => new Option(label, gait, false, gait === row));
  find("#refined").replaceChildren(...choices);
  find("#refined").hidden = !choices.length;
  show(row, views[0], recovery.record.damage);
}

function setRecovering(on) {
  recovering = on;
  find("#stop").disabled = !on;
  activate(active);
}

// Show what comes with a recovery; what is asked for next in that view is about the same gait and damage.
function play(index, { row, damage, ...recording }) {
  const view = views[index] ?? addView();
  Object.assign(view, { row, damage });
  view.load(scenes.get(damage), recording);
  activate(active);
}

function frame(now, before) {
  for (const view of views) view.tick(Math.min(0.25, (now - before) / 1000));
  requestAnimationFrame((later) => frame(later, now));
}
