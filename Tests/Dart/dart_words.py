"""The knowledge of the translator about the language and its libraries."""

BINARY = (
    "logical_or_expression", "logical_and_expression", "equality_expression", "relational_expression", "additive_expression",
    "multiplicative_expression", "shift_expression", "bitwise_and_expression", "bitwise_or_expression")
LEVELS = {
    "conditional_expression": 0, "if_null_expression": 1, "logical_or_expression": 2, "logical_and_expression": 3, "equality_expression": 4,
    "relational_expression": 5, "type_test_expression": 5, "bitwise_or_expression": 6, "bitwise_and_expression": 6, "shift_expression": 6,
    "additive_expression": 7, "multiplicative_expression": 8,
}
# Names of Dart's libraries that all files have, and functions that are called without an object.
CORE = {
    "identical", "print", "jsonEncode", "jsonDecode", "utf8", "base64Url", "min", "max", "pow", "unawaited", "scheduleMicrotask",
    "test", "expect", "pumpEventQueue",
}
LIBRARY = {"File": "DartFile", "Map": "DartMap", "List": "DartList", "Uri": "DartUri", "RegExp": "DartRegExp", "int": "DartInt"}
LIBRARIES = {
    "Completer": "dart:async", "StreamController": "dart:async", "StreamSubscription": "dart:async", "StreamIterator": "dart:async", "Timer": "dart:async", "FutureOr": "dart:async",
    "unawaited": "dart:async", "scheduleMicrotask": "dart:async", "jsonEncode": "dart:convert", "jsonDecode": "dart:convert", "utf8": "dart:convert",
    "base64Url": "dart:convert", "min": "dart:math", "max": "dart:math", "BytesBuilder": "dart:typed_data", "Uint8List": "dart:typed_data", "pow": "dart:math", "Random": "dart:math",
    "Directory": "dart:io", "File": "dart:io", "Platform": "dart:io",
    "test": "package:test/test.dart", "expect": "package:test/test.dart", "pumpEventQueue": "package:test/test.dart",
}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "$": "$", "'": "'", '"': '"', "\\": "\\"}
TESTS = {
    "String": "isString", "int": "isInt", "num": "isNum", "bool": "isBool", "Map<String, Object?>": "isMap",
    "List<Object?>": "isList", "Map<Object?, Object?>": "isAnyMap",
}
# Names that the runtime declares in addition to those of JavaScript.
RUNTIME = {
    "Completer", "Stream", "StreamController", "StreamSubscription", "StreamIterator", "BytesBuilder", "Uint8List", "int", "Timer", "Duration", "Stopwatch", "Random", "RegExp", "Uri", "StateError", "FormatException", "NoSuchMethodError",
    "Map", "Set", "List", "Future", "FutureOr", "Exception", "DateTime", "String", "Directory", "File", "Platform",
}
METHODS = {
    "add", "addAll", "remove", "removeAll", "clear", "contains", "containsKey", "toList", "where", "any", "map", "toSet", "forEach", "join", "split", "substring",
    "startsWith", "endsWith", "toString", "round", "then", "complete", "completeError", "listen", "ignore", "addError", "replace", "encode", "decode", "cancel",
    "firstMatch", "group", "hasMatch", "listSync", "readAsStringSync", "nextInt", "nextDouble", "start", "toLowerCase", "padLeft", "toRadixString", "replaceAll", "indexOf", "normalize",
    "sublist", "moveNext", "takeBytes", "resolve", "tryParse", "pause", "resume", "trim",
}
GETTERS = {"start"}
