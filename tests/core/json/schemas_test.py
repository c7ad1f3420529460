#!/usr/bin/env python3
"""Holds the published schemas against what our writers write and our readers accept.

"keys" needs nothing: a document with every optional part has exactly the keys of its schema.
"verdicts" needs the package jsonschema (else exit status 77): written documents are valid, and of
thousands of damaged ones the schema refuses what the reader refuses for its form, and no more.
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

# What only a reader can know: it compares numbers with each other.
SEMANTIC = ("follows from the rest", "'default_links' is missing", "'intra_node' is missing",
            "'inter_node' is missing", "input_grad_s' is missing", "weight_grad_s' is missing")
FORMAL = ("expected ", "unknown key", "is missing")
DAMAGE = (None, "x", -1, 1.5, True, 2**53 + 1, 1e300, [], {}, [None])


def written_documents(probe, folder):
    subprocess.run([probe, "write", folder], check=True)
    schemas, documents = {}, {}
    for path in sorted(pathlib.Path(folder).iterdir()):
        text = json.loads(path.read_text())
        if path.name.endswith(".schema.json"):
            schemas[path.name.removesuffix(".schema.json")] = text
        else:
            name, seed = path.stem.rsplit("-", 1)
            documents[name, int(seed)] = text
    return schemas, documents


def key_complaints(schema, value, root, where):
    """Yields where a value with every optional part and its schema name different keys."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if isinstance(value, list) and value:
        for item in value:
            yield from key_complaints(schema["items"], item, root, where + "/0")
    if isinstance(value, dict) and "properties" in schema:
        known = set(schema["properties"])
        if schema["additionalProperties"] is False and known != set(value):
            yield f"{where}: schema and document differ in {sorted(known ^ set(value))}"
        for key in known & set(value):
            yield from key_complaints(schema["properties"][key], value[key], root, f"{where}/{key}")


def keys(schemas, documents):
    assert len(schemas) == 9, sorted(schemas)
    return [c for name, schema in schemas.items()
            for c in key_complaints(schema, documents[name, 0], schema, name)]


def damaged(value):
    """Yields copies of a value with one part removed, replaced or added."""
    if isinstance(value, dict):
        yield {**value, "an unknown key": 1}
        for key, inner in value.items():
            yield {k: v for k, v in value.items() if k != key}
            for bad in (*DAMAGE, *damaged(inner)):
                yield {**value, key: bad}
    elif isinstance(value, list) and value:
        for bad in (*DAMAGE, *damaged(value[0])):
            yield [bad, *copy.copy(value[1:])]


def verdicts(schemas, documents, probe):
    from jsonschema import Draft202012Validator
    validators = {}
    for name, schema in schemas.items():
        Draft202012Validator.check_schema(schema)
        validators[name] = Draft202012Validator(schema)
    complaints = [f"{name}-{seed}: {error.json_path}: {error.message}"
                  for (name, seed), document in documents.items()
                  for error in validators[name].iter_errors(document)]
    cases = [(name, mutant) for name in schemas for mutant in damaged(documents[name, 0])]
    lines = "".join(f"{name}\t{json.dumps(mutant)}\n" for name, mutant in cases)
    answers = subprocess.run([probe, "read"], input=lines, text=True, capture_output=True,
                             check=True).stdout.splitlines()
    assert len(answers) == len(cases), (len(answers), len(cases))
    refused = 0
    for (name, mutant), answer in zip(cases, answers):
        valid = validators[name].is_valid(mutant)
        refused += not valid
        formal = any(f in answer for f in FORMAL) and not any(s in answer for s in SEMANTIC)
        if valid and formal:
            complaints.append(f"the schema accepts what the reader refuses: {answer}")
        if not valid and answer == "accepted":
            why = next(validators[name].iter_errors(mutant))
            complaints.append(f"the schema refuses what the reader accepts: {name} "
                              f"{why.json_path}: {why.message[:200]}")
    print(f"{len(cases)} damaged documents, {refused} refused by their schema")
    return complaints + ([] if refused > 3000 else ["too few refusals to prove anything"])


def main():
    mode, probe = sys.argv[1:]
    if mode == "verdicts":
        try:
            import jsonschema  # noqa: F401
        except ImportError:
            print("skipped: the Python package jsonschema is not installed")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        schemas, documents = written_documents(probe, folder)
    found = keys(schemas, documents) if mode == "keys" else verdicts(schemas, documents, probe)
    print("\n".join(found[:40]) or f"schemas: {mode} ok")
    return bool(found)


sys.exit(main())
