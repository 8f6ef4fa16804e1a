// What every page loads. Custom elements start themselves, also after a swap; the rest listens on the document.
import "./announce.js";
import "./browser-words.js";
import "./copy.js";
import "./filters.js";
import "./form.js";
import "./global-search.js";
import "./jalali-date.js";
import "./menu.js";
import "./part-counter.js";
import "./polling.js";
import "./sheet.js";
import "./theme.js";
