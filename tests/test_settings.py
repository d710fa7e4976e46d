"""Settings: where each value comes from, and what is refused before anything is opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.errors import SettingsError
from pertinent.settings import LoadedSettings, Settings, load


def masked_values(loaded: LoadedSettings) -> dict[str, str]:
    return {setting.name: setting.value for setting in loaded.list_origins()}


def test_defaults_need_no_configuration(tmp_path: Path) -> None:
    loaded = load(environment={}, start=tmp_path)
    assert loaded.settings == Settings()
    assert all(setting.origin == "default" for setting in loaded.list_origins())


def test_settings_precedence_is_caller_environment_file(tmp_path: Path) -> None:
    (tmp_path / "pertinent.toml").write_text("chunk_tokens = 100\nranking = 'dense'\n")
    environment = {"PERTINENT_CHUNK_TOKENS": "150"}
    assert load(environment={}, start=tmp_path).settings.chunk_tokens == 100
    assert load(environment=environment, start=tmp_path).settings.chunk_tokens == 150
    overridden = load({"chunk_tokens": 300}, environment=environment, start=tmp_path)
    assert overridden.settings.chunk_tokens == 300
    assert overridden.settings.ranking == "dense"
    origins = {setting.name: setting.origin for setting in overridden.list_origins()}
    assert origins["chunk_tokens"] == "given"
    assert origins["ranking"] == str(tmp_path / "pertinent.toml")
    assert load(environment=environment, start=tmp_path).origins["chunk_tokens"] == "PERTINENT_CHUNK_TOKENS"


def test_file_is_found_in_a_parent_folder_and_its_paths_are_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "pertinent.toml").write_text("folder = 'data'\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert load(environment={}, start=below).settings.folder == tmp_path / "data"


def test_common_environment_variables_are_read(tmp_path: Path) -> None:
    environment = {"COHERE_API_KEY": "k", "DATABASE_URL": "postgresql://h/d", "QDRANT_COLLECTION_NAME": "c"}
    loaded = load(environment=environment, start=tmp_path)
    assert loaded.settings.cohere_api_key is not None
    assert loaded.settings.cohere_api_key.get_secret_value() == "k"
    assert loaded.settings.qdrant_collection == "c"
    assert loaded.origins["database_url"] == "DATABASE_URL"


def test_pertinent_variable_precedes_the_common_one(tmp_path: Path) -> None:
    environment = {"QDRANT_COLLECTION_NAME": "theirs", "PERTINENT_QDRANT_COLLECTION": "ours"}
    assert load(environment=environment, start=tmp_path).settings.qdrant_collection == "ours"


def test_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "pertinent.toml").write_text("chunk_tokens = 77\n", encoding="utf-8-sig")
    assert load(environment={}, start=tmp_path).settings.chunk_tokens == 77


@pytest.mark.parametrize("name", ["cohere", "cohere:"])
def test_seed_002_cohere_without_a_model_means_embed_english_v3(tmp_path: Path, name: str) -> None:
    full = "cohere:embed-english-v3.0"
    assert Settings(embedder=name).embedder == full
    assert load({"embedder": name}, environment={}, start=tmp_path).settings.embedder == full
    environment = {"PERTINENT_EMBEDDER": name}
    assert load(environment=environment, start=tmp_path).settings.embedder == full
    (tmp_path / "pertinent.toml").write_text(f'embedder = "{name}"\n')
    loaded = load(environment={}, start=tmp_path)
    assert loaded.settings.embedder == full
    assert masked_values(loaded)["embedder"] == full
    assert loaded.settings.asks_servers


@pytest.mark.parametrize(
    ("overrides", "environment", "message"),
    [
        ({"embedder": "minilm"}, {}, "embedder: must be provider:model"),
        ({"embedder": "magic:model"}, {}, "embedder: must be provider:model"),
        ({"embedder": "openai"}, {}, "embedder: must be provider:model"),
        ({"embedder": "local:"}, {}, "embedder: must be provider:model"),
        ({"chunk_tokens": 1}, {}, r"chunk_tokens: .*20"),
        ({"chunk_tokens": "many"}, {}, "chunk_tokens"),
        ({"folder": 5}, {}, r"^folder: must be a path \(as given\)$"),
        ({"folder": "a\0b"}, {}, "^folder: must not contain a NUL character"),
        ({"port": 80000}, {}, r"^port: must be at most 65535 \(as given\)$"),
        (
            {},
            {"PERTINENT_RANKING": "secret-key"},
            r"^ranking: must be hybrid, dense or lexical \(from PERTINENT_RANKING\)$",
        ),
        ({"ranking": "rrf"}, {}, "ranking"),
        (
            {},
            {"PERTINENT_LANGUAGE": "secret-key"},
            r"^language: must be one of none, chinese, .*, english, .* \(from PERTINENT_LANGUAGE\)$",
        ),
        ({"language": "en"}, {}, "language: must be one of none, chinese, "),
        ({"language": 5}, {}, "language: "),
        ({"nonsense": 1}, {}, "nonsense"),
        ({"database_url": "mysql://h/d"}, {}, "postgresql:// or sqlite://"),
        ({}, {"PERTINENT_EMBEDER": "x"}, "PERTINENT_EMBEDER is not a setting"),
        ({}, {"QDRANT_API_KEY": "secret-key"}, "QDRANT_URL"),
        ({"qdrant_write_consistency": 2}, {}, "is higher than qdrant_replicas"),
        ({"qdrant_quantization": "tiny"}, {}, "qdrant_quantization"),
        ({}, {"PERTINENT_QDRANT_FIELDS": "[" * 20_000}, "qdrant_fields: .*is nested too deeply"),
    ],
)
def test_invalid_setting_is_refused_without_quoting_it(
    tmp_path: Path, overrides: dict[str, object], environment: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message) as caught:
        load(overrides, environment=environment, start=tmp_path)
    assert "secret-key" not in str(caught.value)


def test_language_is_unset_by_default_and_given_in_any_case(tmp_path: Path) -> None:
    assert Settings().language is None
    environment = {"PERTINENT_LANGUAGE": "German"}
    assert load(environment=environment, start=tmp_path).settings.language == "german"


@pytest.mark.parametrize(
    "text",
    ["chunk_tokens = ", "nonsense = 1", "\xff\xfe", f"port = {'1' * 5000}", f"api_keys = {'[' * 20_000}"],
    ids=["no value", "no setting", "no text", "huge number", "deep nesting"],
)
def test_invalid_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "pertinent.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"pertinent\.toml"):
        load(environment={}, start=tmp_path)


def test_secrets_are_masked(tmp_path: Path) -> None:
    environment = {"COHERE_API_KEY": "sesame", "DATABASE_URL": "postgresql://ann:sesame@db.example/x"}
    loaded = load(environment=environment, start=tmp_path)
    values = masked_values(loaded)
    assert values["cohere_api_key"] == "********"
    assert values["database_url"] == "postgresql://********@db.example/x"
    assert "sesame" not in repr(loaded) + str(loaded) + repr(loaded.list_origins())


def test_invalid_secret_is_not_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(environment={"DATABASE_URL": "mysql://u:sesame@h/d"}, start=tmp_path)
    assert "sesame" not in str(caught.value)
    assert caught.value.__cause__ is None


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=12).map(
        lambda p: f"se{p}"
    )
)
def test_password_of_any_characters_is_masked(password: str) -> None:
    environment = {"DATABASE_URL": f"postgresql://ann:{password}@db.example:5432/x?sslmode=on"}
    value = masked_values(load(environment=environment, start=Path("/")))["database_url"]
    assert password not in value
    assert value.endswith("@db.example:5432/x")


def test_empty_variable_is_ignored_and_onnx_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    assert load(environment={"PERTINENT_FOLDER": ""}, start=tmp_path).settings.folder == Path(".pertinent")
    (tmp_path / "pertinent.toml").write_text("embedder = 'onnx:models/x'\nreranker = 'onnx:models/y'\n")
    assert load(environment={}, start=tmp_path).settings.embedder == f"onnx:{tmp_path}/models/x"
    assert load(environment={}, start=tmp_path).settings.reranker == f"onnx:{tmp_path}/models/y"
    (tmp_path / "pertinent.toml").write_text("folder = 5\n")
    with pytest.raises(SettingsError, match="folder"):
        load(environment={}, start=tmp_path)


@pytest.mark.parametrize(
    ("reranker", "is_hosted"),
    [
        ("local:ms-marco-MiniLM-L-12-v2", False),
        ("onnx:models/x", False),
        ("cohere:rerank-v3.5", True),
        ("http:https://host/rerank", True),
    ],
)
def test_hosted_reranker_is_a_server(reranker: str, is_hosted: bool) -> None:
    assert Settings(reranker=reranker).asks_servers is is_hosted


@pytest.mark.parametrize(
    ("name", "value"),
    [("rerank_depth", 0), ("rerank_depth", 101), ("rerank_share", -0.1), ("rerank_share", 1.1)],
)
def test_settings_of_the_reranker_have_ranges(name: str, value: float) -> None:
    with pytest.raises(SettingsError, match=f"{name}: must be at"):
        load({name: value}, environment={})


def test_key_of_the_reranker_is_masked(tmp_path: Path) -> None:
    environment = {"PERTINENT_RERANKER_API_KEY": "a-secret-key"}
    loaded = load(environment=environment, start=tmp_path)
    assert masked_values(loaded)["reranker_api_key"] == "********"
    assert "a-secret-key" not in repr(loaded.settings)


def test_lists_in_the_environment_are_split_at_commas(tmp_path: Path) -> None:
    environment = {
        "PERTINENT_API_KEYS": "first-key-1, second-key-2",
        "PERTINENT_CORS_ORIGINS": "https://a.example",
    }
    loaded = load(environment=environment, start=tmp_path)
    assert [key.get_secret_value() for key in loaded.settings.api_keys] == ["first-key-1", "second-key-2"]
    assert loaded.settings.cors_origins == ("https://a.example",)
    assert "first-key" not in str(loaded.list_origins())
    with pytest.raises(SettingsError, match="at least 8 characters"):
        load(environment={"PERTINENT_API_KEYS": "short"}, start=tmp_path)


def test_public_keys_that_restrict_nothing_are_refused(tmp_path: Path) -> None:
    keys = {"PERTINENT_API_KEYS": "first-key-1", "PERTINENT_PUBLIC_KEYS": "public-key-1,public-key-2"}
    settings = load(environment=keys, start=tmp_path).settings
    assert [key.get_secret_value() for key in settings.public_keys] == ["public-key-1", "public-key-2"]
    with pytest.raises(SettingsError, match="need `api_keys`, too"):
        load(environment={"PERTINENT_PUBLIC_KEYS": "public-key-1"}, start=tmp_path)
    with pytest.raises(SettingsError, match="must not be in `api_keys`, too"):
        load(environment={**keys, "PERTINENT_PUBLIC_KEYS": "first-key-1"}, start=tmp_path)
    with pytest.raises(SettingsError, match="at least 8 characters"):
        load(environment={**keys, "PERTINENT_PUBLIC_KEYS": "short"}, start=tmp_path)


@pytest.mark.parametrize("origin", ["https://a.example/", "http://localhost:3000", "*", "https://A.example"])
def test_cors_origin_is_written_as_browsers_do(tmp_path: Path, origin: str) -> None:
    loaded = load(environment={"PERTINENT_CORS_ORIGINS": origin}, start=tmp_path)
    assert loaded.settings.cors_origins == (origin.rstrip("/").lower(),)


@pytest.mark.parametrize(
    "origin", ["foo", "a.example", "https://a.example/docs", "https://", "https://a.example?x"]
)
def test_invalid_cors_origin_is_refused(tmp_path: Path, origin: str) -> None:
    with pytest.raises(SettingsError, match=r"must be like https://site\.example"):
        load(environment={"PERTINENT_CORS_ORIGINS": origin}, start=tmp_path)


@pytest.mark.parametrize("name", ["qdrant_url", "openai_base_url", "cohere_base_url", "otel_endpoint"])
@pytest.mark.parametrize("value", ["http://u:SECRET@host:1/v1", "http://host,http://u:SEC/RET@other"])
def test_password_in_any_address_is_masked(tmp_path: Path, name: str, value: str) -> None:
    masked = masked_values(load({name: value}, environment={}, start=tmp_path))[name]
    assert "SEC" not in masked
    assert masked.startswith("http://********@")
