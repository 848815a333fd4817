// The chat with a script: a message is sent to the API, and its answer is shown as it comes. Every word of others goes
// in as text; what is drawn (Markdown, a call that waits) comes from the server, where it was made safe.
"use strict";

const log = document.getElementById("log");
const form = document.getElementById("say");
const box = document.getElementById("text");
const sendButton = document.getElementById("send");
const stopButton = document.getElementById("stop");
const offline = document.getElementById("offline");
const agent = log.dataset.agent;
const here = `/chat/${encodeURIComponent(agent)}`;
const api = `/api/agents/${encodeURIComponent(agent)}`;
const SLOW_MS = 8000;
let going = null;

// ── drawing ──────────────────────────────────────────────────────────────────────────────────────────────────────

const make = (tag, name, words = "") => {
  const made = document.createElement(tag);
  made.className = name;
  made.textContent = words;
  return made;
};

const nearEnd = () => window.innerHeight + window.scrollY > document.documentElement.scrollHeight - 160;

const toEnd = () => window.scrollTo({ top: document.documentElement.scrollHeight });

const grow = () => {
  box.rows = Math.min(10, Math.max(1, box.value.split("\n").length, Math.ceil(box.value.length / 70)));
};

const drawn = async (path) => {
  const answer = await fetch(path, { headers: { "HX-Request": "true" } });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const held = document.createElement("template");
  held.innerHTML = await answer.text();
  return held.content;
};

const begin = (words) => {
  document.getElementById("empty")?.remove();
  const place = make("article", "exchange");
  const mine = make("div", "said mine");
  mine.dir = "auto";
  mine.append(make("h2", "unseen", "You"), make("p", "as-written", words));
  const theirs = make("div", "said theirs thinking");
  theirs.dir = "auto";
  const body = make("p", "as-written words");
  theirs.append(make("h2", "unseen", agent), make("p", "dots", "Thinking…"), body);
  place.append(mine, theirs);
  log.append(place);
  toEnd();
  return { place, theirs, body };
};

// ── one turn ─────────────────────────────────────────────────────────────────────────────────────────────────────

const said = {
  text: (at, data) => {
    at.theirs.classList.remove("thinking");
    at.body.append(data.text);
  },
  call: (at, data) => {
    const how = { allow: "used", ask: "wants to use", deny: "was not allowed" }[data.decision];
    at.theirs.insertBefore(make("p", `call ${data.decision}`, `${how} ${data.tool}`), at.body);
  },
  approval: async (at, data) => {
    at.theirs.append(await drawn(`${here}/calls/${encodeURIComponent(data.id)}`));
    at.theirs.classList.add("asking");
  },
  done: async (at, data) => {
    at.over = true;
    at.theirs.classList.remove("thinking", "asking");
    if (data.outcome === "silent") {
      at.theirs.classList.add("silent");
      at.theirs.replaceChildren(...at.theirs.querySelectorAll(".call"), make("p", "", "(no reply)"));
    } else if (data.turn) {
      const whole = await drawn(`${here}/turns/${encodeURIComponent(data.turn)}`);
      const theirs = whole.querySelector(".theirs");
      if (!theirs) return;
      theirs.querySelector("h2").after(...at.theirs.querySelectorAll(".call, [data-card]"));
      at.theirs.replaceWith(theirs);
    }
  },
  error: (at, data) => {
    at.over = true;
    failed(at, data.error);
    at.theirs.append(make("p", "fine", `What you wrote is kept. ${data.error.code}`));
  },
};

const failed = (at, error, again = null) => {
  at.theirs.classList.remove("thinking", "asking");
  at.theirs.classList.add("failed");
  at.theirs.append(make("p", "tag", "No answer"), make("p", "", error.message));
  if (!again) return;
  const button = make("button", "", "Try again");
  button.type = "button";
  button.addEventListener("click", () => {
    at.place.remove();
    again();
  });
  at.theirs.append(button);
};

const events = async function* (body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const whole = (held + next.value).split("\n\n");
    held = whole.pop();
    for (const block of whole) {
      const lines = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
      if (lines.event) yield [lines.event, JSON.parse(lines.data)];
    }
  }
};

const listen = async (at, words, id) => {
  const answer = await fetch(`${api}/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ text: words, id }),
    signal: going.signal,
  });
  if (answer.status === 401) return location.assign("/enter");
  if (!answer.ok) {
    at.over = true;
    return failed(at, (await answer.json()).error);
  }
  for await (const [kind, data] of events(answer.body)) {
    const follow = nearEnd();
    await said[kind]?.(at, data);
    if (follow) toEnd();
  }
  if (!at.over) throw new TypeError("cut");
};

const busy = (yes) => {
  log.setAttribute("aria-busy", String(yes));
  sendButton.hidden = yes;
  stopButton.hidden = !yes;
};

const send = async (words, id) => {
  going = new AbortController();
  const at = begin(words);
  const slow = setTimeout(() => {
    at.theirs.querySelector(".dots").textContent = "Still thinking… The first answer of a local model takes longest.";
  }, SLOW_MS);
  busy(true);
  try {
    await listen(at, words, id);
  } catch (error) {
    if (going.signal.aborted) {
      at.theirs.classList.remove("thinking", "asking");
      at.theirs.classList.add("stopped");
      at.theirs.append(make("p", "fine", "Stopped."));
    } else {
      failed(at, { message: "The connection broke. What you wrote is not lost." }, () => send(words, id));
    }
  }
  clearTimeout(slow);
  going = null;
  busy(false);
};

// ── what a person does ───────────────────────────────────────────────────────────────────────────────────────────

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const words = box.value;
  if (going || !words.trim()) return;
  const id = crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random().toString(36).slice(2)}`;
  box.value = "";
  grow();
  box.focus();
  send(words, id);
});

box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
box.addEventListener("input", grow);

stopButton.addEventListener("click", () => {
  going?.abort();
  box.focus();
});

const reached = () => (offline.hidden = navigator.onLine);
window.addEventListener("online", reached);
window.addEventListener("offline", reached);

// What was said in another tab is there when one comes back to this one.
document.addEventListener("visibilitychange", async () => {
  if (document.hidden || going || log.querySelector(".silent, .failed button")) return;
  try {
    const now = await drawn(here);
    if (!going) log.replaceChildren(now);
  } catch {}
});

reached();
document.querySelector(".agents [aria-current]").scrollIntoView({ block: "nearest", inline: "center" });
toEnd();
