// A link with a token in its fragment, which no server sees: the token goes into the form, and out of the address.
// Who is in already says yes first: a link of somebody else's must not have them go on under another name. A browser
// sends no cookie of ours with a link from elsewhere, so it is asked from here who is in.
"use strict";

const whose = async (headers) => (await fetch("/enter/who", { headers })).text();

const comeIn = async () => {
  const secret = location.hash.slice(1);
  if (!secret) return;
  history.replaceState(null, "", "/enter");
  document.getElementById("token").value = secret;
  const [here, asks] = await Promise.all([whose({}), whose({ authorization: `Bearer ${encodeURIComponent(secret)}` })]);
  if (here && here !== asks) document.getElementById("other").hidden = false;
  else document.getElementById("enter").submit();
};

window.addEventListener("hashchange", comeIn);
comeIn();
