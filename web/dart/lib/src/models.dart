import 'values.dart';

/// How a page ended. Closing it without a result is an outcome, not an error.
final class Outcome {
  const Outcome(this.outcome, this.code, this.message, this.data);

  /// Decodes the response to `router.open`.
  factory Outcome.of(Object? answer) {
    final members = objectOf(answer);
    return Outcome(
      stringOf(members['outcome']) ?? 'failed',
      intOf(members['code']) ?? 0,
      stringOf(members['message']) ?? '',
      members['data'],
    );
  }

  /// `finished`, `dismissed`, `replaced`, `failed` or `cancelled`.
  final String outcome;

  /// 0, or a code of the page; 2504 if the host of the page left.
  final int code;

  /// A message of the page, or of the error; may be empty.
  final String message;

  /// The page's result; null if it has none.
  final Object? data;

  /// Whether the page returned a result.
  bool get isFinished => outcome == 'finished';

  /// Returns it in the form of the protocol.
  Json toJson() {
    return <String, Object?>{
      'outcome': outcome,
      'code': code,
      'message': message,
      'data': data,
    };
  }
}

/// A page that a host has to show, or a page on the stack.
final class BridgePage {
  const BridgePage(this.json);

  /// The object of the protocol.
  final Json json;

  /// The id of the page in the session.
  String get id => stringOf(json['id']) ?? '';

  /// The URI of the page, after redirects.
  String get uri => stringOf(json['uri']) ?? '';

  /// The name of the declared route; null if it has none.
  String? get route => stringOf(json['route']);

  /// The parameters of path, query and call, merged.
  Json get params => objectOf(json['params']);

  /// Presentation data from the opener, such as `animated`; only the host
  /// receives it.
  Json get exts => objectOf(json['exts']);

  /// The style that took effect: `push`, `present`, …. It can differ from the
  /// requested one.
  String get style => stringOf(json['style']) ?? 'push';

  /// The id of the page that opened it; only the host receives it.
  String? get opener => stringOf(json['opener']);

  /// The id of the page that will lie directly over it; null if it comes on
  /// top. Only the host receives it.
  String? get under => stringOf(json['under']);

  /// Only of a page on the stack: the client that shows it; `server` for Swift
  /// code.
  String? get host => stringOf(json['host']);

  /// Only of a page on the stack: the modal stack that it presents, bottom
  /// first.
  List<BridgePage> get pages => pagesOf(json['pages']);
}

/// Returns the pages of a list in the form of the protocol.
List<BridgePage> pagesOf(Object? list) {
  final pages = <BridgePage>[];
  for (final each in listOf(list)) {
    pages.add(BridgePage(objectOf(each)));
  }
  return pages;
}

/// The pages of a session.
final class PageStack {
  const PageStack(this.json);

  /// The object of the protocol; it has `tabs` if the table has tabs.
  final Json json;

  /// Bottom first.
  List<BridgePage> get pages => pagesOf(json['pages']);

  /// The index of the selected tab, from 0; null if there is none.
  int? get selected => intOf(json['selected']);
}

/// A condition that calls of some routes wait for, such as that the user has
/// signed in.
final class Gate {
  const Gate(this.name, {required this.isOpen});

  /// Decodes a gate of `session.gates`.
  factory Gate.of(Object? gate) {
    final members = objectOf(gate);
    return Gate(
      stringOf(members['name']) ?? '',
      isOpen: members['open'] == true,
    );
  }

  final String name;

  /// Whether it is met in the session.
  final bool isOpen;
}

/// The changes of the stack by an operation.
final class NavigationChange {
  const NavigationChange(
    this.page,
    this.closed, [
    this.opened = const <String>[],
  ]);

  /// Decodes a response of `navigation.…`.
  factory NavigationChange.of(Object? answer) {
    final members = objectOf(answer);
    return NavigationChange(
      stringOf(members['page']),
      stringsOf(members['closed']),
      stringsOf(members['opened']),
    );
  }

  /// The id of the page now on top; null if no page is open.
  final String? page;

  /// The ids of the closed pages, topmost first.
  final List<String> closed;

  /// The ids of the pages that `editStack` has opened, lowest first.
  final List<String> opened;
}

/// The route that a URI resolves to.
final class Destination {
  const Destination(
    this.canOpen,
    this.kind,
    this.route, {
    this.isAbsent = false,
  });

  /// Decodes the response to `router.canOpen`.
  factory Destination.of(Object? answer) {
    final members = objectOf(answer);
    return Destination(
      members['canOpen'] == true,
      stringOf(members['kind']),
      stringOf(members['route']),
      isAbsent: members['absent'] == true,
    );
  }

  /// Whether a host or handler can open or run it now.
  final bool canOpen;

  /// `page`, `task` or `service`.
  final String? kind;

  /// The name of the declared route.
  final String? route;

  /// Whether its host has lost the connection, so that a call waits until it is
  /// back or gone.
  final bool isAbsent;
}

/// A published event.
final class BridgeEvent {
  const BridgeEvent(this.topic, this.data, this.at, [this.client]);

  /// The topic's name.
  final String topic;

  /// The published data.
  final Object? data;

  /// The server's time in milliseconds since 1970.
  final int at;

  /// The id of the client that published the event; `null` for events of the
  /// server and of the app.
  final String? client;
}

/// The number of clients that a published event has reached.
final class PublishReceipt {
  const PublishReceipt(this.delivered, this.waiting);

  /// The clients with a connection that subscribe to the topic, among them the
  /// publisher.
  final int delivered;

  /// The subscribed clients that have lost their connections. They get the
  /// event when they are back.
  final int waiting;
}

/// The open session. It stays the same object as long as the session is
/// resumed.
final class SessionInfo {
  SessionInfo(this._members);

  final Json _members;

  /// The session's id.
  String get session => stringOf(_members['session']) ?? '';

  /// This client's id.
  String get client => stringOf(_members['client']) ?? '';

  /// With this token another client can join with all rights; a guest receives
  /// none.
  String? get joinToken => stringOf(_members['joinToken']);

  /// Whether this client joined by invitation.
  bool get isGuest => _members['guest'] == true;

  /// The page for which a guest was invited.
  String? get page => stringOf(_members['page']);

  /// When the client's token expires, in milliseconds since 1970; null: never.
  int? get expiresAt => intOf(_members['expiresAt']);

  /// `name` and `version` of the server.
  Json get server => objectOf(_members['server']);

  /// The server's limits by name, such as `maxMessage`.
  Json get limits => objectOf(_members['limits']);

  /// `version` and `hash` of the current route table.
  Json get table => objectOf(_members['table']);

  /// Capabilities of the server, such as `resume`.
  List<String> get capabilities => stringsOf(_members['capabilities']);

  /// Updates it with newer values of the server.
  void update(Json members) => _members.addAll(members);
}

/// A call of a lost session. It is not known whether it took effect.
final class LostCall {
  const LostCall(this.method, this.uri, this.key);

  /// The method, such as `router.open`, `router.invoke` or `page.call`.
  final String method;

  /// The called URI.
  final String? uri;

  /// The idempotency key of the call.
  final String? key;
}

/// The losses when a new session replaced another one.
final class SessionLoss {
  const SessionLoss(this.reason, this.calls, this.pages);

  /// Why the session could not be resumed: `unknown` to the server, `token`,
  /// `user`, `epoch`, `gap`, `outbox`, or `connection` if resuming was not
  /// possible. In a resumed session, `server`: the server lost these calls.
  final String reason;

  /// The calls that ended with `OutcomeUnknownException`.
  final List<LostCall> calls;

  /// The ids of the pages that this client showed.
  final List<String> pages;
}
