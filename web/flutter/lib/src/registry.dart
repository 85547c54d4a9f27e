import 'dart:convert';

import 'codes.dart';
import 'errors.dart';
import 'values.dart';

/// What the server is told about a host, and what it says of the one that it
/// has chosen.
final class Declaration {
  const Declaration(this.kind, this.scheme, this.patterns);

  /// `page` or `task`.
  final String kind;

  /// In lower case.
  final String? scheme;

  /// Null: the whole scheme.
  final List<String>? patterns;

  /// As the protocol has it.
  Json toJson() {
    return given(<String, Object?>{
      'scheme': scheme,
      'patterns': patterns,
      'kind': kind,
    });
  }

  /// Whether the server means this one.
  bool fits(Json chosen) {
    if (textOf(chosen['scheme']) != scheme) return false;
    final pattern = textOf(chosen['pattern']);
    final own = patterns;
    if (pattern == null) return own == null;
    return own != null && own.contains(pattern);
  }
}

final class _Entry<Handler extends Object> {
  _Entry(this.declaration, this.handler);

  final Declaration declaration;
  final Handler handler;
}

/// The hosts of one kind, each with what it declared. The server says which of
/// them is to serve a call.
final class Registry<Handler extends Object> {
  /// In the order of registration.
  final List<_Entry<Handler>> _entries = <_Entry<Handler>>[];

  /// In the order of registration.
  List<Declaration> get declarations {
    return _entries
        .map((_Entry<Handler> entry) => entry.declaration)
        .toList();
  }

  /// Adds a host. Gives what removes it.
  void Function() add(Declaration declaration, Handler handler) {
    // The server can not tell two equal declarations of one client apart:
    // taking back one would take both.
    final text = jsonEncode(declaration);
    for (final entry in _entries) {
      if (jsonEncode(entry.declaration) == text) {
        throw failure(
          ErrorCode.conflict,
          'this client hosts $text already; take the first back before',
        );
      }
    }
    final added = _Entry<Handler>(declaration, handler);
    _entries.add(added);
    return () {
      _entries.remove(added);
    };
  }

  /// The handler that the server means; of several with one pattern the last
  /// registered, as at the server.
  Handler? find(Json chosen) {
    Handler? found;
    for (final entry in _entries) {
      if (entry.declaration.fits(chosen)) found = entry.handler;
    }
    return found;
  }

  /// The last registered of a scheme.
  Handler? ofScheme(String? scheme) {
    Handler? found;
    for (final entry in _entries) {
      if (entry.declaration.scheme == scheme) found = entry.handler;
    }
    return found;
  }
}

/// The host that was chosen, as the server has told it.
Json chosenHost(Object? host) {
  final chosen = objectOf(host);
  if (chosen['kind'] is String) return chosen;
  throw failure(
    ErrorCode.invalidParams,
    'page.open and task.run need the host that was chosen',
  );
}
