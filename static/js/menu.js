// <details> menus close by Escape, by a click elsewhere and when the focus leaves them.
const MENUS = "details.menu[open], details[data-menu][open]";

function closeAllBut(kept) {
  for (const menu of document.querySelectorAll(MENUS)) {
    if (!menu.contains(kept)) {
      menu.open = false;
    }
  }
}

document.addEventListener("click", (event) => closeAllBut(event.target));
document.addEventListener("focusin", (event) => closeAllBut(event.target));
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest(MENUS);
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// A scroll box would cut a menu off: there it opens over the page, at its button.
function place(menu) {
  const button = menu.querySelector("summary").getBoundingClientRect();
  const list = menu.querySelector(".menu-list");
  list.style.position = "fixed";
  list.style.inset = "auto";
  const box = list.getBoundingClientRect();
  const below = button.bottom + box.height + 8 < window.innerHeight;
  const start = document.documentElement.dir === "rtl" ? button.left : button.right - box.width;
  list.style.top = `${below ? button.bottom + 4 : Math.max(8, button.top - box.height - 4)}px`;
  list.style.left = `${Math.min(Math.max(8, start), window.innerWidth - box.width - 8)}px`;
}

const placeAll = () => document.querySelectorAll(".table-box details.menu[open]").forEach(place);
for (const event of ["toggle", "scroll", "resize"]) {
  window.addEventListener(event, placeAll, { capture: true, passive: true });
}

// Elsewhere a menu opens towards the middle of the page: a button at the edge turns it round.
function turn(menu) {
  menu.classList.remove("menu-turned");
  const box = menu.querySelector(".menu-list").getBoundingClientRect();
  menu.classList.toggle("menu-turned", box.left < 0 || box.right > document.documentElement.clientWidth);
}

const opened = ({ target }) => target.matches?.("details.menu[open]:not(.table-box *)") && turn(target);
window.addEventListener("toggle", opened, { capture: true });
