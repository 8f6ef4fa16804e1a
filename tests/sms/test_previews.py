from __future__ import annotations

from sms.preview import preview


def test_the_very_characters_that_made_a_latin_text_unicode_are_marked() -> None:
    shown = preview("Hello “friend”, your code is ready. " * 3)

    assert shown.marked
    assert {piece.text for piece in shown.pieces if piece.costly} == {"“", "”"}
    assert "".join(piece.text for piece in shown.pieces) == shown.text
    assert (shown.count.parts, shown.latin_parts) == (2, 1)


def test_a_persian_text_is_not_marked_from_end_to_end() -> None:
    assert not preview("سلام دوست عزیز " * 10).marked


def test_a_text_that_would_cost_as_much_anyway_is_not_marked() -> None:
    assert not preview("Hi “you”").marked


def test_an_empty_text_has_no_pieces() -> None:
    assert preview("").pieces == ()


def test_many_marks_end_in_the_rest_of_the_text() -> None:
    text = "aب" * 1000

    assert "".join(piece.text for piece in preview(text).pieces) == text
