// The one place where scripts turn numbers into the digits of the page's language.
const language = document.documentElement.lang || "fa";
const grouped = new Intl.NumberFormat(language === "fa" ? "fa-IR" : "en");
const plain = new Intl.NumberFormat(language === "fa" ? "fa-IR" : "en", { useGrouping: false });

export const formatNumber = (value) => grouped.format(value);
export const formatDigits = (value) => plain.format(value);

// Persian and Arabic digits become Latin ones; other characters stay.
export const toLatinDigits = (text) =>
  text.replace(/[۰-۹]/g, (d) => String(d.charCodeAt(0) - 0x6f0)).replace(/[٠-٩]/g, (d) => String(d.charCodeAt(0) - 0x660));
