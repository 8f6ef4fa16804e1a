// <part-counter for="textarea-id">: parts and characters of a message while somebody types it.
import { formatNumber } from "./numbers.js";
import { countParts } from "./parts.js";

class PartCounter extends HTMLElement {
  connectedCallback() {
    this.stop = new AbortController();
    document.addEventListener("input", (event) => event.target.id === this.getAttribute("for") && this.show(), {
      signal: this.stop.signal,
    });
    this.show();
  }

  disconnectedCallback() {
    this.stop.abort();
  }

  show() {
    const box = document.getElementById(this.getAttribute("for"));
    if (!box) {
      return;
    }
    const { parts, left } = countParts(box.value);
    const words = (template, n) => (template || "[n]").replace("[n]", formatNumber(n));
    const strong = document.createElement("b");
    strong.textContent = words(parts === 1 ? this.dataset.part : this.dataset.parts, parts);
    const rest = document.createElement("span");
    rest.textContent = `${words(this.dataset.characters, [...box.value].length)} · ${words(this.dataset.left, left)}`;
    this.replaceChildren(strong, rest);
  }
}

customElements.define("part-counter", PartCounter);
