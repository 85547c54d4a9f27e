/// The captured values of one transcript, by name.
typedef Captures = Map<String, Object?>;

final RegExp _whole = RegExp(r'^\{\{([A-Za-z0-9_]+)\}\}$');

/// What a transcript says that a client sends, with what was captured.
Object? filled(Object? value, Captures captures) {
  if (value is String) {
    final name = _whole.firstMatch(value)?.group(1);
    if (name == null) return _woven(value, captures);
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

/// What a transcript says that a server sends, as one that it may send: what is
/// captured is made up, what may be anything is an empty object.
Object? invented(Object? value, Captures captures) {
  if (value is String) {
    if (value == '{{*}}') return <String, Object?>{};
    final name = _whole.firstMatch(value)?.group(1);
    if (name == null) return _woven(value, captures);
    if (!captures.containsKey(name)) captures[name] = 'made-up-$name';
    return captures[name];
  }
  if (value is List<Object?>) {
    return value.map((Object? each) => invented(each, captures)).toList();
  }
  if (value is! Map<String, Object?>) return value;
  final members = <String, Object?>{};
  for (final name in value.keys) {
    if (name != '...') members[name] = invented(value[name], captures);
  }
  return members;
}

/// Where two values of JSON differ; null where they do not.
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

String _woven(String value, Captures captures) {
  var woven = value;
  for (final name in captures.keys) {
    woven = woven.replaceAll('{{$name}}', '${captures[name]}');
  }
  return woven;
}
