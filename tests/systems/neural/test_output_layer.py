"""Float32 logits of bfloat16 models, compared with a float32 output layer."""

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

from isogloss import load, task  # noqa: E402 - only where there is torch
from isogloss.systems.base import system  # noqa: E402
from isogloss.systems.pretrained import restore, save  # noqa: E402
from isogloss.training.model_setup import set_dropout  # noqa: E402

INPUT = {"input_ids": torch.tensor([[2, 10, 20, 30, 3]]), "attention_mask": torch.ones(1, 5, dtype=torch.long)}


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Any:
    """A bfloat16 model for a task, by the name of its fixture."""

    def make(name: str, family: str, of: str) -> Any:
        made: Any = system(f"{family}:{request.getfixturevalue(name)}", quiet=True).adapter(task(of))
        return made.load_model(0).to(torch.bfloat16).eval()

    return make


def logits(found: Any) -> list[Any]:
    return [found[name] for name in ("logits", "start_logits", "end_logits") if name in found]


@pytest.mark.parametrize("name", ["tiny_bert", "tiny_xlmr", "tiny_xlm"])
@pytest.mark.parametrize("of", ["mini-xnli", "mini-udpos", "mini-xquad", "mini-xcopa"])
def test_encoder_logits_are_float32(name: str, of: str, model: Any) -> None:
    made = model(name, "encoder", of)
    batch = {key: value[:, None].repeat(1, 2, 1) for key, value in INPUT.items()} if of == "mini-xcopa" else INPUT
    with torch.inference_mode():
        found = logits(made(**batch))
        assert {one.dtype for one in found} == {torch.float32}
        # Not bfloat16 values cast to float32.
        assert not all(one.equal(one.bfloat16().float()) for one in found)
        set_dropout(made.train(), 0.0)
        trained = logits(made(**batch))
    assert {one.dtype for one in trained} == {torch.bfloat16}
    for one, other in zip(found, trained, strict=True):
        torch.testing.assert_close(one, other.float(), rtol=0.02, atol=0.02)


def test_text2text_logits_are_float32(model: Any) -> None:
    made = model("tiny_mt5", "text2text", "mini-xnli")
    with torch.inference_mode():
        found = made(**INPUT, decoder_input_ids=torch.tensor([[0, 4]])).logits
    assert found.dtype == torch.float32
    assert not found.equal(found.bfloat16().float())


def test_tags_follow_exact_logits(tiny_bert: Path) -> None:
    """Two tags with scores closer than bfloat16 resolves: the better one wins, not the first."""
    made = system(f"encoder:{tiny_bert}", quiet=True).adapter(task("mini-udpos"))
    model: Any = made.load_model(0)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.zero_()
        model.classifier.bias[:2] = 100.0
        # A direction present in every token, too small to be visible next to 100.
        states = model.bert(**INPUT).last_hidden_state
        direction = states.mean(dim=(0, 1))
        model.classifier.weight[1] = 1e-3 * direction / direction.norm()
    model.to(torch.bfloat16)
    with torch.inference_mode():
        states = model.bert(**INPUT).last_hidden_state.float()
        expected = torch.nn.functional.linear(states, model.classifier.weight.float(), model.classifier.bias.float())
        found = model.eval()(**INPUT).logits
    assert found.argmax(-1).equal(expected.argmax(-1))
    assert (found.argmax(-1) == 1).any()
    assert (found.bfloat16().argmax(-1) == 0).all()


def test_saved_weights_are_unchanged(tiny_bert: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForTokenClassification

    made = system(f"encoder:{tiny_bert}", quiet=True).adapter(task("mini-udpos"))
    first, second = made.load_model(0), made.load_model(1)
    save(first, tmp_path / "weights", made.source.tokenizer)
    restore(second, tmp_path / "weights")
    plain = AutoModelForTokenClassification.from_pretrained(tmp_path / "weights")
    assert second.classifier.weight.equal(first.classifier.weight)
    assert plain.classifier.weight.equal(first.classifier.weight)
    asked = load("mini-udpos", "en", "test").keep(range(4))
    assert made.predict(first, asked) == made.predict(second, asked)
