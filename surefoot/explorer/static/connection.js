// Talks to the server, or plays what an exported page holds. Both give messages, which are JSON objects.
export function decode(text, Kind = Float32Array) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Kind(bytes.buffer);
}

export function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export const recorded = globalThis.surefootRecorded ?? null;

export const connect = recorded ? playBack : talk;

function say(text, bad = false) {
  Object.assign(document.querySelector("#status"), { textContent: text, className: bad ? "quiet bad" : "quiet" });
}

function talk(onMessage) {
  let socket, wait = 500;
  const open = () => {
    socket = new WebSocket(`ws://${location.host}${location.pathname}socket${location.search}`);
    socket.onopen = () => { wait = 500; say("Connected"); };
    socket.onmessage = (event) => onMessage(JSON.parse(event.data));
    socket.onclose = () => {
      say("The server does not answer. The page goes on once it is there again.", true);
      setTimeout(open, wait);
      wait = Math.min(2 * wait, 4000);
    };
  };
  open();
  return (request) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(request));
}

function playBack(onMessage) {
  queueMicrotask(() => {
    say("A recording, without a server");
    recorded.scenes.forEach(onMessage);
    onMessage(recorded.hello);
  });
  return (request) => {
    if (request.do === "stop") return;
    const key = [request.do, request.row, request.damage].filter((part) => part !== undefined).join(" ");
    const answers = recorded.answers[key];
    if (!answers) onMessage({ type: "error", text: "This page holds no recording of that.", do: request.do });
    for (const answer of answers ?? []) {
      onMessage(request.do === "walk" ? { ...answer, view: request.view } : answer);
    }
  };
}
