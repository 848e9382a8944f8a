"""Requests and responses of the service, as OpenAPI 3.1."""

from typing import Any

from aligner.pages.serve.requests import Limits
from corpora.inline.kinds import KINDS

Json = dict[str, Any]

_REFUSALS = {
    "400": "The body is not JSON in UTF-8",
    "408": "The body has not come in time",
    "413": "More bytes than the service takes",
    "415": "The type of the body is not application/json",
    "422": "JSON, but neither a pair nor a list of pairs; or more pairs, words, or words in a sentence than allowed",
    "503": "As many requests as the service takes are waiting",
}

_EXAMPLES = {
    "text": {"source": "a red house .", "target": "une maison rouge ."},
    "tokens": {"source": ["a", "red", "house"], "target": ["une", "maison", "rouge"]},
    "many": {"pairs": [{"source": "a house", "target": "une maison"}, {"source": "yes", "target": "oui"}]},
}


def describe(version: str, limits: Limits) -> Json:
    """The OpenAPI description of a service with these limits, as JSON values."""
    refusals = {status: _content(_ref("Error"), description) for status, description in _REFUSALS.items()}
    refusals["503"]["headers"] = {"Retry-After": {"description": "Seconds", "schema": {"type": "integer"}}}
    links = _content({"anyOf": [_ref("Links"), _ref("ManyLinks")]}, "The links, of many pairs in their order")
    asked = _content({"anyOf": [_ref("Pair"), _ref("Pairs")]}) | {"required": True}
    asked["content"]["application/json"]["examples"] = {name: {"value": value} for name, value in _EXAMPLES.items()}
    align = {"operationId": "align", "summary": "The links of one sentence pair, or of many", "requestBody": asked}
    carry = {
        "operationId": "project",
        "summary": "The target with the inline markup of the source, of one pair, or of many",
        "requestBody": _content({"anyOf": [_ref("MarkedPair"), _ref("MarkedPairs")]}) | {"required": True},
    }
    tagged = _content(
        {"anyOf": [_ref("Projected"), _ref("ManyProjected")]}, "The targets, of many pairs in their order"
    )
    text = {"type": "string"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "aligner",
            "version": version,
            "summary": "Which words of a sentence translate which words of its translation.",
            "description": "Links are those of `aligner align` with the same model, bit for bit.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": {
            "/align": {"post": {**align, "responses": {"200": links, **refusals}}},
            "/project": {"post": {**carry, "responses": {"200": tagged, **refusals}}},
            "/health": _get(
                "health", "That the service answers, and by which model", _content(_ref("Health"), "It does")
            ),
            "/metrics": _get(
                "metrics",
                "Counts and times since the start, as Prometheus reads them",
                _content(text, "Lines of text", "text/plain"),
            ),
            "/openapi.json": _get("openapi", "This description", _content({"type": "object"}, "OpenAPI 3.1")),
            "/": _get("page", "A page to try a sentence", _content(text, "HTML", "text/html")),
        },
        "components": {"schemas": _schemas(limits)},
    }


def _schemas(limits: Limits) -> Json:
    text, whole, number = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "number", "minimum": 0}
    tokens = _list(text, maxItems=limits.length)
    link = {
        "type": "array",
        "prefixItems": [whole, whole, number],
        "items": False,
        "minItems": 3,
        "description": "Positions of a source and of a target token, from 0, and the score of the link: the "
        "probability that it is right, where the model is calibrated",
    }
    model = {
        "description": "Its file, and what `aligner info` tells of it as JSON",
        "type": "object",
        "properties": {"path": text},
        "required": ["path"],
    }
    kind = {"enum": [*KINDS], "default": "html", "description": "The markup of sources; targets have none"}
    tag = _object(
        tag={**text, "description": "As it opens"},
        start={**whole, "description": "Character of the target without markup"},
        end=whole,
        sure={"type": "boolean", "description": "Whether all its words are linked, and to words that stand together"},
    )
    return {
        "Sentence": {
            "description": "A text, which is split at blanks (or as the model was trained to), or its tokens. A text, "
            "too, may have only so many words, and so may a request (422).",
            "anyOf": [text, _list({**text, "minLength": 1}, maxItems=limits.length)],
        },
        "Pair": _object(source=_ref("Sentence"), target=_ref("Sentence")),
        "Pairs": _object(pairs=_list(_ref("Pair"), maxItems=limits.pairs)),
        "Links": {
            **_object(source=tokens, target=tokens, links=_list(link), score=number),
            "description": "What `aligner align` writes of a pair as JSON Lines; score: the mean, 0 of no links",
        },
        "ManyLinks": _object(pairs=_list(_ref("Links"))),
        "MarkedPair": {**_object(source=text, target=text, markup=kind), "required": ["source", "target"]},
        "MarkedPairs": {
            **_object(pairs=_list(_object(source=text, target=text), maxItems=limits.pairs), markup=kind),
            "required": ["pairs"],
        },
        "Projected": _object(target=text, tags=_list(tag)),
        "ManyProjected": _object(pairs=_list(_ref("Projected"))),
        "Health": {**_object(status={"const": "ok"}, version=text, model=model), "additionalProperties": True},
        "Error": _object(error={**text, "description": "What is wrong (what to do)"}),
    }


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Json, **further: int) -> Json:
    return {"type": "array", "items": items, **further}


def _object(**properties: Json) -> Json:
    """The schema of an object with all of the given properties and no others."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _content(schema: Json, description: str | None = None, kind: str = "application/json") -> Json:
    content = {"content": {kind: {"schema": schema}}}
    return {"description": description, **content} if description else content


def _get(name: str, summary: str, answer: Json) -> Json:
    return {"get": {"operationId": name, "summary": summary, "responses": {"200": answer}}}
