"""Programs as translators: line breaks, failures, versions."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.translation.apertium_translator import ParagraphCommand
from isogloss.translation.command_translator import CommandTranslator
from isogloss.translation.translators import Translator, open_translator, with_languages

REVERSE = f"{sys.executable} -c 'import sys; [print(line.rstrip(chr(10))[::-1]) for line in sys.stdin]'"


def test_line_breaks_of_any_kind_stay() -> None:
    texts = ["one two", "ab\ncd\r\n\nef", "x\u2028yz\x85w", " padded \n", "", "  "]
    assert open_translator(REVERSE).translate(texts) == [
        "owt eno",
        "ba\ndc\r\n\nfe",
        "x\u2028zy\x85w",
        "deddap\n",
        "",
        "  ",
    ]


def test_program_starts_once_per_batch(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    command = f"sh -c 'echo start >> {log}; cat'"
    texts = [f"text {number}" for number in range(10)]
    translator = open_translator(command, settings={"batch": 4})
    assert [list(batch) for batch in translator.batches(texts)] == [texts[:4], texts[4:8], texts[8:]]
    assert log.read_text().splitlines() == ["start"] * 3


def test_texts_with_further_line_breaks_are_translated_alone(tmp_path: Path) -> None:
    """A pair of Apertium may break a paragraph, so that the lines of a batch cannot be matched."""
    script = tmp_path / "program.py"
    script.write_text("import sys; sys.stdout.write(sys.stdin.read().replace('+', chr(10)).upper())")
    texts = [f"text {number}" for number in range(9)]
    texts[2:2] = ["a+b", "c+ +d"]
    expected = [text.upper() for text in texts]
    expected[2:4] = ["A B", "C D"]
    assert ParagraphCommand(f"{sys.executable} {script}").translate(texts) == expected


def test_version_follows_the_files_of_a_command(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("print(1)\n")
    log = tmp_path / "messages.log"
    command = f"{sys.executable} {script} --model large --log {log}"
    before = CommandTranslator(command).version
    log.write_text("started")
    assert CommandTranslator(command).version == before
    script.write_text("print(2)\n")
    assert CommandTranslator(command).version != before


def test_codes_of_languages_in_commands() -> None:
    assert with_languages("apertium {source3}-{target3}", "en", "es") == "apertium eng-spa"
    assert with_languages("run {source}:{target} '{print $1}' {}", "zh", "en") == "run zh:en '{print $1}' {}"
    assert open_translator("cat {target}", "en", "sw").name == "cat sw"


def test_commands_have_one_setting() -> None:
    with pytest.raises(IsoglossError, match="a command has no setting 'beams'"):
        open_translator("cat", settings={"beams": 4})
    with pytest.raises(IsoglossError, match="no translator"):
        open_translator("  ")


@pytest.mark.parametrize("form", ["hf", "llm", "replay"])
def test_settings_are_checked(form: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    with pytest.raises(UnknownNameError, match="'colour'"):
        open_translator(f"{form}:{tmp_path / 'pairs.tsv'}#colour=red", "en", "es")


class Doubling(Translator):
    def batches(self, texts):  # type: ignore[no-untyped-def]
        yield {text: text * 2 for text in texts}


@given(st.lists(st.text(max_size=5), max_size=10))
def test_every_text_has_its_translation(texts: list[str]) -> None:
    assert Doubling()(texts) == [text * 2 if text.strip() else text for text in texts]
