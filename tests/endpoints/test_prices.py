"""Prices, costs and estimates."""

from pathlib import Path

import pytest

from isogloss.endpoints.budget import Budget, SpendingAccount
from isogloss.endpoints.prices import DEFAULT_OUTPUT, Prices, estimate_tokens, estimate_usage
from isogloss.errors import IsoglossError
from isogloss.reply_outcomes import Usage

FILE = """
date = 2026-11-01
currency = "USD"
[models."gpt-4o-mini"]
input = 0.15
cached = 0.075
output = 0.60
batch = 0.5
[models."gpt-*"]
input = 2
output = 8
[models."gpt-5*"]
input = 1
output = 10
reasoning = 5
"""


def read(folder: Path, text: str) -> Prices:
    path = folder / "prices.toml"
    path.write_text(text)
    return Prices.read(path)


def test_costs(tmp_path: Path) -> None:
    prices = read(tmp_path, FILE)
    assert (prices.date, prices.currency) == ("2026-11-01", "USD")
    usage = Usage(input=1_000_000, cached=400_000, output=100_000, reasoning=50_000)
    assert prices.cost("gpt-4o-mini", usage) == pytest.approx(0.6 * 0.15 + 0.4 * 0.075 + 0.1 * 0.6)
    assert prices.cost("gpt-4o-mini", usage, batch=True) == pytest.approx((0.6 * 0.15 + 0.4 * 0.075 + 0.1 * 0.6) / 2)
    assert prices.cost("gpt-4", usage) == pytest.approx(2 + 0.8)
    assert prices.cost("gpt-5-nano", usage, batch=True) == pytest.approx(1 + 0.05 * 10 + 0.05 * 5)
    assert prices.cost("llama", usage) is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("date = 2026-11-01", "", "no date"),
        ("2026-11-01", '"yesterday"', "'yesterday' is not a date"),
        ('currency = "USD"', "", "no currency"),
        ("input = 2\n", "", "no price for input tokens"),
        ("output = 10", "outptu = 10", "Did you mean output"),
        ("input = 2", "input = -2", "from 0 to"),
        ("input = 2", 'input = "2"', "not a number"),
        ("batch = 0.5", "batch = 50", "at most 1"),
        ("currency", "[currency", "not TOML"),
        (FILE[FILE.index("[models") :], "", "no prices"),
        (FILE[FILE.index("[models") :], "models = 3", "not a table"),
        (FILE[FILE.index("[models") :], "[models]\nx = 3", "not a table"),
    ],
)
def test_errors_name_the_file_and_the_fault(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(IsoglossError) as raised:
        read(tmp_path, FILE.replace(old, new))
    assert words in str(raised.value)
    assert "prices.toml" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd" * 100, 100),
        ("中文" * 55, 100),
        ("カナ" * 55, 100),
        ("한글" * 65, 100),
        ("слов" * 65, 100),
        ("كلمه" * 60, 100),
        ("शब" * 100, 100),
        ("ไทย" * 160, 300),
        ("abcd" * 100 + "中文" * 55, 200),
        ("1" * 250, 100),
        ("a b ", 1),
        ("abcd" + " " * 400, 2),
    ],
)
def test_estimates_of_tokens(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_estimates_of_requests() -> None:
    messages = [
        {"role": "user", "content": "abcd" * 10},
        {"role": "user", "content": [{"type": "text", "text": "abcd" * 5}]},
    ]
    # Two frames of 4, two roles of 1, a type of 1, and the texts.
    assert estimate_usage({"messages": messages, "max_tokens": 7}) == Usage(input=8 + 2 + 1 + 15, output=7)
    assert estimate_usage({"prompt": "abcd" * 3, "max_completion_tokens": 9}) == Usage(input=3, output=9)
    assert estimate_usage({"prompt": ""}) == Usage(output=DEFAULT_OUTPUT)
    assert estimate_usage({"input": ["abcd", "abcd"]}) == Usage(input=2)


@pytest.mark.parametrize("cost", [0, -1, float("nan"), float("inf")])
def test_impossible_budgets(cost: float) -> None:
    with pytest.raises(IsoglossError, match="max_cost"):
        Budget(cost)


@pytest.mark.parametrize("is_shared", [False, True])
def test_an_account_reserves_and_settles(tmp_path: Path, is_shared: bool) -> None:
    ledger = tmp_path / "deep" / "ledger" if is_shared else None
    account = SpendingAccount(10, ledger, 0.0)
    other = SpendingAccount(10, ledger, 0.0) if is_shared else account
    assert account.reserve(4)
    assert other.reserve(4)
    assert not account.reserve(3)
    other.settle(4, 1)
    assert account.reserve(5)
    assert not other.reserve(0.5)
    account.settle(5, 0)
    account.settle(4, 0)
    assert other.reserve(9)


def test_money_spent_before_counts() -> None:
    assert not SpendingAccount(10, None, 9.5).reserve(1)
    assert SpendingAccount(10, None, 9).reserve(1)


def test_a_damaged_ledger_does_not_lift_the_limit(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    ledger.write_text("4\nnan\ninf\nx\n")
    account = SpendingAccount(10, ledger, 0.0)
    assert account.reserve(6)
    assert not account.reserve(0.5)
