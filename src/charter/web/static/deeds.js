// Buttons that do something through the API: data-post says where, data-body what, data-done what to say of it.
"use strict";

const wentWrong = (card, words) => {
  const place = (card && card.querySelector(".problem")) || document.getElementById("problem") || document.createElement("p");
  if (!place.isConnected) {
    place.className = "notice bad problem";
    place.setAttribute("role", "alert");
    card.append(place);
  }
  place.textContent = words;
  place.hidden = false;
};

const settle = (card, words) => {
  const line = document.createElement("p");
  line.className = "decided";
  line.setAttribute("role", "status");
  line.textContent = words;
  card.querySelector(".row").replaceWith(line);
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-post]");
  if (!button) return;
  const card = button.closest("[data-card]");
  const all = card ? card.querySelectorAll("button") : [button];
  all.forEach((one) => (one.disabled = true));
  let words = "The server cannot be reached. Try again.";
  try {
    const answer = await fetch(button.dataset.post, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: button.dataset.body,
    });
    if (answer.ok && button.dataset.then === "reload") return location.reload();
    if (answer.ok && card) return settle(card, button.dataset.done);
    words = (await answer.json()).error.message;
  } catch {}
  all.forEach((one) => (one.disabled = false));
  wentWrong(card, words);
});
