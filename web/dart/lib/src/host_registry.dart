import 'dart:convert';

import 'codes.dart';
import 'failures.dart';
import 'values.dart';

/// The declaration of a host or an interceptor, as it is registered with the
/// server.
final class Declaration {
  const Declaration(
    this.kind,
    this.scheme,
    this.patterns, {
    this.name,
    this.groups,
    this.priority,
    this.timeout,
  });

  /// `page`, `task` or `interceptor`.
  final String kind;

  /// In lower case.
  final String? scheme;

  /// Null: the whole scheme.
  final List<String>? patterns;

  /// Only of an interceptor, as the properties below.
  final String? name;

  /// Groups of routes.
  final List<String>? groups;

  /// The highest one sees a call first.
  final int? priority;

  /// In milliseconds.
  final int? timeout;

  /// Returns it in the form of the protocol.
  Json toJson() {
    return withoutNulls(<String, Object?>{
      'scheme': scheme,
      'patterns': patterns,
      'kind': kind,
      'name': name,
      'groups': groups,
      'priority': priority,
      'timeoutMs': timeout,
    });
  }

  /// Whether the server has chosen this host.
  bool matches(Json chosen) {
    if (stringOf(chosen['scheme']) != scheme) return false;
    final pattern = stringOf(chosen['pattern']);
    final own = patterns;
    if (pattern == null) return own == null;
    return own != null && own.contains(pattern);
  }
}

final class _RegistryEntry<Handler extends Object> {
  _RegistryEntry(this.declaration, this.handler);

  final Declaration declaration;
  final Handler handler;
}

/// The hosts of one kind, each with its declaration. The server chooses which
/// of them handles a call.
final class HostRegistry<Handler extends Object> {
  /// In the order of registration.
  final List<_RegistryEntry<Handler>> _entries = <_RegistryEntry<Handler>>[];

  /// In the order of registration.
  List<Declaration> get declarations {
    return _entries
        .map((_RegistryEntry<Handler> entry) => entry.declaration)
        .toList();
  }

  /// Adds a host. Returns a function that removes it.
  void Function() add(Declaration declaration, Handler handler) {
    // The server cannot distinguish two equal declarations of one client:
    // removing one would remove both.
    final text = jsonEncode(declaration);
    for (final entry in _entries) {
      if (jsonEncode(entry.declaration) == text) {
        throw failure(
          ErrorCode.conflict,
          'This client already hosts $text; remove the first one before',
        );
      }
    }
    final added = _RegistryEntry<Handler>(declaration, handler);
    _entries.add(added);
    return () {
      _entries.remove(added);
    };
  }

  /// Returns the handler that the server has chosen. If several have the same
  /// pattern, it is the last registered one, as on the server.
  Handler? find(Json chosen) {
    Handler? found;
    for (final entry in _entries) {
      if (entry.declaration.matches(chosen)) found = entry.handler;
    }
    return found;
  }

  /// Returns the handler of a scheme that was registered last.
  Handler? ofScheme(String? scheme) {
    Handler? found;
    for (final entry in _entries) {
      if (entry.declaration.scheme == scheme) found = entry.handler;
    }
    return found;
  }
}

/// Checks and returns the host that the server has chosen.
Json checkHost(Object? host) {
  final chosen = objectOf(host);
  if (chosen['kind'] is String) return chosen;
  throw failure(
    ErrorCode.invalidParams,
    'page.open and task.run need the chosen host',
  );
}
