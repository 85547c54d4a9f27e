final class _Wrapped {
  const _Wrapped(this.value);

  final Object? value;

  Object? toJson() => value;
}

/// Random values, some of which are not JSON. They are the same in each run.
final class RandomValues {
  RandomValues(this._seed);

  static const List<String> _parts = <String>[
    'a',
    '"',
    '\\',
    '\n',
    '\u{0}',
    'ä',
    '\u{2028}',
    '\u{feff}',
    '😀',
    '😀',
  ];

  int _seed;

  /// Returns an integer from 0.
  int below(int limit) {
    _seed = (_seed * 16807) % 2147483647;
    return _seed % limit;
  }

  /// Returns a string, which can have half of a surrogate pair.
  String text() {
    var text = '';
    for (int count = below(4); count > 0; count -= 1) {
      text = '$text${_parts[below(_parts.length)]}';
    }
    final isCut = text != '' && below(2) == 0;
    return isCut ? text.substring(below(2), text.length - below(2)) : text;
  }

  /// Returns a value with at most that many levels, or rarely with many more.
  Object? value(int levels) {
    final kind = below(levels > 0 ? 16 : 9);
    if (kind == 0) return null;
    if (kind == 1) return below(2) == 0;
    if (kind == 2) return below(2000) - 1000;
    if (kind == 3) return below(2000) / 8;
    if (kind == 4 && below(4) == 0) return (below(2) * 2 - 1) / 0;
    if (kind == 5 && below(4) == 0) return <int>{1};
    if (kind == 6 && below(4) == 0) return _deep(below(200));
    if (kind < 9) return text();
    if (kind == 9) return _Wrapped(value(levels - 1));
    if (kind < 13) return _list(levels - 1);
    return _map(levels - 1);
  }

  /// Returns a value as it is sent, if it is JSON.
  Object? plain(Object? value) {
    if (value is _Wrapped) return plain(value.value);
    if (value is List<Object?>) return value.map(plain).toList();
    if (value is! Map<String, Object?>) return value;
    final members = <String, Object?>{};
    for (final name in value.keys) {
      members[name] = plain(value[name]);
    }
    return members;
  }

  List<Object?> _list(int levels) {
    final list = <Object?>[];
    for (int count = below(4); count > 0; count -= 1) {
      list.add(value(levels));
    }
    return list;
  }

  Map<String, Object?> _map(int levels) {
    final members = <String, Object?>{};
    for (int count = below(4); count > 0; count -= 1) {
      members[text()] = value(levels);
    }
    return members;
  }

  Object? _deep(int levels) {
    Object? value = 1;
    for (int level = 0; level < levels; level += 1) {
      value = <Object?>[value];
    }
    return value;
  }
}
