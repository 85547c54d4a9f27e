import 'values.dart';

/// The maximum number of nested lists and maps of a message, of which the
/// message itself is the first, if the server names no other.
const int defaultMaxDepth = 128;

/// Returns a copy of a value that becomes part of a message: null, booleans,
/// numbers, strings, lists, and maps with strings as keys. An object becomes
/// what its `toJson` returns.
///
/// Throws a [FormatException] with the path of the first part that is not JSON
/// as the protocol defines it. [path]: the names and indices that lead to the
/// value; [levels]: how many levels of lists and maps it may have.
Object? encodable(Object? value, List<Object> path, int levels) {
  return _Copier(path, levels).copy(value);
}

/// Throws a [FormatException] if a text has half of a surrogate pair. [what]
/// names the text.
void checkText(String text, String what) {
  if (!hasHalfSurrogatePair(text)) return;
  throw FormatException(
    '$what has half of a surrogate pair (an emoji cut in two?); cut strings '
    'at code points',
  );
}

/// Copies one value.
final class _Copier {
  _Copier(this._path, this._levels);

  /// The maximum length of a path in an error, in UTF-16 units.
  static const int _maxPathUnits = 200;

  /// The names and indices that lead to the current part.
  final List<Object> _path;

  /// The number of levels that the current part may have.
  int _levels;

  Object? copy(Object? value) {
    final own = _isJSON(value) ? value : _converted(value);
    if (own is String) {
      if (hasHalfSurrogatePair(own)) checkText(own, _place);
    } else if (own is num) {
      if (!own.isFinite) {
        throw FormatException('$_place is $own, which JSON cannot express');
      }
    } else if (own is List<Object?>) {
      return _copyList(own);
    } else if (own is Map<Object?, Object?>) {
      return _copyMap(own);
    }
    return own;
  }

  List<Object?> _copyList(List<Object?> list) {
    final elements = <Object?>[];
    _enter();
    for (int index = 0; index < list.length; index += 1) {
      _path.add(index);
      elements.add(copy(list[index]));
      _path.removeLast();
    }
    _levels += 1;
    return elements;
  }

  Json _copyMap(Map<Object?, Object?> map) {
    final members = <String, Object?>{};
    _enter();
    for (final name in map.keys) {
      if (name is! String) {
        throw FormatException(
          '$_place has the key $name, which is not a string',
        );
      }
      if (hasHalfSurrogatePair(name)) checkText(name, 'a name in $_place');
      _path.add(name);
      members[name] = copy(map[name]);
      _path.removeLast();
    }
    _levels += 1;
    return members;
  }

  void _enter() {
    // This also ends the copy of a list or a map that contains itself.
    if (_levels <= 0) {
      throw FormatException(
        '$_place nests too many lists and maps in one another, or contains '
        'itself',
      );
    }
    _levels -= 1;
  }

  Object? _converted(Object? value) {
    Object? own;
    try {
      own = (value as dynamic).toJson();
    } on NoSuchMethodError {
      own = value;
    } catch (cause) {
      throw FormatException('toJson of $_place failed: $cause');
    }
    if (_isJSON(own)) return own;
    throw FormatException(
      '$_place is a ${own?.runtimeType}, which is not JSON; pass null, '
      'booleans, numbers, strings, lists, maps, or objects with toJson',
    );
  }

  bool _isJSON(Object? value) {
    return value == null ||
        value is bool ||
        value is num ||
        value is String ||
        value is List<Object?> ||
        value is Map<Object?, Object?>;
  }

  String get _place {
    var text = '';
    for (final step in _path) {
      final dot = text == '' ? '' : '.';
      text = step is int ? '$text[$step]' : '$text$dot$step';
    }
    return shortened(text, _maxPathUnits);
  }
}
