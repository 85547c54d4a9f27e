"""What openrpc.json says of a message."""

import json

import jsonschema

from readme import ROOT

DOCUMENT = json.loads((ROOT / "protocol/openrpc.json").read_text())
CODES = {each["code"] for each in json.loads((ROOT / "protocol/codes.json").read_text())["errors"]}
METHODS = {
    method["name"]: method
    for part in ("methods", "x-server-methods", "x-notifications")
    for method in DOCUMENT[part]
}


def resolved(value):
    """A content descriptor, which may stand elsewhere in the document."""
    while "$ref" in value:
        target = DOCUMENT
        for name in value["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        value = target
    return value


def validate(value, schema):
    validator = jsonschema.Draft7Validator(schema, resolver=jsonschema.RefResolver.from_schema(DOCUMENT))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def faults_of_call(message):
    """What is wrong with a request or notification."""
    method = METHODS.get(message["method"])
    if method is None:
        return [f"openrpc.json has no method {message['method']}"]
    params = message.get("params", {})
    descriptors = {each["name"]: each for each in map(resolved, method["params"])}
    faults = [f"{name} is no param of {method['name']}" for name in params if name not in descriptors]
    for name, descriptor in descriptors.items():
        if name in params:
            faults += [f"params.{name}: {fault}" for fault in validate(params[name], descriptor["schema"])]
        elif descriptor.get("required"):
            faults.append(f"params.{name} is missing")
    return faults


def faults_of_answer(message, method):
    """What is wrong with the answer to a method."""
    if "result" in message:
        return validate(message["result"], METHODS[method]["result"]["schema"])
    error = message["error"]
    is_own = 1 <= error["code"] <= 1999 or error["code"] >= 3000
    return [] if is_own or error["code"] in CODES else [f"codes.json has no error {error['code']}"]
