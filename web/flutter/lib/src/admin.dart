import 'call.dart';
import 'client.dart';
import 'values.dart';

/// What needs a rule of the server's policy that allows it by name: for
/// back-ends and tools.
final class Admin {
  const Admin(this._client);

  final Client _client;

  /// The sessions of the server (`session.list`).
  Future<List<Json>> sessions() async {
    return _objects(await _client.calling.request('session.list'));
  }

  /// Calls, tells or opens something in other sessions (`session.push`). [to]
  /// is `{session}`, `{session, client}`, `{user}`, `{group}` or `{all: true}`.
  Future<Json> push(
    Json to,
    String method, {
    Json? params,
    Duration? timeout,
  }) async {
    final answer = await _client.calling.request(
      'session.push',
      given(<String, Object?>{
        'to': to,
        'method': method,
        'params': params,
        'deadlineMs': timeout?.inMilliseconds,
      }),
    );
    return objectOf(answer);
  }

  /// The route table in force, and the versions that can be gone back to.
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
      given(<String, Object?>{
        'expect': expect,
        'operations': operations,
        'table': table,
        'version': version,
      }),
    );
  }

  /// Goes back one version of the table, or to the version [to].
  Future<Json> rollbackTable({String? to, String? expect}) {
    return _object(
      'table.rollback',
      given(<String, Object?>{'to': to, 'expect': expect}),
    );
  }

  /// Has the rules of an earlier policy hold again, by its hash [to].
  Future<Json> rollbackPolicy(String to, {String? expect}) {
    return _object(
      'policy.rollback',
      given(<String, Object?>{'to': to, 'expect': expect}),
    );
  }

  /// Compares what is declared with who is there now.
  Future<Json> checkTable() => _object('table.check');

  Future<Json> _object(String method, [Json? params]) async {
    const asking = Asking();
    return objectOf(await _client.calling.request(method, params, asking));
  }

  List<Json> _objects(Object? list) => listOf(list).map(objectOf).toList();
}
