import 'call.dart';
import 'client.dart';
import 'values.dart';

/// Methods for back-ends and tools. Each needs a rule of the server's policy
/// that allows it by name.
final class Admin {
  const Admin(this._client);

  final Client _client;

  /// Returns sessions of the server, in the order of their ids
  /// (`session.list`): at most [limit], and as many as fit into one response.
  /// The next ones follow with the id of the last session as [after], until the
  /// list is empty.
  Future<List<Json>> sessions({String? after, int? limit}) async {
    final answer = await _client.outgoing.request(
      'session.list',
      withoutNulls(<String, Object?>{'after': after, 'limit': limit}),
    );
    return _objects(answer);
  }

  /// Calls a method of other sessions or their clients (`session.push`).
  /// [to] is `{session}`, `{session, client}`, `{user}`, `{group}` or `{all:
  /// true}`. The result counts them as `delivered`, `waiting`, `nobody` and
  /// `failed`. A push with a [key] can be repeated.
  Future<Json> push(
    Json to,
    String method, {
    Json? params,
    Duration? timeout,
    String? key,
  }) async {
    final answer = await _client.outgoing.request(
      'session.push',
      withoutNulls(<String, Object?>{
        'to': to,
        'method': method,
        'params': params,
        'deadlineMs': timeout?.inMilliseconds,
        'key': key,
      }),
    );
    return objectOf(answer);
  }

  /// Ends a session (`session.end`): its clients are disconnected and cannot
  /// resume. Returns their ids.
  Future<List<String>> endSession(String session) =>
      _removed('session.end', <String, Object?>{'session': session});

  /// Disconnects a client and the guests that it has invited
  /// (`client.disconnect`). They cannot resume. Returns their ids.
  Future<List<String>> disconnect(String client, {required String session}) =>
      _removed('client.disconnect', <String, Object?>{
        'session': session,
        'client': client,
      });

  Future<List<String>> _removed(String method, Json params) async {
    final result = await _object(method, params);
    return stringsOf(result['clients']);
  }

  /// Returns the current route table, and the versions that it can return to.
  Future<Json> table() => _object('table.get');

  /// Changes the route table: by [operations], or by the whole [table].
  Future<Json> updateTable({
    String? expect,
    List<Json>? operations,
    Json? table,
    String? version,
  }) {
    return _object(
      'table.update',
      withoutNulls(<String, Object?>{
        'expect': expect,
        'operations': operations,
        'table': table,
        'version': version,
      }),
    );
  }

  /// Returns to the previous version of the table, or to the version [to].
  Future<Json> rollbackTable({String? to, String? expect}) {
    return _object(
      'table.rollback',
      withoutNulls(<String, Object?>{'to': to, 'expect': expect}),
    );
  }

  /// Returns to an earlier policy, by its hash [to].
  Future<Json> rollbackPolicy(String to, {String? expect}) {
    return _object(
      'policy.rollback',
      withoutNulls(<String, Object?>{'to': to, 'expect': expect}),
    );
  }

  /// Compares the declared routes with the registered hosts.
  Future<Json> checkTable() => _object('table.check');

  Future<Json> _object(String method, [Json? params]) async {
    const options = RequestOptions();
    return objectOf(await _client.outgoing.request(method, params, options));
  }

  List<Json> _objects(Object? list) => listOf(list).map(objectOf).toList();
}
