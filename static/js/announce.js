// Toasts in the page's one live region, and the focus after an htmx answer.
// The server sends the event ui:announce {text, tone, focus} in the HX-Trigger header.
const SHOWN_FOR = 8000;
const ICONS = { success: "check", info: "info", warn: "warning", danger: "error" };

const region = () => document.getElementById("live");

function drawing(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${region().dataset.icons}#${name}`);
  svg.append(use);
  return svg;
}

function toast(text, tone) {
  const box = document.createElement("div");
  box.className = `toast toast-${tone}`;
  const words = document.createElement("p");
  words.className = "toast-text";
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "btn btn-quiet btn-icon btn-small";
  close.dataset.toastClose = "";
  close.setAttribute("aria-label", region().dataset.closeLabel);
  close.append(drawing("close"));
  box.append(drawing(ICONS[tone] || "info"), words, close);
  return box;
}

// Bad news stays until it is closed; good news leaves, but not while somebody reads it.
function leaveLater(box) {
  if (box.matches(".toast-danger, .toast-warn")) {
    return;
  }
  const leave = () => {
    if (box.matches(":hover, :focus-within")) {
      window.setTimeout(leave, 1000);
    } else {
      box.remove();
    }
  };
  window.setTimeout(leave, SHOWN_FOR);
}

export function announce(text, tone = "success") {
  const box = toast(text, tone);
  region().append(box);
  leaveLater(box);
}

// What cannot be reached by Tab can still be focused by a script once it has a tabindex.
function focusOn(element) {
  element.focus();
  if (document.activeElement !== element) {
    element.tabIndex = -1;
    element.focus();
  }
}

document.addEventListener("ui:announce", (event) => {
  const { text, tone, focus } = event.detail;
  if (text) {
    announce(text, tone || "success");
  }
  const wanted = focus && document.getElementById(focus);
  if (wanted) {
    focusOn(wanted);
  }
});

// A whole page in answer to a request for a fragment: an error page becomes a toast, and a page that the server
// sent the person to (sign-in after the session ended) is opened. Neither is put into the middle of this one.
document.addEventListener("htmx:after:request", (event) => {
  const { ctx } = event.detail;
  const { status, raw } = ctx.response;
  if (!/^\s*<!doctype/i.test(ctx.text || "")) {
    return;
  }
  if (status >= 400) {
    event.preventDefault();
    const answer = new DOMParser().parseFromString(ctx.text, "text/html");
    const words = [...answer.querySelectorAll("main h1, main .empty p")].map((part) => part.textContent.trim());
    announce(words.filter(Boolean).join(": ") || region().dataset.failed, "danger");
  } else if (raw.redirected && !ctx.select && ctx.target !== document.body) {
    event.preventDefault();
    window.location.assign(raw.url);
  }
});

document.addEventListener("htmx:error", (event) => {
  if (event.detail.ctx) {
    announce(region().dataset.failed, "danger");
  }
});

document.addEventListener("click", (event) => {
  const close = event.target.closest("[data-toast-close]");
  if (close) {
    close.closest(".toast").remove();
    document.getElementById("main").focus({ preventScroll: true });
  }
});

// Messages that came with the page are read out too: a live region speaks only when something is added to it.
for (const box of [...region().children]) {
  box.remove();
  window.setTimeout(() => {
    region().append(box);
    leaveLater(box);
  }, 100);
}
