"""The table of settings: every row is documented, and shows a value that it would take."""

from __future__ import annotations

import pytest

from tools.settings_page import PAGE, with_tables
from torchlens_lsp.server.settings import EXAMPLE_SETTINGS, SETTINGS, Setting
from torchlens_lsp.server.toml import Toml


def test_the_page_is_what_the_code_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == with_tables(text), "python -m tools.settings_page --write"


@pytest.mark.parametrize("setting", [*SETTINGS, *EXAMPLE_SETTINGS], ids=lambda setting: setting.name)
def test_a_settings_example_is_a_value_that_it_takes_and_not_its_default(setting: Setting) -> None:
    value = Toml(setting.example).get(setting.name)
    assert value is not None
    assert setting.kind.fault(value) is None
    assert setting.kind.convert(value) != setting.default


@pytest.mark.parametrize("setting", [*SETTINGS, *EXAMPLE_SETTINGS], ids=lambda setting: setting.name)
def test_no_setting_takes_a_date_or_nothing(setting: Setting) -> None:
    assert setting.kind.fault(None) is not None
    assert setting.kind.fault(Toml("x = 1979-05-27").get("x")) is not None
