// A link with a token in its fragment, which no server sees: the token goes into the form, and out of the address.
"use strict";

const comeIn = () => {
  const secret = location.hash.slice(1);
  if (!secret) return;
  history.replaceState(null, "", "/enter");
  document.getElementById("token").value = secret;
  document.getElementById("enter").submit();
};

window.addEventListener("hashchange", comeIn);
comeIn();
