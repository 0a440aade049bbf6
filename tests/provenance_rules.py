"""The rules of RO-Crate 1.1 and of CODECHECK's configuration file, read from their specifications."""

import json
import re
from datetime import date
from urllib.parse import unquote, urlsplit

import yaml

CRATE, PROFILE = "ro-crate-metadata.json", "https://w3id.org/ro/crate/1.1"
CODECHECK_NODES = {
    "version", "manifest", "paper", "source", "codechecker", "report", "summary", "repository", "check_time",
    "certificate",
}  # fmt: skip


def check_crate(folder):
    """The entities of the folder's crate by @id, once every rule of a valid crate holds."""
    found = json.loads((folder / CRATE).read_text(encoding="utf-8"))
    assert set(found) == {"@context", "@graph"}
    assert found["@context"] == f"{PROFILE}/context"
    graph = found["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    assert len(entities) == len(graph), "an entity stands twice"
    assert all(entity["@type"] for entity in graph)
    linked = [ref for entity in graph for value in entity.values() for ref in references(value)]
    assert {ref for ref in linked if ref != PROFILE} <= set(entities), "a reference to nothing"
    root = _root(entities)
    parts = {ref["@id"] for ref in root["hasPart"]}
    files = {id_ for id_, entity in entities.items() if "File" in _types(entity)}
    assert parts == files, "files must be linked from the root"
    for id_ in files:
        address = urlsplit(id_)
        assert (address.scheme, address.netloc, id_[0] == "/") == ("", "", False), f"{id_} is not relative"
        assert re.fullmatch(r"[\w./~%-]+", id_, re.ASCII), f"{id_} is not encoded"
        path = folder / unquote(id_)
        assert path.is_file()
        assert entities[id_]["contentSize"] == str(path.stat().st_size)
        assert entities[id_]["encodingFormat"].count("/") == 1
    lying = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {unquote(id_) for id_ in files} == lying - {CRATE}
    for action in (e for e in graph if "CreateAction" in _types(e)):
        assert action["instrument"]
        assert action["result"]
        assert action["description"]
        assert {ref["@id"] for ref in action["result"]} <= files
        assert action["@id"] in {ref["@id"] for ref in root["mentions"]}
    assert {id_ for id_ in entities if id_ != CRATE} <= set(linked), "an entity that nothing leads to"
    return entities


def _root(entities):
    descriptor = entities[CRATE]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["conformsTo"] == {"@id": PROFILE}
    assert descriptor["about"] == {"@id": "./"}
    root = entities["./"]
    assert root["@type"] == "Dataset"
    assert root["name"]
    assert root["description"]
    date.fromisoformat(root["datePublished"])
    assert entities[root["license"]["@id"]]["name"]
    return root


def _types(entity):
    kind = entity["@type"]
    return kind if isinstance(kind, list) else [kind]


def references(value):
    """The @ids that a value refers to; an entity within another is no crate's."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            assert set(item) == {"@id"}, "entities are not nested"
            yield item["@id"]
        else:
            assert isinstance(item, str)


def check_codecheck(folder):
    """What the configuration file says, once every rule that an author has to keep holds."""
    text = (folder / "codecheck.yml").read_bytes().decode("utf-8")
    assert text.startswith("%YAML 1.1\n---\n")
    found = yaml.safe_load(text)
    assert found["version"] == "https://codecheck.org.uk/spec/config/1.0/"
    assert isinstance(found["manifest"], list)
    assert found["manifest"]
    for item in found["manifest"]:
        assert set(item) <= {"file", "comment"}
        assert not item["file"].startswith("/")
        assert ".." not in item["file"]
        assert (folder / item["file"]).is_file()
        assert isinstance(item["comment"], str)
    assert found["paper"]["title"]
    assert found["paper"]["authors"]
    assert all(author["name"] for author in found["paper"]["authors"])
    own = set(found) - CODECHECK_NODES
    assert all(node.startswith("fedbounds") for node in own), "nodes of ours are named so"
    return found
