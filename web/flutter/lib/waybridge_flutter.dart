/// Shows pages of the bridge as routes of a `Navigator`. The library also
/// exports the client, `package:waybridge/waybridge.dart`.
library;

export 'package:waybridge/waybridge.dart';

export 'src/bridge_lifecycle.dart' show BridgeLifecycle;
export 'src/bridge_scope.dart' show BridgeScope;
export 'src/navigator_host.dart'
    show BridgeNavigatorObserver, NavigatorHost, NavigatorPageBuilder;
