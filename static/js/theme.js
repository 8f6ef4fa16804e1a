// Light, dark or as the device: a cookie that the server reads, so that the next page opens without a flash.
const YEAR = 31536000;
const root = document.documentElement;

for (const menu of document.querySelectorAll("[data-needs-script]")) {
  menu.hidden = false;
}

function choose(button) {
  const choice = button.dataset.themeChoice;
  const secure = window.location.protocol === "https:" ? "; secure" : "";
  document.cookie = `theme=${choice}; path=/; max-age=${choice ? YEAR : 0}; samesite=lax${secure}`;
  if (choice) {
    root.dataset.theme = choice;
  } else {
    delete root.dataset.theme;
  }
  for (const other of document.querySelectorAll("[data-theme-choice]")) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  const menu = button.closest("details");
  const drawing = button.querySelector("use").getAttribute("href");
  menu.querySelector("summary use").setAttribute("href", drawing);
  menu.open = false;
  menu.querySelector("summary").focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-theme-choice]");
  if (button) {
    choose(button);
  }
});
