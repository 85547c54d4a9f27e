"""Checks messages against openrpc.json."""

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
# A schema outside of the document, and the members of an OpenRPC document that are checked instead.
META_SCHEMA = "https://raw.githubusercontent.com/open-rpc/meta-schema/master/schema.json"
OPENRPC = {"type": "object", "required": ["openrpc", "info", "methods"], "properties": {"methods": {"type": "array", "minItems": 1}}}


def resolved(value):
    """A content descriptor, which may stand elsewhere in the document."""
    while "$ref" in value:
        target = DOCUMENT
        for name in value["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        value = target
    return value


def validate(value, schema):
    schema = OPENRPC if schema.get("$ref") == META_SCHEMA else schema
    validator = jsonschema.Draft7Validator(schema, resolver=jsonschema.RefResolver.from_schema(DOCUMENT))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def faults_of_call(message):
    """The faults of a request or notification."""
    method = METHODS.get(message["method"])
    if method is None:
        return [f"openrpc.json has no method {message['method']}"]
    return faults_of_params(message.get("params", {}), method)


def faults_of_params(params, method):
    """The faults of params, by name, of a method of the document."""
    descriptors = {each["name"]: each for each in map(resolved, method["params"])}
    faults = [f"{name} is no param of {method['name']}" for name in params if name not in descriptors]
    for name, descriptor in descriptors.items():
        if name in params:
            faults += [f"params.{name}: {fault}" for fault in validate(params[name], descriptor["schema"])]
        elif descriptor.get("required"):
            faults.append(f"params.{name} is missing")
    return faults


def faults_of_response(message, method):
    """The faults of the response to a method."""
    if "result" in message:
        return validate(message["result"], METHODS[method]["result"]["schema"])
    error = message["error"]
    is_own = 1 <= error["code"] <= 1999 or error["code"] >= 3000
    return [] if is_own or error["code"] in CODES else [f"codes.json has no error {error['code']}"]


def faults_of_example(example, method):
    """The faults of an example in a method of the document. A notification has no result."""
    names = [each["name"] for each in example["params"]]
    faults = [f"{name} is there more than once" for name in set(names) if names.count(name) > 1]
    faults += faults_of_params({each["name"]: each["value"] for each in example["params"]}, method)
    if ("result" in example) != ("result" in method):
        return [*faults, "only an example of a request has a result"]
    if "result" not in example:
        return faults
    if example["result"]["name"] != method["result"]["name"]:
        faults.append(f"the result is named {method['result']['name']}")
    return faults + [f"result: {fault}" for fault in validate(example["result"]["value"], method["result"]["schema"])]
