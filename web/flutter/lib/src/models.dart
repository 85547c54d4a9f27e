import 'values.dart';

/// How a page ended. Leaving without a result is an outcome, not an error.
final class Outcome {
  const Outcome(this.outcome, this.code, this.message, this.data);

  /// Reads the answer to `router.open`.
  factory Outcome.of(Object? answer) {
    final members = objectOf(answer);
    return Outcome(
      textOf(members['outcome']) ?? 'failed',
      intOf(members['code']) ?? 0,
      textOf(members['message']) ?? '',
      members['data'],
    );
  }

  /// `finished`, `dismissed`, `replaced`, `failed` or `cancelled`.
  final String outcome;

  /// 0, or what the page gave; 2504 where its host is gone.
  final int code;

  /// For people; may be empty.
  final String message;

  /// The page's result; null without any.
  final Object? data;

  /// Whether the page gave a result.
  bool get isFinished => outcome == 'finished';

  /// As the protocol has it.
  Json toJson() {
    return <String, Object?>{
      'outcome': outcome,
      'code': code,
      'message': message,
      'data': data,
    };
  }
}

/// A page: one that a host is asked to show, or one on the stack.
final class BridgePage {
  const BridgePage(this.json);

  /// As the protocol has it.
  final Json json;

  /// The page's own name in the session.
  String get id => textOf(json['id']) ?? '';

  /// What was called, as redirects have left it.
  String get uri => textOf(json['uri']) ?? '';

  /// The name of the declared route; null where there is none.
  String? get route => textOf(json['route']);

  /// Path, query and the caller's parameters, merged.
  Json get params => objectOf(json['params']);

  /// What is no business data, as the opener gave it; only the host is told.
  Json get exts => objectOf(json['exts']);

  /// What the style that was asked for came to: `push`, `present`, ….
  String get style => textOf(json['style']) ?? 'push';

  /// The page that asked for it; only the host is told.
  String? get opener => textOf(json['opener']);

  /// The client that shows it, of a page on the stack; `server` for Swift code.
  String? get host => textOf(json['host']);

  /// The modal stack that lies over it, bottom first, of a page on the stack.
  List<BridgePage> get pages => pagesOf(json['pages']);
}

/// The pages of a list of the protocol's.
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

  /// As the protocol has it, with `tabs` where the table has any.
  final Json json;

  /// Bottom first.
  List<BridgePage> get pages => pagesOf(json['pages']);

  /// The tab that is shown, from 0; null where there is none.
  int? get selected => intOf(json['selected']);
}

/// What an operation on the stack has changed.
final class NavigationChange {
  const NavigationChange(this.page, this.closed);

  /// Reads an answer of `navigation.…`.
  factory NavigationChange.of(Object? answer) {
    final members = objectOf(answer);
    return NavigationChange(
      textOf(members['page']),
      textsOf(members['closed']),
    );
  }

  /// The page now on top; null where there is none.
  final String? page;

  /// The pages that closed, topmost first.
  final List<String> closed;
}

/// Where a URI leads.
final class Destination {
  const Destination(this.canOpen, this.kind, this.route);

  /// Reads the answer to `router.canOpen`.
  factory Destination.of(Object? answer) {
    final members = objectOf(answer);
    return Destination(
      members['canOpen'] == true,
      textOf(members['kind']),
      textOf(members['route']),
    );
  }

  /// Whether anything opens or runs it now.
  final bool canOpen;

  /// `page`, `task` or `service`.
  final String? kind;

  /// The name of the declared route.
  final String? route;
}

/// What is published to a topic.
final class BridgeEvent {
  const BridgeEvent(this.topic, this.data, this.at);

  /// The topic's name.
  final String topic;

  /// As it was published.
  final Object? data;

  /// By the server's clock, in milliseconds since 1970.
  final int at;
}

/// The session at hand; it is the same object as long as the session goes on.
final class SessionInfo {
  SessionInfo(this._members);

  final Json _members;

  /// The session's id.
  String get session => textOf(_members['session']) ?? '';

  /// This client's id.
  String get client => textOf(_members['client']) ?? '';

  /// Whoever has it may join, with all rights; a guest gets none.
  String? get joinToken => textOf(_members['joinToken']);

  /// Whether this client is here by invitation.
  bool get isGuest => _members['guest'] == true;

  /// The page for which a guest was invited.
  String? get page => textOf(_members['page']);

  /// When the client's token expires, in milliseconds since 1970; null: never.
  int? get expiresAt => intOf(_members['expiresAt']);

  /// `name` and `version` of the server.
  Json get server => objectOf(_members['server']);

  /// `maxMessage` and the others that the protocol names.
  Json get limits => objectOf(_members['limits']);

  /// `version` and `hash` of the route table in force.
  Json get table => objectOf(_members['table']);

  /// What the server can do besides its methods; `resume` for one.
  List<String> get capabilities => textsOf(_members['capabilities']);

  /// Takes over what the server has told anew.
  void update(Json members) => _members.addAll(members);
}

/// A call of a session that is gone: nobody knows whether it was carried out.
final class LostCall {
  const LostCall(this.method, this.uri, this.key);

  /// `router.open`, `router.invoke` or `page.call`, or another.
  final String method;

  /// What it called.
  final String? uri;

  /// The key under which it was made.
  final String? key;
}

/// What a new session in the place of another has cost.
final class Lost {
  const Lost(this.reason, this.calls, this.pages);

  /// `unknown` to the server, `token`, `user`, `epoch`, `gap`, `outbox`;
  /// `connection` where it could not be tried; or, of calls of a session that
  /// goes on, `server`.
  final String reason;

  /// Those that ended with `OutcomeUnknown`.
  final List<LostCall> calls;

  /// The ids of the pages that this client showed.
  final List<String> pages;
}
