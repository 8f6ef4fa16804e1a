// <step-editor>: the form of one step. What is typed is saved by itself, one save after the other, each with the
// state of the draft that the one before it left. Answers hold no inputs but those that a button asked for.
/* global htmx */
const PAUSE = 1200;

class StepEditor extends HTMLElement {
  connectedCallback() {
    this.form = this.querySelector("form");
    this.line = Promise.resolve();
    this.isWaiting = false;
    this.isBusy = false;
    this.isChanged = false;
    this.isRefused = false;
    this.timer = 0;
    this.isStopped = !("autosave" in this.form.dataset);
    this.isEditable = !this.isStopped || "edits" in this.form.dataset; // lists of rules grow, also without saving
    this.ears = new AbortController();
    const heard = { signal: this.ears.signal };
    const hear = (name, act) => document.addEventListener(name, (event) => act.call(this, event), heard);
    hear("input", (event) => this.isOurs(event) && this.soon());
    hear("change", this.changed);
    // On the element, not on the document: form.js must not count a submission that is stopped here.
    this.addEventListener("submit", (event) => this.submitted(event), heard);
    hear("click", this.leaving);
    hear("ui:saved", this.saved);
    hear("ui:conflict", this.conflict);
    hear("ui:errors", this.errors);
  }

  disconnectedCallback() {
    this.ears.abort();
    window.clearTimeout(this.timer);
  }

  get isPending() {
    return Boolean(this.timer || this.isBusy || this.isWaiting);
  }

  isOurs(event) {
    return event.target.form === this.form && !["q", "person"].includes(event.target.name);
  }

  post(values, target, swap) {
    return htmx.ajax("POST", this.form.action, { source: this.form, target, swap, values });
  }

  save() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (this.isStopped || this.isWaiting) {
      return this.line;
    }
    this.isWaiting = true;
    this.line = this.line.then(async () => {
      this.isWaiting = false;
      this.isBusy = true;
      await (this.isStopped ? undefined : this.post({}, "#step-status", "outerMorph"));
      this.isBusy = false;
    });
    return this.line;
  }

  soon() {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.save(), PAUSE);
  }

  // Everything typed is stored now; false when it could not be.
  async settle() {
    await (this.timer ? this.save() : this.line);
    return !this.isRefused;
  }

  // A button that adds or removes a rule, a case or an arm; the editor is drawn anew.
  edit(word, focus) {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.line = this.line.then(async () => {
      this.isBusy = true;
      await this.post({ edit: word }, "#editor", "outerMorph");
      this.isBusy = false;
      const wanted = document.getElementById(focus) || document.querySelector("#editor button[name=edit]");
      wanted?.focus();
    });
  }

  changed(event) {
    if (!this.isOurs(event)) {
      return;
    }
    if (event.target.matches("[data-refresh]") && this.isEditable) {
      this.edit("refresh", event.target.id);
    } else {
      this.save();
    }
  }

  submitted(event) {
    const button = event.submitter;
    if (button?.name === "edit" && this.isEditable) {
      event.preventDefault();
      this.edit(button.value, button.id);
    } else if (button?.name !== "over" && "sheet" in this.form.dataset && !this.isStopped) {
      event.preventDefault();
      this.settle().then((isStored) => isStored && this.closest("dialog").close());
    } else if (this.isBusy || this.isWaiting) {
      // The last save is still on its way: its answer brings the state that this one must be made on.
      event.preventDefault();
      this.line.then(() => this.form.requestSubmit(button || undefined));
    } else {
      window.clearTimeout(this.timer);
      this.isStopped = true;
    }
  }

  // Leaving by a link waits for what was typed last.
  leaving(event) {
    const link = event.target.closest("a[href]");
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (link && isPlain && !this.isStopped && this.isPending && !event.defaultPrevented) {
      event.preventDefault();
      this.settle().then(() => window.location.assign(link.href));
    }
  }

  saved(event) {
    this.isChanged = true;
    this.isRefused = false;
    this.form.elements.base.value = event.detail.base;
  }

  conflict() {
    this.isStopped = true;
    this.isEditable = false;
    this.isChanged = true;
    document.querySelector("#step-status button")?.focus();
  }

  errors(event) {
    const ids = Object.keys(event.detail);
    this.isRefused = ids.length > 0 || Boolean(this.querySelector("#step-status > .field-error"));
    for (const field of this.form.querySelectorAll("[data-marked]")) {
      field.removeAttribute("aria-invalid");
      delete field.dataset.marked;
    }
    for (const field of ids.map((id) => document.getElementById(id)).filter(Boolean)) {
      field.setAttribute("aria-invalid", "true");
      field.dataset.marked = "";
    }
  }
}

customElements.define("step-editor", StepEditor);

// A problem in the list leads to the step's page with the field's id: the field gets the focus, not only the scroll.
document.getElementById(window.location.hash.slice(1))?.focus();
