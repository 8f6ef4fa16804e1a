// Dialogs: [data-sheet-open="id"] opens, [data-sheet-close] and a click on the backdrop close.
// The opener may be swapped away meanwhile, so the focus goes back by its id.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-sheet-open]");
  if (opener) {
    const sheet = document.getElementById(opener.dataset.sheetOpen);
    sheet.dataset.opener = opener.id;
    sheet.showModal();
    return;
  }
  if (event.target.closest("[data-sheet-close]")) {
    event.target.closest("dialog").close();
    return;
  }
  if (event.target.matches("dialog.sheet") && isOutside(event.target, event)) {
    event.target.close();
  }
});

function isOutside(sheet, event) {
  const box = sheet.getBoundingClientRect();
  const inside =
    event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
  return !inside;
}

// Dialog events do not bubble: they are caught on their way down. This one may come late, when the focus has
// been put elsewhere already: it is not called back from there.
document.addEventListener(
  "close",
  (event) => {
    const sheet = event.target;
    const active = document.activeElement;
    const isLost = !active || active === document.body || sheet.contains(active);
    if (sheet.matches("dialog.sheet") && sheet.dataset.opener && isLost) {
      document.getElementById(sheet.dataset.opener)?.focus();
    }
  },
  true,
);

// The server closes a sheet after it saved: HX-Trigger ui:close-sheet {id}.
document.addEventListener("ui:close-sheet", (event) => document.getElementById(event.detail.id)?.close());
