/// The captured values of one transcript, by name.
typedef Captures = Map<String, Object?>;

final RegExp _whole = RegExp(r'^\{\{([A-Za-z0-9_]+)\}\}$');

/// Returns a message that a client sends in a transcript, with the captured
/// values filled in.
Object? filled(Object? value, Captures captures) {
  if (value is String) {
    final name = _whole.firstMatch(value)?.group(1);
    if (name == null) return _interpolated(value, captures);
    if (captures.containsKey(name)) return captures[name];
    throw StateError('the transcript uses $name before it is there');
  }
  if (value is List<Object?>) {
    return value.map((Object? each) => filled(each, captures)).toList();
  }
  if (value is! Map<String, Object?>) return value;
  final members = <String, Object?>{};
  for (final name in value.keys) {
    members[name] = filled(value[name], captures);
  }
  return members;
}

/// Returns a message that a server can send, for an expected message of a
/// transcript: captured values are made up, and a value that can be anything is
/// an empty object.
Object? generated(Object? value, Captures captures) {
  if (value is String) {
    if (value == '{{*}}') return <String, Object?>{};
    final name = _whole.firstMatch(value)?.group(1);
    if (name == null) return _interpolated(value, captures);
    if (!captures.containsKey(name)) captures[name] = 'made-up-$name';
    return captures[name];
  }
  if (value is List<Object?>) {
    return value.map((Object? each) => generated(each, captures)).toList();
  }
  if (value is! Map<String, Object?>) return value;
  final members = <String, Object?>{};
  for (final name in value.keys) {
    if (name != '...') members[name] = generated(value[name], captures);
  }
  return members;
}

/// Returns where two JSON values differ; null if they are equal.
String? difference(Object? expected, Object? actual, [String path = r'$']) {
  if (expected is List<Object?> && actual is List<Object?>) {
    if (expected.length != actual.length) {
      return '$path: expected $expected, found $actual';
    }
    for (int at = 0; at < expected.length; at += 1) {
      final found = difference(expected[at], actual[at], '$path[$at]');
      if (found != null) return found;
    }
    return null;
  }
  if (expected is Map<String, Object?> && actual is Map<String, Object?>) {
    for (final name in expected.keys) {
      if (!actual.containsKey(name)) return '$path.$name is not there';
      final inner = '$path.$name';
      final found = difference(expected[name], actual[name], inner);
      if (found != null) return found;
    }
    for (final name in actual.keys) {
      if (!expected.containsKey(name)) return '$path.$name is too much';
    }
    return null;
  }
  return expected == actual ? null : '$path: expected $expected, found $actual';
}

String _interpolated(String value, Captures captures) {
  var text = value;
  for (final name in captures.keys) {
    text = text.replaceAll('{{$name}}', '${captures[name]}');
  }
  return text;
}
