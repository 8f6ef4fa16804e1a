from __future__ import annotations

from pathlib import Path

import polib
import pytest
from django.utils import translation

from sms.providers.codes import CALL_FAULTS, HTTP_STATUS, HTTP_UNLISTED, UNLISTED, Meaning
from sms.providers.console_sentences import CONSOLE_CODES
from sms.providers.generic import GENERIC_CODES
from sms.providers.melipayamak_codes import SEND_CODES
from sms.reasons import explain
from sms.types import Outcome

# The provider's published and observed codes, and what each one does to a message.
EXPECTED = {
    Outcome.UNAVAILABLE: "0 2 5 9 10 12 -1 -3 -4 -7 -108 -109 -110 -111 -112",
    Outcome.THROTTLED: "3 4 19",
    Outcome.NOT_SENT: "6 -6",
    Outcome.REFUSED: "7 8 11 14 15 16 17 18 35 100 -2 -5 -10",
    Outcome.IN_DOUBT: "1",
}
ALL_MEANINGS = [
    *CONSOLE_CODES.values(), *GENERIC_CODES.values(), *CALL_FAULTS.values(), *HTTP_STATUS.values(),
    HTTP_UNLISTED, UNLISTED,
]  # fmt: skip
PERSIAN = Path(__file__).resolve().parents[2] / "locale" / "fa" / "LC_MESSAGES" / "django.po"


def test_every_known_code_has_exactly_one_outcome() -> None:
    listed = {code: outcome for outcome, codes in EXPECTED.items() for code in codes.split()}

    assert {code: meaning.outcome for code, meaning in SEND_CODES.items()} == listed


def test_no_two_codes_of_the_provider_share_a_sentence() -> None:
    sentences = [str(meaning.reason) for meaning in SEND_CODES.values()]

    assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize("meaning", ALL_MEANINGS, ids=lambda m: str(m.reason)[:40])
def test_every_sentence_exists_in_persian(meaning: Meaning) -> None:
    with translation.override("en"):
        english = str(meaning.reason)
    entry = polib.pofile(str(PERSIAN)).find(english)

    assert entry is not None
    assert entry.msgstr
    assert english.endswith(".")
    assert entry.msgstr.endswith(".")


@pytest.mark.parametrize(
    ("code", "begins"),
    [
        ("2", "The SMS account has run out of credit"),
        ("answer_timeout", "The provider did not answer in time"),
        ("http_429", "The provider asked to send more slowly"),
        ("http_599", "The provider's server failed"),
        ("13", "The provider answered with an undocumented code"),
        ("unlisted", "The provider answered with an undocumented code"),
    ],
)
def test_a_stored_code_is_explained(code: str, begins: str) -> None:
    with translation.override("en"):
        assert explain("melipayamak", code).startswith(begins)


def test_no_code_needs_no_explanation() -> None:
    assert explain("melipayamak", "") == ""


def test_codes_of_a_provider_that_is_gone_are_still_explained() -> None:
    with translation.override("en"):
        assert explain("gone", "not_configured").startswith("No SMS provider is set up")
        assert explain("gone", "2").startswith("The provider answered with an undocumented code")
