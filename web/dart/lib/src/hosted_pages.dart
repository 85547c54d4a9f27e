import 'dart:async';

import 'cancellation.dart';
import 'codes.dart';
import 'errors.dart';
import 'failures.dart';
import 'host_call.dart';
import 'host_registry.dart';
import 'models.dart';
import 'page_host.dart';
import 'state_machine.dart';
import 'states.dart';
import 'values.dart';

/// A page that a host of this client shows or is opening.
final class HostedPage {
  HostedPage(this._page, this.host);

  BridgePage _page;
  final PageHost host;

  /// Cancelled when the opener cancels or the page is closed.
  final Cancellation cancellation = Cancellation();
  final StateMachine<PageState, PageEvent> _machine =
      StateMachine<PageState, PageEvent>(pageStart, pageTable);
  final Completer<void> _opened = Completer<void>();

  /// The page, with the URI, parameters and `exts` that it was given last.
  BridgePage get page => _page;

  /// The state of the page.
  PageState get state => _machine.state;

  /// Called when its host has shown it, or has failed to.
  void opened(bool isShown) {
    _machine.apply(isShown ? PageEvent.shown : PageEvent.refused);
    if (!_opened.isCompleted) _opened.complete();
  }

  /// Passes new members of the page to its host, if there are any, and notifies
  /// it that the page is on top again.
  Future<void> resume(Json members) async {
    if (members.isNotEmpty) {
      _page = BridgePage(<String, Object?>{..._page.json, ...members});
    }
    // A page that is shown again after a restart of the server may still open.
    await _opened.future;
    if (state != PageState.open) return;
    if (members.isNotEmpty) await host.updated(_page);
    await host.resumed(_page);
  }

  /// Cancels its opening, or closes it if it is shown.
  Future<void> close(String reason, Json exts) async {
    if (!_machine.canApply(PageEvent.close)) return;
    _machine.apply(PageEvent.close);
    cancellation.cancel();
    await _opened.future;
    if (_machine.state != PageState.leaving) return;
    try {
      await host.close(page, reason, exts);
    } catch (error) {
      throw hostFailure(error);
    } finally {
      _machine.apply(PageEvent.closed);
    }
  }
}

/// The pages that the hosts of this client show.
final class HostedPages {
  HostedPages(this._hosts);

  final HostRegistry<PageHost> _hosts;

  /// By id, including pages that are opening.
  final Map<String, HostedPage> _pages = <String, HostedPage>{};

  /// Pages that the server closed during a comparison with its state, before
  /// they were shown again; null if no comparison runs.
  Set<String>? _closedDuringSync;

  /// Returns a page that is shown or opening.
  HostedPage? find(String id) => _pages[id];

  /// Whether no page is shown or opening.
  bool get isEmpty => _pages.isEmpty;

  /// The ids of the shown pages. Pages that are opening are not yet on the
  /// server's stack.
  List<String> get shownIDs {
    return _pages.values
        .where((HostedPage page) => page.state == PageState.open)
        .map((HostedPage page) => page.page.id)
        .toList();
  }

  /// Handles `page.open`.
  Future<void> open(Json params, HostCall call) {
    final page = _checkPage(params['page']);
    return _open(page, _hosts.find(checkHost(params['host'])), call);
  }

  /// Handles `page.close`. Closing a page that is already closed succeeds.
  Future<void> close(String id, String reason, Json exts) async {
    final shown = _pages.remove(id);
    if (shown == null) {
      // A running comparison may be about to show it again.
      _closedDuringSync?.add(id);
      return;
    }
    await shown.close(reason, exts);
  }

  /// Assigns a page that is already shown to its host, if there is one: by
  /// default the host of the page's scheme that was registered last.
  void adopt(BridgePage page, PageHost? host) {
    final own = host ?? _hosts.ofScheme(schemeOf(page.uri));
    if (own == null) return;
    final shown = HostedPage(page, own);
    shown.opened(true);
    _pages[page.id] = shown;
  }

  /// Handles `page.resume`.
  Future<void> resume(String id, Json params) async {
    final uri = stringOf(params['uri']);
    final own = params['params'];
    final exts = params['exts'];
    await _pages[id]?.resume(<String, Object?>{
      if (uri != null) 'uri': uri,
      if (own is Map<String, Object?>) 'params': own,
      if (exts is Map<String, Object?>) 'exts': exts,
    });
  }

  /// Called when the session was lost: removes all pages and returns them, so
  /// that they can be closed.
  List<HostedPage> clear() {
    final lost = _pages.values.toList();
    // A new session may use their ids for its own pages.
    _pages.clear();
    _closedDuringSync = null;
    return lost;
  }

  /// Compares the shown pages with the server's state after a restart of the
  /// server: shows missing pages again, and closes those that the server does
  /// not have. [request] is `page.sync`. [onFailure] is called for each page
  /// that could not be shown again or closed. [createCall] creates the call for
  /// a page that is shown again.
  Future<void> sync(
    Future<Json> Function(Json params) request,
    void Function(Object cause) onFailure,
    HostCall Function() createCall,
  ) async {
    // A comparison from before another restart would use an outdated state.
    final closedDuringSync = <String>{};
    _closedDuringSync = closedDuringSync;
    final picture = await request(<String, Object?>{'pages': shownIDs});
    for (final id in stringsOf(picture['closed'])) {
      try {
        await close(id, 'failed', <String, Object?>{});
      } on BridgeException catch (error) {
        onFailure(error);
      }
    }
    final lost = <String>[];
    for (final each in listOf(picture['open'])) {
      final wanted = objectOf(each);
      final page = _checkPage(wanted['page']);
      if (!identical(closedDuringSync, _closedDuringSync)) return;
      if (_pages.containsKey(page.id)) continue;
      if (closedDuringSync.contains(page.id)) continue;
      try {
        final host = _hosts.find(checkHost(wanted['host']));
        await _open(page, host, createCall());
      } on BridgeException catch (error) {
        lost.add(page.id);
        onFailure(error);
      }
    }
    if (!identical(closedDuringSync, _closedDuringSync)) return;
    _closedDuringSync = null;
    if (lost.isEmpty) return;
    await request(<String, Object?>{'pages': shownIDs, 'failed': lost});
  }

  Future<void> _open(BridgePage page, PageHost? host, HostCall call) async {
    if (host == null) {
      throw failure(
        ErrorCode.hostAbsent,
        'This client does not show "${page.uri}"',
      );
    }
    final shown = HostedPage(page, host);
    final cancellation = call.cancellation;
    void cancel() => shown.cancellation.cancel(cancellation.reason);
    cancellation.addListener(cancel);
    _pages[page.id] = shown;
    try {
      await host.open(page, call.withCancellation(shown.cancellation));
    } catch (error) {
      _remove(shown);
      shown.opened(false);
      throw cancellation.isCancelled
          ? cancelledException()
          : hostFailure(error);
    } finally {
      cancellation.removeListener(cancel);
    }
    shown.opened(true);
    if (!cancellation.isCancelled) return;
    // The opener has cancelled. Without closing it, the page would stay visible
    // without being on the stack.
    if (_remove(shown)) await shown.close('cancelled', <String, Object?>{});
    throw cancelledException();
  }

  bool _remove(HostedPage shown) {
    final id = shown.page.id;
    if (!identical(_pages[id], shown)) return false;
    _pages.remove(id);
    return true;
  }

  BridgePage _checkPage(Object? json) {
    final page = BridgePage(objectOf(json));
    if (page.id != '' && page.uri != '') return page;
    throw failure(
      ErrorCode.invalidParams,
      'page.open needs a page with id and uri',
    );
  }
}
