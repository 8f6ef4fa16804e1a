"""One Persian text normaliser for search, duplicates, keywords, phones and message texts."""

from __future__ import annotations

import re
import unicodedata

PERSIAN_DIGITS = "۰۱۲۳۴۵۶۷۸۹"
_LATIN = {ord(d): str(i) for i, d in enumerate(PERSIAN_DIGITS)} | {
    ord(d): str(i) for i, d in enumerate("٠١٢٣٤٥٦٧٨٩")
}
_PERSIAN = {ord(str(i)): d for i, d in enumerate(PERSIAN_DIGITS)}
_LETTERS = {
    ord("ي"): "ی",
    ord("ى"): "ی",
    ord("ې"): "ی",
    ord("ك"): "ک",
    ord("ڪ"): "ک",
    ord("ۀ"): "هٔ",
    ord("ة"): "ه",
    ord("ە"): "ه",
    ord("ہ"): "ه",
    ord("ھ"): "ه",
    ord("ـ"): None,
}
_LETTERS_KEEP_TA = {k: v for k, v in _LETTERS.items() if k != ord("ة")}
_SEARCH_FOLD = {
    ord("أ"): "ا",
    ord("إ"): "ا",
    ord("ٱ"): "ا",
    ord("آ"): "ا",
    ord("ؤ"): "و",
    ord("ئ"): "ی",
    ord("ء"): None,
    0x200C: " ",
    ord("-"): " ",
    ord("_"): " ",
}
# Marks that carry no text of their own: bidi controls, joiners, BOM, soft hyphen, variation selectors.
_FORMAT = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200d-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SPACES = re.compile(r"[^\S\n]+")
_ODD_SPACES = re.compile("[\t\x0b\x0c\x1c-\x1f\x85]")  # control characters that are spaces, not line breaks
# A half-space joins nothing at the edge of a word, next to a space or next to another half-space.
_LOOSE_JOINER = re.compile("(?:(?<=\\s)|(?<=\u200c)|^)\u200c+|\u200c+(?=\\s|$)")
# Text that `normalize_text` leaves as it is, the usual case: whole words of plain letters, digits and marks,
# single spaces between them, a half-space only between letters.
_LETTER = "ءآأؤئابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهی"
_PLAIN = rf"[!-~{_LETTER}۰-۹،؛؟«»٪٫٬…]"
_JOINED = rf"(?<=[{_LETTER}])\u200c(?=[{_LETTER}])"
_WORD = rf"{_PLAIN}(?:{_PLAIN}|{_JOINED})*"
_CLEAN = re.compile(rf"(?:{_WORD}(?:[ \n]{_WORD})*)?")
_COMBINING = re.compile("[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")


def to_latin_digits(text: str) -> str:
    """Persian (۰-۹), Arabic-Indic (٠-٩) and full-width digits become 0-9; other characters stay."""
    text = text.translate(_LATIN)
    if any("\uff10" <= c <= "\uff19" for c in text):
        text = "".join(chr(ord(c) - 0xFEE0) if "\uff10" <= c <= "\uff19" else c for c in text)
    return text


def to_persian_digits(text: str) -> str:
    """0-9 become ۰-۹; other characters stay."""
    return text.translate(_PERSIAN)


def strip_format_chars(text: str) -> str:
    """Remove bidi controls, zero-width marks, BOM and control characters; ZWNJ, newline and tab stay."""
    return _CONTROL.sub("", _FORMAT.sub("", text))


def normalize_text(text: str) -> str:
    """The stored form of names and message texts: Persian letters, NFC, no invisible marks, tidy spaces.

    Digits stay as they were written, line breaks and the half-space (ZWNJ) stay. Applying it twice
    changes nothing more.
    """
    if _CLEAN.fullmatch(text):
        return text
    text = _ODD_SPACES.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))
    # Composed before the letters are mapped (some arrive in two parts) and after (marks may meet).
    text = unicodedata.normalize("NFC", strip_format_chars(text)).translate(_LETTERS_KEEP_TA)
    text = _SPACES.sub(" ", unicodedata.normalize("NFC", text))
    text = _LOOSE_JOINER.sub("", text)
    return "\n".join(_SPACES.sub(" ", line).strip() for line in text.split("\n")).strip("\n")


def search_key(text: str) -> str:
    """What two spellings of one word share: folded letters, no marks, Latin digits, lower case, one space.

    A key is its own key.
    """
    text = _fold(strip_format_chars(" ".join(text.split())))
    # Lower case and composition can each open the way for the other; the second turn settles it.
    return " ".join(_fold(text).split())


def _fold(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS).translate(_SEARCH_FOLD)
    return strip_format_chars(_COMBINING.sub("", to_latin_digits(text)))
