// The step list of a draft: every change is posted by the form #change and answered with the list drawn anew.
// Changes wait for one another, and each is sent with the state of the draft that the one before it left.
/* global htmx, Sortable */
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

// Buttons of the steps, of the sheets and of the bar; without this script they post the form they name.
function press(button) {
  if (button.getAttribute("aria-disabled") === "true") {
    return;
  }
  const sheet = button.closest("dialog");
  const at = sheet && (sheet.dataset.at || sheet.querySelector("[name=at]")?.value);
  sheet?.close();
  enqueue({ do: button.value, at: at || "", focus: button.id });
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
  sheet.dataset.opener = button.closest(".menu").querySelector("summary").id;
  await htmx.ajax("GET", button.dataset.places, { target: "#places-body", swap: "innerMorph" });
  sheet.showModal();
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
  if (insert) {
    openKinds(insert);
  } else if (places) {
    openPlaces(places);
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

makeSortable();
document.addEventListener("htmx:after:swap", makeSortable);

document.addEventListener("ui:say", (event) => {
  document.getElementById("said").textContent = event.detail.text;
});

document.addEventListener("ui:conflict", () => {
  round += 1;
});
