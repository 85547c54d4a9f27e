/// What a Flutter app shows of a session: pages of the bridge as routes of a
/// `Navigator`.
library;

export 'src/flutter/bridge_lifecycle.dart' show BridgeLifecycle;
export 'src/flutter/bridge_scope.dart' show BridgeScope;
export 'src/flutter/navigator_host.dart'
    show BridgeNavigatorObserver, NavigatorHost, NavigatorPageBuilder;
