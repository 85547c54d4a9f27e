/// A client of a Waybridge server, in pure Dart: it knows no socket, and is
/// given one (`package:waybridge/channel.dart`).
library;

export 'src/admin.dart' show Admin;
export 'src/announcements.dart' show Registration;
export 'src/bridge.dart' show Bridge;
export 'src/cancellation.dart' show Cancellation;
export 'src/clock.dart' show Clock, ClockTimer;
export 'src/codes.dart' show AfterClose, CloseCode, ErrorCode;
export 'src/connection.dart' show Close, subprotocol;
export 'src/errors.dart'
    show
        ApplicationError,
        BridgeError,
        CallFailed,
        Cancelled,
        ConnectionClosed,
        DeadlineExceeded,
        Declined,
        Forbidden,
        HostAbsent,
        InvalidParameters,
        OutcomeUnknown,
        RouteNotFound;
export 'src/host_call.dart' show Caller, HostCall;
export 'src/invitation.dart' show Invitation;
export 'src/link.dart' show StateChange;
export 'src/models.dart'
    show
        BridgeEvent,
        BridgePage,
        Destination,
        Lost,
        LostCall,
        NavigationChange,
        Outcome,
        PageStack,
        SessionInfo;
export 'src/options.dart'
    show
        BridgeOptions,
        CallOptions,
        Join,
        PageStyle,
        PingOptions,
        ReconnectOptions;
export 'src/page_host.dart' show MethodHandler, PageHost, TaskHandler;
export 'src/route_calls.dart' show RouteCalls;
export 'src/socket.dart' show BridgeSocket, Connector;
export 'src/states.dart' show BridgeState;
export 'src/topics.dart' show EventHandler;
export 'src/values.dart' show Json;
