// A button that copies the field beside it: data-copy holds the field's id, data-copied what is said then.
import { announce } from "./announce.js";

// Over plain HTTP a page has no clipboard; the old command still takes what is selected.
async function copied(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false; // without scripts it could do nothing
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (button && (await copied(document.getElementById(button.dataset.copy)))) {
    announce(button.dataset.copied);
  }
});
