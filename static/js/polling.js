// Parts of a page that ask for themselves ([data-polls]): not while nobody looks, and at once when somebody
// looks again. What people opened inside them stays open: the server does not know of it.
document.addEventListener("htmx:before:request", (event) => {
  const { sourceElement } = event.detail.ctx;
  if (document.hidden && sourceElement?.matches?.("[data-polls]")) {
    event.preventDefault();
  }
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    document.querySelectorAll("[data-polls]").forEach((part) => part.dispatchEvent(new Event("refresh")));
  }
});

window.htmx?.registerExtension("kept-open", {
  htmx_before_morph_node(_element, { oldNode, newNode }) {
    if (oldNode.matches?.("[data-polls] details") && newNode.matches?.("details")) {
      newNode.open = oldNode.open;
    }
  },
});
