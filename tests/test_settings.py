"""Settings: where each value comes from, and what is refused before anything is opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.errors import SettingsError
from pertinent.settings import Settings, load


def test_the_defaults_need_nothing(tmp_path: Path) -> None:
    loaded = load(environment={}, start=tmp_path)
    assert loaded.settings == Settings()
    assert all(one.origin == "default" for one in loaded.list_origins())


def test_a_value_comes_from_the_first_place_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "pertinent.toml").write_text("chunk_tokens = 100\nranking = 'dense'\n")
    environment = {"PERTINENT_CHUNK_TOKENS": "150"}
    assert load(environment={}, start=tmp_path).settings.chunk_tokens == 100
    assert load(environment=environment, start=tmp_path).settings.chunk_tokens == 150
    given = load({"chunk_tokens": 300}, environment=environment, start=tmp_path)
    assert given.settings.chunk_tokens == 300
    assert given.settings.ranking == "dense"
    origins = {one.name: one.origin for one in given.list_origins()}
    assert origins["chunk_tokens"] == "given"
    assert origins["ranking"] == str(tmp_path / "pertinent.toml")
    assert load(environment=environment, start=tmp_path).origins["chunk_tokens"] == "PERTINENT_CHUNK_TOKENS"


def test_the_file_is_found_from_a_folder_below_and_its_folder_is_meant_from_there(tmp_path: Path) -> None:
    (tmp_path / "pertinent.toml").write_text("folder = 'data'\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert load(environment={}, start=below).settings.folder == tmp_path / "data"


def test_the_names_of_the_seeds_are_understood(tmp_path: Path) -> None:
    environment = {"COHERE_API_KEY": "k", "DATABASE_URL": "postgresql://h/d", "QDRANT_COLLECTION_NAME": "c"}
    loaded = load(environment=environment, start=tmp_path)
    assert loaded.settings.cohere_api_key is not None
    assert loaded.settings.cohere_api_key.get_secret_value() == "k"
    assert loaded.settings.qdrant_collection == "c"
    assert loaded.origins["database_url"] == "DATABASE_URL"


def test_our_own_name_wins_over_the_common_one(tmp_path: Path) -> None:
    environment = {"QDRANT_COLLECTION_NAME": "theirs", "PERTINENT_QDRANT_COLLECTION": "ours"}
    assert load(environment=environment, start=tmp_path).settings.qdrant_collection == "ours"


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
    assert {setting.name: setting.value for setting in loaded.list_origins()}["embedder"] == full
    assert loaded.settings.asks_servers


@pytest.mark.parametrize(
    ("given", "environment", "message"),
    [
        ({"embedder": "minilm"}, {}, "embedder: must be provider:model"),
        ({"embedder": "magic:model"}, {}, "embedder: must be provider:model"),
        ({"embedder": "openai"}, {}, "embedder: must be provider:model"),
        ({"embedder": "local:"}, {}, "embedder: must be provider:model"),
        ({"chunk_tokens": 1}, {}, r"chunk_tokens: .*20"),
        ({"chunk_tokens": "many"}, {}, "chunk_tokens"),
        ({"ranking": "rrf"}, {}, "ranking"),
        ({"nonsense": 1}, {}, "nonsense"),
        ({"database_url": "mysql://h/d"}, {}, "postgresql:// or sqlite://"),
        ({}, {"PERTINENT_EMBEDER": "x"}, "PERTINENT_EMBEDER is no setting"),
        ({}, {"QDRANT_API_KEY": "secret-key"}, "QDRANT_URL"),
        ({"qdrant_write_consistency": 2}, {}, "only 1 qdrant_replicas"),
        ({"qdrant_quantization": "tiny"}, {}, "qdrant_quantization"),
    ],
)
def test_what_can_not_be_is_refused_at_once(
    tmp_path: Path, given: dict[str, object], environment: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError, match=message) as refused:
        load(given, environment=environment, start=tmp_path)
    assert "secret-key" not in str(refused.value)


@pytest.mark.parametrize("text", ["chunk_tokens = ", "nonsense = 1", "\xff\xfe"])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "pertinent.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingsError, match=r"pertinent\.toml"):
        load(environment={}, start=tmp_path)


def test_no_secret_is_shown_or_in_a_repr(tmp_path: Path) -> None:
    environment = {"COHERE_API_KEY": "sesame", "DATABASE_URL": "postgresql://ann:sesame@db.example/x"}
    loaded = load(environment=environment, start=tmp_path)
    shown = {one.name: one.value for one in loaded.list_origins()}
    assert shown["cohere_api_key"] == "********"
    assert shown["database_url"] == "postgresql://********@db.example/x"
    assert "sesame" not in repr(loaded) + str(loaded) + repr(loaded.list_origins())


def test_a_bad_secret_is_not_repeated_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load(environment={"DATABASE_URL": "mysql://u:sesame@h/d"}, start=tmp_path)
    assert "sesame" not in str(refused.value)
    assert refused.value.__cause__ is None


@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=12).map(
        lambda p: f"se{p}"
    )
)
def test_no_password_is_shown_whatever_its_characters(password: str) -> None:
    environment = {"DATABASE_URL": f"postgresql://ann:{password}@db.example:5432/x?sslmode=on"}
    shown = {one.name: one.value for one in load(environment=environment, start=Path("/")).list_origins()}
    assert password not in shown["database_url"]
    assert shown["database_url"].endswith("@db.example:5432/x")


def test_an_empty_variable_is_none_and_paths_in_the_file_are_meant_from_there(tmp_path: Path) -> None:
    assert load(environment={"PERTINENT_FOLDER": ""}, start=tmp_path).settings.folder == Path(".pertinent")
    (tmp_path / "pertinent.toml").write_text("embedder = 'onnx:models/x'\n")
    assert load(environment={}, start=tmp_path).settings.embedder == f"onnx:{tmp_path}/models/x"
    (tmp_path / "pertinent.toml").write_text("folder = 5\n")
    with pytest.raises(SettingsError, match="folder"):
        load(environment={}, start=tmp_path)


def test_keys_and_origins_are_written_with_commas_in_the_environment(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("origin", ["https://a.example/", "http://localhost:3000", "*", "https://A.example"])
def test_an_origin_is_what_a_browser_sends(tmp_path: Path, origin: str) -> None:
    loaded = load(environment={"PERTINENT_CORS_ORIGINS": origin}, start=tmp_path)
    assert loaded.settings.cors_origins == (origin.rstrip("/").lower(),)


@pytest.mark.parametrize(
    "origin", ["foo", "a.example", "https://a.example/docs", "https://", "https://a.example?x"]
)
def test_an_origin_that_no_browser_sends_is_refused(tmp_path: Path, origin: str) -> None:
    with pytest.raises(SettingsError, match=r"must be like https://site\.example"):
        load(environment={"PERTINENT_CORS_ORIGINS": origin}, start=tmp_path)


def test_what_the_caller_gave_is_refused_in_our_words(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        load({"port": 80000}, environment={}, start=tmp_path)
    assert str(refused.value) == "port: must be at most 65535 (as given)"


@pytest.mark.parametrize("name", ["qdrant_url", "openai_base_url", "cohere_base_url", "otel_endpoint"])
@pytest.mark.parametrize("value", ["http://u:SECRET@host:1/v1", "http://host,http://u:SEC/RET@other"])
def test_a_password_in_any_address_is_hidden(tmp_path: Path, name: str, value: str) -> None:
    shown = {
        one.name: one.value for one in load({name: value}, environment={}, start=tmp_path).list_origins()
    }
    assert "SEC" not in shown[name]
    assert shown[name].startswith("http://********@")


def test_a_value_that_is_refused_is_not_quoted() -> None:
    with pytest.raises(SettingsError) as refused:
        load(environment={"PERTINENT_RANKING": "sk-secret"})
    assert str(refused.value) == "ranking: must be hybrid, dense or lexical (from PERTINENT_RANKING)"
