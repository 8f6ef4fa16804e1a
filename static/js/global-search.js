// The search box of the frame as a combobox: "/" goes there, arrows choose, Enter opens, Escape closes.
const form = document.querySelector("[data-search-box]");

if (form) {
  const box = form.querySelector("input");
  const said = form.querySelector("[data-search-said]");
  const hits = () => document.getElementById("search-hits");
  const options = () => [...hits().querySelectorAll("[role=option]")];
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-controls", "search-hits");

  const open = (shown) => {
    hits().hidden = !shown;
    box.setAttribute("aria-expanded", String(shown));
    if (!shown) {
      choose(null);
    }
  };

  function choose(option) {
    for (const one of options()) {
      one.setAttribute("aria-selected", String(one === option));
    }
    if (option) {
      box.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      box.removeAttribute("aria-activedescendant");
    }
  }

  function move(by) {
    const all = options();
    const at = all.findIndex((one) => one.id === box.getAttribute("aria-activedescendant"));
    const next = at < 0 && by < 0 ? all.length - 1 : at + by;
    choose(all[next] ?? null);
  }

  // After each answer: nothing to show is no list, and a screen reader hears which it is.
  document.addEventListener("htmx:after:swap", () => {
    if (document.activeElement === box) {
      const some = options().length > 0;
      said.textContent = box.value.trim().length > 1 ? said.dataset[some ? "some" : "none"] : "";
      open(some);
    }
  });

  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (options().length) {
        open(true);
        move(event.key === "ArrowDown" ? 1 : -1);
      }
    } else if (event.key === "Enter") {
      const chosen = document.getElementById(box.getAttribute("aria-activedescendant"));
      if (chosen) {
        event.preventDefault();
        chosen.click();
      }
    } else if (event.key === "Escape" && !hits().hidden) {
      event.preventDefault();
      open(false);
    }
  });
  box.addEventListener("focus", () => open(options().length > 0));
  document.addEventListener("focusin", (event) => {
    if (!form.contains(event.target)) {
      open(false);
    }
  });
  document.addEventListener("click", (event) => {
    if (!form.contains(event.target)) {
      open(false);
    }
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable], dialog[open]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
      box.select();
    }
  });
  open(false);
}
