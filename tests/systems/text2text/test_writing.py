"""Likelihoods, constrained decoding and the loss, compared with plain implementations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from caches import new_cache
from isogloss.systems.pretrained import ModelSource
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.training.recipes import Recipe

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

from isogloss.systems.text2text import decoding as loss  # noqa: E402
from isogloss.systems.text2text.adapter import Text2TextAdapter  # noqa: E402
from isogloss.systems.text2text.decoding import Constraint, CopyConstraint, generate  # noqa: E402
from isogloss.systems.text2text.option_scoring import Text2TextClassifier, Text2TextMultipleChoice  # noqa: E402
from isogloss.systems.text2text.qa import Text2TextReader  # noqa: E402
from isogloss.systems.text2text.system import Text2TextRetrieval  # noqa: E402
from isogloss.systems.text2text.tagging import Text2TextTagger  # noqa: E402

pytestmark = pytest.mark.slow

RECIPE = Recipe(name="test", learning_rate=1e-3, max_length=48, stride=8, query_length=12, answer_length=6)


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path / "cache")))
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def source(tiny_mt5: Path) -> ModelSource:
    return ModelSource(str(tiny_mt5))


@pytest.fixture(scope="module")
def model(source: ModelSource) -> Any:
    return source.load_model("AutoModelForSeq2SeqLM", 0).eval()


def adapter(of: type[Text2TextAdapter], task: str, source: ModelSource, recipe: Recipe = RECIPE) -> Any:
    return of(isogloss.task(task), recipe, source)


def log_probabilities(model: Any, read: list[int], written: list[int]) -> list[float]:
    """Return the score of each token in turn, without batching."""
    found = []
    for place, piece in enumerate(written):
        given = torch.tensor([[0, *written[:place]]])
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([read]), decoder_input_ids=given).logits[0, -1]
        found.append(float(logits.double().log_softmax(0)[piece]))
    return found


def test_scores_are_mean_log_probabilities(model: Any, source: ModelSource) -> None:
    choices = [("it was wet", "the cat"), ("no", "it was dry and the sun came out")]
    asked = Examples(
        "xcopa",
        "en",
        "test",
        ["0", "1"],
        {"premise": ["it rained", "the sun"], "question": ["effect", "cause"], "choices": choices},
        "label",
    )
    found = adapter(
        Text2TextMultipleChoice, "xcopa", source, Recipe(name="test", learning_rate=1e-3, max_length=128)
    ).scores(model, asked)
    said = ("What was the effect?", "What was the cause?")
    for row, (premise, question) in enumerate(zip(asked["premise"], said, strict=True)):
        first, second = choices[row]
        text = f"premise: {premise} question: {question} choice1: {first} choice2: {second}"
        read = source.tokenizer(text)["input_ids"]
        by_hand = [np.mean(log_probabilities(model, read, source.tokenizer(c)["input_ids"])) for c in (first, second)]
        assert found[row] == pytest.approx(by_hand, rel=1e-4)


def test_missing_choices_are_never_chosen(model: Any, source: ModelSource) -> None:
    columns = {"premise": ["a"] * 2, "question": ["why?"] * 2, "choices": [("it", "was", "dry"), ("cat",)]}
    asked = Examples("xcopa", "en", "test", ["0", "1"], columns, "label")
    found = adapter(Text2TextMultipleChoice, "xcopa", source).scores(model, asked)
    assert np.isfinite(found[0]).all()
    assert found[1, 1:].tolist() == [-np.inf, -np.inf]


def test_scores_do_not_depend_on_the_batch(model: Any, source: ModelSource, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = load("mini-xnli", "en", "dev").keep(range(30))
    one = adapter(Text2TextClassifier, "mini-xnli", source)
    together = one.scores(model, asked)
    monkeypatch.setattr("isogloss.systems.text2text.option_scoring._ELEMENTS", 1)
    assert one.scores(model, asked) == pytest.approx(together, rel=1e-4)
    alone = np.concatenate([one.scores(model, asked.keep([row])) for row in range(5)])
    assert alone == pytest.approx(together[:5], rel=1e-4)
    assert one.predict(model, asked.keep([])) == []


class Free(Constraint):
    """No constraint."""

    def __init__(self, rows: int) -> None:
        self.done = torch.zeros(rows, dtype=torch.bool)

    def choose(self, logits: Any) -> Any:
        return logits.argmax(dim=1)


def test_decoding_cache_changes_nothing(model: Any) -> None:
    generator = torch.Generator().manual_seed(1)
    read = torch.randint(3, 900, (3, 9), generator=generator)
    mask = torch.ones_like(read)
    mask[1, 5:] = 0
    batch = {"input_ids": read, "attention_mask": mask, "decoder_input_ids": torch.zeros(3, 1, dtype=torch.long)}
    with torch.inference_mode():
        written = generate(model, batch, Free(3), 12)
        given = batch["decoder_input_ids"]
        for _ in range(12):
            logits = model(input_ids=read, attention_mask=mask, decoder_input_ids=given).logits[:, -1]
            given = torch.cat([given, logits.argmax(dim=1, keepdim=True)], dim=1)
    assert written.tolist() == given[:, 1:].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_random_model_gives_one_tag_per_token(seed: int, source: ModelSource) -> None:
    unlearnt = ModelSource(source.name, random=True).load_model("AutoModelForSeq2SeqLM", seed)
    for task in ("mini-udpos", "mini-wikiann"):
        asked = load(task, "de" if task == "mini-wikiann" else "en", "test").keep(range(20))
        tokens = [list(row) for row in asked["tokens"]]
        asked.columns["tokens"] = [[*tokens[0], *tokens[1], *tokens[2]], [], *tokens[2:]]
        answers = adapter(Text2TextTagger, task, source).predict(unlearnt, asked)
        assert [len(tags) for tags in answers] == [len(row) for row in asked["tokens"]]
        assert {tag for tags in answers for tag in tags} <= set(isogloss.task(task).labels)


def test_tags_are_the_most_likely_allowed(model: Any, source: ModelSource) -> None:
    tagger = adapter(Text2TextTagger, "wikiann", source)
    asked = Examples("wikiann", "en", "test", ["0"], {"tokens": [["Anna", "met", "Otto"]]}, "tags")
    form = tagger.format
    read = [*form.numbered(tagger.tokenizer.subwords(asked["tokens"][0])).tolist(), 1]
    written: list[int] = []
    for word in range(3):
        written.append(form.marker(word))
        tag: tuple[int, ...] = ()
        after = form.marker(word + 1) if word < 2 else 1
        while True:
            allowed = {prefix[-1] for prefix in form.prefixes if prefix and prefix[:-1] == tag}
            allowed |= {after} if tag in {tuple(row.tolist()) for row in form.subwords} else set()
            given = torch.tensor([[0, *written]])
            logits = model(input_ids=torch.tensor([read]), decoder_input_ids=given).logits[0, -1].detach()
            best = max(allowed, key=lambda piece: float(logits[piece]))
            if best == after:
                break
            written.append(best)
            tag = (*tag, best)
    by_hand = [form.tags[number] for number in form.parse(written, 3)]
    assert tagger.predict(model, asked) == [by_hand]


@pytest.mark.parametrize("code", ["en", "zh", "th", "ar"])
def test_every_answer_is_a_span_of_its_passage(code: str, source: ModelSource) -> None:
    unlearnt = ModelSource(source.name, random=True).load_model("AutoModelForSeq2SeqLM", 3)
    asked = load("mini-xquad", code, "test").keep(range(12))
    asked.columns["context"] = [*asked["context"][:-1], ""]
    answers = adapter(Text2TextReader, "mini-xquad", source).predict(unlearnt, asked)
    for answer, context in zip(answers, asked["context"], strict=True):
        assert answer in context
        assert answer == answer.strip()
    assert all(answers[:-1])
    assert answers[-1] == ""


def test_empty_input_gives_no_predictions(model: Any, source: ModelSource) -> None:
    for of, task in ((Text2TextReader, "mini-xquad"), (Text2TextTagger, "mini-udpos")):
        assert adapter(of, task, source).predict(model, load(task, "en", "test").keep([])) == []


def test_copying_follows_every_occurrence() -> None:
    pieces = torch.tensor([[9, 5, 6, 5, 7, 1], [9, 4, 4, 4, 8, 1]])
    inside = torch.tensor([[False, True, True, True, True, False]] * 2)
    constraint = CopyConstraint(pieces, inside, inside & (pieces != 6), torch.tensor([1, 1]))

    def likes(first: int, second: int) -> Any:
        logits = torch.zeros(2, 10)
        logits[0, first] = logits[1, second] = 5.0
        return logits

    # Not the 9, which is not part of the passage; and not the end before anything was generated.
    assert constraint.choose(likes(6, 1)).tolist()[0] == 5
    assert constraint.length.tolist() == [1, 1]
    # 5 precedes 6 and 7.
    assert constraint.choose(likes(7, 4)).tolist()[0] == 7
    assert constraint.choose(likes(1, 1)).tolist() == [1, 1]
    assert constraint.done.tolist() == [True, True]
    assert (constraint.first.tolist()[0], constraint.last.tolist()[0]) == (3, 4)
    expected = 2 * float(likes(7, 4)[0].log_softmax(0)[7]) + float(likes(6, 1)[0].log_softmax(0)[5])
    assert float(constraint.score[0]) == pytest.approx(expected, rel=1e-5)


def test_most_likely_window_wins(source: ModelSource, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = adapter(Text2TextReader, "xquad", source)
    context = " ".join(f"rain{number} and sun" for number in range(30))
    asked = Examples("xquad", "en", "test", ["0"], {"question": ["?"], "context": [context]}, "answers")
    windows = reader.encode_windows(asked)[1]
    assert len(windows) > 3

    def copied(_: Any, batch: Mapping[str, Any]) -> Any:
        # The first token of every window's passage; later windows score higher.
        first = batch["inside"].long().argmax(dim=1)
        rows = [row[row != 0].tolist() for row in batch["input_ids"]]
        every = [windows.input_ids[a:b].tolist() for a, b in zip(windows.starts, windows.starts[1:], strict=False)]
        return first, first + 1, torch.tensor([float(every.index(row)) for row in rows])

    monkeypatch.setattr(reader, "_copy_answers", copied)
    model = source.load_model("AutoModelForSeq2SeqLM", 0)
    [answer] = reader.predict(model, asked)
    last = int(windows.starts[-2])
    place = last + int((windows.aligned["begin"][last:] >= 0).argmax())
    assert answer == context[windows.aligned["begin"][place] : windows.aligned["end"][place + 1]]


def objective(source: ModelSource) -> Any:
    return adapter(Text2TextTagger, "mini-udpos", source).objective(load("mini-udpos", "en", "train").keep(range(24)))


def tensors(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}


def test_padding_adds_nothing_and_shape_depends_on_width_and_size(model: Any, source: ModelSource) -> None:
    made = objective(source)
    items = np.argsort(made.lengths, kind="stable")[:3]
    width = int(made.lengths[items].max())
    few, many, wide = (made.batch(items, *shape) for shape in ((width, 3), (width, 8), (width + 12, 8)))
    with torch.no_grad():
        losses = [float(made.loss(model, tensors(batch))) for batch in (few, many, wide)]
        alone = sum(
            float(made.loss(model, tensors(made.batch(np.array([item]), int(made.lengths[item]), 1)))) for item in items
        )
    assert losses == pytest.approx([alone] * 3, rel=1e-4)
    other = made.batch(np.argsort(made.lengths, kind="stable")[:1], width, 8)
    assert {name: array.shape for name, array in other.items()} == {name: a.shape for name, a in many.items()}
    labels = few["labels"]
    assert made.weight(items) == (labels != -100).sum()
    nothing = made.batch(items[:0], width, 4)
    with torch.no_grad():
        assert float(made.loss(model, tensors(nothing))) == 0.0


def test_chunked_loss_equals_whole_loss(source: ModelSource, monkeypatch: pytest.MonkeyPatch) -> None:
    made = objective(source)
    batch = tensors(made.batch(np.arange(6), int(made.lengths.max()), 6))
    found = []
    for elements in (loss._ELEMENTS, 912 * 7):
        monkeypatch.setattr(loss, "_ELEMENTS", elements)
        one = source.load_model("AutoModelForSeq2SeqLM", 0).train()
        value = made.loss(one, batch)
        value.backward()
        assert one.get_output_embeddings().weight.shape == (912, 64)
        found.append((value.item(), [parameter.grad for parameter in one.parameters()]))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    for whole, parts in zip(found[0][1], found[1][1], strict=True):
        assert torch.allclose(whole, parts, rtol=1e-4, atol=1e-4 * float(whole.abs().max()))


@pytest.mark.parametrize("elements", [loss._ELEMENTS, 912 * 7])
def test_loss_reads_no_values(elements: int, source: ModelSource, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from transformers import AutoModelForSeq2SeqLM

    monkeypatch.setattr(loss, "_ELEMENTS", elements)
    arrays = objective(source).batch(np.arange(4), 64, 4)
    with FakeTensorMode():  # tensors without values: reading one raises
        blind = AutoModelForSeq2SeqLM.from_config(source.config).train()
        batch = {name: torch.zeros(array.shape, dtype=torch.long) for name, array in arrays.items()}
        loss.target_loss(blind, batch).backward()
        assert all(parameter.grad is not None for parameter in blind.parameters())


def test_vectors_are_means_of_the_encoders_outputs(model: Any, source: ModelSource) -> None:
    from isogloss.systems.neural.modules import PooledEncoder

    reader = Text2TextReader(isogloss.task("xquad"), RECIPE, source)
    finder = Text2TextRetrieval(isogloss.task("tatoeba"), RECIPE, source, reader)
    texts = ["it was raining", "the cat and the dog and the sun", "no"]
    found = finder.vectors(PooledEncoder(model.get_encoder(), "mean"), texts, 48)
    for text, vector in zip(texts, found, strict=True):
        read = torch.tensor([source.tokenizer(text)["input_ids"]])
        with torch.no_grad():
            mean = model.get_encoder()(input_ids=read).last_hidden_state[0].mean(dim=0).numpy()
        assert vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
