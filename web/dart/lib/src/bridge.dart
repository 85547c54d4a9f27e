import 'admin.dart';
import 'call.dart';
import 'client.dart';
import 'connection.dart';
import 'connection_manager.dart';
import 'errors.dart';
import 'host_registry.dart';
import 'interceptors.dart';
import 'invitation.dart';
import 'models.dart';
import 'options.dart';
import 'page_host.dart';
import 'registrations.dart';
import 'session_calls.dart';
import 'socket.dart';
import 'states.dart';
import 'topics.dart';
import 'values.dart';

/// A client of one session: it makes calls, shows pages, runs tasks and
/// receives events. It connects when it is created, and reconnects when the
/// connection is lost; it then resumes its session with all calls and pages.
/// Calls can be made at once; they wait for the connection.
final class Bridge extends SessionCalls {
  factory Bridge(BridgeOptions options, Connector connector) {
    return Bridge._(options, Client(options, connector));
  }

  Bridge._(this._options, this._client) : super(_client.hosts.calls) {
    _client.connection.start();
  }

  final BridgeOptions _options;
  final Client _client;

  /// The URL of the server.
  Uri get url => _options.url;

  /// The state of the connection.
  BridgeState get state => _client.connection.bridgeState;

  @override
  SessionInfo? get session => _client.sessions.session;

  /// Completes when the session is open, or with the error because of which
  /// none will open. A resumed session keeps its future; after a lost session
  /// this is a new future.
  Future<SessionInfo> get ready => _client.sessions.ready;

  /// Each change of the connection.
  Stream<StateChange> get states => _client.states;

  /// Errors that do not belong to a call.
  Stream<BridgeException> get errors => _client.errors;

  /// Completes when the client will not reconnect.
  Future<Close> get closed => _client.closed;

  /// Emits before the client's token expires: the time, in milliseconds since
  /// 1970.
  Stream<int> get expiring => _client.subscriptions.expiring;

  /// `version` and `hash` of each changed route table.
  Stream<Json> get tables => _client.subscriptions.tables;

  /// The ids of pages of this client that are on top again.
  Stream<String> get resumedPages => _client.hosts.resumed;

  /// Methods that need a rule of the policy that allows them by name.
  Admin get admin => Admin(_client);

  @override
  Future<Object?> request(
    String method, [
    Json? params,
    CallOptions options = const CallOptions(),
  ]) {
    return _client.outgoing.request(
      method,
      params,
      RequestOptions(
        timeout: options.timeout?.inMilliseconds,
        cancellation: options.cancellation,
        onProgress: options.onProgress,
      ),
    );
  }

  /// Adds a page that this client opened by other means to the top of the
  /// stack, with this client as its host. [host] closes it later; by default
  /// the host of the URI's scheme that was registered last does.
  Future<BridgePage> adopt(
    String uri, {
    Json? params,
    PageStyle? style,
    PageHost? host,
  }) async {
    final answer = await request(
      'navigation.adopt',
      withoutNulls(<String, Object?>{
        'uri': uri,
        'params': params,
        'style': style?.name,
      }),
    );
    final page = BridgePage(objectOf(answer));
    _client.hosts.handlers.pages.adopt(page, host);
    return page;
  }

  /// Invites a page to the session and returns the URL to load it from. It
  /// joins as a guest with only these rights.
  Future<Uri> invite(
    Uri address, {
    String? page,
    List<String>? hosts,
    List<String>? routes,
    List<String>? groups,
    List<String>? topics,
    int? uses,
    Duration? expires,
  }) async {
    final answer = await request(
      'session.invite',
      withoutNulls(<String, Object?>{
        'page': page,
        'hosts': hosts,
        'routes': routes,
        'groups': groups,
        'topics': topics,
        'uses': uses,
        'expiresMs': expires?.inMilliseconds,
      }),
    );
    final invitation = objectOf(answer);
    final session = stringOf(invitation['session']) ?? '';
    final token = stringOf(invitation['token']) ?? '';
    final url = _options.url.toString();
    return Invitation(url, session, token, page).address(address);
  }

  /// Registers a host for the pages of a scheme, or for those that match its
  /// patterns.
  Registration host(String scheme, PageHost host) {
    final hosts = _client.hosts;
    return hosts.register(hosts.handlers.addPages(scheme, host));
  }

  /// Registers a handler for the tasks of a URI or pattern, such as
  /// `action://share`.
  Registration task(String pattern, TaskHandler handler) {
    final hosts = _client.hosts;
    return hosts.register(hosts.handlers.addTask(pattern, handler));
  }

  /// Registers an interceptor, which decides about calls of the session before
  /// a handler or host gets them: those of [scheme], limited to [patterns], and
  /// those of routes in [groups]. It needs at least one of the three. The
  /// error of a refused call contains [name].
  ///
  /// The interceptor with the highest [priority] sees a call first; 0 is the
  /// default. The call is refused if [handler] has not decided within
  /// [timeout], which is 60 s by default and at most 300 s.
  Registration intercept(
    String name,
    InterceptorHandler handler, {
    String? scheme,
    List<String>? patterns,
    List<String>? groups,
    int? priority,
    Duration? timeout,
  }) {
    final hosts = _client.hosts;
    final declaration = Declaration(
      'interceptor',
      scheme?.toLowerCase(),
      patterns,
      name: name,
      groups: groups,
      priority: priority,
      timeout: timeout?.inMilliseconds,
    );
    return hosts.register(hosts.handlers.addInterceptor(declaration, handler));
  }

  /// Returns the gates of the app, in the order in which a call passes them.
  Future<List<Gate>> gates() async {
    final answer = objectOf(await request('session.gates'));
    return listOf(
      answer['gates'],
    ).map((Object? each) => Gate.of(each)).toList();
  }

  /// Opens or closes a gate of the session, for example after the user has
  /// signed in or out. When it opens, the calls that wait for it continue.
  Future<void> setGate(String name, {required bool open}) async {
    await request('session.setGate', <String, Object?>{
      'gate': name,
      'open': open,
    });
  }

  /// Registers a method that the server can call, and other clients as well if
  /// this client runs in a page. Returns a function that removes it.
  void Function() method(String name, MethodHandler handler) {
    return _client.hosts.handlers.addMethod(name, handler);
  }

  /// Sets this client's guard of [page], by default the page in which it runs;
  /// null removes it. Whatever would close the page, except its own `finish`,
  /// then asks the guard first. The page stays open if the guard has not
  /// decided within [timeout], which is 30 s by default and at most 60 s.
  Future<void> setGuard(
    LeaveGuard? guard, {
    String? page,
    Duration? timeout,
  }) async {
    await ready;
    final handlers = _client.hosts.handlers;
    final id = page ?? handlers.page;
    final earlier = handlers.setGuard(id, guard);
    try {
      await request(
        'page.setGuard',
        withoutNulls(<String, Object?>{
          'page': id,
          'enabled': guard != null,
          'timeoutMs': timeout?.inMilliseconds,
        }),
      );
    } catch (error) {
      handlers.setGuard(id, earlier);
      rethrow;
    }
  }

  /// Subscribes to topics: `cart.changed`, or `cart.*` for all topics with this
  /// prefix.
  Registration subscribe(List<String> topics, EventHandler handler) {
    return _client.subscriptions.subscribe(topics, handler);
  }

  /// The events of topics. The client is subscribed as long as the stream has a
  /// listener.
  Stream<BridgeEvent> events(List<String> topics) {
    return _client.subscriptions.events(topics);
  }

  /// Publishes an event in the session, of a topic that the route table
  /// declares. All clients of the session that subscribe to it receive it, also
  /// this one. The server keeps the last [retain] events of the topic for later
  /// subscribers.
  Future<PublishReceipt> publish(
    String topic, [
    Object? data,
    int? retain,
  ]) async {
    final answer = objectOf(
      await request(
        'events.publish',
        withoutNulls(<String, Object?>{
          'topic': topic,
          'data': data,
          'retain': retain,
        }),
      ),
    );
    return PublishReceipt(
      intOf(answer['delivered']) ?? 0,
      intOf(answer['waiting']) ?? 0,
    );
  }

  /// To be called when the app is in the foreground again, or the network is
  /// back: checks the connection, or reconnects now if the client is waiting.
  void wake() {
    final liveness = _client.liveness;
    if (liveness == null) {
      _client.connection.reconnect();
    } else {
      liveness.check();
    }
  }

  /// Leaves the session with `session.close` and closes the bridge.
  Future<void> leave() async {
    await request('session.close');
    await close();
  }

  /// Closes the connection and ends every call permanently: the client leaves
  /// its session. Completes when the socket is closed.
  Future<void> close() => _client.connection.close();
}
