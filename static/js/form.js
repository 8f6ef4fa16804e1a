// Forms: the first problem gets the focus, and a form is not posted twice by an impatient click.
const UNLOCK_AFTER = 5000;

document.querySelector("[data-focus-on-load]")?.focus();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post" || form.hasAttribute("hx-post")) {
    return;
  }
  if ("sent" in form.dataset) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "";
  // A download leaves the page where it is: the form must work again.
  window.setTimeout(() => delete form.dataset.sent, UNLOCK_AFTER);
});

window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
  }
});
