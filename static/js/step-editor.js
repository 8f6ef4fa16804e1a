// The page of one step: what is typed is saved by itself, one save after the other, each with the state of the
// draft that the one before it left. Answers hold no inputs but those that a button asked for.
/* global htmx */
const form = document.getElementById("step-form");
const PAUSE = 1200;
let line = Promise.resolve();
let isWaiting = false;
let isBusy = false;
let timer = 0;
let isStopped = !("autosave" in form.dataset);

const post = (values, target, swap) => htmx.ajax("POST", form.action, { source: form, target, swap, values });

function save() {
  window.clearTimeout(timer);
  timer = 0;
  if (isStopped || isWaiting) {
    return line;
  }
  isWaiting = true;
  line = line.then(async () => {
    isWaiting = false;
    isBusy = true;
    await (isStopped ? undefined : post({}, "#step-status", "outerMorph"));
    isBusy = false;
  });
  return line;
}

function soon() {
  window.clearTimeout(timer);
  timer = window.setTimeout(save, PAUSE);
}

// A button that adds or removes a rule, a case or an arm; the editor is drawn anew.
function edit(word, focus) {
  window.clearTimeout(timer);
  timer = 0;
  line = line.then(async () => {
    isBusy = true;
    await post({ edit: word }, "#editor", "outerMorph");
    isBusy = false;
    const wanted = document.getElementById(focus) || document.querySelector("#editor button[name=edit]");
    wanted?.focus();
  });
}

const isOurs = (event) => event.target.form === form && !["q", "person"].includes(event.target.name);

document.addEventListener("input", (event) => isOurs(event) && soon());
document.addEventListener("change", (event) => {
  if (!isOurs(event)) {
    return;
  }
  if (event.target.matches("[data-refresh]") && !isStopped) {
    edit("refresh", event.target.id);
  } else {
    save();
  }
});

form.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (button?.name === "edit" && !isStopped) {
    event.preventDefault();
    edit(button.value, button.id);
  } else if (isBusy || isWaiting) {
    // The last save is still on its way: its answer brings the state that this one must be made on.
    event.preventDefault();
    line.then(() => form.requestSubmit(button || undefined));
  } else {
    window.clearTimeout(timer);
    isStopped = true;
  }
});

// Leaving by a link waits for what was typed last.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (link && isPlain && !isStopped && (timer || isBusy || isWaiting)) {
    event.preventDefault();
    (timer ? save() : line).then(() => window.location.assign(link.href));
  }
});

document.addEventListener("ui:saved", (event) => {
  form.elements.base.value = event.detail.base;
});

document.addEventListener("ui:conflict", () => {
  isStopped = true;
  document.querySelector("#step-status button")?.focus();
});

document.addEventListener("ui:errors", (event) => {
  for (const field of form.querySelectorAll("[data-marked]")) {
    field.removeAttribute("aria-invalid");
    delete field.dataset.marked;
  }
  for (const id of Object.keys(event.detail)) {
    const field = document.getElementById(id);
    if (field) {
      field.setAttribute("aria-invalid", "true");
      field.dataset.marked = "";
    }
  }
});

// A problem in the list leads here with the field's id: the field gets the focus, not only the scroll.
document.getElementById(window.location.hash.slice(1))?.focus();
