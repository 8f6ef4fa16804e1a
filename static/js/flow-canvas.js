// <flow-canvas>: the step list drawn as a chart. It reads the list of the page (data-list), so both always say the
// same, and lays the steps out by itself: one below the other, the branches of a fork side by side in the direction
// of reading. Steps lead where their titles in the list lead; "+" opens the list's own place for a new step.
import { formatDigits } from "./numbers.js";

const SERIALIZER = new XMLSerializer();
const NODE = { width: 232, height: 68, numbers: 52 };
const GAP = { x: 28, y: 56, label: 34 };
const EDGE = 32;
const ZOOM = { least: 0.2, readable: 0.75, most: 1.75, step: 1.2 };
const SHOWN = ["entered", "waiting", "left", "failed", "held", "suppressed"];
const SVG = "http://www.w3.org/2000/svg";

function make(tag, name, text) {
  const element = document.createElement(tag);
  element.className = name;
  if (text !== undefined) {
    element.textContent = text;
  }
  return element;
}

function draw(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  return element;
}

const words = (element) => element?.textContent.trim().replace(/\s+/g, " ") || "";

// Reading the list

function readBranch(section) {
  const list = section.querySelector(":scope > ol.steps");
  return {
    label: words(section.querySelector(".branch-label")),
    add: section.querySelector(":scope > .branch-head > .insert"),
    steps: list ? readList(list) : [],
  };
}

function readStep(item) {
  const card = item.querySelector(":scope > .step-card");
  const bubble = card.querySelector(".sms-bubble");
  const branches = [...item.querySelectorAll(":scope > .branches > .branch")].map(readBranch);
  return {
    key: item.dataset.key,
    card,
    title: words(card.querySelector(".step-title")),
    href: card.querySelector(".step-title a")?.href,
    text: words(bubble || card.querySelector(".step-text, .field-error")),
    dir: bubble?.dir || "",
    jump: card.dataset.jump,
    closes: "closes" in item.dataset,
    add: item.querySelector(":scope > .insert-row > .insert"),
    branches,
  };
}

const readList = (list) => [...list.children].filter((item) => item.matches(".step")).map(readStep);

// Laying out: every list gets a box, its steps stand in the middle of it

class Plan {
  constructor(steps, height) {
    this.height = height;
    this.nodes = [];
    this.lines = [];
    this.labels = [];
    this.adds = [];
    const width = this.widthOf(steps);
    const bottom = this.list(steps, EDGE + width / 2, EDGE);
    this.size = { width: width + 2 * EDGE, height: bottom + EDGE };
  }

  widthOf(steps) {
    return Math.max(NODE.width, ...steps.map((step) => (step.width = this.stepWidth(step))));
  }

  stepWidth({ branches }) {
    const widths = branches.map((branch) => (branch.width = this.widthOf(branch.steps)));
    const gaps = Math.max(0, branches.length - 1) * GAP.x;
    return Math.max(NODE.width, widths.reduce((sum, one) => sum + one, gaps));
  }

  list(steps, middle, top) {
    let y = top;
    steps.forEach((step, index) => {
      this.nodes.push({ step, x: middle - NODE.width / 2, y });
      y += this.height;
      if (step.branches.length) {
        y = this.fork(step, middle, y);
      } else if (index < steps.length - 1) {
        this.down(middle, y, y + GAP.y, step.add);
        y += GAP.y;
      } else if (!step.closes) {
        this.open(middle, y, step.add);
        y += GAP.y;
      }
    });
    return y;
  }

  fork({ branches }, middle, top) {
    const width = branches.reduce((sum, one) => sum + one.width, (branches.length - 1) * GAP.x);
    let start = middle - width / 2;
    let bottom = top;
    for (const branch of branches) {
      const at = start + branch.width / 2;
      const turn = top + 18;
      const below = turn + GAP.label + GAP.y;
      this.labels.push({ text: branch.label, x: at, y: turn + GAP.label / 2 });
      if (branch.steps.length) {
        this.lines.push({ points: [[middle, top], [middle, turn], [at, turn], [at, below]], arrow: true });
        this.adds.push({ button: branch.add, x: at, y: turn + GAP.label + 14 });
      } else {
        this.lines.push({ points: [[middle, top], [middle, turn], [at, turn], [at, below - GAP.y / 2]] });
        this.adds.push({ button: branch.add, x: at, y: below - GAP.y / 2 });
      }
      bottom = Math.max(bottom, branch.steps.length ? this.list(branch.steps, at, below) : below);
      start += branch.width + GAP.x;
    }
    return bottom;
  }

  down(x, from, to, button) {
    this.lines.push({ points: [[x, from], [x, to]], arrow: true });
    this.adds.push({ button, x, y: (from + to) / 2 - 4 });
  }

  open(x, from, button) {
    this.lines.push({ points: [[x, from], [x, from + GAP.y / 2]] });
    this.adds.push({ button, x, y: from + GAP.y / 2 });
  }
}

// A line with rounded corners through points that differ in one direction at a time.
function path(points) {
  const [first, ...rest] = points.filter((point, i) => i === 0 || point.some((v, j) => v !== points[i - 1][j]));
  let text = `M${first}`;
  rest.forEach((point, i) => {
    const next = rest[i + 1];
    if (!next) {
      text += `L${point}`;
      return;
    }
    const before = i ? rest[i - 1] : first;
    const near = (to) => point.map((v, j) => v + Math.sign(to[j] - v) * Math.min(8, Math.abs(to[j] - v) / 2));
    text += `L${near(before)}Q${point} ${near(next)}`;
  });
  return text;
}

function back(from, to, height) {
  const [x1, y1, x2, y2] = [from.x + NODE.width, from.y + height / 2, to.x + NODE.width, to.y + height / 2];
  const out = Math.max(x1, x2) + 40;
  return `M${x1},${y1}C${out},${y1} ${out},${y2} ${x2},${y2}`;
}

class FlowCanvas extends HTMLElement {
  connectedCallback() {
    this.box = this.querySelector(".flow-box");
    this.size = make("div", "flow-size");
    this.world = make("div", "flow-world");
    this.size.append(this.world);
    this.box.replaceChildren(this.size);
    this.ears = new AbortController();
    const heard = { signal: this.ears.signal };
    document.addEventListener("htmx:after:swap", () => this.renew(), heard);
    document.addEventListener("ui:announce", (event) => this.told(event.detail.focus || ""), heard);
    this.addEventListener("click", (event) => this.clicked(event), heard);
    this.addEventListener("keydown", (event) => this.pressed(event), heard);
    this.box.addEventListener("focusin", (event) => this.entered(event), heard);
    this.box.addEventListener("wheel", (event) => this.wheeled(event), { ...heard, passive: false });
    this.box.addEventListener("pointerdown", (event) => this.grabbed(event), heard);
    this.box.addEventListener("touchmove", (event) => this.pinched(event), { ...heard, passive: false });
    this.box.addEventListener("touchend", () => (this.spread = 0), heard);
    this.seen = new ResizeObserver(() => this.renew());
    this.seen.observe(this.box);
  }

  disconnectedCallback() {
    this.ears.abort();
    this.seen.disconnect();
  }

  get isMirrored() {
    return document.documentElement.dir === "rtl";
  }

  // A chart in a hidden tab has no size: it is drawn when it shows.
  renew() {
    const list = document.getElementById(this.dataset.list)?.querySelector("ol.steps");
    if (!list || !this.box.clientWidth) {
      return;
    }
    const written = [list, this.querySelector("#numbers")].map((part) => SERIALIZER.serializeToString(part)).join();
    if (written !== this.drawn) {
      this.drawn = written;
      this.render(readList(list));
    }
    if (!this.zoom) {
      this.fit(ZOOM.readable);
    }
  }

  render(steps) {
    const focused = this.world.contains(document.activeElement) && document.activeElement.dataset.key;
    const counted = this.counts();
    const height = NODE.height + (counted.size ? NODE.numbers : 0);
    this.plan = new Plan(steps, height);
    const { nodes, labels, adds, size } = this.plan;
    this.byKey = new Map(nodes.map((node) => [node.step.key, node]));
    const parts = [this.lines(height, size)];
    parts.push(...labels.map((label) => this.put(make("span", "flow-label", label.text), label)));
    for (const node of nodes) {
      parts.push(this.node(node, height, counted.get(node.step.key)));
    }
    parts.push(...adds.filter((add) => add.button).map((add) => this.add(add)));
    this.world.replaceChildren(...parts);
    this.world.style.inlineSize = `${size.width}px`;
    this.world.style.blockSize = `${size.height}px`;
    this.rove(this.byKey.has(this.current) ? this.current : nodes[0].step.key);
    if (focused) {
      this.world.querySelector(`[data-key="${focused}"]`)?.focus();
    }
    if (this.zoom) {
      this.show(this.zoom);
    }
  }

  put(element, { x, y }) {
    element.style.insetInlineStart = `${x}px`;
    element.style.insetBlockStart = `${y}px`;
    return element;
  }

  lines(height, { width, height: tall }) {
    const svg = draw("svg", { class: "flow-lines", width, height: tall, "aria-hidden": "true" });
    const group = draw("g", this.isMirrored ? { transform: `translate(${width} 0) scale(-1 1)` } : {});
    for (const { points, arrow } of this.plan.lines) {
      group.append(draw("path", { d: path(points) }));
      if (arrow) {
        const [x, y] = points[points.length - 1];
        group.append(draw("path", { class: "flow-arrow", d: `M${x - 5},${y - 8}L${x},${y - 1}L${x + 5},${y - 8}` }));
      }
    }
    for (const from of this.plan.nodes.filter((node) => node.step.jump)) {
      const to = this.byKey.get(from.step.jump) || this.plan.nodes[1] || this.plan.nodes[0];
      const [x, y] = [to.x + NODE.width, to.y + height / 2];
      group.append(draw("path", { class: "flow-jump", d: back(from, to, height) }));
      group.append(draw("path", { class: "flow-arrow flow-jump-end", d: `M${x + 9},${y - 5}L${x + 2},${y}L${x + 9},${y + 5}` }));
    }
    svg.append(group);
    return svg;
  }

  node({ step, x, y }, height, counts) {
    const node = make(step.href ? "a" : "div", `node ${step.card.className.replace("step-card", "").trim()}`);
    if (step.href) {
      node.href = step.href;
    }
    node.id = `node-${step.key}`;
    node.draggable = false;
    node.dataset.key = step.key;
    node.dataset.kind = step.card.dataset.kind;
    node.tabIndex = -1;
    const title = make("b", "node-title", step.title);
    const text = make("span", "node-text small", step.text);
    title.dir = "auto";
    text.dir = step.dir || "auto";
    const said = make("span", "node-words");
    said.append(title, ...(step.text ? [text] : []));
    const top = make("span", "node-top");
    top.append(step.card.querySelector(".step-icon").cloneNode(true), said);
    node.append(top, ...(counts ? [counts] : []));
    node.style.blockSize = `${height}px`;
    return this.put(node, { x, y });
  }

  // The numbers of the table below, with the words of its head.
  counts() {
    const table = this.querySelector("#numbers table");
    const heads = table ? [...table.tHead.rows[0].cells].slice(1).map(words) : [];
    const rows = table ? [...table.tBodies[0].rows] : [];
    return new Map(rows.map((row) => [row.dataset.numbers, this.strip(row, heads)]));
  }

  strip(row, heads) {
    const strip = make("span", "node-numbers");
    SHOWN.forEach((name, index) => {
      const cell = row.querySelector(`[data-n=${name}]`);
      const part = make("span", `node-number node-${name}`);
      part.toggleAttribute("data-some", "some" in cell.dataset);
      part.append(make("span", "node-number-of", heads[index]), make("b", "", words(cell)));
      strip.append(part);
    });
    return strip;
  }

  add({ button, x, y }) {
    const plus = make("button", "insert flow-add");
    plus.type = "button";
    plus.tabIndex = -1;
    plus.setAttribute("aria-label", `${this.dataset.here}: ${button.getAttribute("aria-label")}`);
    plus.dataset.adds = button.id;
    return this.put(plus, { x, y });
  }

  clicked(event) {
    const zoom = event.target.closest("[data-zoom]");
    const add = event.target.closest("[data-adds]");
    if (zoom) {
      this.press(zoom.dataset.zoom);
    } else if (add) {
      document.getElementById(add.dataset.adds).click();
    } else if (event.target.closest(".node") && this.hasMoved) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  // A changed step gets the focus here where the list is not shown.
  told(id) {
    const key = id.replace(/^(title|handle|more)-/, "");
    const item = document.getElementById(id);
    if (key !== id && !item?.checkVisibility()) {
      this.world.querySelector(`.node[data-key="${key}"]`)?.focus();
    }
  }

  // Keys: one step is in the tab order, arrows go on from it

  rove(key) {
    for (const node of this.world.querySelectorAll(".node[tabindex='0'], .flow-add[tabindex='0']")) {
      node.tabIndex = -1;
    }
    this.current = key;
    const node = this.world.querySelector(`.node[data-key="${key}"]`);
    if (node?.href) {
      node.tabIndex = 0;
    }
    for (const add of this.world.querySelectorAll(`[data-adds^="add-${key}-"]`)) {
      add.tabIndex = 0;
    }
  }

  entered(event) {
    const node = event.target.closest(".node");
    if (node) {
      this.rove(node.dataset.key);
    }
  }

  pressed(event) {
    if (event.target.closest("select, input, .flow-tools, #numbers") || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const zoom = { "+": "in", "=": "in", "-": "out", 0: "fit" }[event.key];
    const node = event.target.closest(".node");
    const next = node && this.next(this.byKey.get(node.dataset.key), event.key);
    if (zoom) {
      event.preventDefault();
      this.press(zoom);
    } else if (next) {
      event.preventDefault();
      const target = this.world.querySelector(`.node[data-key="${next.step.key}"]`);
      target.focus({ preventScroll: true });
      target.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }

  // The nearest step in the direction of the key, as it stands on the screen.
  next(from, key) {
    const side = this.isMirrored ? -1 : 1;
    const to = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [side, 0], ArrowLeft: [-side, 0] }[key];
    if (!to) {
      return undefined;
    }
    const off = (node) => {
      const [dx, dy] = [node.x - from.x, node.y - from.y];
      const [along, across] = to[0] ? [dx * to[0], Math.abs(dy)] : [dy * to[1], Math.abs(dx)];
      return along > 0 ? along + 2 * across : Infinity;
    };
    const nearest = this.plan.nodes.reduce((best, node) => (off(node) < off(best) ? node : best), from);
    return nearest === from ? undefined : nearest;
  }

  // Size and place

  press(word) {
    if (word === "fit") {
      this.fit(ZOOM.least);
    } else {
      this.show(this.zoom * (word === "in" ? ZOOM.step : 1 / ZOOM.step));
    }
  }

  fit(least) {
    const { width, height } = this.plan.size;
    this.show(Math.max(least, Math.min(1, this.box.clientWidth / width, this.box.clientHeight / height)), [0.5, 0]);
    const first = this.plan.nodes[0];
    const middle = (first.x + NODE.width / 2) * this.zoom - this.box.clientWidth / 2;
    this.box.scrollTop = 0;
    this.box.scrollLeft = this.isMirrored ? -middle : middle;
  }

  // The point of the box that stays where it is, as shares of its width and height.
  show(zoom, [atX, atY] = [0.5, 0.5]) {
    const old = this.zoom || 1;
    const x = Math.abs(this.box.scrollLeft) + this.box.clientWidth * atX;
    const y = this.box.scrollTop + this.box.clientHeight * atY;
    this.zoom = Math.min(ZOOM.most, Math.max(ZOOM.least, zoom));
    const { width, height } = this.plan.size;
    this.world.style.transform = `scale(${this.zoom})`;
    this.size.style.inlineSize = `${width * this.zoom}px`;
    this.size.style.blockSize = `${height * this.zoom}px`;
    const left = (x / old) * this.zoom - this.box.clientWidth * atX;
    this.box.scrollLeft = this.isMirrored ? -left : left;
    this.box.scrollTop = (y / old) * this.zoom - this.box.clientHeight * atY;
    this.querySelector("[data-zoom-shown]").value = `${formatDigits(Math.round(this.zoom * 100))}${document.documentElement.lang === "fa" ? "٪" : "%"}`;
  }

  place(x, y) {
    const box = this.box.getBoundingClientRect();
    const share = (x - box.left) / box.width;
    return [this.isMirrored ? 1 - share : share, (y - box.top) / box.height];
  }

  // A plain wheel scrolls; with Ctrl (which is also what a pinched touchpad sends) it changes the size.
  wheeled(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.show(this.zoom * Math.exp(-event.deltaY / 300), this.place(event.clientX, event.clientY));
    }
  }

  // The mouse drags the chart by its ground; a finger scrolls it by itself.
  grabbed(event) {
    this.hasMoved = false;
    if (event.pointerType !== "mouse" || event.button !== 0 || event.target.closest(".flow-add")) {
      return;
    }
    const start = { x: event.clientX + this.box.scrollLeft, y: event.clientY + this.box.scrollTop };
    const move = (now) => {
      if (Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) > 4) {
        this.hasMoved = true;
        this.box.classList.add("flow-grabbed");
      }
      if (this.hasMoved) {
        this.box.scrollLeft = start.x - now.clientX;
        this.box.scrollTop = start.y - now.clientY;
      }
    };
    const end = () => {
      window.removeEventListener("pointermove", move);
      this.box.classList.remove("flow-grabbed");
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end, { once: true });
    window.addEventListener("pointercancel", end, { once: true });
  }

  pinched(event) {
    if (event.touches.length !== 2) {
      return;
    }
    event.preventDefault();
    const [one, two] = event.touches;
    const spread = Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
    if (this.spread) {
      const at = this.place((one.clientX + two.clientX) / 2, (one.clientY + two.clientY) / 2);
      this.show((this.zoom * spread) / this.spread, at);
    }
    this.spread = spread;
  }
}

customElements.define("flow-canvas", FlowCanvas);
