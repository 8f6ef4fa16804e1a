// The filters over a table are folded away on phones and open elsewhere (there they have no button).
const wide = window.matchMedia("(min-width: 40rem)");

function unfold() {
  if (wide.matches) {
    document.querySelectorAll(".filters-box").forEach((box) => {
      box.open = true;
    });
  }
}

wide.addEventListener("change", unfold);
unfold();
