// The step list of a draft: every change is posted by the form #change and answered with the list drawn anew.
// Changes wait for one another, and each is sent with the state of the draft that the one before it left.
/* global htmx, Sortable */
import "./flow-canvas.js";
import "./step-editor.js";
import "./variable-picker.js";
const form = document.getElementById("change");
const region = () => document.getElementById("draft");
let line = Promise.resolve();
let round = 0;

function send(values, when) {
  if (when !== round) {
    return undefined; // somebody else changed the draft: what was meant for the old list is dropped
  }
  return htmx.ajax("POST", form.action, {
    source: form,
    target: "#draft",
    swap: "outerMorph",
    values: { ...values, base: region().dataset.base },
  });
}

function enqueue(values) {
  const when = round;
  line = line.then(() => send(values, when)).catch(() => {});
}

// What the sheet saved is in the draft, but not in the list yet.
function refresh() {
  const url = `${region().dataset.url}/list`;
  line = line.then(() => htmx.ajax("GET", url, { target: "#draft", swap: "outerMorph" })).catch(() => {});
  return line;
}

// Buttons of the steps, of the sheets and of the bar; without this script they post the form they name.
function press(button) {
  if (button.getAttribute("aria-disabled") === "true") {
    return;
  }
  const sheet = button.closest("dialog");
  const at = sheet && (sheet.dataset.at || sheet.querySelector("[name=at]")?.value);
  sheet?.close();
  const focus = menu.contains(button) ? menu.dataset.opener : button.id;
  if (menu.contains(button)) {
    menu.hidePopover();
  }
  enqueue({ do: button.value, at: at || "", focus });
}

// Adding a step: one sheet for every place.
function openKinds(button) {
  const sheet = document.getElementById("kinds");
  const follows = "follows" in button.dataset;
  sheet.dataset.at = button.dataset.insertAt;
  sheet.dataset.opener = button.id;
  document.getElementById("kinds-where").textContent = button.getAttribute("aria-label");
  document.getElementById("kinds-note").hidden = !follows;
  for (const row of sheet.querySelectorAll("[data-ends]")) {
    row.hidden = follows;
  }
  sheet.showModal();
  sheet.querySelector(".kind").focus();
}

async function openPlaces(button) {
  const sheet = document.getElementById("places");
  sheet.dataset.opener = menu.dataset.opener;
  menu.hidePopover();
  await htmx.ajax("GET", button.dataset.places, { target: "#places-body", swap: "innerMorph" });
  sheet.showModal();
}

// The menu of a step: one for all of them, fetched when it opens, at the button or above it.
const menu = document.getElementById("step-menu");

async function openMenu(link) {
  menu.dataset.opener = link.id;
  menu.replaceChildren();
  await htmx.ajax("GET", `${link.pathname}/menu`, { target: menu, swap: "innerMorph" });
  menu.showPopover();
  const at = document.getElementById(link.id).getBoundingClientRect();
  const box = menu.getBoundingClientRect();
  const start = document.documentElement.dir === "rtl" ? at.left : at.right - box.width;
  const top = at.bottom + box.height + 8 < window.innerHeight ? at.bottom + 4 : at.top - box.height - 4;
  menu.style.inset = "auto";
  menu.style.top = `${Math.max(8, top)}px`;
  menu.style.left = `${Math.min(Math.max(8, start), window.innerWidth - box.width - 8)}px`;
  menu.querySelector("a, button").focus();
}

menu.addEventListener("toggle", (event) => {
  if (event.newState === "closed" && (document.activeElement === document.body || menu.contains(document.activeElement))) {
    document.getElementById(menu.dataset.opener)?.focus();
  }
});
menu.addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by) {
    event.preventDefault();
    const rows = [...menu.querySelectorAll("a, button")];
    rows[(rows.indexOf(document.activeElement) + by + rows.length) % rows.length].focus();
  }
});

// The sheet of a step: the same form as on its page.
const stepSheet = document.getElementById("step-sheet");

async function openStep(link, opener) {
  const before = stepSheet.querySelector("step-editor");
  if (before && !(await before.settle())) {
    return;
  }
  if (before?.isChanged) {
    refresh();
  }
  await line; // the form must hold the newest state of the draft
  stepSheet.replaceChildren(); // another step is another editor, never the old one made over
  await htmx.ajax("GET", `${link.pathname}/sheet`, { target: stepSheet, swap: "innerMorph" });
  if (!stepSheet.querySelector("#step-form")) {
    return;
  }
  if (!stepSheet.open) {
    stepSheet.dataset.opener = opener;
    stepSheet.showModal();
  }
  const field = link.hash && document.getElementById(link.hash.slice(1));
  (field && stepSheet.contains(field) ? field : document.getElementById("step-sheet-title")).focus();
}

// Closing keeps nothing back: what was typed last is saved first, and what cannot be saved opens the sheet again.
stepSheet.addEventListener("close", async () => {
  const editor = stepSheet.querySelector("step-editor");
  if (!editor) {
    return;
  }
  if (!(await editor.settle())) {
    stepSheet.showModal();
    return;
  }
  const isChanged = editor.isChanged;
  stepSheet.replaceChildren();
  if (isChanged) {
    await refresh();
    if (document.activeElement === document.body) { // whoever has gone on meanwhile is not called back
      document.getElementById(stepSheet.dataset.opener)?.focus({ preventScroll: true });
    }
  }
});

const isPlain = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;

function followed(event) {
  const link = event.target.closest("a[href]");
  const steps = `${region().dataset.url}/steps/`;
  if (!link || !isPlain(event) || "page" in link.dataset || !link.pathname.startsWith(steps)) {
    return false;
  }
  event.preventDefault();
  if (link.id.startsWith("more-")) {
    openMenu(link);
    return true;
  }
  const opener = menu.contains(link) ? menu.dataset.opener : link.id || `title-${link.pathname.slice(steps.length)}`;
  if (menu.contains(link)) {
    menu.hidePopover();
  }
  openStep(link, opener);
  return true;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[form=change]");
  if (button) {
    event.preventDefault();
    press(button);
    return;
  }
  const insert = event.target.closest("[data-insert-at]");
  const places = event.target.closest("[data-places]");
  const view = event.target.closest("[data-view-choice]");
  if (insert) {
    openKinds(insert);
  } else if (places) {
    openPlaces(places);
  } else if (view) {
    choose(view.dataset.viewChoice);
  } else {
    followed(event);
  }
});

// Arrow keys on a handle; undo and redo from anywhere but a field.
document.addEventListener("keydown", (event) => {
  const handle = event.target.closest(".step-handle");
  const verb = { ArrowUp: "up", ArrowDown: "down" }[event.key];
  if (handle && verb) {
    event.preventDefault();
    enqueue({ do: `${verb}:${handle.closest(".step").dataset.key}`, focus: handle.id });
    return;
  }
  if ((event.ctrlKey || event.metaKey) && !event.target.closest("input, textarea, select, dialog")) {
    const key = event.key.toLowerCase();
    if (key === "z" || key === "y") {
      event.preventDefault();
      enqueue({ do: key === "y" || event.shiftKey ? "redo" : "undo" });
    }
  }
});

// Dragging: the server's answer is the only thing that reorders, so the step goes back to where it was.
const sortables = new WeakSet();

// Not into itself, and never behind a fork or an end: there it goes before.
function wherever(event) {
  if (event.dragged.contains(event.to)) {
    return false;
  }
  return event.related && "closes" in event.related.dataset ? -1 : true;
}

function dropped(event) {
  const { item, from, to, oldIndex, oldDraggableIndex, newDraggableIndex } = event;
  from.insertBefore(item, from.children[oldIndex + (from === to && newDraggableIndex < oldDraggableIndex ? 1 : 0)] || null);
  if (from !== to || oldDraggableIndex !== newDraggableIndex) {
    const { key } = item.dataset;
    enqueue({ do: `move:${key}`, at: `${to.dataset.list}.${newDraggableIndex}`, focus: `handle-${key}` });
  }
}

function makeSortable() {
  for (const list of document.querySelectorAll("#draft ol[data-list]")) {
    if (!sortables.has(list)) {
      sortables.add(list);
      Sortable.create(list, {
        group: "steps",
        handle: ".step-handle",
        draggable: ".step:not([data-start])",
        forceFallback: true,
        fallbackOnBody: true,
        fallbackTolerance: 4,
        swapThreshold: 0.65,
        delayOnTouchOnly: true,
        delay: 120,
        animation: 0,
        onMove: wherever,
        onEnd: dropped,
      });
    }
  }
}

// List, chart or both: both only where there is room, and the choice is kept for the next visit.
const builder = document.getElementById("builder");
const wide = window.matchMedia("(min-width: 64rem)");
const KEPT = "peyk-builder-view";

function choose(view) {
  builder.dataset.view = view;
  window.localStorage.setItem(KEPT, view);
  mark();
}

function mark() {
  const view = builder.dataset.view === "both" && !wide.matches ? "list" : builder.dataset.view;
  for (const button of document.querySelectorAll("[data-view-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.viewChoice === view));
  }
}

builder.dataset.view ||= window.localStorage.getItem(KEPT) || "both";
wide.addEventListener("change", mark);

function drawn() {
  makeSortable();
  mark();
}

drawn();
document.addEventListener("htmx:after:swap", drawn);

document.addEventListener("ui:say", (event) => {
  document.getElementById("said").textContent = event.detail.text;
});

document.addEventListener("ui:conflict", () => {
  round += 1;
});
