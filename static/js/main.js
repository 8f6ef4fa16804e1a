// What every page loads. Custom elements start themselves, also after a swap; the rest listens on the document.
import "./announce.js";
import "./form.js";
import "./jalali-date.js";
import "./menu.js";
import "./part-counter.js";
import "./sheet.js";
import "./theme.js";
