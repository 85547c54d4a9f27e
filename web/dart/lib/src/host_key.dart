import 'dart:convert';

import 'values.dart';

/// An idempotency key of a call to a host of this client.
final class HostKey {
  const HostKey(this.owned, this.session, [this.content]);

  /// Returns the idempotency key of a `task.run` or `page.call`; null if it has
  /// none.
  static HostKey? of(Json params) {
    final key = stringOf(params['key']);
    if (key == null) return null;
    final caller = objectOf(params['caller']);
    final session = stringOf(caller['session']) ?? '';
    final client = objectOf(caller['client']);
    final isGuest = caller['guest'] == true;
    // The idempotency keys of a guest belong to its page, or to the guest if it
    // has no page; those of agents to the program that their tokens name. All
    // other clients share theirs.
    final agent = stringOf(objectOf(caller['agent'])['id']);
    final owner =
        agent == null ? client['page'] ?? client['id'] : 'agent $agent';
    final owned = jsonEncode(<Object?>[
      key,
      caller['user'],
      if (isGuest) session,
      if (isGuest) owner,
    ]);
    final content = jsonEncode(<Object?>[
      params['uri'],
      params['page'],
      params['method'],
      params['params'],
    ]);
    return HostKey(owned, session, content);
  }

  /// The idempotency key together with its owner.
  final String owned;

  /// The session of the caller.
  final String session;

  /// What is called, with its parameters; null if it is not known.
  final String? content;

  /// Whether both are of one call. In a session the key decides. If the session
  /// was lost, its caller can repeat the call in the next one, where the server
  /// no longer rejects other calls with the key.
  bool isSameCall(HostKey other) {
    if (owned != other.owned) return false;
    return session == other.session ||
        (content != null && content == other.content);
  }

  /// The key without the content, by which only calls of its session are
  /// recognized.
  HostKey get withoutContent => HostKey(owned, session);

  /// The size in bytes.
  int get size => sizeOf('$owned$session') + sizeOf(content ?? '');
}
