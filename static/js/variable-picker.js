// Buttons that put a variable into a text box: <div data-insert-into="box-id"><button data-insert="{target.name}">.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-insert]");
  const box = button && document.getElementById(button.closest("[data-insert-into]")?.dataset.insertInto);
  if (!box) {
    return;
  }
  box.setRangeText(button.dataset.insert, box.selectionStart, box.selectionEnd, "end");
  box.focus();
  // The counter and the preview listen to typing.
  box.dispatchEvent(new Event("input", { bubbles: true }));
});
