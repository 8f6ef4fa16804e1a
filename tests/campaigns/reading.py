"""Reading pages in tests: addresses, words, cards and what a form would send."""

from __future__ import annotations

import html as html_text
import re
from typing import Any

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse


def statements(client: Client, address: str) -> int:
    """How many SQL statements one reading of a page costs, once the session is warm."""
    client.get(address)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


def url(name: str, *args: Any) -> str:
    return reverse(f"campaigns:{name}", args=args)


def text_of(response: Any) -> str:
    """The words of a page, without its tags."""
    return re.sub(r"\s+", " ", html_text.unescape(re.sub(r"<[^>]*>", " ", response.content.decode())))


def card(response: Any, key: str) -> str:
    """What the card with id `card-<key>` shows."""
    found = re.search(rf'id="card-{key}">.*?class="card-value">(.*?)</p>', response.content.decode(), re.S)
    assert found, key
    return found.group(1).strip()


def form_data(html: str) -> dict[str, str]:
    """The values of the page's form as a browser would send them back."""
    main = html[html.index('<main id="main"') :]
    data = {}
    for tag in re.findall(r"<input[^>]*>", main):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        is_box = 'type="checkbox"' in tag or 'type="radio"' in tag
        if name and (not is_box or "checked" in tag):
            data[name.group(1)] = html_text.unescape(value.group(1)) if value else "on" if is_box else ""
    for name_of, body in re.findall(r'<select[^>]*name="([^"]*)"[^>]*>(.*?)</select>', main, re.S):
        chosen = re.search(r'<option value="([^"]*)"[^>]*selected', body)
        data[name_of] = chosen.group(1) if chosen else ""
    for name_of, body in re.findall(r'<textarea[^>]*name="([^"]*)"[^>]*>(.*?)</textarea>', main, re.S):
        data[name_of] = html_text.unescape(body.strip())
    return data
