// <flow-canvas>: zoom buttons around the chart. The chart itself is laid out by the style sheet; it opens as wide as
// the page, but never so small that it cannot be read.
import { formatDigits } from "./numbers.js";

const LEAST = 0.55;
const MOST = 1.5;
const STEP = 0.15;

class FlowCanvas extends HTMLElement {
  connectedCallback() {
    this.chart = this.querySelector(".flow");
    this.box = this.querySelector(".flow-box");
    this.addEventListener("click", (event) => {
      const button = event.target.closest("[data-zoom]");
      if (button) {
        this.press(button.dataset.zoom);
      }
    });
    this.size = new ResizeObserver(() => {
      if (this.box.clientWidth && !this.zoom) {
        this.press("fit");
      }
    });
    this.size.observe(this.box);
  }

  disconnectedCallback() {
    this.size.disconnect();
  }

  press(word) {
    const fit = Math.min(1, this.box.clientWidth / this.chart.scrollWidth);
    this.show({ in: this.zoom + STEP, out: this.zoom - STEP, fit }[word]);
    if (word === "fit") {
      // Scroll positions of right-to-left boxes are negative: the middle is the same for both by magnitude.
      const middle = (this.box.scrollWidth - this.box.clientWidth) / 2;
      this.box.scrollLeft = document.documentElement.dir === "rtl" ? -middle : middle;
    }
  }

  show(zoom) {
    this.zoom = Math.min(MOST, Math.max(LEAST, zoom));
    this.chart.style.transform = `scale(${this.zoom})`;
    const holder = this.chart.parentElement;
    holder.style.inlineSize = `${this.chart.offsetWidth * this.zoom}px`;
    holder.style.blockSize = `${this.chart.offsetHeight * this.zoom}px`;
    this.querySelector("[data-zoom-shown]").value = `${formatDigits(Math.round(this.zoom * 100))}%`;
  }
}

customElements.define("flow-canvas", FlowCanvas);
