// <jalali-date> around a text box: adds a calendar. The text box stays the control that is posted.
// Persian pages show Jalali months, English pages Gregorian ones; the week begins on Saturday in both.
import { DAY, fromGregorian, fromJalali, parseDay, toGregorian, toJalali } from "./jalali.js";
import { formatDigits, toLatinDigits } from "./numbers.js";

const isPersian = document.documentElement.lang === "fa";
const LOCALE = isPersian ? "fa-IR-u-ca-persian" : "en-GB";
const named = (options) => new Intl.DateTimeFormat(LOCALE, { timeZone: "UTC", ...options });
const MONTH_NAME = named({ month: "long" });
const WEEKDAY = named({ weekday: isPersian ? "narrow" : "short" });
const WEEKDAY_FULL = named({ weekday: "long" });
const SATURDAY = Date.UTC(2000, 0, 1);
const FRIDAY = 6;

const split = isPersian ? toJalali : toGregorian;
const join = isPersian ? fromJalali : fromGregorian;
const weekday = (time) => (((Math.round((time - SATURDAY) / DAY) % 7) + 7) % 7);
// Put together here: Intl writes Persian dates year first.
const monthTitle = (time) => `${MONTH_NAME.format(time)} ${formatDigits(split(time)[0])}`;
const fullTitle = (time) => `${WEEKDAY_FULL.format(time)} ${formatDigits(split(time)[2])} ${monthTitle(time)}`;
const written = (time) => {
  const [year, month, day] = split(time);
  return [year, String(month).padStart(2, "0"), String(day).padStart(2, "0")].join(isPersian ? "/" : "-");
};

// The same day `count` months away, or the last day of a shorter month.
function addMonths(time, count) {
  const [year, month, day] = split(time);
  const index = year * 12 + month - 1 + count;
  for (let d = day; d > 0; d -= 1) {
    const found = join(Math.floor(index / 12), (index % 12) + 1, d);
    if (!Number.isNaN(found)) {
      return found;
    }
  }
  return time;
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

class JalaliDate extends HTMLElement {
  connectedCallback() {
    this.box = this.querySelector("input");
    if (!this.box || this.box.disabled || this.querySelector("button")) {
      return;
    }
    this.opener = this.button("calendar", this.dataset.open, "btn btn-icon", () => this.open());
    this.append(this.opener);
    // A morph swap knows only what the server sent and takes the button away.
    this.watch = new MutationObserver(() => this.opener.isConnected || this.append(this.opener));
    this.watch.observe(this, { childList: true });
  }

  disconnectedCallback() {
    this.watch?.disconnect();
  }

  button(icon, label, className, action) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", icon === "calendar" ? "icon" : "icon icon-mirror");
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `${this.dataset.icons}#${icon}`);
    svg.append(use);
    const made = element("button", { type: "button", class: className, "aria-label": label }, svg);
    made.addEventListener("click", action);
    return made;
  }

  today() {
    const now = new Date();
    return Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  }

  open() {
    this.chosen = parseDay(toLatinDigits(this.box.value));
    this.day = Number.isNaN(this.chosen) ? this.today() : this.chosen;
    this.heading = element("h2", { class: "calendar-title", "aria-live": "polite" });
    this.grid = element("div");
    const head = element(
      "div",
      { class: "calendar-head" },
      this.button("back", this.dataset.previous, "btn btn-quiet btn-icon", () => this.turn(-1)),
      this.heading,
      this.button("chevron", this.dataset.next, "btn btn-quiet btn-icon", () => this.turn(1)),
    );
    const today = element("button", { type: "button", class: "btn btn-quiet btn-small" }, this.dataset.today);
    today.addEventListener("click", () => this.pick(this.today()));
    const close = element("button", { type: "button", class: "btn btn-quiet btn-small" }, this.dataset.close);
    close.addEventListener("click", () => this.dialog.close());
    const foot = element("div", { class: "spread" }, today, close);
    this.dialog = element("dialog", { class: "sheet calendar", "aria-label": this.dataset.open }, head, this.grid, foot);
    this.dialog.addEventListener("close", () => {
      this.dialog.remove();
      this.opener.focus();
    });
    this.dialog.addEventListener("keydown", (event) => this.key(event));
    document.body.append(this.dialog);
    this.dialog.showModal();
    this.draw(true);
  }

  turn(months) {
    this.day = addMonths(this.day, months);
    this.draw(false);
  }

  draw(focus) {
    this.heading.textContent = monthTitle(this.day);
    const table = element("table", { role: "grid", "aria-label": this.heading.textContent });
    const names = element("tr");
    for (let i = 0; i < 7; i += 1) {
      const time = SATURDAY + i * DAY;
      names.append(element("th", { scope: "col", abbr: WEEKDAY_FULL.format(time) }, WEEKDAY.format(time)));
    }
    table.append(element("thead", {}, names), this.weeks());
    this.grid.replaceChildren(table);
    if (focus) {
      this.grid.querySelector("[tabindex='0']").focus();
    }
  }

  weeks() {
    const [year, month] = split(this.day);
    const first = join(year, month, 1);
    const body = element("tbody");
    let time = first - weekday(first) * DAY;
    do {
      const row = element("tr");
      for (let i = 0; i < 7; i += 1, time += DAY) {
        row.append(split(time)[1] === month ? this.cell(time) : element("td"));
      }
      body.append(row);
    } while (split(time)[1] === month);
    return body;
  }

  cell(time) {
    const button = element(
      "button",
      { type: "button", tabindex: time === this.day ? "0" : "-1", "aria-label": fullTitle(time) },
      formatDigits(split(time)[2]),
    );
    button.classList.toggle("day-rest", weekday(time) === FRIDAY);
    button.classList.toggle("day-today", time === this.today());
    button.addEventListener("click", () => this.pick(time));
    return element("td", { role: "gridcell", "aria-selected": String(time === this.chosen) }, button);
  }

  key(event) {
    if (!event.target.closest("[role=grid]")) {
      return;
    }
    const forward = document.documentElement.dir === "rtl" ? -1 : 1;
    const inWeek = weekday(this.day);
    const moves = {
      ArrowRight: () => this.day + forward * DAY,
      ArrowLeft: () => this.day - forward * DAY,
      ArrowUp: () => this.day - 7 * DAY,
      ArrowDown: () => this.day + 7 * DAY,
      Home: () => this.day - inWeek * DAY,
      End: () => this.day + (6 - inWeek) * DAY,
      PageUp: () => addMonths(this.day, event.shiftKey ? -12 : -1),
      PageDown: () => addMonths(this.day, event.shiftKey ? 12 : 1),
    };
    if (moves[event.key]) {
      event.preventDefault();
      this.day = moves[event.key]();
      this.draw(true);
    }
  }

  pick(time) {
    // A time of day after the date stays as it was typed.
    const rest = /\s+\d{1,2}:\d{2}\s*$/.exec(this.box.value);
    this.box.value = written(time) + (rest ? rest[0] : "");
    this.box.dispatchEvent(new Event("input", { bubbles: true }));
    this.box.dispatchEvent(new Event("change", { bubbles: true }));
    this.dialog.close();
  }
}

customElements.define("jalali-date", JalaliDate);
